package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Invention is something that the client adds to the conversation.
type Invention struct {
	Text string
	// Use is the call that it answers, 0 for a message of its own.
	Use   transcript.Sym
	Role  Role
	After int // the record it follows
}

// Texts that a client adds.
const (
	noResponse  = "No response requested."
	goOn        = "Continue from where you left off."
	noContent   = "(no content)"
	lostResult  = "[Tool result missing due to internal error]"
	interrupted = "[Tool call interrupted: the session ended before this call's result was recorded]"
	orphaned    = "[Orphaned tool result removed due to conversation resume]"
	usedTwice   = "[Tool use interrupted]"
)

// Message is a message of the request: the records it is made of, in order.
type Message struct {
	Role    Role
	Records []int
	id      transcript.Sym // of an assistant message
}

// Role is who speaks.
type Role string

// Roles. System are attachments.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	System    Role = "system"
)

// request settles what is sent of the active records, and in what order (E, N).
type request struct {
	*graph
	r        *Resolution
	model    transcript.Sym // the model asked
	messages []*Message
	uses     map[int]int             // calls of a record that stay
	results  map[int]int             // results of a record that stay
	answered map[transcript.Sym]bool // calls that some result of the conversation names
}

func (g *graph) request(r *Resolution) {
	q := &request{graph: g, r: r, uses: map[int]int{}, results: map[int]int{}, answered: map[transcript.Sym]bool{}}
	for _, rec := range r.Active {
		for id := range g.x.ToolIDs(rec, transcript.Result) {
			q.answered[id] = true
		}
	}
	q.model = q.asked()
	active := q.trimmed()
	for _, rec := range active {
		q.add(rec)
	}
	q.pair()
	q.send()
	q.end(active)
	q.drops()
}

// asked is the model that the request names (B5).
func (q *request) asked() transcript.Sym {
	if q.rules.defaultModel != "" {
		return q.symbol(q.rules.defaultModel)
	}
	for _, r := range slices.Backward(q.r.Active) {
		if q.typ(r) == transcript.Assistant && !q.x.Records[r].Has(transcript.Synthetic) {
			return q.x.Records[r].Model
		}
	}
	return 0
}

