package compress

import (
	"fmt"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
)

// reportWarnings collects what is not wrong enough to refuse.
func (f *fold) reportWarnings(r *Report) []Warning {
	out := f.clientWarnings()
	add := func(rule string, line int, format string, args ...any) {
		out = append(out, Warning{rule, line, fmt.Sprintf(format, args...)})
	}
	if n := f.sel.AttachmentInversions; n > 0 {
		add("attachment-order", 0, "%d attachments stand before their parent in the file; they are written in the order of the chain", n)
	}
	if n := len(f.sel.Lineage.Runs); n > 1 {
		add("mixed-lineage", 0, "the chain goes through %d sessions; all but the last are folded whole", n)
	}
	if r.After.Tokens >= r.Before.Tokens {
		add("nothing-gained", 0, "the new file costs %d tokens, the conversation had %d: there is too little to fold here", r.After.Tokens, r.Before.Tokens)
	}
	out = append(out, r.Summary.warn()...)
	for _, w := range append(f.pairs.Findings, f.warnings...) {
		add(w.Rule, w.Line, "%s", w.Message)
	}
	return out
}

// clientWarnings tell what the client does to the file, and where the chain of
// the job is not what it resumes.
func (f *fold) clientWarnings() []Warning {
	out := []Warning{}
	if f.choice.Differ != nil {
		out = append(out, Warning{"chains-differ", int(f.session.Records[f.choice.Differ.StrictEnd].Line), f.difference()})
	}
	if f.sel.Mode == topology.Client {
		for _, w := range append(client.Losses(f.choice.Client), f.sel.Findings...) {
			if w.Severity == finding.Note {
				continue
			}
			out = append(out, Warning{w.Rule, w.Line, w.Message})
		}
	}
	return out
}
