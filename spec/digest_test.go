package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/spec"
)

func parse(t interface{ Fatalf(string, ...any) }, text string, set ...string) *spec.Job {
	job, err := spec.Parse("job.yaml", []byte(text), set)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return job
}

func TestDigestOfCases(t *testing.T) {
	a := parse(t, string(read(t, "58-spec-canonical-a.yaml")))
	b := parse(t, string(read(t, "59-spec-canonical-b.yaml")))
	if a.Digest() != b.Digest() {
		t.Errorf("%s\n%s", a.Canonical(), b.Canonical())
	}
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(a.Digest()) {
		t.Error(a.Digest())
	}
}

func TestDigestIgnoresSpelledOutDefaults(t *testing.T) {
	base := parse(t, small).Digest()
	for _, same := range []string{
		"name: \"\"", "budgets: {}", "budgets: {ratio: 0.3}", "budgets: {ratio: 0.30}", "budgets: {ratio: 3e-1}",
		"budgets: {ratio: 3.0E-1, tokens: 150000}", "author: {}", "author: {command: []}", "run: {workers: 0}", "run: {workers: -0}",
		"checkpoints: {max: 80, policy: active-correlated} # as always",
	} {
		if got := parse(t, small+same+"\n").Digest(); got != base {
			t.Errorf("%s changes the digest", same)
		}
	}
	if got := parse(t, small, "run.workers=0", "budgets={}").Digest(); got != base {
		t.Error("assigned defaults change the digest")
	}
}

// RFC 8785: members in order, no white space, numbers as ECMAScript writes them.
func TestCanonicalForm(t *testing.T) {
	job := parse(t, small+"name: \"é<\\n\"\n", "name=é<")
	want := `{"author":{"attempts":3,"baseURL":"","by":"","command":[],"env":[],"fold":"single","keyEnv":"","model":"","terms":"","timeout":"10m"},` +
		`"budgets":{"bytes":0,"keepRecords":120,"packChars":500000,"packTokens":150000,"ratio":0.3,"summaryChars":60000,"tokens":150000},` +
		`"checkpoints":{"max":80,"policy":"active-correlated"},` +
		`"input":{"agent":"auto","exclude":[],"handoff":"","sessions":["a.jsonl"]},"kind":"compress",` +
		`"mode":{"chain":"agreed","client":"","embed":"prose","extension":0,"leaf":"","priorSummaries":"fold","summary":"deterministic"},` +
		`"name":"é<","publish":{"backupDir":"","backups":0,"keepTimes":true,"path":"","quiet":"15m","to":"none","workDir":""},` +
		`"run":{"onFailure":"continue","timeout":"30m","workers":0},"version":1}`
	if got := string(job.Canonical()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	job.Canonical()[0] = 'x'
	if job.Canonical()[0] != '{' {
		t.Error("the canonical form can be changed from outside")
	}
}

func TestRequestDigest(t *testing.T) {
	res := map[string]string{"engine": "v10", "handoff": "sha256:00"}
	base := parse(t, small)
	want := base.RequestDigest(res)
	if want == base.Digest() {
		t.Error("the two digests are not kept apart")
	}
	for _, same := range []string{
		"name=x", "input.sessions=[b.jsonl]", "input.handoff=h.txt", "publish={to: candidate, path: x.jsonl}",
		"run={workers: 3, onFailure: stop}",
	} {
		if parse(t, small, same).RequestDigest(res) != want {
			t.Errorf("%s changes the request digest", same)
		}
	}
	for _, other := range []string{
		"mode.chain=pointer", "mode.client=2.1.197", "mode.extension=1", "mode.priorSummaries=verbatim",
		"budgets.ratio=0.31", "budgets.tokens=0", "budgets.bytes=1", "budgets.keepRecords=1", "checkpoints.max=1",
	} {
		if parse(t, small, other).RequestDigest(res) == want {
			t.Errorf("%s does not change the request digest", other)
		}
	}
	for _, other := range []map[string]string{nil, {"engine": "v10"}, {"engine": "v11", "handoff": "sha256:00"}} {
		if base.RequestDigest(other) == want {
			t.Errorf("resources %v do not change the request digest", other)
		}
	}
}

// fields are the values of a job that a change can be made to: two valid values
// for each, the first the default where there is one.
func fields() map[string][2]any {
	return map[string][2]any{
		"name": {"", "fold"}, "input.sessions": {[]any{"a"}, []any{"b", "a"}}, "input.exclude": {[]any{}, []any{"c*"}},
		"input.agent": {"auto", "claude"}, "input.handoff": {"", "h.txt"},
		"mode.chain": {"agreed", "pointer"}, "mode.client": {"", "2.1.332"}, "mode.extension": {0, 3},
		"mode.priorSummaries": {"fold", "verbatim"},
		"budgets.ratio":       {0.3, 0.95}, "budgets.tokens": {150000, 0}, "budgets.bytes": {0, 7}, "budgets.keepRecords": {120, 0},
		"budgets.summaryChars": {60000, 4000}, "budgets.packChars": {500000, 10000}, "budgets.packTokens": {150000, 10001},
		"checkpoints.policy": {"active-correlated", "none"}, "checkpoints.max": {80, 81},
		"author.by": {"file", "command"}, "author.model": {"", "m"}, "author.keyEnv": {"", "A_KEY"},
		"author.command": {[]any{"cat"}, []any{"cat", "-"}}, "author.timeout": {"10m", "11m"}, "author.baseURL": {"", "http://h"},
		"publish.to": {"candidate", "none"}, "publish.path": {"{session}", "o/{session}"}, "publish.workDir": {"", "w"},
		"publish.backupDir": {"", "b"}, "publish.backups": {0, 3}, "publish.quiet": {"15m", "0s"}, "publish.keepTimes": {true, false},
		"run.workers": {0, 2}, "run.onFailure": {"continue", "stop"}, "run.timeout": {"30m", "1h"},
	}
}

// values draws a valid job as nested mappings.
func values(t *rapid.T) map[string]any {
	job := map[string]any{"version": 1, "kind": "compress", "mode": map[string]any{"summary": "model"}}
	table := fields()
	for _, path := range sortedKeys(table) {
		put(job, path, table[path][rapid.IntRange(0, 1).Draw(t, path)])
	}
	return job
}

func put(job map[string]any, path string, v any) {
	section, name, nested := strings.Cut(path, ".")
	if !nested {
		job[path] = v
		return
	}
	if job[section] == nil {
		job[section] = map[string]any{}
	}
	job[section].(map[string]any)[name] = v
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// write spells the values in one of the many ways there are.
func write(t *rapid.T, v any, depth int) string {
	switch v := v.(type) {
	case map[string]any:
		return writeMap(t, v, depth)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, write(t, e, depth+1))
		}
		return "[" + strings.Join(parts, rapid.SampledFrom([]string{",", ", ", " , "}).Draw(t, "comma")) + "]"
	case string:
		forms := []string{"'" + v + "'", fmt.Sprintf("%q", v)}
		if v != "" && !strings.ContainsAny(v[:1], "-{") && !strings.ContainsAny(v, "*{}") {
			forms = append(forms, v)
		}
		return rapid.SampledFrom(forms).Draw(t, "quotes")
	case float64:
		return rapid.SampledFrom([]string{fmt.Sprint(v), fmt.Sprintf("%.3f", v), fmt.Sprintf("%e", v)}).Draw(t, "number")
	}
	return fmt.Sprint(v)
}

