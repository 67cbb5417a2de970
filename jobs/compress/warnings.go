package compress

import (
	"fmt"

	"github.com/precis-dev/precis/jobs/internal/topology"
)

// reportWarnings collects what is not wrong enough to refuse.
func (f *fold) reportWarnings(r *Report) []Warning {
	out := f.leftOutWarnings()
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
	for _, w := range append(f.pairs.Findings, f.warnings...) {
		add(w.Rule, w.Line, "%s", w.Message)
	}
	return out
}

// leftOutWarnings tell of conversation that the chosen chain does not hold.
func (f *fold) leftOutWarnings() []Warning {
	out := []Warning{}
	for _, g := range f.leftOut {
		first, last := f.ends(g.Records)
		message := fmt.Sprintf("%d records are left out: %s (lines %d to %d)", len(g.Records), g.Reason, first.Line, last.Line)
		if g.Rule == "records-after-pointer" {
			message += "; to keep them: " + topology.LeafFlags(f.session.Index, g.Records[len(g.Records)-1])
		}
		out = append(out, Warning{g.Rule, int(first.Line), message})
	}
	return out
}
