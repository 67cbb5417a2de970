package spec_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precis-dev/precis/spec"
)

var cmpEmpty = cmpopts.EquateEmpty()

func columnAfter(s string) string { return strconv.Itoa(len([]rune(s)) + 1) }

const head = "version: 1\nkind: compress\ninput: {sessions: [a.jsonl]}\n"

// noKind is what a job has beside its version and kind.
const noKind = "input: {sessions: [a.jsonl]}\nmode: {summary: deterministic}\npublish: {to: none}\n"

func TestFields(t *testing.T) {
	model := "mode: {summary: model}\npublish: {to: none}\n"
	plain := "mode: {summary: deterministic}\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing but a kind", "kind: compress\n", []string{
			"1:1 input missing-field", "1:1 mode missing-field", "1:1 publish missing-field", "1:1 version missing-field"}},
		{"no kind", "version: 1\nnam: x\n", []string{
			"1:1 input missing-field", "1:1 kind missing-field", "1:1 mode missing-field", "1:1 publish missing-field", "2:1 nam unknown-field"}},
		{"empty kind", "version: 7\nkind:\n" + noKind, []string{"1:10 version unknown-value", "2:6 kind missing-field"}},
		{"misspelt kind", "version: 7\nkind: compres\nfoo: 1\n" + noKind, []string{
			"1:10 version unknown-value", "2:7 kind unknown-kind", "3:1 foo unknown-field"}},
		{"misspelt key of the kind", "version: 7\nknd: compress\nname: yes\nfoo: 1\n" + noKind, []string{
			"1:1 kind missing-field", "1:10 version unknown-value", "2:1 knd unknown-field", "3:7 name implicit-type", "4:1 foo unknown-field"}},
		{"kind of its own", "version: 7\nkind: translate\nfoo: 1\n", []string{"2:7 kind unknown-kind"}},
		{"kind is a list", "kind: [compress]\n", []string{"1:7 kind unknown-kind"}},
		{"kind is odd", "kind: no\nname: yes\n", []string{"1:7 kind implicit-type", "2:7 name implicit-type"}},
		{"other version", "version: 2\n" + head[11:] + plain + "publish: {to: none}\n", []string{"1:10 version unknown-value"}},
		{"version in quotes", "version: \"1\"\n" + head[11:] + plain + "publish: {to: none}\n", []string{"1:10 version wrong-type"}},
		{"summary not chosen", head + "mode:\n  chain: pointer\npublish: {to: none}\n", []string{"4:1 mode.summary missing-field"}},
		{"mode is text", head + "mode: deterministic\npublish: {to: none}\n", []string{"4:7 mode wrong-type"}},
		{"mode is empty", head + "mode:\npublish: {to: none}\n", []string{"4:6 mode wrong-type"}},
		{"no sessions", "version: 1\nkind: compress\ninput: {sessions: []}\n" + plain + "publish: {to: none}\n",
			[]string{"3:19 input.sessions missing-field"}},
		{"sessions is text", "version: 1\nkind: compress\ninput: {sessions: a}\n" + plain + "publish: {to: none}\n",
			[]string{"3:19 input.sessions wrong-type"}},
		{"empty session", "version: 1\nkind: compress\ninput: {sessions: [a, \"\", 3]}\n" + plain + "publish: {to: none}\n",
			[]string{"3:23 input.sessions[1] missing-field", "3:27 input.sessions[2] wrong-type"}},
		{"bad globs", "version: 1\nkind: compress\ninput: {sessions: [\"[a\"], exclude: [\"{b\"]}\n" + plain + "publish: {to: none}\n",
			[]string{"3:20 input.sessions[0] bad-glob", "3:37 input.exclude[0] bad-glob"}},
		{"leaf is missing", head + "mode: {summary: deterministic, chain: leaf}\npublish: {to: none}\n",
			[]string{"4:1 mode.leaf missing-field"}},
		{"leaf without its chain", head + "mode: {summary: deterministic, leaf: x}\npublish: {to: none}\n",
			[]string{"4:38 mode.leaf conflict"}},
		{"leaf with its chain", head + "mode: {summary: deterministic, chain: leaf, leaf: x}\npublish: {to: none}\n", nil},
		{"leaf with a misspelt chain", head + "mode: {summary: deterministic, chain: leav, leaf: x}\npublish: {to: none}\n",
			[]string{"4:39 mode.chain unknown-value"}},
		{"client", head + "mode: {summary: deterministic, client: 2.1.197}\npublish: {to: none}\n", nil},
		{"unknown client", head + "mode: {summary: deterministic, client: 2.1.198}\npublish: {to: none}\n",
			[]string{"4:40 mode.client unknown-value"}},
		{"preserve-recent", head + plain + "publish: {to: none}\ncheckpoints: {policy: preserve-recent}\n",
			[]string{"6:23 checkpoints.policy conflict"}},
		{"preserve-recent with its chain", head + "mode: {summary: deterministic, chain: physical-tail}\n" +
			"publish: {to: none}\ncheckpoints: {policy: preserve-recent}\n", nil},
		{"no author", head + model, []string{"1:1 author.by missing-field"}},
		{"author by nobody", head + model + "author: {}\n", []string{"6:1 author.by missing-field"}},
		{"author by file", head + model + "author: {by: file}\n", nil},
		{"author by command", head + model + "author: {by: command}\n", []string{"6:1 author.command missing-field"}},
		{"author by a command", head + model + "author: {by: command, command: [cat]}\n", nil},
		{"author by a service", head + model + "author: {by: openai}\n",
			[]string{"6:1 author.keyEnv missing-field", "6:1 author.model missing-field"}},
		{"author by a local service", head + model + "author: {by: openai, model: m, baseURL: \"http://localhost:1\"}\n", nil},
		{"author without a model summary", head + plain + "publish: {to: none}\nauthor: {by: file, timeout: 1m}\n",
			[]string{"6:14 author.by conflict", "6:29 author.timeout conflict"}},
		{"default author", head + plain + "publish: {to: none}\nauthor: {by: \"\", timeout: 10m}\n", nil},
		{"candidate without a path", head + plain + "publish: {}\n", []string{"5:1 publish.path missing-field"}},
		{"misspelt placeholder", head + plain + "publish: {path: \"out/{sesion}\"}\n", []string{"5:17 publish.path wrong-form"}},
		{"replace without a folder", head + plain + "publish: {to: replace}\n", []string{"5:1 publish.workDir missing-field"}},
		{"odd target", head + plain + "publish: {to: 0640}\n", []string{"5:15 publish.to implicit-type"}},
		{"durations", head + plain + "publish: {to: none, quiet: 15}\nrun: {timeout: 1 hour}\n",
			[]string{"5:28 publish.quiet wrong-type", "6:16 run.timeout wrong-form"}},
		{"good durations", head + plain + "publish: {to: none, quiet: 0s}\nrun: {timeout: 1h30m0.5s}\n", nil},
		{"long duration", head + plain + "publish: {to: none, quiet: 99999h99999h99999h99999h}\n",
			[]string{"5:28 publish.quiet out-of-range"}},
		{"name of two lines", small + "name: \"a\\nb\"\n", []string{"6:7 name wrong-form"}},
		{"unknown field with an odd value", small + "foo: yes\n", []string{"6:1 foo unknown-field"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parsed(t, c.text), cmpEmpty); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct{ text, hint string }{
		{"budgets: {keep_records: 1}\n", "did you mean keepRecords?"},
		{"budget: {}\n", "did you mean budgets?"},
		{"ratio: 0.3\n", "did you mean budgets.ratio?"},
		{"run: {chain: leaf}\n", "did you mean mode.chain?"},
		{"run: {name: x}\n", "it stands at the top level"},
		{"run: {qqqqqqqqqq: x}\n", "known here are onFailure, timeout, workers"},
		{"run: {onFailure: stopp}\n", "did you mean stop?"},
		{"run: {onFailure: whatever}\n", "one of continue, stop"},
		{"budgets: {tokens: 5}\n", "0 (no limit), or at least 1000"},
		{"budgets: {ratio: 5}\n", "from 0.05 to 0.95"},
		{"budgets: {summaryChars: 5}\n", "at least 4000"},
		{"run: {workers: 1e1}\n", "write 10"},
		{"run: {workers: 1.5}\n", "write a number without a fraction"},
		{"run: {timeout: 30}\n", "write it like 30m"},
		{"name: 2026-01-02\n", `write "2026-01-02"`},
		{"run: []\n", "onFailure, timeout, workers"},
	} {
		_, err := spec.Parse("job.yaml", []byte(small+c.text), nil)
		ps := problems(t, err)
		if len(ps) != 1 || !strings.Contains(ps[0].Hint, c.hint) {
			t.Errorf("%s: got %+v, want hint %q", c.text, ps, c.hint)
		}
	}
}

