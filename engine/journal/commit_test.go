package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

// items is the ids of the items that a journal has.
func items(t rapid.TB, f afero.Fs) []string {
	t.Helper()
	var ids []string
	for _, i := range scan(t, f).Items {
		ids = append(ids, i.ItemOpened.Item)
	}
	return ids
}

func lines(t rapid.TB, f afero.Fs) int { return bytes.Count(content(t, f), []byte("\n")) }

// running is a journal with its first entry.
func running(t rapid.TB, f afero.Fs) *journal.Journal {
	t.Helper()
	j := open(t, f)
	must(t, j.Append(opened(0)))
	must(t, j.Commit())
	return j
}

func TestWhatIsNotCommittedIsLost(t *testing.T) {
	f := mem()
	j := running(t, f)
	must(t, j.Append(item("a")))
	must(t, j.Close())
	if ids := items(t, f); ids != nil {
		t.Errorf("%q", ids)
	}
	if err := j.Append(item("b")); err == nil {
		err = j.Commit()
		if !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestCommittedEntriesSurvive has many writers, each of which looks at the disk
// after a power cut once its commit returned.
func TestCommittedEntriesSurvive(t *testing.T) {
	const writers, each = 8, 12
	f := mem()
	j := running(t, f)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				id := fmt.Sprint(w, "-", n)
				for _, b := range []journal.Body{item(id), started(id, "s"), done(id, "s"), ended(id, step.Done)} {
					if err := j.Append(b); err != nil {
						t.Error(err)
					}
				}
				if err := j.Commit(); err != nil {
					t.Error(err)
				}
				survives(t, f.CrashClone(uint64(n%3)), id)
			}
		})
	}
	all.Wait()
	if got := len(items(t, f)); got != writers*each {
		t.Errorf("%d items", got)
	}
}

func survives(t *testing.T, f *memfs.FS, id string) {
	s, err := journal.Scan(f, file, nil)
	if err != nil {
		t.Error(err)
	} else if i := s.Item(id); i == nil || i.Result == nil {
		t.Errorf("item %s is lost", id)
	}
}

// TestThoseWhoWaitShareALine holds the first commit while others come.
func TestThoseWhoWaitShareALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := mem()
		j := running(t, f)
		held, syncs := make(chan struct{}), 0
		j.Before = func() error {
			syncs++
			<-held
			return nil
		}
		must(t, j.Append(item("first")))
		var returned atomic.Int32
		commit := func() {
			if err := j.Commit(); err != nil {
				t.Error(err)
			}
			returned.Add(1)
		}
		go commit()
		synctest.Wait()
		go commit() // has nothing of its own, and waits for what is under way
		synctest.Wait()
		for n := range 20 {
			must(t, j.Append(item(fmt.Sprint(n))))
			go func() {
				if err := j.Commit(); err != nil {
					t.Error(err)
				}
				survivesAs(t, f.CrashClone(0), fmt.Sprint(n))
			}()
			synctest.Wait()
		}
		if returned.Load() > 0 || lines(t, f) != 1 {
			t.Errorf("%d commits returned before they were durable", returned.Load())
		}
		close(held)
		synctest.Wait()
		if returned.Load() != 2 || syncs != 2 || lines(t, f) != 3 || len(items(t, f)) != 21 {
			t.Errorf("%d returned, %d syncs, %d lines, %d items", returned.Load(), syncs, lines(t, f), len(items(t, f)))
		}
	})
}

func survivesAs(t *testing.T, f *memfs.FS, id string) {
	if ids := items(t, f); !slices.Contains(ids, id) {
		t.Errorf("item %s is not among %q", id, ids)
	}
}

func TestCommitOfNothingWritesNothing(t *testing.T) {
	f := mem()
	j := running(t, f)
	j.Before = func() error { return errors.New("called") }
	before := content(t, f)
	must(t, j.Commit())
	if !bytes.Equal(before, content(t, f)) {
		t.Error("the file changed")
	}
}

