package summary

import (
	"regexp"
	"strings"
)

// maxPending bounds the calls that wait for a result, maxKeys the commands and
// failures that are told apart.
const (
	maxPending = 256
	maxKeys    = 200
)

// calls holds the calls without a result, oldest first.
type calls struct {
	pending []pendingCall
}

type pendingCall struct {
	id      string
	n       int
	tool    string
	target  string // what a failure is filed under
	touched []touch
	command command
	asked   bool   // the tool asks the person
	plan    string // text of a plan that this call asks leave for
	task    string // subject of a task that this call creates
}

func (c *calls) wait(p pendingCall) {
	if len(c.pending) >= maxPending {
		c.pending = c.pending[1:]
	}
	c.pending = append(c.pending, p)
}

func (c *calls) settle(id string) (pendingCall, bool) {
	for i := len(c.pending) - 1; i >= 0; i-- {
		if p := c.pending[i]; p.id == id {
			c.pending = append(c.pending[:i], c.pending[i+1:]...)
			return p, true
		}
	}
	return pendingCall{}, false
}

// field returns the first of the named inputs that is not empty. Most inputs
// are contents of files, which nothing is taken from, so what is asked for is
// cleaned here.
func (b *Builder) field(e Entry, names ...string) string {
	for _, name := range names {
		for _, f := range e.Input {
			if f.Name != name {
				continue
			}
			if v := b.clean(f.value()); v != "" {
				return v
			}
		}
	}
	return ""
}

// addCall notes what a call is about; what came of it is told by its result.
func (b *Builder) addCall(e Entry) {
	p := pendingCall{id: e.ToolID, n: e.N, tool: e.Tool}
	b.aim(&p, e)
	switch e.Tool {
	case "TodoWrite":
		b.todos.replace(e.N, b.field(e, "todos"))
	case "TaskCreate":
		p.task = b.field(e, "subject", "description")
	case "TaskUpdate":
		b.todos.update(e.N, b.field(e, "taskId"), b.field(e, "status"))
	case "ExitPlanMode":
		p.plan = b.field(e, "plan")
	case "AskUserQuestion":
		p.asked = true
	}
	b.leaveAnswer(p.changes())
	b.cur.tally.call(b.clean(e.Tool))
	b.cur.tally.span.add(e.N)
	b.calls.wait(p)
}

// aim finds what a call acts on.
func (b *Builder) aim(p *pendingCall, e Entry) {
	if line := b.field(e, "command", "cmd"); line != "" {
		p.command = parseCommand(b.words, line)
		p.touched, p.target = p.command.touched, p.command.key
		return
	}
	if how, ok := fileTools[strings.ToLower(e.Tool)]; ok {
		if path := b.field(e, "file_path", "notebook_path", "filePath", "path"); path != "" {
			p.touched, p.target = []touch{{path, how}}, e.Tool+" "+path
			return
		}
	}
	p.target = strings.TrimSpace(e.Tool + " " + reduce(flat(b.field(e, "url", "query", "description")), 80))
}

func (p pendingCall) changes() bool {
	for _, t := range p.touched {
		if t.how != reads {
			return true
		}
	}
	return false
}

// tells reports a call of whose output something is used even if it went
// well.
func (p pendingCall) tells() bool {
	return p.asked || p.task != "" || p.command.class == "test" || helperTools[p.tool]
}

// addResult files the outcome of a call. Nothing else of the output is used,
// but for what the client reports of the person's answers and refusals.
func (b *Builder) addResult(e Entry) {
	p, ok := b.calls.settle(e.ToolID)
	if !ok {
		return
	}
	b.cur.tally.span.add(e.N)
	if !e.IsError && !p.tells() {
		e.Text, e.Load = "", nil
	}
	if e.Load != nil {
		e.Text = e.Load()
	}
	e.Text = b.clean(e.Text)
	if e.IsError {
		if why, ok := refusal(e.Text); ok {
			b.refuse(p, e.N, why)
			return
		}
	}
	if p.asked && !e.IsError {
		b.addReplies(e)
		return
	}
	if p.plan != "" && !e.IsError {
		b.plan = passage{p.n, p.plan}
	}
	if p.task != "" && !e.IsError {
		b.todos.create(p.n, taskNumber.FindStringSubmatch(e.Text), p.task)
	}
	if helperTools[p.tool] && !e.IsError {
		b.addReport(e)
	}
	out := judge(e, p.command)
	b.checks.add(p, e.N, out)
	if p.command.class == "commit" && out.ok && p.command.subject != "" {
		b.keep(&b.commits, item{n: p.n, text: safe(p.command.subject)}, 4)
	}
	if !e.IsError {
		for _, t := range p.touched {
			b.files.touch(t, p.n)
			if t.how != reads {
				b.cur.tally.changes++
			}
		}
	}
	b.faults.add(p, e, out)
}

// Forms in which the client reports what the person decided in a dialog
// (client versions 1.0 to 2.1).
var (
	refusalForm = regexp.MustCompile(`(?s)^The user doesn't want to (?:proceed with this tool use|take this action)`)
	refusalWhy  = regexp.MustCompile(`(?s)the user said:\s*(.*?)(?:\n\nNote: .*)?$`)
	replyPair   = regexp.MustCompile(`"([^"]+)"="([^"]*)"`)
	taskNumber  = regexp.MustCompile(`#(\d+)`)
)

func refusal(text string) (why string, ok bool) {
	if !refusalForm.MatchString(text) {
		return "", false
	}
	if m := refusalWhy.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	return "", true
}

func (b *Builder) refuse(p pendingCall, n int, why string) {
	what := ticked(reduce(safe(p.target), 100))
	if why != "" {
		what += ": “" + reduce(safe(flat(why)), longest) + "”"
	}
	if len(b.cur.refusals) < 20 {
		b.cur.refusals = append(b.cur.refusals, item{n: n, weight: 12, turn: b.cur.id, part: refused, text: what, of: 1})
	}
}

// addReplies files the person's choices in a dialog of questions.
func (b *Builder) addReplies(e Entry) {
	for _, m := range replyPair.FindAllStringSubmatch(e.Text, 20) {
		text := "asked “" + reduce(safe(flat(m[1])), longest) + "”, the user chose “" + reduce(safe(flat(m[2])), longest) + "”"
		b.keep(&b.choices, item{n: e.N, text: text}, 12)
	}
}
