package compress

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis/engine/step"
)

// planning is where the conversation is cut before its summary is written.
type planning struct {
	*solution
	appendix string // as long as one may be
	spare    room   // that the gates leave for the summary
}

// planned finds the cut, once. While somebody was asked the session may have gone on.
func (f *fold) planned(ctx context.Context) error {
	if f.planning != nil {
		return f.session.Unchanged(f.env.FS)
	}
	if err := f.selected(ctx); err != nil {
		return err
	}
	s, sol, err := f.solve(ctx)
	if err != nil {
		return err
	}
	p := &planning{solution: sol, appendix: s.builder.Text(f.facts(sol.sets, sol.folded))}
	without, err := s.folded(sol.cut, sol.sets, f.withAppendix("", clip(p.appendix, leastAppendix)))
	if err != nil {
		return err
	}
	const rounding = 64
	if gate := f.job.Budgets.Tokens; gate > 0 {
		p.spare.Tokens = max(1, gate-int(without.tokens)-rounding)
	}
	if gate := f.job.Budgets.Bytes; gate > 0 {
		p.spare.Bytes = max(1, int(gate-without.candidate.Size())-rounding)
	}
	f.solver, f.planning = s, p
	return nil
}

// withAnswer is the candidate with the summary that was asked for: as it was recorded,
// or as it was answered.
func (f *fold) withAnswer(in step.Input) (*solution, error) {
	if kept, ok := in.Artifacts["fold/summary"]; ok {
		text, err := in.Open(kept)
		if err != nil {
			return nil, err
		}
		return f.solver.folded(f.planning.cut, f.planning.sets, string(text))
	}
	text, err := f.answer(in)
	if err != nil {
		return nil, err
	}
	return f.fitted(text)
}

// answer is what of the accepted answer goes into the session.
func (f *fold) answer(in step.Input) (string, error) {
	e, err := get[expect](in, lastPack(in)+expectName)
	if err != nil {
		return "", err
	}
	s, err := answered(in, "author", e)
	if err != nil {
		return "", err
	}
	if !e.Whole {
		return s.Prose, nil
	}
	text, err := in.Open(in.Artifacts["author/"+answerName])
	return strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff")), err
}

// fitted puts as much of the appendix behind a summary as budget and gates leave
// room for. The summary is never shortened.
func (f *fold) fitted(text string) (*solution, error) {
	for room := f.appendixRoom(text); ; room = max(leastAppendix, room/2) {
		sol, err := f.solver.folded(f.planning.cut, f.planning.sets, f.withAppendix(text, clip(f.planning.appendix, room)))
		if err != nil {
			return nil, err
		}
		broken := f.solver.broken(sol)
		if len(broken) == 0 {
			return sol, nil
		}
		if room <= leastAppendix {
			g := broken[0]
			return nil, f.refuse("gate-"+g.name, fmt.Sprintf("with the summary that was written the candidate has %d %s, %d more than budgets.%s: %d allows", g.value, g.name, g.value-g.limit, g.name, g.limit),
				fmt.Sprintf("raise budgets.%s to %d; the summary is in the record of the run", g.name, g.value))
		}
	}
}
