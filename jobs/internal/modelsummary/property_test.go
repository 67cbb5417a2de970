package modelsummary_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
)

func written(t *rapid.T) (ms.Expect, string) {
	e, pack := drawPack(t)
	text, err := mechanical.Write(pack)
	if err != nil {
		t.Fatal(err)
	}
	return e, string(text)
}

func TestMechanicalIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, text := written(t)
		s, problems := ms.Check([]byte(text), e)
		if len(problems) > 0 {
			t.Fatal(strings.Join(told(problems), "\n"))
		}
		if len(s.Coverage) != len(e.Claims) || strings.Contains(s.Prose, "support_text_json") || strings.Contains(s.Prose, ms.Marker) {
			t.Error(s)
		}
	})
}

// Whatever is refused is refused alike with other line ends.
func TestLineEndsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, text := written(t)
		text = rapid.SampledFrom(breaks).Draw(t, "break").change(t, text, e)
		want, wantProblems := ms.Check([]byte(text), e)
		for _, end := range []string{"\r\n", "\r"} {
			got, problems := ms.Check([]byte("\ufeff"+strings.ReplaceAll(text, "\n", end)), e)
			if diff := cmp.Diff(want, got) + cmp.Diff(wantProblems, problems); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// ruleBreak breaks one rule of any good summary.
type ruleBreak struct {
	rule   string
	change func(t *rapid.T, text string, e ms.Expect) string
}

func drawLine(t *rapid.T, lines []string, keep func(string) bool) int {
	var at []int
	for i, l := range lines {
		if keep(l) {
			at = append(at, i)
		}
	}
	return rapid.SampledFrom(at).Draw(t, "line")
}

// atLine changes one line of those that keep names.
func atLine(keep func(string) bool, change func(string) string) func(*rapid.T, string, ms.Expect) string {
	return func(t *rapid.T, text string, _ ms.Expect) string {
		lines := strings.Split(text, "\n")
		i := drawLine(t, lines, keep)
		lines[i] = change(lines[i])
		return strings.Join(lines, "\n")
	}
}

func begins(prefix string) func(string) bool {
	return func(l string) bool { return strings.HasPrefix(l, prefix) }
}

func isSection(l string) bool { return slices.Contains(ms.Sections[:], l) }

func isCoverage(l string) bool { return strings.Contains(l, " support_text_json=") }

func isCited(l string) bool {
	return strings.HasPrefix(l, "- ") && strings.HasSuffix(l, "]")
}

func gone(string) string { return "\x01" } // a line that says nothing

func after(lines string) func(string) string {
	return func(l string) string { return l + "\n" + lines }
}

var breaks = []ruleBreak{
	{ms.HeadingMissing, atLine(isSection, gone)},
	{ms.HeadingRepeated, atLine(isSection, func(l string) string { return l + "\n" + l })},
	{ms.HeadingForm, atLine(isSection, strings.ToUpper)},
	{ms.HeadingRenamed, atLine(isSection, func(string) string { return "## Другое" })},
	{ms.HeadingExtra, atLine(isSection, after("### More"))},
	{ms.HeadingMissing, atLine(begins("# "), gone)},
	{ms.CoverageMissing, atLine(begins("###"), gone)},
	{ms.CoverageForm, atLine(begins("###"), after("As asked [L1]"))},
	{ms.CoverageLacks, atLine(isCoverage, gone)},
	{ms.CoverageTwice, atLine(isCoverage, func(l string) string { return l + "\n" + l })},
	{ms.CoverageForm, atLine(isCoverage, func(l string) string { return strings.TrimSuffix(l, "ed") })},
	{ms.CoverageForm, atLine(isCoverage, func(l string) string { return swap(l, `="`, `=.`) })},
	{ms.SupportBlank, atLine(begins("- L1 "), func(string) string { return `- L1 support_text_json=" " disposition=covered` })},
	{ms.SupportForeign, atLine(begins("- L1 "), func(string) string {
		return `- L1 support_text_json="never said by anyone" disposition=covered`
	})},
	{ms.MetadataMissing, func(_ *rapid.T, s string, _ ms.Expect) string { return s[strings.Index(s, ms.Title):] }},
	{ms.MetadataVersion, atLine(begins(ms.Marker), func(l string) string { return l + "2" })},
	{ms.MetadataUnclosed, atLine(begins("-->"), gone)},
	{ms.MetadataValue, atLine(begins("pack_request"), func(l string) string { return l + "0" })},
	{ms.MetadataForm, atLine(begins("pack_request"), func(l string) string { return " " + l })},
	{ms.MetadataAgain, func(_ *rapid.T, s string, e ms.Expect) string { return s + e.Header.Comment() + "\n" }},
	{ms.MetadataFirst, func(_ *rapid.T, s string, _ ms.Expect) string { return "Here you are:\n" + s }},
	{ms.LineUncited, atLine(isCited, after("- Nobody said this."))},
	{ms.LineUncited, atLine(isCited, after("- 没有人说过这个。"))},
	{ms.LineUncited, atLine(isCited, after("- The L1 cache is full."))},
	{ms.UnknownForm, atLine(isCited, after("- "+ms.Unknown))},
	{ms.Comment, atLine(isCited, func(l string) string { return l + " <!-- so -->" })},
	{ms.NoAccess, atLine(isCited, func(l string) string { return l + " As a language model, I cannot." })},
	{ms.CodeUncited, atLine(begins("# "), after("```\ncode\n```"))},
	{ms.FenceOpen, atLine(isCited, after("```\ncode"))},
	{ms.AnchorRange, atLine(isCited, func(l string) string { return l + " [L301]" })},
	{ms.AnchorRange, atLine(isCited, func(l string) string { return l + " [H7]" })},
	{ms.AnchorForm, atLine(isCited, func(l string) string { return l + " [L01]" })},
	{ms.Encoding, atLine(isCited, func(l string) string { return l + " \xf0\x9f" })},
	{ms.Empty, func(*rapid.T, string, ms.Expect) string { return " \n" }},
	{ms.NoSummary, func(*rapid.T, string, ms.Expect) string { return "Sorry." }},
}

func TestBrokenIsRefused(t *testing.T) {
	for i, b := range breaks {
		t.Run(fmt.Sprint(b.rule, " ", i), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				e, text := written(t)
				_, problems := ms.Check([]byte(b.change(t, text, e)), e)
				if !slices.ContainsFunc(problems, func(p ms.Problem) bool { return p.Rule == b.rule }) {
					t.Fatal(told(problems))
				}
				if len(problems) > 3 {
					t.Errorf("one break gives %q", told(problems))
				}
			})
		})
	}
}

