package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// Replay is a run done again from its record.
type Replay struct {
	Run   string         `json:"run"`
	Exit  int            `json:"exit"`
	Items []ReplayedItem `json:"items"` // sorted by item
}

// ReplayStatus is how an item of a replay compares with its record.
type ReplayStatus string

// The statuses of a replayed item.
const (
	ReplaySame    ReplayStatus = "same"
	ReplayDiffers ReplayStatus = "differs"
	ReplaySkipped ReplayStatus = "skipped" // the record does not have what it takes
)

// ReplayedItem is an item of a replay.
type ReplayedItem struct {
	Item       string           `json:"item"`
	Source     string           `json:"source"`
	Status     ReplayStatus     `json:"status"`
	Steps      int              `json:"steps"`          // that are the same
	Step       string           `json:"step,omitempty"` // the first that differs
	Difference *plan.Difference `json:"difference,omitempty"`
	Message    string           `json:"message,omitempty"`
}

// Replay does the recorded steps of a run again, in memory, from the files that
// the run kept, and compares every digest. It needs nothing but the state
// directory, and writes nothing.
func (e *Engine) Replay(ctx context.Context, id string, sink event.Sink) (*Replay, error) {
	if sink == nil {
		sink = event.Discard{}
	}
	state, err := e.scan(id, nil)
	if err != nil {
		return nil, err
	}
	job, err := e.frozenJob(state.Run)
	if err != nil {
		return nil, err
	}
	kind, err := e.kind(job.Kind, job.File)
	if err != nil {
		return nil, err
	}
	r := &replay{
		Engine: e, ctx: ctx, sink: sink, out: &Replay{Run: state.Run.Run, Items: []ReplayedItem{}},
		run: &run{
			env: e.env, kind: kind, job: job, packs: newPacks(e.env.FS, e.runs()), ledger: &ledger.Ledger{},
			opts: Options{Force: true, SessionClosed: true, Until: state.Run.Until, Sink: sink},
			id:   state.Run.Run,
		},
	}
	defer r.run.close()
	sink.Emit(event.RunStarted{Run: state.Run.Run, Kind: job.Kind, Items: len(state.Items)})
	return r.all(state)
}

// replay is a replay under way.
type replay struct {
	*Engine
	ctx  context.Context
	run  *run
	sink event.Sink

	mu  sync.Mutex
	out *Replay
}

// all replays the items as the journal gives them, a few at a time.
func (r *replay) all(state *journal.State) (*Replay, error) {
	var busy sync.WaitGroup
	slots := make(chan struct{}, workers(r.run.job))
	seen := map[string]bool{}
	begin := func(i *journal.Item) error {
		if seen[i.ItemOpened.Item] {
			return nil
		}
		seen[i.ItemOpened.Item] = true
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		item := *i // the journal forgets its steps
		slots <- struct{}{}
		busy.Go(func() {
			defer func() { <-slots }()
			r.add(r.item(&item))
		})
		return nil
	}
	final, err := journal.Scan(r.env.FS, r.journalOf(state.Run.Run), begin)
	for _, i := range final.Items {
		if err == nil && i.Result == nil {
			err = begin(i)
		}
	}
	busy.Wait()
	if err == nil && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.out.Items, func(i ReplayedItem) bool { return i.Status != ReplaySkipped }) {
		r.out.Exit = exitFailed // nothing was compared
	}
	slices.SortFunc(r.out.Items, func(a, b ReplayedItem) int { return bytes.Compare([]byte(a.Item), []byte(b.Item)) })
	return r.out, nil
}

// workers is how many items are replayed at once: one a CPU, for all that an item
// reads is in memory.
func workers(job *spec.Job) int {
	if job.Run.Workers > 0 {
		return job.Run.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (r *replay) add(i ReplayedItem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Items = append(r.out.Items, i)
	if i.Status == ReplayDiffers {
		r.out.Exit = exitDiffers
	}
	r.sink.Emit(event.ItemFinished{ID: i.Item})
}

func (r *replay) item(i *journal.Item) ReplayedItem {
	out := ReplayedItem{Item: i.ItemOpened.Item, Source: i.Source, Status: ReplaySkipped}
	steps, kept := recorded(i)
	r.sink.Emit(event.ItemStarted{Item: out.Item, Session: i.Source, Label: i.Label, Bytes: read(steps), Steps: len(steps)})
	switch {
	case i.Same != "":
		out.Message = "it was up to date; precis replay " + i.Same + " does it again"
		return out
	case len(steps) == 0:
		out.Message = "no step of it was finished"
		return out
	}
	err := local.Protect(func() error { return r.steps(i, steps, &out) })
	if errors.Is(err, fs.ErrNotExist) && !kept {
		out.Status, out.Message = ReplaySkipped, "its files were not kept, for nothing was published"
	} else if err != nil {
		out.Status, out.Difference = ReplayDiffers, r.failed(err)
	}
	return out
}

// recorded are the finished steps of an item, and whether the files that it was made
// from were kept: that is done before an effect.
func recorded(i *journal.Item) (steps []plan.Done, kept bool) {
	for _, st := range i.Steps {
		kept = kept || st.Effect
		if st.Phase == journal.Finished {
			steps = append(steps, st.Done)
		}
	}
	return steps, kept
}

// read is how much the steps of an item read.
func read(steps []plan.Done) (bytes int64) {
	for _, d := range steps {
		for _, o := range d.Observed {
			bytes += o.Bytes
		}
	}
	return bytes
}

// failed is a step that did not come to its end again.
func (r *replay) failed(err error) *plan.Difference {
	if lost := new(lostArtifact); errors.As(err, &lost) {
		return &plan.Difference{Component: "artifacts." + lost.name, Old: "sha256:" + lost.SHA256, New: missing(lost.err)}
	}
	o := outcome(r.ctx, err)
	return &plan.Difference{Component: "outcome", Old: string(step.Done), New: o.Class + ": " + o.Message}
}

// lostArtifact is one that the run kept and that is gone or damaged.
type lostArtifact struct {
	name string
	step.Artifact
	err error
}

func (e *lostArtifact) Error() string { return fmt.Sprintf("artifact %s: %v", e.name, e.err) }
func (e *lostArtifact) Unwrap() error { return e.err }

// steps runs the recorded steps in a world that has the kept files only.
func (r *replay) steps(i *journal.Item, recorded []plan.Done, out *ReplayedItem) error {
	t, err := r.world(i, recorded)
	if err != nil {
		return err
	}
	defer t.release()
	steps, err := t.steps(t.stepEnv(), t.Item)
	if err != nil {
		return err
	}
	for len(steps) > 0 {
		s := steps[0]
		at := slices.IndexFunc(recorded, func(d plan.Done) bool { return d.Step == s.Name })
		if at < 0 {
			steps = steps[1:]
			continue
		}
		out.Step = s.Name
		if out.Difference, err = t.again(r.ctx, s, recorded[at]); err != nil {
			return err
		}
		if out.Difference != nil {
			out.Status = ReplayDiffers
			return nil
		}
		out.Steps++
		if steps, err = t.unfold(steps, 1); err != nil {
			return err
		}
	}
	out.Status, out.Step = ReplaySame, ""
	return nil
}
