package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/fsys/publish"
	"github.com/precis-dev/precis/spec"
)

// asking is a job kind whose items each read a file ("read"), split it to a question
// a line ("split", which gives "part-1" and so on, which ask, and "join"), ask about
// all that came back ("ask") and publish what comes of that ("publish").
type asking struct {
	*author
	sources []string
	pack    string // what the author is told with each line
	replace bool   // publish in the place of the source
	deep    bool   // each part gives one more that asks, "part-1-again" and so on
	last    bool   // the split is the last step of those that are known from the start
	// before is called when a step that asks begins. Nil for nothing.
	before func(at string)
	// instead is called in the place of the author, who is asked where it gives no
	// error. Nil for nothing.
	instead func(at string) error
	// kept is called when an answer is on record. Nil for nothing.
	kept func(at string) error
}

// author answers, and remembers how often he was asked, by "item/step".
type author struct {
	// while is called while he is asked; its error is his answer. Nil for nothing.
	while func(ctx context.Context, at string) error
	// fickle makes him say something else each time that he is asked the same.
	fickle bool

	mu    sync.Mutex
	asked map[string]int
	freed atomic.Int64 // how many who asked have been cleaned up after
}

func (a *author) answer(ctx context.Context, at, question string) (string, error) {
	a.mu.Lock()
	if a.asked == nil {
		a.asked = map[string]int{}
	}
	a.asked[at]++
	if a.fickle {
		question = fmt.Sprint(question, a.asked[at])
	}
	a.mu.Unlock()
	if a.while != nil {
		if err := a.while(ctx, at); err != nil {
			return "", err
		}
	}
	return says(at, question), nil
}

// says is the answer to a question.
func says(at, question string) string { return at + ": " + strings.ToUpper(question) + "\n" }

// count is how often the author was asked what.
func (a *author) count() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.asked)
}

// asks is a kind over the items of a world.
func asks(sources ...string) asking {
	return asking{author: &author{}, sources: kind(sources...).Sources}
}