func TestKindIsWorded(t *testing.T) {
	for _, c := range []struct {
		text string
		set  []string
		want string
	}{
		{"kind: Compres\n", nil, "job.yaml:2:7: kind: Compres is not a kind of job: did you mean compress?"},
		{"kind: translate\n", nil, "job.yaml:2:7: kind: translate is not a kind of job: one of compress"},
		{"kind: [compress]\n", nil, "job.yaml:2:7: kind: a list is not a kind of job: one of compress"},
		{"kind:\n", nil, "job.yaml:2:6: kind: is empty: one of compress"},
		{"kind: compress\n", []string{"kind="}, "--set: kind: is empty: one of compress"},
		{"kind: compress\n", []string{"kind=null"}, "--set: kind: is empty: one of compress"},
		{"", nil, "job.yaml:1:1: kind: is missing: write compress"},
		{"knd: compress\n", nil, "job.yaml:2:1: knd: is not a field: did you mean kind?"},
	} {
		_, err := spec.Parse("job.yaml", []byte("version: 1\n"+c.text+noKind), c.set)
		var lines []string
		for _, p := range problems(t, err) {
			lines = append(lines, p.String())
		}
		if !slices.Contains(lines, c.want) {
			t.Errorf("%q %q: got %q, want %q among them", c.text, c.set, lines, c.want)
		}
	}
}

