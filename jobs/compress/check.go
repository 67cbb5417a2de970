package compress

import (
	"encoding/json"
	"fmt"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/pack"
)

// Problem is one thing wrong with a summary. Its Quote is of the summary's own words.
type Problem = modelsummary.Problem

// Expected is what the summary of one evidence pack is checked against.
type Expected struct{ expect modelsummary.Expect }

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
	if _, problems = modelsummary.Check(text, e.expect); len(problems) > 0 {
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
