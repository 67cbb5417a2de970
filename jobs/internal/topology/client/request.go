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
	messages []Message
	uses     []int32 // by record: calls that stay
	results  []int32 // by record: results that stay
	answered []bool  // by id: some result of the conversation names the call
	silent   int     // position from which on answers say nothing (E1)

	latest  []int32 // by message.id: its message's number from 1
	user    int     // number of the person's message that is open, 0 for none
	barrier []int   // numbers of the person's messages without a result

	called []bool  // by id: a call was met
	open   []int32 // by id: record+1 of a call of the message at hand
	tail   tail
}

func (g *graph) request(r *Resolution) {
	n, ids := len(g.x.Records), g.x.Symbols()
	q := &request{
		graph: g, r: r, uses: make([]int32, n), results: make([]int32, n), answered: make([]bool, ids),
		latest: make([]int32, ids), called: make([]bool, ids), open: make([]int32, ids),
	}
	for _, rec := range r.Active {
		for id := range g.x.ToolIDs(rec, transcript.Result) {
			q.answered[id] = true
		}
	}
	q.model = q.asked()
	q.silent = q.silentFrom()
	for i, rec := range r.Active {
		if i < q.silent || q.typ(rec) != transcript.Assistant {
			q.add(rec)
		}
	}
	q.settle()
	q.pair()
	q.arrange()
	q.send()
	q.end()
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

// says reports words or pictures, other than thinking and tool blocks.
func (q *request) says(r int) bool { return q.x.Records[r].Has(transcript.Substance) }

// add puts a record into the message it becomes part of.
func (q *request) add(r int) {
	switch rec := &q.x.Records[r]; {
	case q.broken(r):
	case rec.Type == transcript.Assistant && !rec.ErrorRow():
		q.answer(r)
	case rec.Type == transcript.User, rec.Type == transcript.System && q.x.Name(rec.Subtype) == "local_command":
		q.words(r)
	case rec.Type == transcript.Attachment && q.sentAttachment(r):
		q.messages = append(q.messages, Message{Role: System, Records: []int{r}})
	}
}

// sentAttachment reports the kinds whose own text is sent; others say nothing, or
// something that the client words itself (N5).
func (q *request) sentAttachment(r int) bool {
	switch q.x.Name(q.x.Records[r].Name) {
	case "hook_additional_context", "hook_success", "queued_command":
		return true
	}
	return false
}

// attached is the number of attachments that stand at the end, right behind an
// answer. They wait for the person's next message and follow it; where the next is
// an answer again, they are a message of the person's (N5).
func (q *request) attached() int {
	n := 0
	for n < len(q.messages) && q.messages[len(q.messages)-1-n].Role == System {
		n++
	}
	if n == len(q.messages) || q.messages[len(q.messages)-1-n].Role != Assistant {
		return 0
	}
	return n
}

// settle makes a message of the person's of the attachments that wait.
func (q *request) settle() {
	n := q.attached()
	if n == 0 {
		return
	}
	at := len(q.messages) - n
	waiting := q.messages[at:]
	q.messages = q.messages[:at]
	var records []int
	for _, m := range waiting {
		records = append(records, m.Records...)
	}
	q.messages = append(q.messages, Message{Role: User, Records: records})
	q.user = len(q.messages)
	q.barrier = append(q.barrier, q.user)
}

// answer adds an assistant record: to the message of its id, over results that
// stand between, or as a message of its own (N2).
func (q *request) answer(r int) {
	id := q.x.Records[r].Message
	at := int(q.latest[id])
	if n := len(q.barrier); id != 0 && at > 0 && (n == 0 || q.barrier[n-1] < at) {
		m := &q.messages[at-1]
		m.Records = append(m.Records, r)
		return
	}
	q.settle()
	q.messages = append(q.messages, Message{Role: Assistant, Records: []int{r}})
	q.latest[id], q.user = int32(len(q.messages)), 0
}

// words adds a record to the person's message, over attachments.
func (q *request) words(r int) {
	if q.user == 0 {
		at := len(q.messages) - q.attached()
		q.messages = slices.Insert(q.messages, at, Message{Role: User})
		q.user = at + 1
		q.barrier = append(q.barrier, q.user)
	}
	m := &q.messages[q.user-1]
	m.Records = append(m.Records, r)
	if n := len(q.barrier); n > 0 && q.barrier[n-1] == q.user && q.x.HasTool(r, transcript.Result) {
		q.barrier = q.barrier[:n-1]
	}
}

func (q *request) invent(who Role, text string, use transcript.Sym, after int) {
	q.r.Invented = append(q.r.Invented, Invention{Text: text, Use: use, Role: who, After: after})
}

// arrange puts the records of each message together, words before calls and
// results before words (N2), and in their order.
func (q *request) arrange() {
	of := make([]int32, len(q.x.Records)) // number of the record's message, from 1
	for i, m := range q.messages {
		first, last := splitAt(m.Records, func(r int) bool {
			if m.Role == Assistant {
				return !q.calls(r) || q.says(r)
			}
			return q.x.HasTool(r, transcript.Result)
		})
		copy(m.Records[copy(m.Records, first):], last)
		for _, r := range m.Records {
			of[r] = int32(i) + 1
		}
	}
	q.order(q.others(of))
}

// others are the active records that no message is made of, by the number of the
// message they follow.
func (q *request) others(of []int32) [][]int {
	others := make([][]int, len(q.messages)+1)
	at := int32(0)
	for _, r := range q.r.Active {
		if of[r] > 0 {
			at = of[r]
		} else {
			others[at] = append(others[at], r)
		}
	}
	return others
}

func (q *request) order(others [][]int) {
	out := append(make([]int, 0, len(q.r.Active)), others[0]...)
	for i, m := range q.messages {
		out = append(out, m.Records...)
		if n := i + 1; q.waits(m) && n < len(q.messages) && q.messages[n].Role == User {
			others[n+1] = append(others[n], others[n+1]...) // calls, results, then the rest
		} else {
			out = append(out, others[n]...)
		}
	}
	q.r.Ordered = out
}

// waits reports an answer with calls that stay: their results come right behind.
func (q *request) waits(m Message) bool {
	return m.Role == Assistant && slices.ContainsFunc(m.Records, func(r int) bool { return q.uses[r] > 0 })
}

// splitAt divides a list by a condition, in its order.
func splitAt(list []int, first func(int) bool) (yes, no []int) {
	for _, r := range list {
		if first(r) {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return yes, no
}

// send lists the records in the order of the request.
func (q *request) send() {
	messages := q.messages
	q.messages = q.messages[:0]
	for i, m := range messages {
		switch m.Role {
		case Assistant:
			m.Records = q.sendAnswer(m)
		case User:
			m.Records = q.sendWords(m, i == 0, i+1 == len(messages))
		}
		if len(m.Records) > 0 {
			q.r.Sent = append(q.r.Sent, m.Records...)
			q.messages = append(q.messages, m)
		}
	}
	q.r.Messages = q.messages
}

// drops lists the messages of which nothing is sent because the client mends the
// conversation: calls and results without a counterpart, messages it cannot read,
// and what stands silent at the end.
func (q *request) drops() {
	sent := make([]bool, len(q.x.Records))
	for _, r := range q.r.Sent {
		sent[r] = true
	}
	for i, r := range q.r.Active {
		if sent[r] {
			continue
		}
		answer := q.typ(r) == transcript.Assistant && !q.x.Records[r].ErrorRow()
		if answer && (i >= q.silent || q.calls(r)) || q.answers(r) || q.broken(r) {
			q.r.Dropped = append(q.r.Dropped, r)
		}
	}
}

// sendAnswer orders what is sent of an answer: words before calls (N2). One of
// thinking alone is not sent (N3).
func (q *request) sendAnswer(m Message) []int {
	first, repeated, substance := m.Records[0], false, false
	var calls []int
	words := m.Records[:0]
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
		repeated = repeated || q.repeats(r)
	}
	if substance {
		return append(words, calls...)
	}
	if repeated {
		q.invent(Assistant, usedTwice, 0, first)
	}
	return nil
}

// repeats reports a call that does not stay and whose id some result names: an
// earlier call has it.
func (q *request) repeats(r int) bool {
	if q.uses[r] > 0 {
		return false
	}
	for id := range q.x.ToolIDs(r, transcript.Use) {
		if q.answered[id] {
			return true
		}
	}
	return false
}

// sendWords orders what is sent of the person's message: results before words
// (N2).
func (q *request) sendWords(m Message, first, last bool) []int {
	at := m.Records[0]
	var words []int
	results := m.Records[:0]
	for _, r := range m.Records {
		switch has := q.x.HasTool(r, transcript.Result); {
		case has && q.results[r] > 0:
			results = append(results, r)
		case !has || q.says(r):
			words = append(words, r)
		}
	}
	all := append(results, words...)
	switch {
	case len(all) > 0:
	case first && q.rules.marksOrphan:
		q.invent(User, orphaned, 0, at)
	case !first && !last:
		q.invent(User, noContent, 0, at)
	}
	return all
}