// The library finds errors in the order of a map.
func TestOrderIsStable(t *testing.T) {
	text := "kind: compress\nx: 1\ny: 2\nrun: {workers: -1, onFailure: x, a: 1}\nbudgets: {ratio: 7, tokens: 1, bytes: -1}\n"
	first := parsed(t, text)
	if len(first) != 12 {
		t.Fatalf("got %d: %v", len(first), first)
	}
	for range 50 {
		if d := cmp.Diff(first, parsed(t, text)); d != "" {
			t.Fatal(d)
		}
	}
}

func TestOutputs(t *testing.T) {
	publish := func(fields string) string {
		return head + "mode: {summary: deterministic}\npublish: {" + fields + "}\n"
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"outside", publish("path: out/a.jsonl"), nil},
		{"folder of a like name", publish("path: x/.claude-copies/a.jsonl"), nil},
		{"direct", publish("path: .claude/a.jsonl"), []string{"5:17 publish.path output-inside-claude-tree"}},
		{"case", publish("path: x/.Claude/projects/a.jsonl"), []string{"5:17 publish.path output-inside-claude-tree"}},
		{"home", publish("path: ~/.claude/a.jsonl"), []string{"5:17 publish.path output-inside-claude-tree"}},
		{"into it by dots", publish("path: x/../.claude/y/./a.jsonl"), []string{"5:17 publish.path output-inside-claude-tree"}},
		{"out of it by dots", publish("path: .claude/../out/a.jsonl"), nil},
		{"not written", publish("to: none, path: .claude/a.jsonl"), nil},
		{"work and backup", publish("to: replace, workDir: .claude/w, backupDir: /.CLAUDE"), []string{
			"5:33 publish.workDir output-inside-claude-tree", "5:55 publish.backupDir output-inside-claude-tree"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parsed(t, c.text), cmpEmpty); d != "" {
				t.Error(d)
			}
		})
	}
}

// The file's own folder counts: a relative path out of it may lead inside.
func TestOutputBesideJobInTree(t *testing.T) {
	text := head + "mode: {summary: deterministic}\npublish: {path: out/a.jsonl}\n"
	_, err := spec.Parse("/home/o/.claude/jobs/job.yaml", []byte(text), nil)
	if d := cmp.Diff([]string{"5:17 publish.path output-inside-claude-tree"}, brief(problems(t, err))); d != "" {
		t.Error(d)
	}
}

