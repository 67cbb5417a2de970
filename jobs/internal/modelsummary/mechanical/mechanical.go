// Package mechanical is an author without a model: it writes a summary that abides
// by every rule from the text of an evidence pack alone. What it says is worth
// nothing.
//
// It is test support, and no program may import it.
package mechanical

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// pack is what the author reads of a pack.
type pack struct {
	comment string
	groups  []group           // required anchors, as the pack lists them
	claims  []string          // anchors that want a coverage line
	shown   []string          // anchors of all evidence
	texts   map[string]string // of anchors shown in full
}

type group struct{ name, anchor string }

// Write writes the summary that a pack asks for.
func Write(text []byte) ([]byte, error) {
	p, err := read(string(text))
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(p.comment + "\n\n" + modelsummary.Title + "\n")
	lines := p.lines()
	for _, s := range modelsummary.Sections {
		b.WriteString("\n" + s + "\n\n" + strings.Join(lines[s], "\n") + "\n")
		if s == modelsummary.EvidenceSection {
			b.WriteString("\n" + modelsummary.CoverageHeading + "\n\n" + p.coverage())
		}
	}
	return []byte(b.String()), nil
}

func read(text string) (*pack, error) {
	start := strings.Index(text, modelsummary.Marker+"\n")
	if start < 0 {
		return nil, errors.New("the pack has no comment to copy")
	}
	comment, _, ok := strings.Cut(text[start:], "-->")
	if !ok {
		return nil, errors.New("the pack's comment is not closed")
	}
	p := &pack{comment: comment + "-->", texts: map[string]string{}}
	section := ""
	for l := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(l, "## ") {
			section = l
		} else if err := p.line(section, l); err != nil {
			return nil, err
		}
	}
	if len(p.shown) == 0 {
		return nil, errors.New("the pack shows no evidence to cite")
	}
	return p, nil
}

// line reads one line of a section.
func (p *pack) line(section, l string) error {
	l, ok := strings.CutPrefix(l, "- ")
	if !ok {
		return nil
	}
	switch section {
	case "## Required Anchor Coverage", "## Required Handoff Anchor Coverage":
		if name, anchor, ok := strings.Cut(l, "`: "); ok {
			p.groups = append(p.groups, group{strings.TrimPrefix(name, "`"), anchor})
		}
	case "## Required Claim Support":
		if isAnchor(l) {
			p.claims = append(p.claims, l)
		}
	case "## Evidence Records", "## External Handoff Summary":
		return p.evidence(l)
	}
	return nil
}

func isAnchor(s string) bool {
	if s == "" || s[0] != 'L' && s[0] != 'H' {
		return false
	}
	return strings.Trim(s[1:], "0123456789") == "" && len(s) > 1
}

func (p *pack) evidence(l string) error {
	anchor, rest, _ := strings.Cut(l, " ")
	if !isAnchor(anchor) {
		return nil
	}
	p.shown = append(p.shown, anchor)
	const mark = "full_text_json="
	i := strings.Index(rest, mark)
	if i < 0 {
		return nil
	}
	v, err := jsonspan.Parse([]byte(rest[i+len(mark):]))
	if err != nil {
		return fmt.Errorf("text of %s: %w", anchor, err)
	}
	p.texts[anchor] = v.Text()
	return nil
}

// places are the sections for the groups whose names begin so; others are evidence.
var places = []struct{ prefix, section string }{
	{"latest-evidence", modelsummary.Sections[0]},
	{"temporal-", modelsummary.Sections[1]},
	{"handoff-", modelsummary.Sections[1]},
	{"prior-summary-", modelsummary.Sections[2]},
	{"assistant-", modelsummary.Sections[3]},
	{"semantic-assistant-", modelsummary.Sections[3]},
	{"human-", modelsummary.Sections[6]},
	{"semantic-human-", modelsummary.Sections[6]},
}

func placeOf(name string) string {
	for _, p := range places {
		if strings.HasPrefix(name, p.prefix) {
			return p.section
		}
	}
	return modelsummary.EvidenceSection
}

// lines are what each section says.
func (p *pack) lines() map[string][]string {
	lines := map[string][]string{}
	for _, g := range p.groups {
		if strings.HasPrefix(g.name, "semantic-") && slices.Contains(p.claims, g.anchor) {
			continue // its coverage line cites it
		}
		s := placeOf(g.name)
		lines[s] = append(lines[s], fmt.Sprintf("- For %s: “%s” [%s]", g.name, words(p.texts[g.anchor]), g.anchor))
	}
	seen := "- Seen among others [" + strings.Join(p.shown[:min(8, len(p.shown))], ", ") + "]"
	lines[modelsummary.EvidenceSection] = append(lines[modelsummary.EvidenceSection], seen)
	for _, s := range modelsummary.Sections {
		if len(lines[s]) == 0 {
			lines[s] = []string{modelsummary.Unknown, "- Looked at last: [" + p.shown[len(p.shown)-1] + "]"}
		}
	}
	return lines
}

// words are the beginning of a text without any sign that means something.
func words(text string) string {
	f := strings.FieldsFunc(text[:min(len(text), 400)], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	r := []rune(strings.Join(slices.DeleteFunc(f, isAnchor), " "))
	return string(r[:min(len(r), 80)])
}

// coverage is the lines of the coverage subsection.
func (p *pack) coverage() string {
	anchors := map[int]string{}
	for _, a := range p.claims {
		n, _ := strconv.Atoi(a[1:])
		anchors[n] = a
	}
	var b []byte
	for _, n := range slices.Sorted(maps.Keys(anchors)) {
		b = append(b, "- "+anchors[n]+" support_text_json="...)
		b = append(jsonspan.Quote(b, excerpt(p.texts[anchors[n]])), " disposition=covered\n"...)
	}
	return string(b)
}

// excerpt is a part of a text that tells something: from its first letter or digit
// on, unless too little follows.
func excerpt(text string) string {
	text = strings.TrimSpace(text)
	r := []rune(text)
	start := max(0, slices.IndexFunc(r, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }))
	for n := 40; n < len(r)-start; n *= 2 {
		if part := string(r[start : start+n]); len([]rune(strings.TrimSpace(part))) >= modelsummary.MinSupport {
			return part
		}
	}
	if len(r)-start >= modelsummary.MinSupport {
		return string(r[start:])
	}
	return text
}
