package summary

import "strings"

// drawChoices lists decisions. One that takes up the matter of an earlier one
// says so: it came later and counts.
func (b *Builder) drawChoices(room int) string {
	s := b.choices
	return fit(s, room, func(kept []item, lost span) string {
		var lines []string
		topics := make([]map[string]bool, len(kept))
		for i, it := range kept {
			topics[i] = topic(it.text)
			line := both(it.n, it.to) + " " + it.text
			if j := sameMatter(topics[:i], topics[i]); j >= 0 && kept[j].n < it.n {
				line = both(it.n, it.to) + " (later than " + anchor(kept[j].n, kept[j].n) + " on this) " + it.text
			}
			lines = append(lines, line)
		}
		return bullet(lines) + leftOut(lost)
	})
}

// topic is the set of telling words: code spans whole, long words, pairs of
// characters where words are not written apart.
func topic(text string) map[string]bool {
	out := map[string]bool{}
	for i, span := range strings.Split(text, "`") {
		if i%2 == 1 {
			out["`"+span] = true
		}
	}
	for _, w := range words(text) {
		rs := []rune(w)
		if len(rs) > 0 && wide(rs[0]) {
			for i := 0; i+1 < len(rs); i++ {
				out[string(rs[i:i+2])] = true
			}
		} else if len(rs) >= 5 {
			out[w] = true
		}
	}
	return out
}

// sameMatter returns the last topic that shares half of its words with t, or
// -1.
func sameMatter(topics []map[string]bool, t map[string]bool) int {
	for i := len(topics) - 1; i >= 0; i-- {
		shared := 0
		for w := range t {
			if topics[i][w] {
				shared++
			}
		}
		if shared >= 3 && 2*shared >= min(len(t), len(topics[i])) {
			return i
		}
	}
	return -1
}

// drawHistory lists the requests of the closed turns, each with what the
// assistant had asked before, what the user stopped or refused, and the
// outcome.
func (b *Builder) drawHistory(room int) string {
	return fit(b.history, room, func(kept []item, lost span) string {
		var out strings.Builder
		kept = withoutRepeatedQuestions(kept)
		for start := 0; start < len(kept); {
			end := start
			for end < len(kept) && kept[end].turn == kept[start].turn {
				end++
			}
			out.WriteString(b.turnLines(kept[start:end]))
			start = end
		}
		return out.String() + leftOut(lost)
	})
}

// withoutRepeatedQuestions drops questions that stand at the end of the outcome
// right before them.
func withoutRepeatedQuestions(kept []item) []item {
	shown := map[int]string{}
	var out []item
	for _, it := range kept {
		if it.part == answered {
			shown[it.n] += it.text
		}
		if it.part != asked || !strings.Contains(shown[it.n], it.text) {
			out = append(out, it)
		}
	}
	return out
}

// turnLines renders the parts of one turn that were kept.
func (b *Builder) turnLines(parts []item) string {
	var lines []string
	for i := 0; i < len(parts); {
		j := i
		for j < len(parts) && parts[j].part == parts[i].part && parts[j].n == parts[i].n {
			j++
		}
		lines = append(lines, b.partLine(parts[i:j]))
		i = j
	}
	return "- " + strings.Join(lines, "\n  ") + "\n"
}

func (b *Builder) partLine(parts []item) string {
	it := parts[0]
	at := anchor(it.n, it.to)
	switch it.part {
	case asked:
		return at + " the assistant asked: " + it.text
	case wanted:
		if it.n == b.first.n {
			return at + " the first request, above"
		}
		return at + " “" + spliced(parts) + "”"
	case stopped:
		return at + " the user interrupted"
	case refused:
		return at + " the user refused " + it.text
	case noted:
		return at + " note: " + it.text
	case counted:
		return "→ " + at + " " + it.text + ", no closing words"
	}
	return "→ " + at + " " + spliced(parts)
}

// spliced joins units of one text and marks what is missing between them.
func spliced(parts []item) string {
	var s strings.Builder
	prev := -1
	for _, it := range parts {
		if it.at != prev+1 {
			s.WriteString(" " + omitted)
		}
		s.WriteString(" " + it.text)
		prev = it.at
	}
	if prev < parts[0].of-1 && !strings.HasSuffix(s.String(), omitted) {
		s.WriteString(" " + omitted)
	}
	return s.String()[1:]
}
