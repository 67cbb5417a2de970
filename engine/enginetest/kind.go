package enginetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
	"github.com/precis-dev/precis/spec"
)

// Kind is a job kind whose items each read a file (step "freeze"), turn it to
// upper case ("shout") and publish that ("publish").
type Kind struct {
	Sources []string // one item each, named after the file
	Out     string   // the folder of what is published
	// Quietly turns it to lower case instead, as a changed program would that forgot
	// to say so.
	Quietly bool
	// Before is called at the start of each step; its error is the step's. Nil
	// for none. It may panic, and block until the context ends.
	Before func(ctx context.Context, item, name string) error
}

var _ step.Kind = Kind{}

// Name is that of a kind which has a schema, so that its jobs can be read again.
func (Kind) Name() string { return "compress" }

// Text is a job of the kind.
const Text = `version: 1
kind: compress
name: test
input: {sessions: [none]}
mode: {summary: deterministic}
publish: {to: none}
`

// Job reads [Text], changed by assignments, as the file /job.yaml.
func Job(set ...string) *spec.Job {
	job, err := spec.Parse("/job.yaml", []byte(Text), set)
	if err != nil {
		panic(err)
	}
	return job
}

// Items gives one item a source.
func (k Kind) Items(context.Context, step.Env, *spec.Job) ([]step.Item, error) {
	var items []step.Item
	for _, source := range k.Sources {
		id := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		items = append(items, step.Item{ID: id, Source: source, Label: filepath.Base(source)})
	}
	return items, nil
}

// Steps wires the three steps, not in their order.
func (k Kind) Steps(env step.Env, job *spec.Job, item step.Item) ([]step.Step, error) {
	w := wiring{k, env, item}
	return []step.Step{
		{Name: "publish", Version: 1, Needs: []string{"shout"}, Params: job.Publish, Effect: true, Run: w.run("publish", w.publish)},
		{Name: "freeze", Version: 1, Observe: w.observe, Run: w.run("freeze", w.freeze)},
		{Name: "shout", Version: 1, Needs: []string{"freeze"}, Params: job.Budgets, Run: w.run("shout", w.shout)},
	}, nil
}

type wiring struct {
	Kind
	env  step.Env
	item step.Item
}

type work func(context.Context, step.Input) (step.Output, error)

func (w wiring) run(name string, then work) work {
	return func(ctx context.Context, in step.Input) (step.Output, error) {
		if w.Before != nil {
			if err := w.Before(ctx, w.item.ID, name); err != nil {
				return step.Output{}, err
			}
		}
		return then(ctx, in)
	}
}

func (w wiring) observe(context.Context) ([]step.Observed, error) {
	size, sum, err := fsys.Sum(w.env.FS, w.item.Source)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &step.Refusal{Class: "no-source", Message: "the source is gone", Place: step.Place{File: w.item.Source, Line: 1}}
	}
	return []step.Observed{{Name: "source", Path: w.item.Source, Artifact: step.Artifact{SHA256: sum, Bytes: size}}}, err
}

func (w wiring) freeze(_ context.Context, in step.Input) (step.Output, error) {
	data, err := afero.ReadFile(w.env.FS, w.item.Source)
	if errors.Is(err, fs.ErrNotExist) {
		return step.Output{}, &step.Refusal{Class: "no-source", Message: "the source is gone", Place: step.Place{File: w.item.Source, Line: 1}}
	}
	if err != nil {
		return step.Output{}, err
	}
	a, err := in.Put(data)
	w.env.Progress(a.Bytes, a.Bytes)
	return step.Output{
		Observed:  []step.Observed{{Name: "source", Path: w.item.Source, Artifact: a}},
		Artifacts: map[string]step.Artifact{"source": a},
	}, err
}

func (w wiring) shout(_ context.Context, in step.Input) (step.Output, error) {
	data, err := in.Open(in.Artifacts["freeze/source"])
	if err != nil {
		return step.Output{}, err
	}
	if w.Quietly {
		data = bytes.ToLower(data)
	} else {
		data = bytes.ToUpper(data)
	}
	a, err := in.Put(data)
	return step.Output{Artifacts: map[string]step.Artifact{"text": a}}, err
}

func (w wiring) publish(ctx context.Context, in step.Input) (step.Output, error) {
	data, err := in.Open(in.Artifacts["shout/text"])
	if err != nil {
		return step.Output{}, err
	}
	r := publish.Request{
		Path: filepath.Join(w.Out, w.item.ID+".txt"), Token: w.env.Token, Force: w.env.Force,
		Write: func(to io.Writer) error { _, err := to.Write(data); return err },
	}
	r.Replaces, _ = w.env.Owned(r.Path)
	p, err := publish.Candidate(ctx, w.env.FS, r)
	return step.Output{Published: step.Candidate(p)}, err
}
