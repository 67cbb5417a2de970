package modelsummary_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

func TestTooShort(t *testing.T) {
	e := ms.Expect{Header: ms.Header{Source: "a", SummarySource: "b", Anchors: "c", Groups: "d", Handoff: "none", Request: "e", Claims: "f"}, Records: 1, Summary: []int{1}, Shown: []int{1}}
	text := e.Header.Comment() + "\n" + ms.Title + "\n"
	for _, s := range ms.Sections {
		text += s + "\n[L1]\n"
		if s == ms.EvidenceSection {
			text += ms.CoverageHeading + "\n"
		}
	}
	pad := 800 - utf8.RuneCountInString(strings.TrimSpace(text))
	_, problems := ms.Check([]byte(swap(text, "[L1]", "[L1]"+strings.Repeat("é", pad-1))), e)
	if diff := cmp.Diff([]string{"too-short 29: the text has fewer than 800 characters"}, told(problems)); diff != "" {
		t.Error(diff)
	}
	if _, problems := ms.Check([]byte(swap(text, "[L1]", "[L1]"+strings.Repeat("é", pad))), e); len(problems) > 0 {
		t.Error(told(problems))
	}
}

// proseOf is a summary without what the pack demands word for word.
func proseOf(text string) string {
	text = text[strings.Index(text, ms.Title):]
	from, to := strings.Index(text, ms.CoverageHeading), strings.Index(text, "## User Wording")
	return text[:from] + text[to:]
}

func TestTooLong(t *testing.T) {
	prose := proseOf(good)
	chars, toks := utf8.RuneCountInString(prose), tokens.Text(prose)
	all, allToks := utf8.RuneCountInString(good)-1, tokens.Text(strings.TrimSpace(good))
	const spare = "these lines do not count: leave them as they are"
	for _, c := range []struct {
		what             string
		maxChars, maxTok int
		whole            bool
		want             []string // message: fix
	}{
		{"no limit", 0, 0, false, nil},
		{"no limit of the whole", 0, 0, true, nil},
		{"as many as there may be", chars, toks, false, nil},
		{"as many as there may be of the whole", all, allToks, true, nil},
		{"one character", chars - 1, 0, false, []string{
			fmt.Sprintf("the text without comment and coverage lines has %d characters; the limit is %d: shorten it by 1 character at least, a share of 1%%; %s", chars, chars-1, spare),
		}},
		{"half of the tokens", 0, toks / 2, false, []string{
			fmt.Sprintf("the text without comment and coverage lines has %d estimated tokens; the limit is %d: shorten it by %d estimated tokens at least, a share of %d%%; %s", toks, toks/2, toks-toks/2, 50+toks%2, spare),
		}},
		{"both", 1, 1, false, []string{
			fmt.Sprintf("the text without comment and coverage lines has %d characters; the limit is 1: shorten it by %d characters at least, a share of 100%%; %s", chars, chars-1, spare),
			fmt.Sprintf("the text without comment and coverage lines has %d estimated tokens; the limit is 1: shorten it by %d estimated tokens at least, a share of 100%%; %s", toks, toks-1, spare),
		}},
		{"the whole", all - 1, allToks, true, []string{
			fmt.Sprintf("the text has %d characters; the limit is %d: shorten it by 1 character at least, a share of 1%%; all of it counts, but comment, headings and a coverage line for each record must stay", all, all-1),
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			e := expect()
			e.MaxChars, e.MaxTokens, e.Whole = c.maxChars, c.maxTok, c.whole
			for _, text := range []string{good, "\ufeff\n \n" + good + "\n\n"} {
				s, problems := ms.Check([]byte(text), e)
				var got []string
				for _, p := range problems {
					got = append(got, p.Message+": "+p.Fix)
					if p.Rule != ms.TooLong {
						t.Error(p)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" || (s == nil) != (c.want != nil) {
					t.Error(diff)
				}
			}
		})
	}
}

// What the pack demands cannot make a summary too long, wherever it stands.
func TestCoverageIsNotTooLong(t *testing.T) {
	e := expect()
	e.Claims[3] = strings.Repeat("All of these words are kept. ", 500)
	text := swap(good, "keep the old key — for now", e.Claims[3])
	e.MaxChars, e.MaxTokens = utf8.RuneCountInString(proseOf(good)), tokens.Text(proseOf(good))
	if _, problems := ms.Check([]byte(text), e); len(problems) > 0 {
		t.Error(told(problems))
	}
	_, problems := ms.Check([]byte(drop(ms.CoverageHeading+"\n\n")(text)), e)
	if diff := cmp.Diff([]string{"coverage-missing 34: the coverage subsection is missing"}, told(problems)); diff != "" {
		t.Error(diff)
	}
	e.Whole = true
	if _, problems := ms.Check([]byte(text), e); len(problems) != 2 {
		t.Error(told(problems))
	}
}
