package modelsummary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a report: problems of one rule told in full, and lines named of others.
const (
	maxTold  = 5
	maxLines = 20
)

// Report tells the author of a refused summary what to mend: the problems by rule,
// what mends them once. However many there are, it stays short.
func Report(problems []Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The summary is refused: %s. Mend every one and give the whole summary again.\n", plural(len(problems), "problem"))
	for _, group := range byRule(problems) {
		tell(&b, group)
	}
	return b.String()
}

// byRule groups problems by rule, in the order in which the rules first appear.
func byRule(problems []Problem) [][]Problem {
	var groups [][]Problem
	for _, p := range problems {
		i := slices.IndexFunc(groups, func(g []Problem) bool { return g[0].Rule == p.Rule })
		if i < 0 {
			groups = append(groups, []Problem{p})
		} else {
			groups[i] = append(groups[i], p)
		}
	}
	return groups
}

func tell(b *strings.Builder, group []Problem) {
	fmt.Fprintf(b, "\n%s (%d)\n", group[0].Rule, len(group))
	fix := ""
	for i, p := range group[:min(len(group), maxTold)] {
		if i > 0 && p.Fix != fix {
			b.WriteString("  To mend it: " + fix + "\n")
		}
		fix = p.Fix
		b.WriteString("- line " + strconv.Itoa(p.Line))
		if p.Column > 0 {
			b.WriteString(", column " + strconv.Itoa(p.Column))
		}
		b.WriteString(": " + p.Message)
		if p.Quote != "" {
			b.WriteString(" | " + p.Quote)
		}
		b.WriteByte('\n')
	}
	if rest := group[min(len(group), maxTold):]; len(rest) > 0 {
		b.WriteString("- " + strconv.Itoa(len(rest)) + " more, at lines " + lineList(rest) + "\n")
	}
	b.WriteString("  To mend it: " + fix + "\n")
}

func lineList(problems []Problem) string {
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	lines = slices.Compact(lines)
	var names []string
	for _, n := range lines[:min(len(lines), maxLines)] {
		names = append(names, strconv.Itoa(n))
	}
	if len(lines) > maxLines {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
