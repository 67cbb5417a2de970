package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func output(artifacts ...string) step.Output {
	o := step.Output{Artifacts: map[string]step.Artifact{}}
	for _, a := range artifacts {
		name, sum, _ := strings.Cut(a, "=")
		o.Artifacts[name] = step.Artifact{SHA256: sum, Bytes: 1}
	}
	return o
}

func TestKey(t *testing.T) {
	s := step.Step{Name: "fold", Version: 2, Needs: []string{"z", "a"}, Params: map[string]any{"keep": 120}}
	outputs := map[string]step.Output{"a": output("y=11", "x=22"), "z": output("only=33"), "other": output("no=44")}
	c, err := plan.Describe(s, outputs)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Input{{"z/only", "33"}, {"a/x", "22"}, {"a/y", "11"}}
	if d := cmp.Diff(want, c.Inputs); d != "" {
		t.Error(d)
	}
	got, err := c.Key()
	// printf '%s' '{"algorithm":"precis-step-key/1","inputs":[{"name":"z/only","sha256":"33"},{"name":"a/x","sha256":"22"},{"name":"a/y","sha256":"11"}],"params":{"keep":120},"step":"fold","version":2}' | sha256sum
	if want := "sha256:e0deb07d46410b7f62ca3a2e3b6ed17eceee8eb4af7db1291e77210f47ea1823"; err != nil || got != want {
		t.Errorf("key %s, %v; want %s", got, err, want)
	}
}

func TestKeyFollowsEveryComponent(t *testing.T) {
	base := plan.Components{Algorithm: "a", Step: "s", Version: 1, Params: []byte(`{"p":"<"}`), Inputs: []plan.Input{{"i", "1"}}}
	seen := map[string]bool{}
	for _, change := range []func(*plan.Components){
		func(c *plan.Components) {},
		func(c *plan.Components) { c.Algorithm = "b" },
		func(c *plan.Components) { c.Step = "t" },
		func(c *plan.Components) { c.Version = 2 },
		func(c *plan.Components) { c.Params = []byte(`{"p":">"}`) },
		func(c *plan.Components) { c.Inputs = []plan.Input{{"j", "1"}} },
		func(c *plan.Components) { c.Inputs = []plan.Input{{"i", "2"}} },
		func(c *plan.Components) { c.Inputs = nil },
	} {
		c := base
		change(&c)
		key, err := c.Key()
		if err != nil || seen[key] {
			t.Errorf("%+v: key %s again, %v", c, key, err)
		}
		seen[key] = true
	}
}
