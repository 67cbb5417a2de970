package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// graph reads "name:need,need name ...".
func graph(text string) []step.Step {
	var steps []step.Step
	for _, word := range strings.Fields(text) {
		name, needs, ok := strings.Cut(word, ":")
		s := step.Step{Name: name}
		if ok {
			s.Needs = strings.Split(needs, ",")
		}
		steps = append(steps, s)
	}
	return steps
}

func names(steps []step.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	for in, want := range map[string]string{
		"":                 "",
		"b a c":            "b a c",
		"a b:a c:b":        "a b c",
		"c:b b:a a":        "a b c",
		"x c:a,b y a b":    "x a b c y",
		"d:b,c b:a c:a a":  "a b c d",
		"a:b b:a":          "steps need each other: a -> b -> a",
		"x a:a":            "steps need each other: a -> a",
		"in:a a:b b:c c:a": "steps need each other: a -> b -> c -> a",
		"a b:none":         `step "b" needs "none", which does not exist`,
		"a b a":            `two steps are called "a"`,
	} {
		got, err := plan.Order(graph(in))
		out := names(got)
		if err != nil {
			out = err.Error()
		}
		if out != want {
			t.Errorf("%q: %s, want %s", in, out, want)
		}
	}
}

func TestOrderOfAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		steps := make([]step.Step, n)
		for i := range steps {
			steps[i].Name = string(rune('a' + i))
			for _, j := range rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID[int]).Draw(t, "needs") {
				steps[i].Needs = append(steps[i].Needs, string(rune('a'+j)))
			}
		}
		got, err := plan.Order(steps)
		var cycle *plan.CycleError
		if errors.As(err, &cycle) {
			checkCycle(t, steps, cycle.Path)
			return
		}
		if err != nil || len(got) != n {
			t.Fatalf("%d of %d steps, %v", len(got), n, err)
		}
		seen := map[string]bool{}
		for _, s := range got {
			for _, need := range s.Needs {
				if !seen[need] {
					t.Fatalf("%s comes before %s", s.Name, need)
				}
			}
			seen[s.Name] = true
		}
	})
}

func checkCycle(t *rapid.T, steps []step.Step, path []string) {
	if len(path) < 2 || path[0] != path[len(path)-1] {
		t.Fatalf("no ring: %q", path)
	}
	for i, name := range path[1:] {
		before := steps[path[i][0]-'a']
		if !slices.Contains(before.Needs, name) {
			t.Fatalf("%s does not need %s", path[i], name)
		}
	}
}

func TestUntil(t *testing.T) {
	ordered := graph("a b:a c d:b e:d,c")
	for name, want := range map[string]string{"a": "a", "c": "c", "d": "a b d", "e": "a b c d e"} {
		if got, err := plan.Until(ordered, name); err != nil || names(got) != want {
			t.Errorf("until %s: %s, %v; want %s", name, names(got), err, want)
		}
	}
	var unknown *plan.UnknownStepError
	if _, err := plan.Until(ordered, "z"); !errors.As(err, &unknown) || err.Error() != `there is no step "z"` {
		t.Error(err)
	}
}

// spelled is the inverse of graph.
func spelled(steps []step.Step) string {
	var out []string
	for _, s := range steps {
		word := s.Name
		if len(s.Needs) > 0 {
			word += ":" + strings.Join(s.Needs, ",")
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestInsert(t *testing.T) {
	for _, c := range []struct{ ordered, name, more, want string }{
		{"", "s", "", ""},
		{"a:s b:a", "s", "", "a:s b:a"},
		{"", "s", "p:s q:p", "p:s q:p"},
		{"a b", "s", "p q", "p q a b"},
		{"a:s b:a", "s", "p:s", "p:s a:s,p b:a"},
		{"a:s b:a", "s", "p1:s p2:s j:p1,p2", "p1:s p2:s j:p1,p2 a:s,p1,p2,j b:a"},
		{"a:r,s,t b:s c", "s", "q:s p:s", "q:s p:s a:r,s,t,q,p b:s,q,p c"},
		{"a:ss b:S", "s", "p", "p a:ss b:S"},
		{"a:s", "s", "p s2", "p s2 a:s,p,s2"},
		{"a b", "s", "p b", `two steps are called "b"`},
		{"a b", "s", "p q p", `two steps are called "p"`},
	} {
		ordered, more := graph(c.ordered), graph(c.more)
		got, err := plan.Insert(ordered, c.name, more)
		out := spelled(got)
		if err != nil {
			out = err.Error()
		}
		if out != c.want {
			t.Errorf("%q behind %s, before %q: %s, want %s", c.more, c.name, c.ordered, out, c.want)
		}
		if a, b := spelled(ordered), spelled(more); a != c.ordered || b != c.more {
			t.Errorf("%q behind %s, before %q: what was given is %q and %q now", c.more, c.name, c.ordered, b, a)
		}
	}
	var twice *plan.DuplicateError
	if _, err := plan.Insert(graph("a"), "s", graph("a")); !errors.As(err, &twice) || twice.Step != "a" {
		t.Error(err)
	}
}

// Two who need a step may have their needs in one list with room behind.
func TestInsertLeavesNeedsAlone(t *testing.T) {
	shared := append(make([]string, 0, 8), "s", "other", "kept")
	ordered := []step.Step{{Name: "a", Needs: shared[:1]}, {Name: "b", Needs: shared[:1]}, {Name: "c", Needs: shared[:2]}}
	got, err := plan.Insert(ordered, "s", graph("p:s q:s"))
	if want := "p:s q:s a:s,p,q b:s,p,q c:s,other,p,q"; err != nil || spelled(got) != want {
		t.Errorf("%s, %v; want %s", spelled(got), err, want)
	}
	if d := strings.Join(shared, " "); d != "s other kept" {
		t.Errorf("the list is %s now", d)
	}
}
