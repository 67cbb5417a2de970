package publish_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/publish"
)

// The crash matrix stops a replacement at every operation, or lets that operation
// fail, in every way that a replacement can go.

// fault is one operation that fails.
type fault struct {
	way
	plan faultfs.Plan
}

// strike runs a replacement into the fault. hit is false when there was no such
// operation; then the replacement must have succeeded.
func (c fault) strike(t testing.TB) (f volume, got publish.Receipt, err error, hit bool) {
	t.Helper()
	f = c.world(t)
	faulty := faultfs.New(f, c.plan)
	got, err = replace(faulty, c.job())
	if !faulty.Hit() && err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return f, got, err, faulty.Hit()
}

func (c fault) String() string {
	return fmt.Sprintf("%s, operation %d %v short %v stop %v", c.name, c.plan.At, c.plan.Err, c.plan.Short, c.plan.Stop)
}

// whole says what is wrong with a tree, whatever happened: the session is old or
// new, or captured where a call brings it back; backups are whole.
func (c fault) whole(files map[string]string) error {
	var errs []error
	stands, ok := files[session]
	if !ok && (!c.noExchange || files[taken] != oldText) || ok && stands != oldText && stands != newText {
		errs = append(errs, fmt.Errorf("the session holds %q", stands))
	}
	for name, text := range files {
		// Without links a number is claimed by an empty file, until the next call.
		_, copying := files["/p/.s.jsonl.backup.stage-tok"]
		claimed := c.noLinks && text == "" && copying
		if strings.HasPrefix(name, c.backup()) && text != oldText && !claimed {
			errs = append(errs, fmt.Errorf("%s holds %q", name, text))
		}
	}
	if files[bystand] != "other" {
		errs = append(errs, fmt.Errorf("another file holds %q", files[bystand]))
	}
	return errors.Join(errs...)
}

// again calls a second time and wants what a straight run leaves.
func (c fault) again(t *testing.T, f volume, after string) {
	t.Helper()
	got, err := replace(f, c.job())
	if err != nil || got.Stands != publish.NewStands || content(f, got.Backup) != oldText {
		t.Errorf("%s, %s: again: %+v, %v", c, after, got, err)
	}
	if d := cmp.Diff(c.after(), tree(t, f)); d != "" {
		t.Errorf("%s, %s: again: %s", c, after, d)
	}
}

// recover settles and wants one of the two files and nothing hidden.
func (c fault) recover(t *testing.T, f volume, after string) {
	t.Helper()
	got, err := publish.Recover(f, c.intent())
	files := tree(t, f)
	want := c.before()
	if got.Stands == publish.NewStands {
		want = c.after()
		if got.Backup == "" || files[got.Backup] != oldText {
			t.Errorf("%s, %s: backup %q", c, after, got.Backup)
		}
	}
	// A copied backup of an attempt that died cannot be told from an earlier one.
	if c.copies() && got.Stands == publish.OldStands && files[c.backup()] == oldText {
		delete(files, c.backup())
	}
	if d := cmp.Diff(want, files); d != "" || err != nil || got.Stands == publish.Foreign {
		t.Errorf("%s, %s: recovered: %+v, %v, %s", c, after, got, err, d)
	}
}

func TestFailingOperations(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, w := range ways {
		for _, plan := range []faultfs.Plan{{Err: syscall.EIO, Reads: true}, {Err: syscall.ENOSPC}, {Short: true}} {
			for plan.At = 1; ; plan.At++ {
				c := fault{w, plan}
				f, got, err, hit := c.strike(t)
				if !hit {
					break
				}
				cases++
				c.failed(t, f, got, err)
			}
		}
	}
	t.Logf("%d failing operations", cases)
}

