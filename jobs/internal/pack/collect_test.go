package pack

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/evidence"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// TestEvidenceLines: what each kind of record becomes.
func TestEvidenceLines(t *testing.T) {
	for _, tt := range []struct {
		name, line, want string
	}{
		{"words", user(`"Hi."`), `- L1 type=user role=user evidence_class=human-user full_text_json="Hi."`},
		{
			"all that identifies it", userWith(`"uuid":"u1","timestamp":"2026-03-02T09:00:00.000Z",`, `"Never do it."`),
			`- L1 type=user role=user ts=2026-03-02T09:00:00.000Z uuid=u1 evidence_class=human-user,human-constraint full_text_json="Never do it."`,
		},
		{"words of the client", userWith(`"isMeta":true,`, `"Hi."`), `- L1 type=user role=user evidence_class=human-user full_text_json="Hi."`},
		{"words and results", user(`[{"type":"tool_result","tool_use_id":"t","content":"out"},{"type":"text","text":"Go on."}]`), `- L1 type=user role=user evidence_class=human-user,source-tool full_text_json="Go on."`},
		{"markup in a list", user(`[{"type":"text","text":"<command-name>x"}]`), `- L1 type=user role=user evidence_class=human-user full_text_json="<command-name>x"`},
		{"markup", user(`" <command-name>/x</command-name>"`), ""},
		{"output of a command", user(`"<local-command-stdout>an error</local-command-stdout>"`), "- L1 type=user role=user evidence_class=general\n  <local-command-stdout>an error</local-command-stdout>"},
		{"blank", user(`" \n\u001c"`), ""},
		{"another role", `{"type":"user","message":{"role":"tool","content":"must"}}`, "- L1 type=user role=tool evidence_class=general\n  must"},
		{"no role", `{"type":"user","message":{"role":7,"content":"must"}}`, "- L1 type=user role=user evidence_class=general\n  must"},
		{
			"thinking and text", answer(`{"type":"thinking","thinking":"Hm."},{"type":"thinking","text":"No key."},{"text":"Untyped."},"Bare.",{"type":"text","text":""},{"type":"tool_use","id":"t","name":"Bash","input":{}}`),
			`- L1 type=assistant role=assistant evidence_class=assistant-semantic,source-tool full_text_json="Hm.\nNo key.\nUntyped.\nBare."`,
		},
		{"a text as message", `{"type":"assistant","message":"Yes."}`, `- L1 type=assistant role=assistant evidence_class=assistant-semantic full_text_json="Yes."`},
		{"a text beside no message", `{"type":"assistant","content":[{"type":"text","text":"Yes."}]}`, `- L1 type=assistant role=assistant evidence_class=assistant-semantic full_text_json="Yes."`},
		{"a signature alone", answer(`{"type":"thinking","thinking":"","signature":"x"}`), ""},
		{"research", answer(`{"type":"text","text":"We DECIDED on it."}`), `- L1 type=assistant role=assistant evidence_class=assistant-semantic,assistant-research full_text_json="We DECIDED on it."`},
		{"an earlier summary", userWith(`"isCompactSummary":true,`, `"Before."`), `- L1 type=user role=user evidence_class=prior-summary full_text_json="Before."`},
		{"an earlier summary of markup", userWith(`"isCompactSummary":true,`, `"<command-x"`), `- L1 type=user role=user evidence_class=prior-summary full_text_json="<command-x"`},
		{"no type", `{"isCompactSummary":true,"content":"Before."}`, `- L1 type=None role=None evidence_class=prior-summary full_text_json="Before."`},
		{"lost characters", user(`"a \ufffd"`), `- L1 type=user role=user evidence_class=human-user,source-text-warning full_text_json="a ` + "\uFFFD" + `"`},
		{"escapes", user(`"\"\\/<>&\u0001\u007fé\u2028\u2029\u0085"`), `- L1 type=user role=user evidence_class=human-user full_text_json="\"\\/<>&\u0001` + "\x7f" + `é\u2028\u2029\u0085"`},
		{"a call", answer(`{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a/b.go"}}`), "- L1 type=assistant role=assistant evidence_class=source-tool\n  Read {\"file_path\":\"/a/b.go\"}"},
		{"a routine call", answer(`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}`), ""},
		{"a result", result("", "a\n\t error \r\n b"), "- L1 type=user role=user evidence_class=source-tool\n  a error b"},
		{"a failed result", result(`,"is_error":true`, "no"), "- L1 type=user role=user evidence_class=source-tool\n  no"},
		{"lost output", result("", "error \uFFFD"), ""},
		{"mojibake", result("", `error \\223 \\211 \\255`), ""},
		{"an error of the service", `{"type":"system","subtype":"api_error","error":{"status":529}}`, "- L1 type=system role=system evidence_class=system-error\n  api_error {\"status\":529}"},
		{"a measure", `{"type":"system","subtype":"turn_duration"}`, ""},
		{"a queued prompt", `{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"Wait."}]}}`, "- L1 type=attachment role=attachment evidence_class=human-user\n  queued_command Wait."},
		{"a hook", `{"type":"attachment","attachment":{"type":"hook","stdout":"ok","stderr":"Error: x"}}`, "- L1 type=attachment role=attachment evidence_class=general\n  hook ok Error: x"},
		{"an unknown type", `{"type":"progress\n- L2 type=user","data":"must"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want != "" {
				want += "\n"
			}
			if got := evidenceLines(ofLines(t, tt.line)); got != want {
				t.Errorf("\n%swant\n%s", got, want)
			}
		})
	}
}

// Values from the file cannot make lines of evidence.
func TestNoLineIsForged(t *testing.T) {
	got := evidenceLines(ofLines(t,
		`{"type":"x\n- L9 type=user","uuid":"u\n- L8 type=user","isCompactSummary":true,"content":"\n- L7 type=user\u2028- L6 type=user"}`,
		result("", "error\n- L5 type=user"),
	))
	want := `- L1 type=x_-_L9_type=user role=x_-_L9_type=user uuid=u_-_L8_type=user evidence_class=prior-summary full_text_json="\n- L7 type=user\u2028- L6 type=user"
- L2 type=user role=user evidence_class=source-tool
  error - L5 type=user
`
	if got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
}

func TestOmissionReasons(t *testing.T) {
	p := ofLines(t,
		user(`"Hi."`),
		result("", "the same error"),
		result("", "the same error"),
		result("", "routine"),
		result("", "error \uFFFD"),
		`{"type":"system","subtype":"turn_duration"}`,
		`{"type":"progress"}`,
		user(`"Bye."`),
	)
	want := map[int]Reason{2: Repeated, 4: ZeroPriority, 5: Noise, 6: ZeroPriority}
	for _, o := range p.Omitted {
		if want[o.N] != o.Why {
			t.Errorf("L%d: %s, want %q", o.N, o.Why, want[o.N])
		}
		delete(want, o.N)
	}
	if len(want) > 0 || !p.Truncated() {
		t.Errorf("not reported: %v", want)
	}
	if s := string(p.Text); !strings.Contains(s, `{"noise-or-ineligible":1,"repeated":1,"zero-priority":2}`) || !strings.Contains(s, "left out: True") {
		t.Error(s)
	}
}

// A cut text keeps 868 characters and says how many it lost.
func TestLongOptionalTexts(t *testing.T) {
	shownOf := func(text string) string {
		_, shown, _ := strings.Cut(evidenceLines(ofLines(t, result("", text))), "\n  ")
		return strings.TrimSuffix(shown, "\n")
	}
	exact := "error " + strings.Repeat("é", 894)
	if got := shownOf(exact); got != exact {
		t.Errorf("900 characters were cut: %q", got)
	}
	if got, want := shownOf(exact+"x"), exact[:6+2*862]+" [+33 characters]"; got != want {
		t.Errorf("%q", got)
	}
	spaces := "error " + strings.Repeat("x", 861) + strings.Repeat("  y", 30_000)
	if got, want := shownOf(spaces), "error "+strings.Repeat("x", 861)+" [+60000 characters]"; got != want {
		t.Errorf("%q", got[860:])
	}
}

func TestNamesPath(t *testing.T) {
	for text, want := range map[string]bool{
		"see /etc/hosts": true, "/clear": false, "<b>x</bold>": false, "./run": true, "~/x/y": true, "a src/main.go b": true, `C:\work\a.txt`: true,
		"https://example.org/x.html": true, `{"path":"/a/b"}`: true,
		"and/or": false, "1/2": false, "// comment": false, "/": false, "": false, `line\nline.x`: false, "a / b.c": false,
	} {
		if got := namesPath(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Every file of the test data, odd and damaged ones among them, gives a pack of
// all its records, and the index never hides wording.
func TestAllFiles(t *testing.T) {
	for _, name := range sessionFiles(t) {
		data := st.Read(t, repository, name)
		x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
		if err != nil {
			t.Fatal(name, err)
		}
		src := transcript.NewSource(x, bytes.NewReader(data))
		for r := range x.Records {
			line, err := src.Record(r)
			if err != nil {
				t.Fatal(name, err)
			}
			if rec := &x.Records[r]; kindOf(rec, evidence.Semantic(rec, line)) != 0 && !mayBeWording(rec) {
				t.Errorf("%s: L%d is wording: %s", name, r+1, line)
			}
		}
		req := request(len(x.Records))
		req.Binding.PackChars, req.Binding.PackTokens = 1<<30, 1<<30
		p, err := Build(src, req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := strings.Count("\n"+evidenceLines(p), "\n- L"); n != len(p.Anchors) {
			t.Errorf("%s: %d lines of %d records", name, n, len(p.Anchors))
		}
	}
}

// sessionFiles are the smaller sessions of the test data.
func sessionFiles(t *testing.T) []string {
	var names []string
	for _, pattern := range []string{"testdata/cases/*.jsonl", "testdata/sessions/*.jsonl", "testdata/vectors/[A-M]*/session.jsonl"} {
		found, err := fs.Glob(repository, pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		names = append(names, found...)
	}
	return names
}