func TestOutputUnique(t *testing.T) {
	for _, c := range []struct {
		sessions, path string
		unique         bool
	}{
		{"a.jsonl", "out.jsonl", true},
		{"a.jsonl, b.jsonl", "out.jsonl", false},
		{"a.jsonl, b.jsonl", "{session}.jsonl", true},
		{`"*.jsonl"`, "out.jsonl", false},
		{`"a?.jsonl"`, "out.jsonl", false},
		{`"[ab].jsonl"`, "out.jsonl", false},
		{`"{a,b}.jsonl"`, "out.jsonl", false},
		{`"**/a.jsonl"`, "{session}/out.jsonl", true},
	} {
		text := "version: 1\nkind: compress\ninput: {sessions: [" + c.sessions + "]}\nmode: {summary: deterministic}\npublish:\n  path: \"" + c.path + "\"\n"
		var want []string
		if !c.unique {
			want = []string{"6:9 publish.path output-not-unique"}
		}
		if d := cmp.Diff(want, parsed(t, text), cmpEmpty); d != "" {
			t.Errorf("%s to %s: %s", c.sessions, c.path, d)
		}
	}
}

// Whatever form a credential takes in the file, no output holds it.
func TestSecretsAreNotShown(t *testing.T) {
	key := "sk-" + "ant-api03-" + strings.Repeat("Q", 30)
	pem := "-----BEGIN PRIVATE KEY-----\n  " + strings.Repeat("Q", 64) + "\n  -----END PRIVATE KEY-----"
	author := head + "mode: {summary: model}\npublish: {to: none}\nauthor:\n  by: anthropic\n  model: m\n  keyEnv: "
	escaped := `"sk-\x61nt-api03-` + strings.Repeat("Q", 30) + `"`
	for _, c := range []struct {
		name, text string
		set        []string
		want       []string
	}{
		{"plain", author + key + "\n", nil, []string{"9:11 author.keyEnv secret-in-spec"}},
		{"quoted", author + "'" + key + "'\n", nil, []string{"9:11 author.keyEnv secret-in-spec"}},
		{"escaped", author + escaped + "\n", nil, []string{"9:11 author.keyEnv secret-in-spec"}},
		{"flow", small + "author: {keyEnv: " + escaped + ", by: x}\n", nil,
			[]string{"6:18 author.keyEnv secret-in-spec", "6:72 author.by unknown-value"}},
		{"of no known form", author + strings.Repeat("q", 40) + "\n", nil, []string{"9:11 author.keyEnv wrong-form"}},
		{"in an address", author + "K\n  baseURL: https://u:" + strings.Repeat("Q", 12) + "@h/\n", nil, []string{"10:12 author.baseURL wrong-form"}},
		{"in a list", small + "run: [a, " + key + "]\n", nil, []string{"6:6 run wrong-type", "6:10 run[1] secret-in-spec"}},
		{"as a field", small + key + ": x\n", nil, []string{"6:1  secret-in-spec"}},
		{"in a comment", small + "# old: " + key + "\n", nil, []string{"6:8  secret-in-spec"}},
		{"in what is not YAML", small + "]\nk: " + key + "\n", nil, []string{"6:0  syntax", "7:4  secret-in-spec"}},
		{"in a block", small + "name: |\n  " + pem + "\n", nil, []string{"6:7 name secret-in-spec"}},
		{"twice", small + "name: " + key + "\nname: " + key + "\n", nil, []string{"6:7 name secret-in-spec", "7:1 name duplicate-key", "7:7  secret-in-spec"}},
		{"assigned", small, []string{"author.keyEnv=" + key}, []string{"0:0 author.keyEnv secret-in-spec"}},
		{"assigned, escaped", small, []string{"author={keyEnv: " + escaped + ", x: 1, x: 2}"},
			[]string{"0:0 author.keyEnv secret-in-spec", "0:0 author.x duplicate-key", "0:0 author.x unknown-field"}},
		{"assigned as a field", small, []string{key + "=1"}, []string{"0:0 " + strings.Repeat("*", len(key)) + " unknown-field"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := spec.Parse("job.yaml", []byte(c.text), c.set)
			ps := problems(t, err)
			if d := cmp.Diff(c.want, brief(ps)); d != "" {
				t.Error(d)
			}
			var b strings.Builder
			if err := ps.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"QQQQ", "qqqq"} {
				if strings.Contains(b.String(), part) {
					t.Errorf("shown:\n%s", b.String())
				}
			}
		})
	}
}
