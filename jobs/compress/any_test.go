package compress_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/step"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// drawAny writes a session of any shape: links to anything, messages in pieces,
// calls and results that need not fit, boundaries, pointers.
func drawAny(t *rapid.T) []byte {
	var b st.Builder
	n := rapid.IntRange(3, 30).Draw(t, "records")
	for i := range n {
		name, parent := fmt.Sprint("n", i), ""
		if p := rapid.IntRange(-1, n).Draw(t, "parent"); p >= 0 && rapid.IntRange(0, 3).Draw(t, "far") == 0 {
			parent = fmt.Sprint("n", p)
		} else if i > 0 {
			parent = fmt.Sprint("n", i-1)
		}
		tool, message := fmt.Sprint("t", rapid.IntRange(0, 5).Draw(t, "tool")), fmt.Sprint("m", rapid.IntRange(0, 5).Draw(t, "message"))
		var opts []st.Option
		if rapid.IntRange(0, 9).Draw(t, "side") == 0 {
			opts = append(opts, st.Sidechain())
		}
		drawRecord(t, &b, name, parent, tool, message, opts)
	}
	return b.Bytes()
}

func drawRecord(t *rapid.T, b *st.Builder, name, parent, tool, message string, opts []st.Option) {
	switch rapid.IntRange(0, 14).Draw(t, "kind") {
	case 0, 1:
		b.User(name, parent, "words "+name, opts...)
	case 2, 3:
		b.Assistant(name, parent, message, append(opts, st.Text("answer "+name))...)
	case 4, 5:
		b.Assistant(name, parent, message, append(opts, st.Use(tool, "Bash", map[string]any{"command": "true"}))...)
	case 6, 7:
		b.Result(name, parent, tool, "out "+name, opts...)
	case 8:
		b.Attachment(name, parent, "hook_additional_context", opts...)
	case 9:
		b.System(name, parent, "turn_duration", opts...)
	case 10:
		b.LastPrompt(parent)
	case 11:
		b.Assistant(name, parent, message, append(opts, st.Thinking("thought"))...)
	case 12:
		b.Progress(name, parent, opts...)
	case 13:
		b.System(name, parent, "local_command", opts...)
	case 14:
		b.System(name, parent, "note", append(opts, st.With("type", "voice-note"))...)
	}
}

// Whatever a session looks like, by the client's chain it is folded into a file
// that all known clients resume as one line, or it is refused for a reason that
// lies in it.
func TestAnySessionByTheClientsChain(t *testing.T) {
	drawn, done := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		drawn++
		session := drawAny(rt)
		version := rapid.SampledFrom(client.Versions()).Draw(rt, "client")
		w := newWorld(t)
		w.put("/s/x.jsonl", session)
		i := w.run("mode.chain=client", "mode.client="+version, "budgets.ratio=0.05", "budgets.keepRecords=2").Items[0]
		if i.Status != step.Done {
			if i.Class == "candidate-invalid" || i.Status != step.Refused {
				rt.Fatalf("%s: %s\n%s", i.Class, i.Message, session)
			}
			return
		}
		done++
		oneLine(rt, w.out("x"))
	})
	if done*4 < drawn {
		t.Errorf("only %d of %d sessions were folded", done, drawn)
	}
}

// oneLine demands that every known client resumes all records behind the pair in
// their order and has nothing to mend.
func oneLine(t rapid.TB, candidate []byte) {
	x, err := transcript.Read(strings.NewReader(string(candidate)), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range client.Versions() {
		rules, _ := client.Known(version)
		r, err := client.Resolve(transcript.NewSource(x, strings.NewReader(string(candidate))), rules)
		if err != nil || r.Refused != "" || len(r.Breaks) > 0 || len(r.Active) != len(r.Line) || len(r.Lost()) > 0 {
			t.Fatalf("%s: %q, %d breaks, %d active in a line of %d\n%s", version, r.Refused, len(r.Breaks), len(r.Active), len(r.Line), candidate)
		}
		for i, a := range r.Active {
			if between := i > 0 && a != r.Active[i-1]+1; between && beside(x, r.Active[i-1]+1, a) {
				t.Fatalf("%s: record %d follows %d\n%s", version, a, r.Active[i-1], candidate)
			}
		}
		for _, i := range r.Invented {
			// A message.id that comes back in another answer tears its results off,
			// here as in the source.
			if i.Use != 0 && !strings.Contains(i.Text, "missing") {
				t.Fatalf("%s adds %q\n%s", version, i.Text, candidate)
			}
		}
	}
}

// beside reports a record between two others that a conversation could be made of.
func beside(x *transcript.Index, from, to int) bool {
	for i := from; i < to; i++ {
		if client.Node(x.Records[i].Type) {
			return true
		}
	}
	return to < from
}
