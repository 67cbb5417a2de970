package engine

import (
	"context"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/overlay"
	"github.com/precis-dev/precis/spec"
)

// DryRun runs a job as [Engine.Run] does, publication included, but each item on a
// filesystem of its own: the real one below, memory above. Nothing is changed on
// the real one and nothing is recorded. The outputs in the result are what a real
// run would leave.
func (e *Engine) DryRun(ctx context.Context, job *spec.Job, o Options) (Result, error) {
	return e.tell(ctx, o, func(o Options) (Result, error) {
		r, err := e.newRun(ctx, job, o)
		if err != nil {
			return Result{}, err
		}
		defer r.close()
		r.each = func(t *itemRun) {
			t.fs = overlay.New(e.env.FS, e.env.Now)
			t.store = cas.Memory()
		}
		err = r.execute(ctx)
		result := Result{Items: r.results}
		for i := range r.results {
			r.results[i].Report = step.Artifact{} // gone with the item's store
			for _, p := range r.results[i].Outputs {
				if p.Op != step.Keep {
					result.Effects = append(result.Effects, p)
				}
			}
		}
		return result, err
	})
}
