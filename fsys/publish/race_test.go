package publish_test

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/publish"
)

// The race matrix lets another program act right before every operation of a
// replacement, reading ones too.

const foreign = "a foreign line\n"

// deed is what another program does. open is the session, opened before the
// replacement began. It tells whether it wrote the foreign line.
type deed struct {
	name string
	do   func(t *testing.T, f afero.Fs, open afero.File) bool
	// after is done when the replacement has ended.
	after func(t *testing.T, f afero.Fs)
	// held tells that it writes through a descriptor.
	held bool
}

func deeds() []deed {
	var late afero.File
	return []deed{
		{name: "append", do: func(t *testing.T, f afero.Fs, _ afero.File) bool { return put(t, f, os.O_APPEND) }},
		{name: "append or create", do: func(t *testing.T, f afero.Fs, _ afero.File) bool { return put(t, f, os.O_APPEND|os.O_CREATE) }},
		{name: "truncate and write", do: func(t *testing.T, f afero.Fs, _ afero.File) bool { return put(t, f, os.O_TRUNC|os.O_CREATE) }},
		{name: "delete", do: func(t *testing.T, f afero.Fs, _ afero.File) bool {
			must(t, fsys.Remove(f, session))
			return false
		}},
		{name: "delete and create", do: func(t *testing.T, f afero.Fs, _ afero.File) bool {
			must(t, fsys.Remove(f, session))
			return put(t, f, os.O_EXCL|os.O_CREATE)
		}},
		{name: "rename over", do: func(t *testing.T, f afero.Fs, _ afero.File) bool {
			must(t, fsys.WriteFile(f, session, "foreign", []byte(foreign)))
			return true
		}},
		{name: "append to the open file", held: true, do: func(t *testing.T, _ afero.Fs, open afero.File) bool {
			must(t, second(open.WriteString(foreign)))
			return true
		}},
		{name: "rename the same bytes over and write later", held: true, do: func(t *testing.T, f afero.Fs, _ afero.File) bool {
			must(t, fsys.WriteFile(f, session, "foreign", []byte(oldText)))
			var err error
			late, err = f.OpenFile(session, os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			return true
		}, after: func(t *testing.T, _ afero.Fs) { must(t, second(late.WriteString(foreign))) }},
	}
}

// put writes the foreign line by the session's name, if there is one.
func put(t *testing.T, f afero.Fs, flag int) bool {
	t.Helper()
	w, err := f.OpenFile(session, os.O_WRONLY|flag, 0o600)
	if err != nil && flag&os.O_CREATE == 0 {
		return false
	}
	must(t, err)
	must(t, second(w.WriteString(foreign)), w.Close())
	return true
}

func TestOtherProgramsInBetween(t *testing.T) {
	t.Parallel()
	cases, undone, late := 0, 0, 0
	for _, w := range ways {
		blind := w.blind(t)
		for _, d := range deeds() {
			for at := 1; ; at++ {
				r := race{way: w, deed: d, at: at}
				hit, got := r.run(t, w.copies() && d.held && (at > blind || d.after != nil))
				if !hit {
					break
				}
				cases++
				if got.Stands == publish.Foreign {
					undone++
				}
				if len(got.Kept) > 0 {
					late++
				}
			}
		}
	}
	t.Logf("%d races; %d ended with a foreign file under the name, %d with bytes kept aside", cases, undone, late)
	if undone == 0 || late == 0 {
		t.Error("the matrix missed what it is for")
	}
}

// TestOtherProgramsTwice has a line written into the old file at the last moment,
// so that the exchange takes what it must not, and then each deed at each later
// operation: while the exchange is undone.
func TestOtherProgramsTwice(t *testing.T) {
	t.Parallel()
	cases, late := 0, 0
	for _, w := range ways {
		commit := w.commit(t)
		for _, d := range deeds() {
			for at := commit + 1; ; at++ {
				hit, got := race{way: w, deed: d, at: at, first: commit}.run(t, w.copies() && d.held)
				if !hit {
					break
				}
				cases++
				if len(got.Kept) > 0 {
					late++
				}
			}
		}
	}
	t.Logf("%d double races, %d with bytes kept aside", cases, late)
	if late == 0 {
		t.Error("what the exchange brought back was never foreign")
	}
}

// commit is the operation by which the old file leaves its name.
func (w way) commit(t *testing.T) int {
	f := faultfs.New(w.world(t), faultfs.Plan{Reads: true})
	must(t, second(replace(f, w.job())))
	return 1 + slices.IndexFunc(f.Ops(), func(op faultfs.Op) bool {
		return !w.noExchange && op.Kind == faultfs.Exchange || op.Kind == faultfs.Rename && op.To == taken
	})
}

// blind is the last operation that looks at the old file in a straight run. A copy
// cannot hold what is written into the old file after it.
func (w way) blind(t *testing.T) int {
	f := faultfs.New(w.world(t), faultfs.Plan{Reads: true})
	must(t, second(replace(f, w.job())))
	last, old := 0, swap
	if w.noExchange {
		old = taken
	}
	for i, op := range f.Ops() {
		if op.Kind == faultfs.Read && op.Path == old {
			last = i + 1
		}
	}
	if last == 0 {
		t.Fatal("the old file was not read")
	}
	return last
}

type race struct {
	way
	deed
	at    int
	first int // before this operation the first line is appended to the open file
}

func (r race) String() string {
	return fmt.Sprintf("%s, %s before operation %d", r.way.name, r.deed.name, r.at)
}

// firstLine is written by another program still.
const firstLine = "a line before it\n"

// run is one race. blind says that the deed came when nobody looked any more.
func (r race) run(t *testing.T, blind bool) (hit bool, got publish.Receipt) {
	t.Helper()
	f := r.world(t)
	open, err := f.OpenFile(session, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	var want []string // what must not be lost
	racing := faultfs.New(f, faultfs.Plan{At: r.at, Reads: true, Do: func() {
		gone := strings.Contains(content(f, session), firstLine)
		wrote := r.do(t, f, open)
		if gone && !strings.Contains(content(f, session), firstLine) {
			want = nil // the other program destroyed it
		}
		if wrote && !blind {
			want = append(want, foreign)
		}
	}})
	got, err = replace(faultfs.New(racing, faultfs.Plan{At: r.first, Reads: true, Do: func() {
		must(t, second(open.WriteString(firstLine)))
		want = []string{firstLine}
	}}), r.job())
	if !racing.Hit() {
		return false, got
	}
	if r.deed.after != nil {
		r.deed.after(t, f)
	}
	files := tree(t, f)
	r.whole(t, files, got, err)
	for _, line := range want {
		if !found(files, line, append(append([]string{session, got.Backup}, got.Kept...), got.Left...)) {
			t.Errorf("%s: %q is lost: %+v, %v, %v", r, line, got, err, files)
		}
	}
	r.recovered(t, f, want)
	return true, got
}

// recovered settles what the race left and looks for the lines again.
func (r race) recovered(t *testing.T, f volume, want []string) {
	t.Helper()
	_, err := publish.Recover(f, r.intent())
	files := tree(t, f)
	for _, line := range want {
		if !found(files, line, slices.Collect(maps.Keys(files))) {
			t.Errorf("%s: %q is lost by the recovery: %v, %v", r, line, err, files)
		}
	}
	for name := range files {
		if strings.HasPrefix(name, "/p/.") {
			t.Errorf("%s: %s is left by the recovery: %v", r, name, err)
		}
	}
}

// found tells whether a line is in one of the files.
func found(files map[string]string, line string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(files[name], line) })
}