func writeMap(t *rapid.T, m map[string]any, depth int) string {
	keys := rapid.Permutation(sortedKeys(m)).Draw(t, "order")
	flow := depth > 0 && (len(m) == 0 || rapid.Bool().Draw(t, "flow"))
	var b strings.Builder
	for i, k := range keys {
		text := write(t, m[k], depth+1)
		if rapid.Bool().Draw(t, "quoted") {
			k = `"` + k + `"`
		}
		switch {
		case flow && i > 0:
			b.WriteString(", " + k + ": " + text)
		case flow:
			b.WriteString(k + ": " + text)
		default:
			comment := rapid.SampledFrom([]string{"", "", " # why not"}).Draw(t, "comment")
			b.WriteString("\n" + strings.Repeat("  ", depth) + k + ": " + text + comment)
		}
	}
	if flow {
		return "{" + b.String() + "}"
	}
	return b.String()
}

// withoutDefaults leaves out what has its default, now and then.
func withoutDefaults(t *rapid.T, job map[string]any) map[string]any {
	required := []string{"input.sessions", "author.by", "author.command", "publish.path"}
	out := map[string]any{"version": 1, "kind": "compress", "mode": map[string]any{"summary": "model"}, "publish": map[string]any{}}
	table := fields()
	for _, path := range sortedKeys(table) {
		pair := table[path]
		section, name, nested := strings.Cut(path, ".")
		v := job[section]
		if nested {
			v = job[section].(map[string]any)[name]
		}
		isDefault := fmt.Sprint(v) == fmt.Sprint(pair[0]) && !slices.Contains(required, path)
		if !isDefault || rapid.Bool().Draw(t, "keep") {
			put(out, path, v)
		}
	}
	return out
}

func TestDigestIsOfTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := values(t)
		plain, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		want := parse(t, string(plain))
		got := parse(t, write(t, withoutDefaults(t, job), 0))
		if !bytes.Equal(got.Canonical(), want.Canonical()) || got.Digest() != want.Digest() {
			t.Fatalf("got  %s\nwant %s", got.Canonical(), want.Canonical())
		}
		if again := parse(t, string(want.Canonical())); again.Digest() != want.Digest() {
			t.Fatal("the canonical form is another job")
		}
	})
}

func TestEveryFieldChangesTheDigest(t *testing.T) {
	table := fields()
	rapid.Check(t, func(t *rapid.T) {
		job := values(t)
		text, _ := json.Marshal(job)
		before := parse(t, string(text)).Digest()
		path := rapid.SampledFrom(sortedKeys(table)).Draw(t, "changed")
		a, _ := json.Marshal(table[path][0])
		b, _ := json.Marshal(table[path][1])
		one := parse(t, string(text), path+"="+string(a)).Digest()
		two := parse(t, string(text), path+"="+string(b)).Digest()
		if one == two || one != before && two != before {
			t.Fatalf("%s: %s, %s, before %s", path, one, two, before)
		}
	})
}
