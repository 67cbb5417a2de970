package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// silentFrom is the position from which on answers are thinking or blank.
func (q *request) silentFrom() int {
	for i, r := range slices.Backward(q.r.Active) {
		t := q.typ(r)
		if t == transcript.User && !q.broken(r) || t == transcript.Assistant && (q.says(r) || q.stays(r)) {
			return i + 1
		}
	}
	return 0
}

// stays reports a record with a call that stays: any, or where open calls are
// taken away one that some result names.
func (q *request) stays(r int) bool {
	for id := range q.x.ToolIDs(r, transcript.Use) {
		if q.rules.answersOpen || q.answered[id] {
			return true
		}
	}
	return false
}

// end closes a turn that the assistant had not (E2). An error row of the client
// closes it, but for the client that asks to continue, after results.
func (q *request) end() {
	attached, failed := false, false
	for i, r := range slices.Backward(q.r.Active) {
		switch rec := &q.x.Records[r]; {
		case q.broken(r), rec.Type == transcript.Assistant && i >= q.silent:
		case rec.Type == transcript.Attachment:
			attached = true
		case rec.Type == transcript.Assistant:
			if !q.rules.asksToContinue || !rec.ErrorRow() && !failed || q.says(r) && !rec.ErrorRow() {
				q.endAfterAnswer(r)
				return
			}
			failed = true
		case rec.Type == transcript.User:
			q.endAfterWords(r, attached || q.x.HasTool(r, transcript.Result), failed)
			return
		}
	}
}

func (q *request) endAfterAnswer(r int) {
	if slices.ContainsFunc(q.r.Invented, func(i Invention) bool { return i.Text == interrupted }) {
		q.invent(Assistant, noResponse, 0, r)
	}
}

func (q *request) endAfterWords(r int, more, failed bool) {
	if q.rules.asksToContinue && more {
		q.invent(User, goOn, 0, r)
	} else if failed {
		return
	}
	q.invent(Assistant, noResponse, 0, r)
}
