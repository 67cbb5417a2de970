package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
)

// world is an item in a filesystem of its own.
func (r *replay) world(i *journal.Item, recorded []plan.Done) (*itemRun, error) {
	f := memfs.New(func() time.Time { return time.Unix(0, 0) })
	for _, d := range recorded {
		for _, o := range d.Observed {
			if err := r.thaw(f, o); err != nil {
				return nil, err
			}
		}
	}
	shared := r.run
	one := &run{
		env: shared.env, kind: shared.kind, job: shared.job, opts: shared.opts, id: shared.id,
		packs: shared.packs, ledger: shared.ledger, world: f, store: cas.Memory(),
		items: []step.Item{{ID: i.ItemOpened.Item, Source: i.Source, Label: i.Label}},
	}
	return one.newItem(0), nil
}

// thaw puts a kept file where it was.
func (r *replay) thaw(f *memfs.FS, o step.Observed) error {
	pack, err := r.run.packs.of(r.run.id)
	if err != nil {
		return err
	}
	from, err := pack.Open(o.Artifact)
	if err != nil {
		return &lostArtifact{o.Name, o.Artifact, err}
	}
	if err = fsys.MkdirAll(f, filepath.Dir(o.Path)); err == nil {
		err = afero.WriteReader(f, o.Path, until{r.ctx, from})
	}
	if err = errors.Join(err, from.Close()); err != nil && r.ctx.Err() == nil {
		return &lostArtifact{o.Name, o.Artifact, err}
	}
	return err
}

// until is a reader that ends with a context.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.Reader.Read(p)
}

// again runs a step and compares what it leaves with the record. What somebody
// answered is taken from it.
func (t *itemRun) again(ctx context.Context, s step.Step, was plan.Done) (*plan.Difference, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.describe(ctx, s)
	if err != nil {
		return nil, err
	}
	if diff := c.Differ(was.Components); diff != nil {
		return diff, nil
	}
	if s.Asks {
		was.Home = cmp.Or(was.Home, t.id)
		t.done[s.Name] = was
		return t.kept(was)
	}
	out, err := t.attempt(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.Effect {
		out.Facts = was.Facts // of how the world took it
	}
	if diff := differentOutput(was, out); diff != nil {
		return diff, nil
	}
	if diff, err := t.kept(was); diff != nil || err != nil {
		return diff, err
	}
	was.Home = "" // its artifacts are in this store now
	t.done[s.Name] = was
	return nil, nil
}

// kept finds the first artifact of a step that its run does not have any more.
func (t *itemRun) kept(was plan.Done) (*plan.Difference, error) {
	pack, err := t.packs.of(cmp.Or(was.Home, t.id))
	if err != nil {
		return nil, err
	}
	return lostFrom(pack, was), nil
}

// differentOutput finds the first thing in which a step's output is not that of
// the record. Whether a file was new to its place is the world's affair.
func differentOutput(was plan.Done, out step.Output) *plan.Difference {
	names := slices.Collect(maps.Keys(was.Artifacts))
	for name := range out.Artifacts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if a, b := was.Artifacts[name], out.Artifacts[name]; a != b {
			return &plan.Difference{Component: "artifacts." + name, Old: digestOr(a.SHA256, "(none)", nil), New: digestOr(b.SHA256, "(none)", nil)}
		}
	}
	a, b := results(was.Published), results(out.Published)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return &plan.Difference{Component: "published", Old: fmt.Sprint(a), New: fmt.Sprint(b)}
		}
	}
	return plainly("facts", was.Facts, out.Facts)
}

// results are the digests of what was published, backups apart.
func results(list []step.Published) []string {
	out := []string{}
	for _, p := range list {
		if p.Result() {
			out = append(out, "sha256:"+p.SHA256)
		}
	}
	return out
}

// plainly compares two values by their JSON.
func plainly(path string, was, now map[string]any) *plan.Difference {
	a, errA := json.Marshal(was)
	b, errB := json.Marshal(now)
	if len(was) == 0 && len(now) == 0 || errA == nil && errB == nil && bytes.Equal(a, b) {
		return nil
	}
	return plan.Compare(path, a, b)
}
