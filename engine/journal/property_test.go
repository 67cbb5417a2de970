package journal_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
)

// genBody draws an entry that may or may not fit.
func genBody(t *rapid.T) journal.Body {
	id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "item")
	name := rapid.SampledFrom([]string{"s", "t"}).Draw(t, "step")
	status := rapid.SampledFrom([]step.Status{step.Done, step.Failed, step.Refused, step.UpToDate, step.Waiting}).Draw(t, "status")
	made := []step.Published{{Op: step.Create, Path: "/" + name, SHA256: rapid.StringMatching("[0-9a-f]{4}").Draw(t, "sum")}}
	if rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "keeps") {
		what := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "artifact")
		return kept(id, name, what+"="+made[0].SHA256)
	}
	switch rapid.IntRange(0, 24).Draw(t, "type") {
	case 0:
		return &journal.RunFinished{Exit: rapid.IntRange(0, 5).Draw(t, "exit")}
	case 1, 2:
		b := ended(id, status)
		b.Open = rapid.IntRange(0, 9).Draw(t, "open") == 0
		return b
	case 3, 4, 5:
		return item(id)
	case 6:
		return opened(9)
	case 7, 8, 9:
		b := failed(id, name, status)
		b.Published = made
		b.Open = rapid.Bool().Draw(t, "open")
		return b
	case 10, 11, 12, 13, 14:
		b := done(id, name)
		b.Published = made
		b.Home = rapid.SampledFrom([]string{"", "", "r0"}).Draw(t, "home")
		b.Facts = map[string]any{"n": rapid.Int64().Draw(t, "n"), "s": rapid.String().Draw(t, "text")}
		return b
	case 15:
		return &journal.RunResumed{Owner: owner}
	case 16:
		return &journal.ItemRestored{Item: id, Published: made}
	}
	return &journal.StepStarted{Item: id, Step: name, Effect: name == "t", Intent: made}
}

// history draws a legal history, an entry to a line, and the entries that were
// refused behind each of the lines.
func history(t *rapid.T) (text []byte, accepted []journal.Body, refused map[int][]journal.Body) {
	f := mem()
	j := open(t, f)
	must(t, j.Append(opened(2)))
	must(t, j.Commit())
	accepted, refused = []journal.Body{opened(2)}, map[int][]journal.Body{}
	for range rapid.IntRange(0, 40).Draw(t, "entries") {
		b := genBody(t)
		if j.Append(b) != nil {
			refused[len(accepted)] = append(refused[len(accepted)], b)
			continue
		}
		must(t, j.Commit())
		accepted = append(accepted, b)
	}
	must(t, j.Close())
	return content(t, f), accepted, refused
}

// view is what a prefix of a journal says, with the steps of finished items.
type view struct {
	journal.State
	steps map[string][]*journal.Step
}

func look(t *rapid.T, text []byte) view {
	v := view{steps: map[string][]*journal.Step{}}
	var err error
	v.State, err = journal.Scan(write(t, text), file, func(i *journal.Item) error {
		v.steps[i.ItemOpened.Item] = i.Steps
		return nil
	})
	must(t, err)
	for _, i := range v.Items {
		if i.Result == nil {
			v.steps[i.ItemOpened.Item] = i.Steps
		}
	}
	return v
}

func TestPrefixesFoldAndTerminalFactsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, accepted, refused := history(t)
		before, at := view{}, 0
		for n := range len(accepted) {
			end := at + bytes.IndexByte(text[at:], '\n') + 1
			parent := sum(strings.TrimSuffix(string(text[at:end]), "\n"))
			at = end
			after := look(t, text[:at])
			terminalFactsStay(t, before, after)
			before = after
			for _, b := range refused[n+1] {
				contradicts(t, string(text[:at])+spell(n+2, parent, b))
			}
		}
	})
}

// contradicts expects a line that was written against the state to be refused.
func contradicts(t *rapid.T, text string) {
	_, err := journal.Scan(write(t, []byte(text)), file, nil)
	var e *journal.Error
	if !errors.As(err, &e) || e.Problem != journal.BadOrder {
		t.Fatalf("Append refused it, and reading says %v:\n%s", err, text)
	}
}

