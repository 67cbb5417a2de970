package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// finished is a step that was done, with artifacts "name=digest".
func finished(key string, artifacts ...string) plan.Done {
	d := plan.Done{Key: key, Artifacts: map[string]step.Artifact{}}
	for _, a := range artifacts {
		name, sum, _ := strings.Cut(a, "=")
		d.Artifacts[name] = step.Artifact{SHA256: sum, Bytes: 1}
	}
	return d
}

func saw(name, sum string) step.Observed {
	return step.Observed{Name: name, Path: "/anywhere", Artifact: step.Artifact{SHA256: sum, Bytes: 1}}
}

func TestKey(t *testing.T) {
	s := step.Step{Name: "fold", Version: 2, Needs: []string{"z", "a"}, Params: map[string]any{"keep": 120}}
	done := map[string]plan.Done{
		"a": finished("sha256:aa", "y=11", "x=22"), "z": finished("sha256:zz", "only=33"), "other": finished("sha256:oo", "no=44"),
	}
	c, err := plan.Describe(s, []step.Observed{saw("source", "55"), saw("pack", "44")}, done)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Input{
		{"source", "sha256:55"}, {"pack", "sha256:44"},
		{"z", "sha256:zz"}, {"z/only", "sha256:33"},
		{"a", "sha256:aa"}, {"a/x", "sha256:22"}, {"a/y", "sha256:11"},
	}
	if d := cmp.Diff(want, c.Inputs); d != "" {
		t.Error(d)
	}
	got, err := c.Key()
	// printf '%s' '{"algorithm":"precis-step-key/2","inputs":[{"digest":"sha256:55","name":"source"},{"digest":"sha256:44","name":"pack"},{"digest":"sha256:zz","name":"z"},{"digest":"sha256:33","name":"z/only"},{"digest":"sha256:aa","name":"a"},{"digest":"sha256:22","name":"a/x"},{"digest":"sha256:11","name":"a/y"}],"params":{"keep":120},"step":"fold","version":2}' | sha256sum
	if want := "sha256:71e78159739608205b55525d122e9ff4894d41ceef2547f7b7a2d68a14d1c694"; err != nil || got != want {
		t.Errorf("key %s, %v; want %s", got, err, want)
	}
}

func TestDescribeRefusesParametersWithoutOneSpelling(t *testing.T) {
	for _, params := range []any{int64(1)<<53 + 1, func() {}} {
		_, err := plan.Describe(step.Step{Name: "s", Params: params}, nil, nil)
		if err == nil || !strings.Contains(err.Error(), `"s"`) {
			t.Errorf("%T: %v", params, err)
		}
	}
}

// changes has one for every component, in the order in which they are reported.
var changes = []struct {
	change func(*plan.Components)
	want   plan.Difference
}{
	{func(c *plan.Components) { c.Algorithm = "b" }, plan.Difference{"algorithm", "a", "b"}},
	{func(c *plan.Components) { c.Step = "t" }, plan.Difference{"step", "s", "t"}},
	{func(c *plan.Components) { c.Version = 2 }, plan.Difference{"version", "1", "2"}},
	{func(c *plan.Components) { c.Params = []byte(`{"p":">"}`) }, plan.Difference{"params.p", `"<"`, `">"`}},
	{func(c *plan.Components) { c.Inputs = []plan.Input{{"i", "2"}, {"j", "3"}} }, plan.Difference{"inputs.i", "1", "2"}},
}

func base() plan.Components {
	return plan.Components{Algorithm: "a", Step: "s", Version: 1, Params: []byte(`{"p":"<"}`), Inputs: []plan.Input{{"i", "1"}, {"j", "2"}}}
}

func TestDifferNamesTheFirstComponent(t *testing.T) {
	if d := base().Differ(base()); d != nil {
		t.Errorf("differs from itself: %v", d)
	}
	for first, test := range changes {
		c := base()
		for _, later := range changes[first:] {
			later.change(&c)
		}
		if d := cmp.Diff(&test.want, c.Differ(base())); d != "" {
			t.Error(d)
		}
	}
	for want, inputs := range map[plan.Difference][]plan.Input{
		{"inputs.j", "2", "3"}:      {{"i", "1"}, {"j", "3"}},
		{"inputs.j", "2", "(none)"}: {{"i", "1"}},
		{"inputs.k", "(none)", "3"}: {{"i", "1"}, {"j", "2"}, {"k", "3"}},
		{"inputs", "i", "j"}:        {{"j", "2"}, {"i", "1"}},
		{"inputs.i", "1", "(none)"}: nil,
	} {
		c := base()
		c.Inputs = inputs
		if d := cmp.Diff(&want, c.Differ(base())); d != "" {
			t.Error(d)
		}
	}
}

func TestKeyFollowsEveryComponent(t *testing.T) {
	seen := map[string]bool{}
	add := func(c plan.Components) {
		key, err := c.Key()
		if err != nil || seen[key] || !strings.HasPrefix(key, "sha256:") || len(key) != 71 {
			t.Errorf("%+v: key %s, %v", c, key, err)
		}
		seen[key] = true
	}
	add(base())
	for _, test := range changes {
		c := base()
		test.change(&c)
		add(c)
	}
	for _, inputs := range [][]plan.Input{nil, {{"i", "1"}}, {{"j", "2"}, {"i", "1"}}, {{"i", "2"}, {"j", "1"}}} {
		c := base()
		c.Inputs = inputs
		add(c)
	}
}

// A record holds components as encoding/json writes them; they are the same all
// the same.
func TestComponentsSurviveARecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		params := rapid.MapOf(rapid.String(), rapid.SampledFrom([]any{"<&>\u2028", "é", 1e21, -0.5, 7, nil, true, []any{"<"}})).Draw(t, "params")
		c, err := plan.Describe(step.Step{Name: "<s>", Params: params}, []step.Observed{saw("<i>", "1")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var recorded plan.Components
		if err := json.Unmarshal(text, &recorded); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*plan.Difference{c.Differ(recorded), recorded.Differ(c)} {
			if d != nil {
				t.Fatalf("%+v", d)
			}
		}
		was, _ := recorded.Key()
		if is, err := c.Key(); err != nil || is != was {
			t.Fatalf("key %s, of the record %s, %v", is, was, err)
		}
	})
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ last, now, component, old, new string }{
		{`{"a":1,"b":2}`, `{"a":1,"b":3}`, "job.b", "2", "3"},
		{`{"b":1,"c":1}`, `{"a":1,"b":2}`, "job.a", "(none)", "1"},
		{`{"a":{"b":{"c":1}},"z":1}`, `{"a":{"b":{"c":2}},"z":2}`, "job.a.b.c", "1", "2"},
		{`{"a":{"b":1}}`, `{"a":{}}`, "job.a.b", "1", "(none)"},
		{`{"a":null}`, `{}`, "job.a", "null", "(none)"},
		{`{"a":{"b":1}}`, `{"a":[1]}`, "job.a", `{"b":1}`, "[1]"},
		{`[1,2]`, `[1,3]`, "job", "[1,2]", "[1,3]"},
		{`null`, `{}`, "job", "null", "{}"},
		{``, `{}`, "job", "", "{}"},
	} {
		want := &plan.Difference{c.component, c.old, c.new}
		if d := cmp.Diff(want, plan.Compare("job", []byte(c.last), []byte(c.now))); d != "" {
			t.Errorf("%s, %s: %s", c.last, c.now, d)
		}
	}
}
