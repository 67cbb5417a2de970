package pack

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/evidence"
)

// Request is what decides what a pack shows. Binding holds what the request
// digest is made of, the ceilings and the handoff file among it; its digests of
// words and template are filled in, whatever they are.
type Request struct {
	Fold  []int // records in the order of the conversation
	Parts []Part
	Raw   int    // records that stay as they are
	Mode  string // how the chain was selected
	Leaf  string // uuid of its end

	Mixed       bool // records of several sessions
	Transitions int  // from one session to the next

	Terms   Terms
	Binding evidence.Request
}

// Part is a stretch of a fold that was summarized by itself, up to before
// position End of the fold. Where a request has parts they are the evidence, as
// earlier summaries are, and the records only the source.
type Part struct {
	End  int
	Text string
}

// TooLarge says that evidence which may not be cut exceeds a ceiling.
type TooLarge struct {
	Chars, Tokens       int // needed
	MaxChars, MaxTokens int
	First, Last         int  // numbers of the records it was made from
	Turn                bool // they are one turn, which is never divided
	Parts               bool // the evidence is summaries of parts
}

// Next is what can be done about it.
func (e *TooLarge) Next() string {
	if e.Turn || e.Parts {
		return "raise the ceilings as far as the model can read"
	}
	return "raise the ceilings as far as the model can read, or fold in parts with author.fold: staged"
}

func (e *TooLarge) Error() string {
	what := "the evidence that may not be cut"
	if e.Turn {
		what = fmt.Sprintf("one turn (L%d to L%d)", e.First, e.Last)
	}
	return fmt.Sprintf("%s needs a pack of %d characters and %d tokens; the ceilings are %d (budgets.packChars) and %d (budgets.packTokens)",
		what, e.Chars, e.Tokens, e.MaxChars, e.MaxTokens)
}

// check refuses a request that no pack can be made from.
func (r *Request) check() error {
	end := 0
	for _, p := range r.Parts {
		if p.End <= end || p.End > len(r.Fold) || blank(p.Text) {
			return fmt.Errorf("pack: the part that ends at %d does not follow the one that ends at %d, or is blank", p.End, end)
		}
		end = p.End
	}
	if r.Parts != nil && end != len(r.Fold) {
		return fmt.Errorf("pack: the parts end at %d of %d records", end, len(r.Fold))
	}
	if !utf8.Valid(r.Binding.Handoff) {
		return fmt.Errorf("pack: the handoff file is not UTF-8")
	}
	return nil
}

// bound is the digest of the request with the words and the template in use.
func (r *Request) bound() (string, error) {
	b := r.Binding
	b.SummaryTemplate = TemplateDigest()
	var err error
	if b.ImportanceWords, b.TopicPatterns, err = r.Terms.Digests(); err != nil {
		return "", err
	}
	return b.Digest()
}

// handoffLines are the lines of the handoff file, ends included.
func (r *Request) handoffLines() []string {
	var lines []string
	for line := range strings.Lines(string(r.Binding.Handoff)) {
		lines = append(lines, line)
	}
	return lines
}