// trimmed leaves out what stands at the end without a word: thinking and blank
// answers (E1).
func (q *request) trimmed() []int {
	silent := map[int]bool{}
	for _, r := range slices.Backward(q.r.Active) {
		t := q.typ(r)
		if t == transcript.User && !q.broken(r) || t == transcript.Assistant && (q.says(r) || q.called(r)) {
			break
		}
		if t == transcript.Assistant {
			silent[r] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(q.r.Active), func(r int) bool { return silent[r] })
}

// called reports a record with a call that stays: any, or where open calls are
// taken away one that some result names.
func (q *request) called(r int) bool {
	for id := range q.x.ToolIDs(r, transcript.Use) {
		if q.rules.answersOpen || q.answered[id] {
			return true
		}
	}
	return false
}

// says reports words or pictures, other than thinking and tool blocks.
func (q *request) says(r int) bool { return q.x.Records[r].Has(transcript.Substance) }

// add puts a record into the message it becomes part of.
func (q *request) add(r int) {
	switch rec := &q.x.Records[r]; {
	case q.broken(r):
	case rec.Type == transcript.Assistant && !rec.ErrorRow():
		q.answer(r)
	case rec.Type == transcript.User,
		rec.Type == transcript.System && q.x.Name(rec.Subtype) == "local_command",
		rec.Type == transcript.Attachment && q.x.Name(rec.Name) == "queued_command":
		q.words(r)
	case rec.Type == transcript.Attachment && q.sentAttachment(r):
		q.messages = append(q.messages, &Message{Role: System, Records: []int{r}})
	}
}

// sentAttachment reports the kinds whose own text is sent; others say nothing, or
// something that the client words itself (N5).
func (q *request) sentAttachment(r int) bool {
	switch q.x.Name(q.x.Records[r].Name) {
	case "hook_additional_context", "hook_success":
		return true
	}
	return false
}

// answer adds an assistant record: to the message of its id, over results that
// stand between, or as a message of its own (N2).
func (q *request) answer(r int) {
	id := q.x.Records[r].Message
	for i := len(q.messages) - 1; i >= 0 && id != 0; i-- {
		m := q.messages[i]
		if m.Role == Assistant && m.id == id {
			m.Records = append(m.Records, r)
			return
		}
		if m.Role == User && !slices.ContainsFunc(m.Records, func(r int) bool { return q.x.HasTool(r, transcript.Result) }) {
			break
		}
	}
	q.messages = append(q.messages, &Message{Role: Assistant, id: id, Records: []int{r}})
}

// words adds a record to the user's message, over attachments.
func (q *request) words(r int) {
	for i := len(q.messages) - 1; i >= 0 && q.messages[i].Role != Assistant; i-- {
		if m := q.messages[i]; m.Role == User {
			m.Records = append(m.Records, r)
			return
		}
	}
	q.messages = append(q.messages, &Message{Role: User, Records: []int{r}})
}

// pair matches calls and results (N1).
func (q *request) pair() {
	called := map[transcript.Sym]bool{}
	for i, m := range q.messages {
		if m.Role == Assistant {
			q.pairMessage(i, m, called)
		}
	}
}

func (q *request) pairMessage(i int, m *Message, called map[transcript.Sym]bool) {
	open := map[transcript.Sym]int{}
	for _, r := range m.Records {
		for id := range q.x.ToolIDs(r, transcript.Use) {
			if called[id] {
				continue
			}
			called[id] = true
			open[id] = r
		}
	}
	for _, next := range q.messages[i+1:] {
		if next.Role == Assistant {
			break
		}
		for _, r := range next.Records {
			for id := range q.x.ToolIDs(r, transcript.Result) {
				if use, ok := open[id]; ok {
					delete(open, id)
					q.uses[use]++
					q.results[r]++
				}
			}
		}
	}
	q.unanswered(i, m, open)
}

// unanswered settles the calls of a message that no result follows.
func (q *request) unanswered(i int, m *Message, open map[transcript.Sym]int) {
	for _, r := range m.Records {
		for id := range q.x.ToolIDs(r, transcript.Use) {
			if use, ok := open[id]; !ok || use != r {
				continue
			}
			delete(open, id)
			switch {
			case q.answered[id]:
				q.uses[r]++
				q.invent(User, lostResult, id, r)
			case q.rules.answersOpen && q.lastGroup(i):
				q.uses[r]++
				q.invent(User, interrupted, id, r)
			case q.rules.answersOpen && q.resultFollows(i):
				q.uses[r]++
				q.invent(User, lostResult, id, r)
			}
		}
	}
}

// lastGroup reports that nothing but results follows a message (E1).
func (q *request) lastGroup(i int) bool {
	for _, m := range q.messages[i+1:] {
		if m.Role == Assistant || m.Role == User && slices.ContainsFunc(m.Records, func(r int) bool { return !q.x.HasTool(r, transcript.Result) }) {
			return false
		}
	}
	return true
}

// resultFollows reports a result behind the message in the same turn, which is
// still open.
func (q *request) resultFollows(i int) bool {
	results, open := false, false
	for _, m := range q.messages[i+1:] {
		for _, r := range m.Records {
			switch {
			case m.Role == Assistant:
				open = q.calls(r)
			case m.Role == User && !q.x.HasTool(r, transcript.Result):
				return false
			case m.Role == User:
				results = true
			}
		}
	}
	return results && open
}

func (q *request) invent(who Role, text string, use transcript.Sym, after int) {
	q.r.Invented = append(q.r.Invented, Invention{Text: text, Use: use, Role: who, After: after})
}

// send lists the records in the order of the request.
func (q *request) send() {
	for i, m := range q.messages {
		switch m.Role {
		case Assistant:
			q.sendAnswer(m)
		case User:
			q.sendWords(i, m)
		default:
			q.say(m, m.Records)
		}
	}
}

func (q *request) say(m *Message, records []int) {
	if len(records) > 0 {
		q.r.Sent = append(q.r.Sent, records...)
		q.r.Messages = append(q.r.Messages, Message{Role: m.Role, Records: records, id: m.id})
	}
}

// drops lists the messages of which nothing is sent because the client mends the
// conversation: calls and results without a counterpart, messages it cannot read,
// and what stands silent at the end.
func (q *request) drops() {
	sent := map[int]bool{}
	for _, r := range q.r.Sent {
		sent[r] = true
	}
	ending := true
	for _, r := range slices.Backward(q.r.Active) {
		rec := &q.x.Records[r]
		if sent[r] {
			ending = false
		}
		silent := rec.Type == transcript.Assistant && !rec.ErrorRow() && (ending || q.calls(r)) || q.answers(r)
		if !sent[r] && (silent || q.broken(r)) {
			q.r.Dropped = append(q.r.Dropped, r)
		}
	}
	slices.Reverse(q.r.Dropped)
}

// sendAnswer sends the words of a message before its calls (N2). A message of
// thinking alone is not sent (N3).
func (q *request) sendAnswer(m *Message) {
	var words, calls []int
	substance := false
	for _, r := range m.Records {
		rec := &q.x.Records[r]
		thinks := rec.Has(transcript.Thinking) && rec.Model == q.model
		switch says := q.says(r); {
		case says || q.uses[r] == 0 && thinks:
			words = append(words, r)
			substance = substance || says
		case q.uses[r] > 0:
			calls = append(calls, r)
			substance = true
		}
	}
	switch {
	case substance:
		q.say(m, append(words, calls...))
	case q.repeats(m):
		q.invent(Assistant, usedTwice, 0, m.Records[0])
	}
}

// repeats reports calls whose ids are taken by earlier ones.
func (q *request) repeats(m *Message) bool {
	return slices.ContainsFunc(m.Records, func(r int) bool {
		for id := range q.x.ToolIDs(r, transcript.Use) {
			if q.answered[id] {
				return true
			}
		}
		return false
	})
}

// sendWords sends the results of a message before its words (N2).
func (q *request) sendWords(i int, m *Message) {
	var results, words []int
	for _, r := range m.Records {
		switch has := q.x.HasTool(r, transcript.Result); {
		case has && q.results[r] > 0:
			results = append(results, r)
		case !has || q.says(r):
			words = append(words, r)
		}
	}
	if len(results)+len(words) == 0 {
		q.emptied(i, m)
	}
	q.say(m, append(results, words...))
}

// emptied stands in for a message of which nothing is left (N1).
func (q *request) emptied(i int, m *Message) {
	switch first := i == 0; {
	case first && q.rules.marksOrphan:
		q.invent(User, orphaned, 0, m.Records[0])
	case !first && i+1 < len(q.messages):
		q.invent(User, noContent, 0, m.Records[0])
	}
}

// end closes a turn that the assistant had not (E2).
func (q *request) end(active []int) {
	attached := false
	for _, r := range slices.Backward(active) {
		switch rec := &q.x.Records[r]; {
		case q.broken(r):
		case rec.Type == transcript.Attachment:
			attached = true
		case rec.Type == transcript.Assistant:
			if slices.ContainsFunc(q.r.Invented, func(i Invention) bool { return i.Text == interrupted }) {
				q.invent(Assistant, noResponse, 0, r)
			}
			return
		case rec.Type == transcript.User:
			if q.rules.asksToContinue && (attached || q.x.HasTool(r, transcript.Result)) {
				q.invent(User, goOn, 0, r)
			}
			q.invent(Assistant, noResponse, 0, r)
			return
		}
	}
}
