package live_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
	"github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// sources are the sessions to compress: those that the client wrote, shapes made
// of them, and damaged ones.
func sources(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{
		"sessions/*.jsonl", "sessions/compacted/*.jsonl", "cases/*.jsonl",
		"vectors/W[56]*/session.jsonl", "vectors/N332-W*/session.jsonl", "vectors/N332-[YZ]*/session.jsonl",
		"vectors/A-*/session.jsonl", "vectors/K1*/session.jsonl", "vectors/N2*/session.jsonl", "vectors/T*/session.jsonl", "vectors/E*/session.jsonl",
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, files...)
	}
	return out
}

var marker = regexp.MustCompile(`mk:[A-Za-z0-9_]+\b`)

const (
	prompt = "PROBE-NEXT"
	// So many candidates the newest client resumes.
	atLeast, atMost = 60, 80
)

// What the client sends of a candidate is the summary, then what it sent before
// of the records that were kept, in the same order, then the prompt.
func TestResumed(t *testing.T) {
	eachClient(t, func(t *testing.T, version string) {
		clienttest.Find(t, version) // or nothing is to be done here
		every := 1
		if version != clienttest.Versions[0] {
			every = 5
		}
		tried := 0
		for i, path := range sources(t) {
			if i%every > 0 || every == 1 && tried == atMost {
				continue
			}
			session := sessiontest.Read(t, os.DirFS(filepath.Dir(path)), filepath.Base(path))
			candidate, refused := fold(t, session, version)
			if refused != "" {
				continue
			}
			tried++
			t.Run(strings.TrimSuffix(strings.TrimPrefix(path, "../../../testdata/"), "/session.jsonl"), func(t *testing.T) {
				t.Parallel()
				resumed(t, clienttest.Find(t, version), version, session, candidate)
			})
		}
		if tried < atLeast/every {
			t.Errorf("only %d candidates", tried)
		}
	})
}

func resumed(t *testing.T, c *clienttest.Client, version string, session, candidate []byte) {
	const before, after = "11111111-2222-4333-8444-555555555555", "66666666-7777-4888-8999-aaaaaaaaaaaa"
	was, is := predict(t, session, version), predict(t, candidate, version)
	first := c.Resume(session, before, prompt)
	second := c.Resume(candidate, after, prompt)
	if first.Outcome != clienttest.Sent || second.Outcome != clienttest.Sent {
		t.Fatalf("before %s, after %s: %s", first.Outcome, second.Outcome, second.Message)
	}
	kept := is.uuids()
	same(t, "the request before", sent(first, prompt), was.blocks, was.texts())
	got := sent(second, prompt)
	same(t, "the request after", got, is.blocks, is.texts())
	if len(got) == 0 || got[0].role != "user" || !strings.Contains(is.blocks[0].text, got[0].text) {
		t.Fatal("the request after does not begin with the summary")
	}
	same(t, "minus the folded part", got[1:], was.of(kept), append(is.texts(), closed(is, was)...))
	others(t, version, candidate, after)
	gone := was.markers(t, kept)
	for _, b := range got[1:] {
		for _, m := range marker.FindAllString(b.text, -1) {
			if gone[m] {
				t.Errorf("%s of a record that is not kept is sent", m)
			}
		}
	}
	excluded := was.excluded(t)
	for _, m := range marker.FindAllString(string(candidate), -1) {
		if excluded[m] {
			t.Errorf("%s of a record that is no part of the conversation is in the new file", m)
		}
	}
}

// uuids are those of all records.
func (p *prediction) uuids() map[string]bool {
	all := map[string]bool{}
	for i := range p.x.Records {
		all[p.x.Name(p.x.Records[i].UUID)] = true
	}
	return all
}