// whole checks that the session is no mixture, that the receipt names every file,
// and that the old bytes are there unless the other program destroyed them.
func (r race) whole(t *testing.T, files map[string]string, got publish.Receipt, err error) {
	t.Helper()
	stands, ok := files[session]
	rest := strings.NewReplacer(foreign, "", firstLine, "").Replace(stands)
	if ok && rest != oldText && rest != newText && stands != foreign {
		t.Errorf("%s: the session holds %q", r, stands)
	}
	if !ok && !strings.HasPrefix(r.deed.name, "delete") {
		t.Errorf("%s: no session: %+v, %v", r, got, err)
	}
	if files[bystand] != "other" {
		t.Errorf("%s: another file holds %q", r, files[bystand])
	}
	if err == nil && (got.Stands != publish.NewStands || !strings.HasPrefix(files[got.Backup], oldText)) {
		t.Errorf("%s: success with %+v and a backup of %q", r, got, files[got.Backup])
	}
	for name := range files {
		if name != session && name != bystand && name != got.Backup && !slices.Contains(append(got.Kept, got.Left...), name) {
			t.Errorf("%s: %s is not in the receipt %+v, %v", r, name, got, err)
		}
	}
}

// TestTwoReplacements starts a second replacement before every operation of a
// first one.
func TestTwoReplacements(t *testing.T) {
	t.Parallel()
	const other = "what the other one made\n"
	cases, first, inner := 0, 0, 0
	for _, w := range ways {
		for _, w.noLocks = range []bool{false, true} {
			for at := 1; ; at++ {
				f := w.world(t)
				var errIn error
				r := w.job()
				r.Token = "second"
				r.Write = func(out io.Writer) error { return second(io.WriteString(out, other)) }
				racing := faultfs.New(f, faultfs.Plan{At: at, Reads: true, Do: func() { _, errIn = replace(f, r) }})
				got, err := replace(racing, w.job())
				if !racing.Hit() {
					break
				}
				cases++
				when := fmt.Sprintf("%s, no locks %v, before operation %d", w.name, w.noLocks, at)
				files := tree(t, f)
				want := map[string]string{session: oldText, bystand: "other"}
				switch {
				case err == nil && errIn == nil:
					t.Errorf("%s: two owners", when)
				case err == nil:
					first++
					want[session] = newText
				case errIn == nil:
					inner++
					want[session] = other
				}
				for name, text := range files {
					if strings.Contains(name, ".backup") && text == oldText {
						delete(files, name)
					}
				}
				if got.Stands != "" && fmt.Sprint(files) != fmt.Sprint(want) {
					t.Errorf("%s: %v, %v, %v", when, err, errIn, files)
				}
				if c := class(errIn); !w.noLocks && errIn != nil && c != publish.SessionLocked && c != publish.SourceChanged {
					t.Errorf("%s: %v", when, errIn)
				}
			}
		}
	}
	t.Logf("%d pairs, %d times the first, %d times the second replaced", cases, first, inner)
	if first == 0 || inner == 0 {
		t.Error("one of them never came through")
	}
}