// Whatever the bytes are, the check ends, twice alike, and its report is short.
func TestAnyBytes(t *testing.T) {
	pieces := append(strings.SplitAfter(good, "\n"), "```\n", "~~~", "<!--", "-->", "\r", "[L", "L3", "9]", "\xff", "|", "|--|\n", "---\n",
		"- L1 support_text_json=", `"`, " disposition=covered", "> ", "- ", "# ", "\u2028", "`", "**", ms.Marker, "H1-", "(", ")")
	rapid.Check(t, func(t *rapid.T) {
		holds(t, []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")))
		holds(t, []byte(swap(good, line, strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "body"), ""))))
		holds(t, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	})
}

// Large odd texts take no more time than large texts.
func TestLargeAndOdd(t *testing.T) {
	for _, piece := range []string{
		"<!--\n", ms.Marker + "\n", "`L1` ", "``` `` ", "L1, ", "[L1", "a|b\n---\n", "\n---\na", "> - ", "```\n", "# x\n", "\r", " 'a", "“a” ",
		"- L1 support_text_json=\n", "\\`", "i read ", "a\n", "L1-",
	} {
		large := strings.Repeat(piece, 100_000/len(piece))
		start := time.Now()
		holds(t, []byte(swap(good, line, large)))
		holds(t, []byte(swap(good, "- L1 support", large+"- L1 support")))
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%q: %v", piece, d)
		}
	}
}

type failer interface {
	Helper()
	Fatal(...any)
}

// holds checks any bytes and what is always true of the outcome.
func holds(t failer, text []byte) {
	t.Helper()
	s, problems := ms.Check(text, expect())
	if (s == nil) != (len(problems) > 0) {
		t.Fatal("neither parts nor problems, or both")
	}
	if _, again := ms.Check(text, expect()); !cmp.Equal(problems, again) {
		t.Fatal("another outcome", cmp.Diff(problems, again))
	}
	if s != nil {
		accepted(t, s)
	}
	lines := 1 + strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	for _, p := range problems {
		if p.Rule == "" || p.Message == "" || p.Fix == "" || p.Line < 1 || p.Line > lines {
			t.Fatal(p)
		}
	}
	if r := ms.Report(problems); len(r) > 50_000 {
		t.Fatal(len(r))
	}
	if _, err := json.Marshal(problems); err != nil {
		t.Fatal(err)
	}
}

// accepted holds what an accepted summary of the common pack always has.
func accepted(t failer, s *ms.Summary) {
	t.Helper()
	e := expect()
	for _, n := range e.Groups {
		if !slices.Contains(s.Records, n) {
			t.Fatal("uncited", n)
		}
	}
	for _, l := range s.Coverage {
		if !strings.Contains(e.Claims[l.Record], l.Excerpt) {
			t.Fatal("unsupported", l)
		}
	}
	if len(s.Coverage) != len(e.Claims) || !slices.Contains(s.Handoff, 1) || !slices.Contains(s.Handoff, 3) {
		t.Fatal("uncovered", s)
	}
	for _, n := range s.Records {
		if !slices.Contains(e.Shown, n) {
			t.Fatal("not shown", n)
		}
	}
	at := 0
	for _, h := range append([]string{ms.Title}, ms.Sections[:]...) {
		i := strings.Index(s.Prose[at:], h)
		if at += i; i < 0 || strings.Count(s.Prose, "\n"+h+"\n") > 1 {
			t.Fatal("heading", h)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.ReplaceAll(good, "\n", "\r\n")))
	for _, table := range [][]broken{brokenText, brokenMetadata, brokenHeadings, brokenCoverage, brokenCitations, brokenLines} {
		for _, c := range table {
			f.Add([]byte(c.change(good)))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) { holds(t, text) })
}
