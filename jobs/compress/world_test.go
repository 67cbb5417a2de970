package compress_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/spec"
)

// world is a filesystem in memory with sessions in /s and outputs in /out.
type world struct {
	t   *testing.T
	fs  *memfs.FS
	env engine.Env

	last engine.Result
}

func newWorld(t *testing.T) *world {
	t.Helper()
	fs := enginetest.Memory()
	w := &world{t: t, fs: fs, env: enginetest.Env(fs)}
	for _, dir := range []string{"/s", "/out"} {
		if err := w.fs.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) put(name string, data []byte) {
	w.t.Helper()
	if err := afero.WriteFile(w.fs, name, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// testdata reads a file of the project's testdata folder.
func testdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// putCase puts a file of testdata/cases into /s.
func (w *world) putCase(name string) {
	w.t.Helper()
	w.put("/s/"+name+".jsonl", testdata(w.t, "cases/"+name+".jsonl"))
}

const jobText = `
version: 1
kind: compress
name: test
input: {sessions: ["/s/*.jsonl"]}
mode: {summary: deterministic}
budgets: {keepRecords: 2}
publish: {to: candidate, path: "/out/{session}.jsonl"}
`

func (w *world) job(set ...string) *spec.Job {
	w.t.Helper()
	job, err := spec.Parse("/job.yaml", []byte(jobText), set)
	if err != nil {
		w.t.Fatal(err)
	}
	return job
}

// run runs the job with some settings.
func (w *world) run(set ...string) engine.Result {
	w.t.Helper()
	return w.runWith(engine.Options{}, set...)
}

func (w *world) runWith(o engine.Options, set ...string) engine.Result {
	w.t.Helper()
	w.last, _ = engine.New(w.env, compress.Kind{}).Run(context.Background(), w.job(set...), o)
	return w.last
}

// out is the candidate of a session, which must be there.
func (w *world) out(session string) []byte {
	w.t.Helper()
	data, err := afero.ReadFile(w.fs, "/out/"+session+".jsonl")
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

// one runs the job on a single session and demands that it is done.
func (w *world) one(session string, set ...string) ([]string, engine.ItemResult) {
	w.t.Helper()
	r := w.run(set...)
	if len(r.Items) != 1 || r.Exit != 0 {
		w.t.Fatalf("exit %d, items %+v", r.Exit, r.Items)
	}
	return lines(w.out(session)), r.Items[0]
}

func lines(data []byte) []string {
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func index(t *testing.T, data []byte) *transcript.Index {
	t.Helper()
	x, err := transcript.Read(strings.NewReader(string(data)), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// reports are the reports of the last run, by item.
func (w *world) reports() map[string]string {
	w.t.Helper()
	e := engine.New(w.env, compress.Kind{})
	out := map[string]string{}
	for _, i := range w.last.Items {
		if i.Home == "" {
			continue
		}
		pack, err := e.Artifacts(i.Home)
		if err != nil {
			w.t.Fatal(err)
		}
		data, err := pack.Get(i.Report)
		if err := errors.Join(err, pack.Close()); err != nil {
			w.t.Fatal(err)
		}
		out[i.Item] = string(data)
	}
	return out
}

// report is the only report of the last run.
func (w *world) report() (r compress.Report) {
	w.t.Helper()
	for _, content := range w.reports() {
		if err := json.Unmarshal([]byte(content), &r); err != nil {
			w.t.Fatal(err)
		}
		return r
	}
	w.t.Fatal("no report")
	return r
}

// files lists every file below a folder with its content.
func (w *world) files(root string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := afero.Walk(w.fs, root, func(p string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := afero.ReadFile(w.fs, p)
		out[p] = string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return out
}

// summary is the text of the candidate's summary.
func summaryOf(t *testing.T, candidate []string) string {
	t.Helper()
	for _, l := range candidate {
		if strings.Contains(l, `"isCompactSummary":true`) {
			return l
		}
	}
	t.Fatal("no summary")
	return ""
}