func terminalFactsStay(t *rapid.T, before, after view) {
	same := func(what string, a, b any) {
		if d := differ(a, b); d != "" {
			t.Fatalf("%s went back: %s", what, d)
		}
	}
	if before.Finished != nil {
		same("run", before.Finished, after.Finished)
	}
	for n, was := range before.Items {
		is := after.Items[n]
		same("item", was.ItemOpened, is.ItemOpened)
		same("what it published", was.Published, is.Published[:len(was.Published)])
		if was.Result != nil {
			same("result", was.Result, is.Result)
			same("what it published", was.Published, is.Published)
			same("steps", before.steps[was.ItemOpened.Item], after.steps[was.ItemOpened.Item])
		}
		for k, s := range before.steps[was.ItemOpened.Item] {
			if s.Phase == journal.Finished {
				same("step", s, after.steps[was.ItemOpened.Item][k])
			}
		}
		if was.Result == nil && is.Result == nil && is.Left() != nil && !is.Left().Open {
			t.Fatalf("item %s is left as %+v", is.ItemOpened.Item, is.Left())
		}
	}
}

// What was kept is what the entries say, the last of a name, until another run's
// result takes the place of the step.
func TestKeptIsWhatTheEntriesSay(t *testing.T) {
	most := 0
	rapid.Check(t, func(t *rapid.T) {
		f := mem()
		j := open(t, f)
		for _, b := range []journal.Body{opened(2), item("a"), item("b")} {
			must(t, j.Append(b))
		}
		want := map[string]map[string]step.Artifact{}
		for range rapid.IntRange(10, 40).Draw(t, "entries") {
			if b := genAttempt(t); j.Append(b) == nil {
				keep(want, b)
			}
		}
		must(t, j.Commit())
		must(t, j.Close())
		got := map[string]map[string]step.Artifact{}
		for id, steps := range look(t, content(t, f)).steps {
			for _, st := range steps {
				if len(st.Kept) > 0 {
					got[id+"/"+st.Step] = st.Kept
					most = max(most, len(st.Kept))
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
	if most < 2 {
		t.Errorf("no step kept more than %d", most)
	}
}

// genAttempt draws an entry about a step, which may or may not fit.
func genAttempt(t *rapid.T) journal.Body {
	id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "item")
	name := rapid.SampledFrom([]string{"s", "t"}).Draw(t, "step")
	switch rapid.SampledFrom([]string{"start", "start", "keep", "keep", "keep", "fail", "finish", "take"}).Draw(t, "what") {
	case "start":
		return started(id, name)
	case "fail":
		return left(id, name, step.Waiting)
	case "finish":
		return done(id, name)
	case "take":
		b := done(id, name)
		b.Home = "r0"
		return b
	}
	return kept(id, name, rapid.SampledFrom([]string{"x=1", "x=2", "y=3", "y=4"}).Draw(t, "artifact"))
}

// keep does with a map what an entry does with the state.
func keep(all map[string]map[string]step.Artifact, b journal.Body) {
	switch b := b.(type) {
	case *journal.StepKept:
		at := b.Item + "/" + b.Step
		if all[at] == nil {
			all[at] = map[string]step.Artifact{}
		}
		maps.Copy(all[at], b.Artifacts)
	case *journal.StepFinished:
		if b.Home != "" {
			delete(all, b.Item+"/"+b.Step)
		}
	}
}

// How entries are grouped in lines changes nothing of what they say.
func TestLinesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, accepted, _ := history(t)
		f := mem()
		tell(t, f, rapid.IntRange(2, 50).Draw(t, "each"), accepted...)
		if d := differ(look(t, text).steps, look(t, content(t, f)).steps); d != "" {
			t.Fatal(d)
		}
		if d := differ(look(t, text).State, look(t, content(t, f)).State); d != "" {
			t.Fatal(d)
		}
	})
}
