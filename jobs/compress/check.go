package compress

import (
	"encoding/json"
	"fmt"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/pack"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// Problem is one thing wrong with a summary. Its Quote is of the summary's own words.
type Problem = modelsummary.Problem

// Expected is what the summary of one evidence pack is checked against.
type Expected struct{ expect expect }

// expect is what a pack asks of its summary, and the room for what of the summary is
// used.
type expect struct {
	modelsummary.Expect
	Room room `json:"room,omitzero"`
}

// room is what the last pack has for the summary of a part, or a gate for that of the
// session. There a text is JSON, in which some characters take more. 0 is no limit.
type room struct {
	Chars  int `json:"chars,omitempty"`
	Tokens int `json:"tokens,omitempty"`
	Bytes  int `json:"bytes,omitempty"`
}

// check gives a summary's parts, or everything that is wrong with it.
func (e *expect) check(text []byte) (*modelsummary.Summary, []Problem) {
	s, problems := modelsummary.Check(text, e.Expect)
	if s == nil {
		return nil, problems
	}
	used := s.Prose
	if e.Whole {
		used = string(text)
	}
	// As a pack shows it; a session has no more.
	if problems = e.Room.lacks(string(pack.Quoted(nil, used))); len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

// lacks reports a text that there is no room for.
func (r *room) lacks(text string) (problems []Problem) {
	for _, l := range []struct {
		unit       string
		size, most int
	}{{"character", runes(text), r.Chars}, {"estimated token", tokens.Text(text), r.Tokens}, {"byte", len(text), r.Bytes}} {
		if l.most > 0 && l.size > l.most {
			problems = append(problems, Problem{
				Rule: modelsummary.TooLong, Line: 1,
				Message: fmt.Sprintf("as the JSON string that it becomes, the text has %s; the limit is %d", counted(l.size, l.unit), l.most),
				Fix:     fmt.Sprintf("shorten it by %s at least, a share of %d%%; quotation marks, backslashes and line ends count twice", counted(l.size-l.most, l.unit), (100*(l.size-l.most)+l.size-1)/l.size),
			})
		}
	}
	return problems
}

// ParseExpected reads the artifact that the pack's step left beside it.
func ParseExpected(data []byte) (*Expected, error) {
	var e Expected
	if err := json.Unmarshal(data, &e.expect); err != nil {
		return nil, fmt.Errorf("what a summary is checked against cannot be read: %w", err)
	}
	return &e, nil
}

// Names tells whether a text says that it was written from this pack.
func (e *Expected) Names(text []byte) bool { return modelsummary.Names(text, e.expect.Header) }

// Check gives everything that is wrong with a summary, by line, and the same as text
// that an author can act on. A text that is an evidence pack is refused.
func (e *Expected) Check(text []byte) (problems []Problem, report string, err error) {
	if err := noPack(text); err != nil {
		return nil, "", err
	}
	if _, problems = e.expect.check(text); len(problems) > 0 {
		report = modelsummary.Report(problems)
	}
	return problems, report, nil
}

// noPack refuses an evidence pack in the place of a summary.
func noPack(text []byte) error {
	switch pack.LayoutOf(text) {
	case pack.Own:
		return &step.Refusal{Class: "pack-not-summary", Message: "the file is an evidence pack, not the summary that is written from one", Next: "bring the summary"}
	case pack.Foreign:
		return &step.Refusal{
			Class: "foreign-pack", Message: "the file is an evidence pack of claude-jsonl-compressor or a program like it; it shows other evidence, and no summary of it can be accepted here",
			Next: "write the summary from the pack that precis show RUN --pack prints",
		}
	}
	return nil
}
