package compress_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/author"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/spec"
)

// The world of the tests with an author: one that counts how often it is asked, and
// answers as the test says.

const modelText = `
version: 1
kind: compress
name: test
input: {sessions: ["/s/*.jsonl"]}
mode: {summary: model}
author: {by: command, command: [scribe]}
budgets: {keepRecords: 2}
publish: {to: candidate, path: "/out/{session}.jsonl"}
`

// byFile is the same job with a person who writes.
var byFile = strings.Replace(modelText, "by: command, command: [scribe]", "by: file", 1)

// What shows that text of a session, or a key, got somewhere.
const (
	theKey    = "sk-planted-0123456789"
	theFolded = "HARBOUR"
	theRaw    = "LIGHTHOUSE"
	theBranch = "SHIPWRECK"
)

// harbour is a session of six turns and a rewound branch. The last turn stays raw
// with keepRecords: 2.
func harbour() []byte {
	var b st.Builder
	parent := ""
	for i := range 5 {
		u, a := fmt.Sprint("u", i), fmt.Sprint("a", i)
		b.User(u, parent, fmt.Sprintf("Please dredge the %s basin number %d before the spring tide comes.", theFolded, i))
		b.Assistant(a, u, "m"+a, st.Text(fmt.Sprintf("Basin %d of the %s is dredged, because the tide was late; four metres are left.", i, theFolded)))
		parent = a
	}
	b.User("x0", parent, "The "+theBranch+" must be lifted first.")
	b.User("u9", parent, "Now paint the "+theRaw+".")
	b.Assistant("a9", "u9", "ma9", st.Text("The "+theRaw+" is white."))
	b.LastPrompt("a9")
	return b.Bytes()
}

// call is one time that an author was asked.
type call struct {
	n       int    // from 1
	prompt  string // all of it
	pack    string
	answers []string // earlier ones, with what was said about each
	reports []string
}