// lines is a world with files of the given text.
func lines(t testing.TB, files map[string]string) *memfs.FS {
	t.Helper()
	f := world(t)
	for name, text := range files {
		if err := fsys.WriteFile(f, "/in/"+name+".txt", "t", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// on is an engine for the kind on a filesystem.
func (k asking) on(f afero.Fs) *engine.Engine { return engine.New(enginetest.Env(f), k) }

// waiting leaves an item open for a person.
func waiting(at string) error {
	return &step.Refusal{Class: "wanted", Message: "the answer to " + at + " is wanted", Next: "bring it", Open: step.Waiting, Resume: []string{"--answer", "FILE"}}
}

// failing leaves an item open for another try.
func failing(at string) error {
	return &step.Refusal{Class: "no-answer", Message: "there was no answer to " + at, Next: "look at the service", Open: step.Failed, Resume: []string{}}
}

// at makes steps do something instead of asking.
func at(do func(string) error, steps ...string) func(string) error {
	return func(at string) error {
		if slices.Contains(steps, at) {
			return do(at)
		}
		return nil
	}
}

func (asking) Name() string { return "compress" }

func (k asking) Items(ctx context.Context, env step.Env, job *spec.Job) ([]step.Item, error) {
	return enginetest.Kind{Sources: k.sources}.Items(ctx, env, job)
}

func (k asking) Steps(env step.Env, _ *spec.Job, item step.Item) ([]step.Step, error) {
	w := askingItem{k, env, item}
	steps := []step.Step{
		{Name: "read", Version: 1, Observe: w.observe, Run: w.read},
		{Name: "split", Version: 1, Needs: []string{"read"}, Run: w.split, Expand: w.parts},
	}
	if k.last {
		return steps, nil
	}
	return append(steps,
		step.Step{Name: "ask", Version: 1, Needs: []string{"split"}, Asks: true, Run: w.ask("ask", "join/text")},
		step.Step{Name: "publish", Version: 1, Needs: []string{"read", "split", "ask"}, Params: k.replace, Effect: true, Run: w.publish, Intend: w.intend, Settle: w.settle},
	), nil
}

type askingItem struct {
	asking
	env  step.Env
	item step.Item
}

func (w askingItem) observe(context.Context) ([]step.Observed, error) {
	size, sum, err := fsys.Sum(w.env.FS, w.item.Source)
	return []step.Observed{{Name: "source", Path: w.item.Source, Artifact: step.Artifact{SHA256: sum, Bytes: size}}}, err
}

func (w askingItem) read(_ context.Context, in step.Input) (step.Output, error) {
	data, err := afero.ReadFile(w.env.FS, w.item.Source)
	if err != nil {
		return step.Output{}, err
	}
	a, err := in.Put(data)
	return step.Output{
		Observed:  []step.Observed{{Name: "source", Path: w.item.Source, Artifact: a}},
		Artifacts: map[string]step.Artifact{"source": a},
	}, err
}

func (w askingItem) split(_ context.Context, in step.Input) (step.Output, error) {
	data, err := in.Open(in.Artifacts["read/source"])
	if err != nil {
		return step.Output{}, err
	}
	out := map[string]step.Artifact{}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		name := fmt.Sprintf("line-%d", i+1)
		if out[name], err = in.Put([]byte(line)); err != nil {
			return step.Output{}, err
		}
	}
	return step.Output{Artifacts: out}, nil
}

// parts are the steps that a split gives, which its artifacts tell by their names.
func (w askingItem) parts(split map[string]step.Artifact) (steps []step.Step, err error) {
	if len(split) == 0 {
		return nil, nil // a plan does not know them yet
	}
	join := step.Step{Name: "join", Version: 1, Run: w.join}
	for n := range len(split) {
		s := w.part(fmt.Sprintf("part-%d", n+1), "split", fmt.Sprintf("line-%d", n+1))
		if w.deep {
			s.Expand = w.again(s.Name)
		}
		steps = append(steps, s)
		join.Needs = append(join.Needs, s.Name)
	}
	return append(steps, join), nil
}

func (w askingItem) part(name, need, artifact string) step.Step {
	return step.Step{
		Name: name, Version: 1, Needs: []string{need}, Params: map[string]string{"pack": w.pack}, Asks: true,
		Run: w.ask(name, need+"/"+artifact),
	}
}

func (w askingItem) again(name string) func(map[string]step.Artifact) ([]step.Step, error) {
	return func(map[string]step.Artifact) ([]step.Step, error) {
		return []step.Step{w.part(name+"-again", name, "answer")}, nil
	}
}

// ask is a step whose question is one of its inputs.
func (w askingItem) ask(name, question string) func(context.Context, step.Input) (step.Output, error) {
	return func(ctx context.Context, in step.Input) (step.Output, error) {
		w.env.Cleanup(func() error { w.freed.Add(1); return nil })
		at := w.item.ID + "/" + name
		if w.before != nil {
			w.before(at)
		}
		text, err := w.answer(ctx, at, in, question)
		if err != nil {
			return step.Output{}, err
		}
		a, err := in.Put(text)
		out := step.Output{Artifacts: map[string]step.Artifact{"answer": a}}
		if name != "ask" { // there may be nothing to tell of an answer
			out.Facts = map[string]any{"bytes": a.Bytes}
		}
		return out, err
	}
}

// answer is what is on record, or was brought, or the author says.
func (w askingItem) answer(ctx context.Context, at string, in step.Input, question string) ([]byte, error) {
	if a, ok := in.Kept["answer"]; ok {
		return in.Open(a)
	}
	text, ok := w.env.Brought(func(text []byte) bool { return bytes.HasPrefix(text, []byte(at+": ")) })
	if !ok {
		var err error
		if text, err = w.fromAuthor(ctx, at, in, question); err != nil {
			return nil, err
		}
	}
	if err := in.Keep(map[string][]byte{"answer": text}); err != nil || w.kept == nil {
		return text, err
	}
	return text, w.kept(at)
}

func (w askingItem) fromAuthor(ctx context.Context, at string, in step.Input, question string) ([]byte, error) {
	if w.instead != nil {
		if err := w.instead(at); err != nil {
			return nil, err
		}
	}
	data, err := in.Open(in.Artifacts[question])
	if err != nil {
		return nil, err
	}
	text, err := w.author.answer(ctx, at, w.pack+string(data))
	return []byte(text), err
}

func (w askingItem) join(_ context.Context, in step.Input) (step.Output, error) {
	var all []byte
	for _, name := range slices.Sorted(maps.Keys(in.Artifacts)) {
		data, err := in.Open(in.Artifacts[name])
		if err != nil {
			return step.Output{}, err
		}
		all = append(all, data...)
	}
	a, err := in.Put(all)
	return step.Output{Artifacts: map[string]step.Artifact{"text": a}}, err
}

func (w askingItem) publish(ctx context.Context, in step.Input) (step.Output, error) {
	data, err := in.Open(in.Artifacts["ask/answer"])
	if err != nil {
		return step.Output{}, err
	}
	write := func(to io.Writer) error { _, err := to.Write(data); return err }
	if w.replace {
		return w.inPlace(ctx, in.Artifacts["read/source"], write)
	}
	r := publish.Request{Path: w.target(), Token: w.env.Token, Force: w.env.Force, Write: write}
	r.Replaces, _ = w.env.Owned(r.Path)
	p, err := publish.Candidate(ctx, w.env.FS, r)
	return step.Output{Published: step.Candidate(p)}, err
}

func (w askingItem) target() string {
	if w.replace {
		return w.item.Source
	}
	return filepath.Join("/out", w.item.ID+".txt")
}

func (w askingItem) inPlace(ctx context.Context, old step.Artifact, write func(io.Writer) error) (step.Output, error) {
	r, err := publish.InPlace(ctx, w.env.FS, publish.Replacement{
		Path: w.item.Source, Old: publish.Content{Bytes: old.Bytes, SHA256: old.SHA256},
		Token: w.env.Token, BackupDir: "/kept", AnyOwner: true, Write: write,
	})
	return w.replaced(r), err
}

func (w askingItem) replaced(r publish.Receipt) step.Output {
	return step.Output{Published: step.Replacement(r), Facts: map[string]any{"method": string(r.Method), "durable": r.Durable}}
}

func (w askingItem) intend(_ context.Context, in step.Input) ([]step.Published, error) {
	a := in.Artifacts["ask/answer"]
	p := step.Published{Op: step.Create, Path: w.target(), Bytes: a.Bytes, SHA256: a.SHA256}
	if w.replace {
		old := in.Artifacts["read/source"]
		p.Op, p.Old = step.Replace, &old
	}
	return []step.Published{p}, nil
}

func (w askingItem) settle(_ context.Context, intent []step.Published) (step.Output, bool, error) {
	p := intent[0]
	if !w.replace {
		size, sum, err := fsys.Sum(w.env.FS, p.Path)
		stands := err == nil && size == p.Bytes && sum == p.SHA256
		return step.Output{Published: intent}, stands, nil
	}
	r, err := publish.Recover(w.env.FS, publish.Intent{
		Path: p.Path, Token: w.env.Token, BackupDir: "/kept",
		Old: publish.Content{Bytes: p.Old.Bytes, SHA256: p.Old.SHA256}, New: publish.Content{Bytes: p.Bytes, SHA256: p.SHA256},
	})
	if err != nil || r.Stands != publish.NewStands {
		return step.Output{}, false, err
	}
	return w.replaced(r), true, nil
}

// classOf gives the class of an error, "" for none.
func classOf(err error) string {
	if r := new(step.Refusal); errors.As(err, &r) {
		return r.Class
	}
	return ""
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
