package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
)

// RunStatus is what became of a run.
type RunStatus string

// The statuses of a run.
const (
	RunFinished    RunStatus = "finished"
	RunRunning     RunStatus = "running"
	RunInterrupted RunStatus = "interrupted"
	RunWaiting     RunStatus = "waiting" // for what a person is to bring
	RunOpen        RunStatus = "open"    // left open by steps that failed and can be tried again
	RunUnreadable  RunStatus = "unreadable"
)

// RunInfo is a run in a listing.
type RunInfo struct {
	Run     string              `json:"run"`
	Status  RunStatus           `json:"status"`
	Kind    string              `json:"kind,omitempty"`
	Name    string              `json:"name,omitempty"`
	File    string              `json:"file,omitempty"` // of the job
	Job     string              `json:"job,omitempty"`  // digest
	Opened  time.Time           `json:"opened,omitzero"`
	Ended   time.Time           `json:"ended,omitzero"` // the last entry
	Resumed int                 `json:"resumed,omitempty"`
	Exit    *int                `json:"exit,omitempty"` // of a finished run
	Items   int                 `json:"items"`
	Count   map[step.Status]int `json:"count"` // of the items by status; those not come to have none
	Owner   *Owner              `json:"owner,omitempty"`
	Problem string              `json:"problem,omitempty"` // of an unreadable journal
}

// RunDetail is a run with its items.
type RunDetail struct {
	RunInfo
	Durability applog.Level `json:"durability"`
	Detail     []ItemDetail `json:"detail"`
}

// ItemDetail is an item of a run, with its steps where they were asked for.
type ItemDetail struct {
	Item      string           `json:"item"`
	Source    string           `json:"source"`
	Result    *journal.Outcome `json:"result,omitempty"` // none while it is open
	Left      *journal.Outcome `json:"left,omitempty"`   // why an open one was left
	Same      string           `json:"same,omitempty"`
	Published []step.Published `json:"published,omitempty"`
	Restored  []step.Published `json:"restored,omitempty"`
	Sizes     *step.Sizes      `json:"sizes,omitempty"`
	Steps     []StepDetail     `json:"steps,omitempty"`
}

// StepDetail is a step of an item of a run.
type StepDetail struct {
	Step      string                   `json:"step"`
	Phase     journal.Phase            `json:"phase"`
	Home      string                   `json:"home,omitempty"` // the earlier run that it was taken from
	Began     time.Time                `json:"began,omitzero"` // not when it was taken from an earlier run
	Ended     time.Time                `json:"ended,omitzero"`
	Key       string                   `json:"key,omitempty"`
	Artifacts map[string]step.Artifact `json:"artifacts,omitempty"`
	Kept      map[string]step.Artifact `json:"kept,omitempty"` // of one that is not finished: what it got so far
	Published []step.Published         `json:"published,omitempty"`
	Facts     map[string]any           `json:"facts,omitempty"`
	Failure   *journal.Outcome         `json:"failure,omitempty"`
}

func details(steps []*journal.Step) []StepDetail {
	list := make([]StepDetail, len(steps))
	for i, s := range steps {
		list[i] = StepDetail{
			Step: s.StepStarted.Step, Phase: s.Phase, Home: s.Done.Home, Began: s.Began, Ended: s.Ended,
			Key: s.Done.Key, Artifacts: s.Done.Artifacts, Published: s.Published, Facts: s.Done.Facts, Failure: s.Failure,
		}
		if s.Phase != journal.Finished {
			list[i].Kept = s.Kept
		}
	}
	return list
}

// Find gives an artifact of a step, and the run that has it. The name is the
// artifact's, or "step/artifact".
func (d *ItemDetail) Find(run, name string) (home string, a step.Artifact, ok bool) {
	only, artifact, found := strings.Cut(name, "/")
	if !found {
		only, artifact = "", name
	}
	for _, s := range d.Steps {
		if only != "" && only != s.Step {
			continue
		}
		for _, have := range []map[string]step.Artifact{s.Artifacts, s.Kept} {
			if a, ok := have[artifact]; ok {
				return cmp.Or(s.Home, run), a, true
			}
		}
	}
	return "", step.Artifact{}, false
}

// Runs lists the runs of the state directory, oldest first.
func (e *Engine) Runs() ([]RunInfo, error) {
	ids, err := e.ids()
	if err != nil {
		return nil, err
	}
	list := make([]RunInfo, 0, len(ids))
	for _, id := range ids {
		state, err := journal.Scan(e.env.FS, e.journalOf(id), nil)
		list = append(list, e.info(id, &state, err))
	}
	return list, nil
}

