package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// tail is what stands at the end of the messages, as numbers from 1.
type tail struct {
	text   int  // the last message with words of the person
	result int  // the last with a result
	turn   int  // the last answer, or words
	calls  bool // the last answer makes a call
}

// findTail looks at the end of the turn (E1). An error row of the client ends it,
// too, though it is not sent.
func (q *request) findTail() {
	for i, m := range q.messages {
		if m.Role == Assistant {
			q.tail.turn, q.tail.calls = i+1, false
		}
		for _, r := range m.Records {
			switch {
			case m.Role == Assistant:
				q.tail.calls = q.calls(r)
			case m.Role == User && q.x.HasTool(r, transcript.Result):
				q.tail.result = i + 1
			case m.Role == User && q.typ(r) == transcript.User:
				q.tail.text, q.tail.turn = i+1, i+1
			}
		}
	}
	for _, r := range slices.Backward(q.r.Active) {
		if rec := &q.x.Records[r]; rec.Type == transcript.Assistant && rec.ErrorRow() {
			q.tail.turn, q.tail.calls = len(q.messages)+1, false
		} else if rec.Type == transcript.User || rec.Type == transcript.Assistant {
			return
		}
	}
}

// pair matches calls and results (N1).
func (q *request) pair() {
	q.findTail()
	for i, m := range q.messages {
		if m.Role == Assistant {
			q.pairMessage(i, m)
		}
	}
}

func (q *request) pairMessage(i int, m Message) {
	for _, r := range m.Records {
		for id := range q.x.ToolIDs(r, transcript.Use) {
			if !q.called[id] {
				q.called[id], q.open[id] = true, int32(r)+1
			}
		}
	}
	for _, next := range q.messages[i+1:] {
		if next.Role == Assistant {
			break
		}
		for _, r := range next.Records {
			for id := range q.x.ToolIDs(r, transcript.Result) {
				if use := q.open[id]; use > 0 {
					q.open[id] = 0
					q.uses[use-1]++
					q.results[r]++
				}
			}
		}
	}
	q.unanswered(i+1, m)
}

// unanswered settles the calls of a message that no result follows: taken away,
// or answered by the client where the turn is still open (E1).
func (q *request) unanswered(number int, m Message) {
	for _, r := range m.Records {
		for id := range q.x.ToolIDs(r, transcript.Use) {
			if q.open[id] != int32(r)+1 {
				continue
			}
			q.open[id] = 0
			text := ""
			switch {
			case q.answered[id]:
				text = lostResult
			case !q.rules.answersOpen || q.tail.text > number:
			case q.tail.turn <= number:
				text = interrupted
			case q.tail.result > number && q.tail.calls:
				text = lostResult
			}
			if text != "" {
				q.uses[r]++
				q.invent(User, text, id, r)
			}
		}
	}
}