// failed checks the world after one operation failed.
func (c fault) failed(t *testing.T, f volume, got publish.Receipt, err error) {
	t.Helper()
	files := tree(t, f)
	if e := c.whole(files); e != nil {
		t.Errorf("%s: %v: %v", c, err, e)
	}
	want := map[publish.Stands]string{publish.NewStands: newText, publish.OldStands: oldText}[got.Stands]
	if got.Stands != "" && files[session] != want {
		t.Errorf("%s: said to stand: %q, but %q does (%v)", c, got.Stands, files[session], err)
	}
	if d := cmp.Diff(c.after(), files); err == nil && d != "" {
		t.Errorf("%s: %s", c, d)
	}
	for name := range files {
		if strings.HasPrefix(name, "/p/.") && !slices.Contains(got.Left, name) {
			t.Errorf("%s: %s is left and not in the receipt %+v", c, name, got)
		}
		if strings.HasPrefix(name, c.backup()) && got.Backup != name && got.Stands != "" && len(got.Left) == 0 {
			t.Errorf("%s: %s is left and not in the receipt %+v, %v", c, name, got, err)
		}
	}
	c.again(t, f, "failed")
}

// The tests allocate much and keep nothing.
func init() { debug.SetGCPercent(2000) }

// In memory nobody writes on his own, so nobody is waited for.
var linger = publish.SetLinger(0)

func seeds(t testing.TB) uint64 {
	if testing.Short() {
		return 10
	}
	return 100
}

func TestPowerCuts(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, w := range ways {
		ends := map[string]int{}
		for at := 1; ; at++ {
			c := fault{w, faultfs.Plan{At: at, Stop: true, Short: true}}
			f, _, _, hit := c.strike(t)
			if !hit {
				break
			}
			for seed := range seeds(t) {
				after := fmt.Sprint("power cut ", seed)
				clone := w.clone(f, seed)
				files := tree(t, clone)
				ends[files[session]]++
				if err := c.whole(files); err != nil {
					t.Errorf("%s, %s: %v", c, after, err)
				}
				c.recover(t, clone, after)
				c.again(t, clone, after+", recovered")
				c.again(t, w.clone(f, seed), after)
				cases++
			}
			c.again(t, f, "killed")
			f, _, _, _ = c.strike(t)
			c.recover(t, f, "killed")
			cases += 2
		}
		if ends[oldText] == 0 || ends[newText] == 0 || (ends[""] > 0) != w.noExchange {
			t.Errorf("%s: %d times old, %d new, %d neither: the sweep missed the exchange", w.name, ends[oldText], ends[newText], ends[""])
		}
	}
	t.Logf("%d crashes", cases)
}

// A crash may come in the recovery from a crash.
func TestPowerCutsInARecovery(t *testing.T) {
	t.Parallel()
	settle := map[string]func(fault, afero.Fs) error{
		"recovery":  func(c fault, f afero.Fs) error { return second(publish.Recover(f, c.intent())) },
		"next call": func(c fault, f afero.Fs) error { return second(replace(f, c.job())) },
	}
	cases := 0
	for _, w := range ways {
		for at := 1; ; at++ {
			c := fault{w, faultfs.Plan{At: at, Stop: true}}
			f, _, _, hit := c.strike(t)
			if !hit {
				break
			}
			for _, seed := range []uint64{0, 3}[:min(2, seeds(t)/10)] {
				for name, run := range settle {
					cases += c.cutAgain(t, f, seed, name, run)
				}
			}
		}
	}
	t.Logf("%d crashes in a recovery", cases)
}

func (c fault) cutAgain(t *testing.T, f volume, seed uint64, name string, run func(fault, afero.Fs) error) (cases int) {
	t.Helper()
	for at := 1; ; at++ {
		clone := c.clone(f, seed)
		faulty := faultfs.New(clone, faultfs.Plan{At: at, Stop: true})
		err := run(c, faulty)
		if !faulty.Hit() {
			must(t, err)
			return cases
		}
		for _, last := range []uint64{0, 1, 2} {
			after := fmt.Sprintf("power cut %d, %s cut at %d with %d", seed, name, at, last)
			if err := c.whole(tree(t, c.clone(clone, last))); err != nil {
				t.Errorf("%s, %s: %v", c, after, err)
			}
			c.again(t, c.clone(clone, last), after)
			cases++
		}
	}
}