// maxChars is how long the prompt says that a summary may be.
func (c call) maxChars() int {
	m := regexp.MustCompile(`at most (\d+) characters`).FindStringSubmatch(c.prompt)
	if m == nil {
		panic("the prompt names no limit")
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// scribe is an author: a command of the tests.
type scribe struct {
	mu    sync.Mutex
	calls []call
	// write gives the answer; nil writes a good summary.
	write func(c call) string
}

// good is a summary that abides by the pack.
func good(c call) string {
	text, err := mechanical.Write([]byte(c.pack))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// bad lacks a heading that every pack demands.
func bad(c call) string {
	return strings.Replace(good(c), "\n## Decisions and Reasons\n", "\n", 1)
}

// badUntil gives some bad answers to each pack, and then a good one.
func badUntil(n int) func(c call) string {
	return func(c call) string {
		if len(c.answers) < n {
			return bad(c)
		}
		return good(c)
	}
}

// ask notes that the author was asked, and gives the answer.
func (s *scribe) ask(c call) string {
	s.mu.Lock()
	c.n = len(s.calls) + 1
	s.calls = append(s.calls, c)
	write := s.write
	s.mu.Unlock()
	if write == nil {
		write = good
	}
	return write(c)
}

func (s *scribe) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// run is the command.
func (s *scribe) run(_ context.Context, p author.Process) (author.Exit, error) {
	return author.Exit{}, p.Stdout([]byte(s.ask(heard(p.Stdin))))
}

// heard takes apart what a command reads.
func heard(text string) call {
	const answer, report = "\n\n# Your answer\n\n", "\n\n# What the checker says\n\n"
	turns := strings.Split(text, answer)
	_, pack, _ := strings.Cut(turns[0], "\n\n# Evidence Pack")
	c := call{prompt: text, pack: "# Evidence Pack" + pack}
	for _, turn := range turns[1:] {
		said, about, _ := strings.Cut(turn, report)
		c.answers, c.reports = append(c.answers, said), append(c.reports, about)
	}
	return c
}

// modelWorld is a world with an author.
type modelWorld struct {
	*world
	scribe *scribe
	text   string // of the job
	kind   compress.Kind
	now    time.Time // of the author's clock
	slept  []time.Duration
	keys   map[string]string
	events *record
}

func newModelWorld(t *testing.T) *modelWorld {
	t.Helper()
	return modelWorldOn(newWorld(t))
}

func modelWorldOn(w *world) *modelWorld {
	m := &modelWorld{world: w, scribe: &scribe{}, text: modelText, keys: map[string]string{"KEY": theKey}, events: &record{}}
	m.kind = compress.Kind{Authors: author.World{
		Getenv: func(name string) (string, bool) { v, ok := m.keys[name]; return v, ok },
		Now:    func() time.Time { return m.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			m.slept, m.now = append(m.slept, d), m.now.Add(d)
			return ctx.Err()
		},
		Random: func() float64 { return 0 },
		Run:    m.scribe.run,
	}}
	return m
}

// on is the same author in front of another filesystem, as of another process.
func (m *modelWorld) on(f afero.Fs, id string) *modelWorld {
	n := *m
	w := *m.world
	w.env = enginetest.Env(f)
	w.env.NewID = func() string { return id }
	if mem, ok := f.(*memfs.FS); ok {
		w.fs = mem
	}
	n.world = &w
	return &n
}

func (m *modelWorld) job(set ...string) *spec.Job {
	m.t.Helper()
	job, err := spec.Parse("/job.yaml", []byte(m.text), set)
	if err != nil {
		m.t.Fatal(err)
	}
	return job
}

func (m *modelWorld) engine() *engine.Engine { return engine.New(m.env, m.kind) }

func (m *modelWorld) run(set ...string) engine.Result {
	m.t.Helper()
	return m.runWith(context.Background(), engine.Options{}, set...)
}

func (m *modelWorld) runWith(ctx context.Context, o engine.Options, set ...string) engine.Result {
	m.t.Helper()
	o.Sink, o.Set = m.events, set
	m.last, _ = m.engine().Run(ctx, m.job(set...), o)
	return m.last
}

// resume goes on with the last run.
func (m *modelWorld) resume(texts ...string) (engine.Result, error) {
	m.t.Helper()
	o := engine.Options{Sink: m.events}
	for i, text := range texts {
		o.Brought = append(o.Brought, engine.Brought{Name: fmt.Sprintf("file-%d", i+1), Text: []byte(text)})
	}
	var err error
	m.last, err = m.engine().Resume(context.Background(), "last", o)
	return m.last, err
}

// done demands that a result is one item that is done, and gives its file.
func (m *modelWorld) done(r engine.Result) string {
	m.t.Helper()
	if len(r.Items) != 1 || r.Exit != 0 || r.Items[0].Status != step.Done {
		m.t.Fatalf("exit %d, items %+v", r.Exit, r.Items)
	}
	return string(m.out(r.Items[0].Item))
}

// left demands that a result is one item that is left open with a class.
func (m *modelWorld) left(r engine.Result, status step.Status, class string, exit int) engine.ItemResult {
	m.t.Helper()
	if len(r.Items) != 1 {
		m.t.Fatalf("exit %d, items %+v", r.Exit, r.Items)
	}
	i := r.Items[0]
	if r.Exit != exit || i.Status != status || i.Class != class || !i.Open || i.Message == "" || !strings.Contains(i.Next, "precis resume "+r.Run) {
		m.t.Errorf("exit %d, %+v, want %s %s", r.Exit, i, status, class)
	}
	return i
}

// refusedWith demands that the only item is refused for good.
func (m *modelWorld) refusedWith(r engine.Result, class string) engine.ItemResult {
	m.t.Helper()
	if len(r.Items) != 1 || r.Exit != 1 || r.Items[0].Status != step.Refused || r.Items[0].Class != class || r.Items[0].Open || r.Items[0].Next == "" {
		m.t.Fatalf("exit %d, %+v, want %s", r.Exit, r.Items, class)
	}
	return r.Items[0]
}

// artifact is one of the last run, under "step/name"; false if there is none.
func (m *modelWorld) artifact(item, name string) (string, bool) {
	m.t.Helper()
	d, err := m.engine().Show("last", item)
	if err != nil {
		m.t.Fatal(err)
	}
	home, a, ok := d.Detail[0].Find(d.Run, name)
	if !ok {
		return "", false
	}
	store, err := m.engine().Artifacts(home)
	if err != nil {
		m.t.Fatal(err)
	}
	data, err := store.Get(a)
	if err = errors.Join(err, store.Close()); err != nil {
		m.t.Fatal(err)
	}
	return string(data), true
}

// mustArtifact is one that must be there.
func (m *modelWorld) mustArtifact(name string) string {
	m.t.Helper()
	text, ok := m.artifact(m.last.Items[0].Item, name)
	if !ok {
		m.t.Fatalf("the run has no artifact %s", name)
	}
	return text
}

// record is a sink that remembers all events as text.
type record struct {
	mu sync.Mutex
	b  strings.Builder
}

// Emit implements [event.Sink].
func (r *record) Emit(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event.NewLines(&r.b).Emit(e)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// liveText is what the candidate's summary says.
func liveText(t testing.TB, candidate string) string {
	t.Helper()
	for line := range strings.Lines(candidate) {
		if !strings.Contains(line, `"isCompactSummary":true`) {
			continue
		}
		var r struct{ Message struct{ Content string } }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		return r.Message.Content
	}
	t.Fatal("no summary")
	return ""
}

// straight is the file that a job gives when nothing goes wrong.
func straight(t *testing.T, session []byte, write func(c call) string, set ...string) string {
	t.Helper()
	m := newModelWorld(t)
	m.scribe.write = write
	m.put("/s/x.jsonl", session)
	return m.done(m.run(set...))
}
