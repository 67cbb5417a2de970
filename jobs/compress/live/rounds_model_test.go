package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/author"
	"github.com/precis-dev/precis/jobs/internal/clienttest"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
)

// TestModelRounds compresses a session ten times with summaries that an author
// writes. Each time the client resumes the new file and works on in it; once it
// compacts the session itself, and once it goes on in a copy. In the end all clients
// resume it. Older ones, and a short run, have three rounds and not the end.
func TestModelRounds(t *testing.T) {
	eachClient(t, func(t *testing.T, version string) {
		t.Parallel()
		r := &modelRounds{rounds: &rounds{t: t, c: clienttest.Find(t, version), version: version}}
		s := r.c.Drive()
		r.turns(s, 6)
		r.id = s.ID
		s.Close()
		n, all := 10, !testing.Short() && version == clienttest.Versions[0]
		if !all {
			n = 3
		}
		for i := range n {
			r.round(i)
			if t.Failed() {
				t.Fatalf("round %d", i+1)
			}
		}
		if session := r.c.Sessions()[r.id]; all {
			r.compress(ways[0])
			resumed(t, clienttest.Find(t, version), version, session, r.c.Sessions()[r.id])
		}
		t.Logf("characters of the text: %v", r.chars)
	})
}

// most is how many characters a summary may have, and half as many more beside those
// of an earlier one.
const most = 8000

// ways are how the summaries get into the session.
var ways = [][]string{nil, {"mode.embed=full"}, {"mode.priorSummaries=verbatim"}}

// modelRounds are rounds with an author.
type modelRounds struct {
	*rounds
	pack, answer string // what he read and wrote last
	chars        []int  // of the texts
}

// round compresses the session, and has the client go on.
func (r *modelRounds) round(i int) {
	r.compress(ways[i%len(ways)])
	switch i {
	case 4:
		r.goOn(1)
		r.compact()
	case 6:
		r.goOn(3, "--fork-session")
	default:
		r.goOn(3)
	}
}

// compress folds the session for the client to find.
func (r *modelRounds) compress(way []string) {
	r.t.Helper()
	kind := compress.Kind{Authors: author.World{Getenv: func(string) (string, bool) { return "", false }, Run: r.write}}
	session := r.c.Sessions()[r.id]
	candidate, refused := foldWith(r.t, kind, session, r.version, append([]string{
		"mode.summary=model", "author.by=command", "author.command=[mechanical]", "author.attempts=0",
		fmt.Sprint("budgets.summaryChars=", most),
	}, way...)...)
	if refused != "" {
		r.t.Fatalf("refused %s", refused)
	}
	r.evident(session)
	r.minus(session, candidate)
	_, text := newestSummary(r.t, candidate)
	r.chars = append(r.chars, utf8.RuneCountInString(text))
	if n := r.chars[len(r.chars)-1]; n > most*3/2 || n > most && !strings.HasPrefix(text, "# Earlier summaries") {
		r.t.Errorf("the text has %d characters", n)
	}
	r.c.Place(r.id, candidate)
}

// write is the author: one without a model.
func (r *modelRounds) write(_ context.Context, p author.Process) (author.Exit, error) {
	text, err := mechanical.Write([]byte(p.Stdin))
	if err != nil {
		return author.Exit{}, err
	}
	r.pack, r.answer = p.Stdin, string(text)
	return author.Exit{}, p.Stdout(text)
}

// evident demands that the newest summary of a session was evidence, whole, and is
// cited.
func (r *modelRounds) evident(session []byte) {
	n, text := newestSummary(r.t, session)
	if n == 0 {
		return
	}
	var shown string
	for l := range strings.Lines(r.pack) {
		if head, quoted, full := strings.Cut(l, " full_text_json="); full && strings.HasPrefix(head, fmt.Sprintf("- L%d ", n)) {
			if err := json.Unmarshal([]byte(quoted), &shown); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	group := fmt.Sprintf("`prior-summary-L%d`: L%[1]d\n", n)
	if shown != text || strings.Count(r.pack, "`prior-summary-") != 1 || !strings.Contains(r.pack, group) {
		r.t.Errorf("L%d of %d characters is shown as %.100q", n, len(text), shown)
	}
	if !strings.Contains(r.answer, fmt.Sprintf("[L%d]\n", n)) {
		r.t.Errorf("L%d is not cited", n)
	}
}

// newestSummary is the last summary in a session: its record and its text.
func newestSummary(t *testing.T, session []byte) (n int, text string) {
	t.Helper()
	i := 0
	for l := range bytes.Lines(session) {
		i++
		if !bytes.Contains(l, []byte(`"isCompactSummary":true`)) {
			continue
		}
		var rec struct{ Message clienttest.Message }
		if err := json.Unmarshal(l, &rec); err != nil || len(rec.Message.Blocks) != 1 {
			t.Fatal(err, rec)
		}
		n, text = i, rec.Message.Blocks[0].Text
	}
	return n, text
}

// minus demands one pair, and that the client is to send of the new file the summary
// and then what it would have sent of the records that are kept.
func (r *modelRounds) minus(session, candidate []byte) {
	was, is := predict(r.t, session, r.version), predict(r.t, candidate, r.version)
	if pairs := bytes.Count(candidate, []byte(`"isCompactSummary":true`)); pairs != 1 || bytes.Count(candidate, []byte(`"subtype":"compact_boundary"`)) != 1 {
		r.t.Errorf("%d summaries", pairs)
	}
	same(r.t, "minus the folded part", is.blocks[1:], was.of(is.uuids()), nil)
}