// of are the blocks of the records with these uuids.
func (p *prediction) of(uuids map[string]bool) (blocks []said) {
	for _, b := range p.blocks {
		if uuids[p.x.Name(p.x.Records[b.record].UUID)] {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// others resumes a candidate with the versions it was not made for: they send the
// same line.
func others(t *testing.T, version string, candidate []byte, id string) {
	t.Helper()
	for _, v := range clienttest.Versions {
		if v == version {
			continue
		}
		is := predict(t, candidate, v)
		r := clienttest.Find(t, v).Resume(candidate, id, prompt)
		if r.Outcome != clienttest.Sent || len(is.Active) != len(is.Line) || len(is.Dropped) > 0 {
			t.Fatalf("client %s: %s, %d active in a line of %d, %d dropped", v, r.Outcome, len(is.Active), len(is.Line), len(is.Dropped))
		}
		same(t, "client "+v, sent(r, prompt), is.blocks, is.texts())
	}
}

// What both rules agree on is folded by the default rule, to the same effect.
func TestAgreed(t *testing.T) {
	eachClient(t, func(t *testing.T, version string) {
		clienttest.Find(t, version)
		tried := 0
		for _, path := range sources(t) {
			session := sessiontest.Read(t, os.DirFS(filepath.Dir(path)), filepath.Base(path))
			if candidate, refused := fold(t, session, version, "mode.chain=agreed"); refused == "" && tried < 12 {
				tried++
				t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
					t.Parallel()
					resumed(t, clienttest.Find(t, version), version, session, candidate)
				})
			}
		}
		if tried < 12 {
			t.Errorf("only %d sessions are agreed on", tried)
		}
	})
}

// texts are the texts that the client is to add.
func (p *prediction) texts() []string {
	var out []string
	for _, i := range p.Invented {
		text := i.Text
		if i.Use != 0 {
			text = p.x.Name(i.Use) + " " + text
		}
		out = append(out, text)
	}
	return out
}

// closed are the results with which a candidate answers the calls that the client
// answered itself before.
func closed(is, was *prediction) []string {
	var out []string
	for _, text := range was.texts() {
		for _, b := range is.blocks {
			if b.kind == "tool_result" && b.text == text {
				out = append(out, text)
			}
		}
	}
	return out
}

// same compares blocks; those that the client adds may stand between.
func same(t *testing.T, what string, got, want []said, added []string) {
	t.Helper()
	added = slices.Clone(added)
	at := 0
	for _, b := range got {
		if at < len(want) && b.role == want[at].role && b.kind == want[at].kind && b.text == want[at].text {
			at++
			continue
		}
		known := slices.IndexFunc(added, func(text string) bool {
			return b.text == text || strings.HasPrefix(text, b.text[:min(len(b.text), 60)])
		})
		if known < 0 {
			t.Errorf("%s: %s %s %.200q stands where %s belongs", what, b.role, b.kind, b.text, brief(want, at))
			return
		}
		added = slices.Delete(added, known, known+1)
	}
	if at < len(want) {
		t.Errorf("%s: %d blocks are missing, the first is %s", what, len(want)-at, brief(want, at))
	}
	if len(added) > 0 {
		t.Errorf("%s: %q is not added", what, added)
	}
}

func brief(want []said, at int) string {
	if at >= len(want) {
		return "nothing"
	}
	return fmt.Sprintf("%s %s %.200q", want[at].role, want[at].kind, want[at].text)
}

// markers are the names mk:NAME in the texts of records that are not kept and in
// no others.
func (p *prediction) markers(t *testing.T, kept map[string]bool) map[string]bool {
	return p.only(t, func(r int) bool { return !kept[p.x.Name(p.x.Records[r].UUID)] })
}

// excluded are those of messages outside of the conversation.
func (p *prediction) excluded(t *testing.T) map[string]bool {
	return p.only(t, func(r int) bool { return p.x.Records[r].API() && p.x.Records[r].UUID != 0 && !p.Holds(r) })
}

func (p *prediction) only(t *testing.T, of func(r int) bool) map[string]bool {
	t.Helper()
	in, out := map[string]bool{}, map[string]bool{}
	for r := range p.x.Records {
		line, err := p.src.Record(r)
		if err != nil {
			t.Fatal(err)
		}
		var rec struct{ Message json.RawMessage }
		if json.Unmarshal(line, &rec) != nil {
			continue
		}
		for _, m := range marker.FindAllString(string(rec.Message), -1) {
			if of(r) {
				in[m] = true
			} else {
				out[m] = true
			}
		}
	}
	for m := range out {
		delete(in, m)
	}
	return in
}