// Show tells about a run; steps are those of the named items, of all for none.
func (e *Engine) Show(id string, items ...string) (*RunDetail, error) {
	steps := map[string][]StepDetail{}
	wanted := func(i *journal.Item) bool { return len(items) == 0 || slices.ContainsFunc(items, e.naming(i)) }
	state, err := e.scan(id, func(i *journal.Item) error {
		if wanted(i) {
			steps[i.ItemOpened.Item] = details(i.Steps)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := &RunDetail{RunInfo: e.info(state.Run.Run, state, nil), Durability: state.Run.Durability}
	for _, i := range state.Items {
		if !wanted(i) {
			continue
		}
		if i.Result == nil {
			steps[i.ItemOpened.Item] = details(i.Steps)
		}
		d.Detail = append(d.Detail, ItemDetail{
			Item: i.ItemOpened.Item, Source: i.Source, Result: i.Result, Left: i.Left(), Same: i.Same,
			Published: i.Published, Restored: i.Restored, Sizes: i.Sizes, Steps: steps[i.ItemOpened.Item],
		})
	}
	return d, e.allNamed(state, items)
}

// naming tells whether a name is that of an item: its id, or the path of its
// session.
func (e *Engine) naming(i *journal.Item) func(name string) bool {
	return func(name string) bool {
		if name == i.ItemOpened.Item || name == filepath.Base(i.Source) {
			return true
		}
		path, err := fsys.Canonical(e.env.FS, name)
		return err == nil && written(path) == i.Source
	}
}

// allNamed refuses a name that is no item's.
func (e *Engine) allNamed(state *journal.State, names []string) error {
	for _, name := range names {
		if slices.ContainsFunc(state.Items, func(i *journal.Item) bool { return e.naming(i)(name) }) {
			continue
		}
		return &step.Refusal{
			Class: "no-such-item", Message: "the run has no session " + name, Place: step.Place{File: state.Run.Run},
			Next: e.env.command("show", state.Run.Run) + " lists them",
		}
	}
	return nil
}

// Artifacts opens the artifacts of a run; the caller closes them.
func (e *Engine) Artifacts(run string) (*cas.Store, error) {
	return cas.Open(e.env.FS, filepath.Join(e.runs(), filepath.Base(run), packName))
}

func (e *Engine) info(id string, state *journal.State, err error) RunInfo {
	info := RunInfo{Run: id, Count: map[step.Status]int{}, Items: len(state.Items), Opened: state.Opened, Ended: state.Ended, Resumed: len(state.Resumed)}
	if err == nil && state.Run == nil {
		err = errors.New("the run ended before its first entry")
	}
	if err != nil {
		info.Status, info.Problem = RunUnreadable, err.Error()
		return info
	}
	info.Kind, info.Name, info.File, info.Job, info.Owner = state.Run.Kind, state.Run.Name, state.Run.File, state.Run.Job, &state.Run.Owner
	if n := len(state.Resumed); n > 0 {
		info.Owner = &state.Resumed[n-1].Owner
	}
	open, cut, status := 0, len(state.Items) < state.Run.Items, RunOpen
	for _, i := range state.Items {
		if i.Result == nil {
			open++
		}
		o := cmp.Or(i.Result, i.Left())
		if o == nil {
			cut = true
			continue
		}
		if info.Count[o.Status]++; o.Status == step.Waiting {
			status = RunWaiting
		}
	}
	switch {
	case state.Finished != nil:
		info.Status, info.Exit = RunFinished, &state.Finished.Exit
	case e.running(id):
		info.Status = RunRunning
	case cut || open == 0: // with none open the run's own end is missing
		info.Status = RunInterrupted
	default:
		info.Status = status
	}
	return info
}

// running tells whether a process has the run's journal open for append.
func (e *Engine) running(id string) bool {
	l, ok := fsys.As[fsys.Locker](e.env.FS)
	if !ok {
		return false
	}
	lock, err := l.Lock(e.journalOf(id) + ".lock")
	if err == nil {
		_ = lock.Close()
	}
	return errors.Is(err, fsys.ErrLocked)
}

func (e *Engine) journalOf(id string) string {
	return filepath.Join(e.runs(), id, "journal.jsonl")
}

// ids are the runs that there are, oldest first.
func (e *Engine) ids() ([]string, error) {
	list, err := afero.ReadDir(e.env.FS, e.runs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, e.unwritable(err)
	}
	var ids []string
	for _, info := range list {
		if info.IsDir() {
			ids = append(ids, info.Name())
		}
	}
	return ids, nil
}

// lastRun is a word for the newest run.
const lastRun = "last"

// find resolves the beginning of a run's id, or the word "last".
func (e *Engine) find(id string) (string, error) {
	ids, err := e.ids()
	if err != nil {
		return "", err
	}
	if id == lastRun && len(ids) > 0 {
		return ids[len(ids)-1], nil
	}
	var found []string
	for _, known := range ids {
		if known == id {
			return id, nil
		}
		if id != "" && strings.HasPrefix(known, id) {
			found = append(found, known)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &step.Refusal{Class: "no-such-run", Message: fmt.Sprintf("there is no run %q in %s", id, e.env.State), Next: e.env.command("runs") + " lists them; --state names another folder"}
	}
	return "", &step.Refusal{Class: "ambiguous-run", Message: fmt.Sprintf("%d runs begin with %q", len(found), id), Next: "give more of the id; " + e.env.command("runs") + " lists them"}
}

// unreadable says what to do about a journal.
func unreadable(p journal.Problem) string {
	if p == journal.UnknownVersion || p == journal.UnknownType {
		return "use the version of precis that wrote it; the file was not touched"
	}
	return "the file was not touched. A new precis run does what is missing; if the run replaced sessions, the old ones are among the backups"
}

// scan folds the journal of a run.
func (e *Engine) scan(id string, each func(*journal.Item) error) (*journal.State, error) {
	id, err := e.find(id)
	if err != nil {
		return nil, err
	}
	state, err := journal.Scan(e.env.FS, e.journalOf(id), each)
	var bad *journal.Error
	switch {
	case errors.As(err, &bad):
		return nil, &step.Refusal{
			Class: "journal-" + string(bad.Problem), Message: bad.Detail, Place: step.Place{File: bad.File, Line: bad.Line, Byte: bad.Byte},
			Next: unreadable(bad.Problem),
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case state.Run == nil:
		return nil, &step.Refusal{Class: "run-not-begun", Message: "the run ended before its first entry; it did nothing", Place: step.Place{File: e.journalOf(id)}, Next: "begin anew with precis run"}
	}
	return &state, nil
}
