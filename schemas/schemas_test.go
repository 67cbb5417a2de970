package schemas_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/precis-dev/precis/schemas"
)

func TestNames(t *testing.T) {
	want := []string{"finding", "job", "job.compress", "journal", "receipt", "report"}
	if d := cmp.Diff(want, schemas.Names()); d != "" {
		t.Error(d)
	}
	if _, ok := schemas.Get("nothing"); ok {
		t.Error("got a schema that does not exist")
	}
	if _, err := schemas.Compile("nothing"); err == nil {
		t.Error("compiled a schema that does not exist")
	}
	if _, err := schemas.Compile("../schemas/job"); err == nil {
		t.Error("compiled by path")
	}
}

// Every schema compiles, which includes that it is valid by its own meta-schema
// and refers to nothing outside.
func TestCompile(t *testing.T) {
	for _, name := range schemas.Names() {
		s, err := schemas.Compile(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Title == "" || s.Description == "" || s.Draft != jsonschema.Draft2020 {
			t.Errorf("%s: no title, description or draft 2020-12", name)
		}
	}
}

// Every field says what it is; those of a job are closed and have a default
// that is valid by itself, unless the field is required.
func TestFields(t *testing.T) {
	for _, name := range schemas.Names() {
		s, err := schemas.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		walk(t, name, s, strings.HasPrefix(name, "job."), name != "report" && name != "receipt" && name != "job")
	}
}

func walk(t *testing.T, at string, s *jsonschema.Schema, defaults, closed bool) {
	open := s.AdditionalProperties != false
	if s.Properties != nil && closed && open {
		t.Errorf("%s: takes any field", at)
	}
	for name, field := range s.Properties {
		path := at + "." + name
		if field.Description == "" {
			t.Errorf("%s: no description", path)
		}
		if field.Default != nil {
			if err := field.Validate(field.Default); err != nil {
				t.Errorf("%s: default: %v", path, err)
			}
		}
		required := slices.Contains(s.Required, name)
		if defaults && (field.Default == nil) != required {
			t.Errorf("%s: required %v, default %v", path, required, field.Default)
		}
		walk(t, path, field, defaults, closed)
	}
}

func validate(t *testing.T, name, text string) error {
	t.Helper()
	s, err := schemas.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

const (
	sum   = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	small = `"version":1,"kind":"compress","input":{"sessions":["a"]},"mode":{"summary":"deterministic"},"publish":{"to":"none"}`
)

func TestDocuments(t *testing.T) {
	report := `"schema":1,"job":"j","session":"s","status":"done","digests":{},` +
		`"source":{"bytes":1,"sha256":"` + sum + `","records":1},` +
		`"versions":{"engine":"v10","pack":11,"report":1}`
	entry := `{"type":"step-started","time":"2026-01-02T03:04:05Z","body":{"item":"i","step":"s","effect":true,` +
		`"intent":[{"op":"create","path":"/o","bytes":1,"sha256":"` + sum + `"}]}}`
	line := `"v":2,"seq":1,"parent":"","entries":[` + entry + `],"sum":"` + sum + `"`
	for _, c := range []struct {
		schema, text string
		ok           bool
	}{
		// An editor sees the job as it is written, without its defaults.
		{"job", `{` + small + `}`, true},
		{"job.compress", `{` + small + `}`, true},
		{"job", `{` + small + `,"foo":1}`, false},
		{"job", `{` + small + `,"author":{"by":"file"}}`, false},
		{"job", `{"version":1,"kind":"unknown"}`, false},
		{"job", `{"version":1,"kind":"compress"}`, false},
		{"job.compress", strings.Replace(`{`+small+`}`, `{"to":"none"}`, `{}`, 1), false},
		{"job.compress", strings.Replace(`{`+small+`}`, `{"to":"none"}`, `{"path":"x"}`, 1), true},
		{"job.compress", strings.Replace(`{`+small+`}`, `"summary":`, `"leaf":"x","summary":`, 1), false},
		{"job.compress", strings.Replace(`{`+small+`}`, `"summary":`, `"chain":"leaf","summary":`, 1), false},
		{"report", `{` + report + `}`, true},
		{"report", `{` + report + `,"more":{"of":"it"}}`, true},
		{"report", `{` + strings.Replace(report, `"done"`, `"fine"`, 1) + `}`, false},
		{"report", `{` + strings.Replace(report, sum, "x", 1) + `}`, false},
		{"finding", `{"rule":"missing-parent","severity":"error","line":3,"message":"m"}`, true},
		{"finding", `{"rule":"Missing Parent","severity":"error","message":"m"}`, false},
		{"finding", `{"rule":"missing-parent","severity":"fatal","message":"m"}`, false},
		{"journal", `{` + line + `}`, true},
		{"journal", `{` + strings.Replace(line, entry, entry+","+entry, 1) + `}`, true},
		{"journal", `{` + strings.Replace(line, entry, "", 1) + `}`, false},
		{"journal", `{` + line + `,"more":1}`, false},
		{"journal", `{` + strings.Replace(line, `"effect"`, `"more"`, 1) + `}`, false},
		{"journal", `{` + strings.Replace(line, "step-started", "step-begun", 1) + `}`, false},
		{"journal", `{` + strings.Replace(line, "step-started", "item-opened", 1) + `}`, false},
		{"journal", `{` + strings.Replace(line, `"v":2`, `"v":1`, 1) + `}`, false},
	} {
		if err := validate(t, c.schema, c.text); (err == nil) != c.ok {
			t.Errorf("%s: %s: %v", c.schema, c.text, err)
		}
	}
}

// The schemas name no file and no host beyond the dialect they are written in.
func TestOffline(t *testing.T) {
	for _, name := range schemas.Names() {
		text, _ := schemas.Get(name)
		rest := strings.ReplaceAll(string(text), "https://json-schema.org/draft/2020-12/schema", "")
		for _, scheme := range []string{"file:", "http:", "https:"} {
			if strings.Contains(rest, `"`+scheme) {
				t.Errorf("%s refers to a %s address", name, scheme)
			}
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schemas.Compile("job.compress"); err != nil {
			b.Fatal(err)
		}
	}
}