func TestMuchIsCommittedByItself(t *testing.T) {
	f := mem()
	j := running(t, f)
	large := func(id string) *journal.ItemOpened {
		return &journal.ItemOpened{Item: id, Source: strings.Repeat("s", 100<<10)}
	}
	for _, id := range []string{"a", "b"} {
		must(t, j.Append(large(id)))
	}
	if lines(t, f) != 1 {
		t.Error("committed before there was much")
	}
	must(t, j.Append(large("c"))) // more than 256 KiB
	if ids := items(t, f.CrashClone(0)); len(ids) != 3 || lines(t, f) != 2 {
		t.Errorf("%q in %d lines", ids, lines(t, f))
	}
	must(t, j.Append(large("d")))
	if lines(t, f) != 2 {
		t.Error("what was committed is counted again")
	}
}

func TestWhatEntriesSpeakOfIsDurableBefore(t *testing.T) {
	f := mem()
	j := running(t, f)
	var seen []int
	j.Before = func() error { seen = append(seen, lines(t, f)); return nil }
	must(t, j.Append(item("a")))
	must(t, j.Commit())
	must(t, j.Append(&journal.ItemOpened{Item: "b", Source: strings.Repeat("s", 300<<10)}))
	if !slices.Equal(seen, []int{1, 2}) {
		t.Errorf("called with %v lines", seen)
	}
	bad := errors.New("bad")
	j.Before = func() error { return bad }
	must(t, j.Append(item("c")))
	before := content(t, f)
	if err := j.Commit(); !errors.Is(err, bad) || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
	j.Before = nil
	if err := errors.Join(j.Commit(), j.Append(item("d"))); !errors.Is(err, bad) || !bytes.Equal(before, content(t, f)) {
		t.Errorf("the journal goes on: %v", err)
	}
}

// TestAFailedCommitIsTheLast fails or stops the world at every operation of a
// session that commits line after line.
func TestAFailedCommitIsTheLast(t *testing.T) {
	for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Stop: true}, {Stop: true, Short: true}} {
		for plan.At = 1; ; plan.At++ {
			base := mem()
			tell(t, base, 1, opened(0), item("old"))
			f := faultfs.New(base, plan)
			acknowledged, tried := session(t, f)
			if !f.Hit() {
				if acknowledged != tried {
					t.Fatalf("%d of %d without a fault", acknowledged, tried)
				}
				break
			}
			for seed := range uint64(4) {
				got := len(items(t, base.CrashClone(seed))) - 1
				if got < acknowledged || got > tried {
					t.Errorf("%+v (%s): %d items, %d acknowledged, %d tried", plan, f.Ops()[plan.At-1], got, acknowledged, tried)
				}
			}
		}
	}
}

// session commits until it fails; afterwards nothing may be taken.
func session(t *testing.T, f afero.Fs) (acknowledged, tried int) {
	j, err := journal.Open(f, file, owner, now, nil)
	if err != nil {
		return 0, 0
	}
	defer j.Close()
	for tried < 4 {
		must(t, j.Append(item(fmt.Sprint(tried))))
		tried++
		if err := j.Commit(); err != nil {
			if j.Commit() == nil || j.Append(item("after")) == nil || j.Commit() == nil {
				t.Error("the journal went on after a failure")
			}
			return acknowledged, tried
		}
		acknowledged++
	}
	return acknowledged, tried
}

// Of writers that commit together, those who were told of no failure have lost
// nothing.
func TestAFailureReachesAllWhoWait(t *testing.T) {
	for at := 1; at < 60; at++ {
		base := mem()
		must(t, running(t, base).Close())
		f := faultfs.New(base, faultfs.Plan{At: at, Short: true})
		j, err := journal.Open(f, file, owner, now, nil)
		if err != nil {
			continue
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		var acknowledged []string
		for w := range 4 {
			all.Go(func() {
				for n := range 4 {
					id := fmt.Sprint(w, "-", n)
					if j.Append(item(id)) != nil || j.Commit() != nil {
						return
					}
					mu.Lock()
					acknowledged = append(acknowledged, id)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		got := items(t, base.CrashClone(0))
		for _, id := range acknowledged {
			if !slices.Contains(got, id) {
				t.Errorf("fault at %d: %s was acknowledged, and is not among %q", at, id, got)
			}
		}
	}
}
