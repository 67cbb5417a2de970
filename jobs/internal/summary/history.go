package summary

import (
	"slices"
	"strings"
)

// choicesSection lists decisions. One that takes up the matter of an earlier
// one says so: it came later and counts.
func (b *Builder) choicesSection() func(room int) string {
	s := b.choices
	earlier := sameMatters(s.items)
	return func(room int) string {
		return fit(s, room, func(kept []item, lost span) string {
			var out strings.Builder
			shown := map[int]int{} // record by seq
			out.Grow(total(kept))
			for _, it := range kept {
				note := ""
				if n := lastShown(shown, earlier[it.seq]); n > 0 && n < it.n {
					note = " (later than " + anchor(n, n) + " on this)"
				}
				writeItem(&out, it, note)
				shown[it.seq] = it.n
			}
			return out.String() + leftOut(lost)
		})
	}
}

// lastShown returns the record of the last of the items that is shown, or 0.
func lastShown(shown map[int]int, seqs []int) int {
	for _, seq := range seqs {
		if n, ok := shown[seq]; ok {
			return n
		}
	}
	return 0
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

// reach is how many items on the same matter are remembered for each.
const reach = 40

// sameMatters returns for every item, by its seq, the seqs of those before it
// that share half of its telling words, or it half of theirs, the last first.
func sameMatters(items []item) map[int][]int {
	holders := map[string][]int{} // places of the items with a word
	sizes, shared := make([]int, len(items)), make([]int, len(items))
	out := map[int][]int{}
	for i, it := range items {
		t := topic(it.text)
		sizes[i] = len(t)
		for w := range t {
			for _, j := range holders[w] {
				shared[j]++
			}
			holders[w] = append(holders[w], i)
		}
		var seqs []int
		for j := i - 1; j >= 0 && len(seqs) < reach; j-- {
			if shared[j] >= 3 && 2*shared[j] >= min(sizes[i], sizes[j]) {
				seqs = append(seqs, items[j].seq)
			}
		}
		out[it.seq] = seqs
		clear(shared)
	}
	return out
}

// drawHistory lists the requests of the closed turns, each with what the
// assistant had asked before, what the user stopped or refused, and the
// outcome.
func (b *Builder) drawHistory(w *wholeRules, room int) string {
	s := b.history
	s.items = w.share(s.items)
	text, kept := fitted(s, room, func(kept []item, lost span) string {
		var out strings.Builder
		kept = withoutRepeatedQuestions(kept)
		out.Grow(total(kept))
		for start := 0; start < len(kept); {
			end := start
			for end < len(kept) && kept[end].turn == kept[start].turn {
				end++
			}
			b.writeTurn(&out, kept[start:end])
			start = end
		}
		return out.String() + leftOut(lost)
	})
	w.intact = w.count(kept) == w.count(s.items)
	return text
}

// withoutRepeatedQuestions drops questions that stand at the end of the outcome
// right before them.
func withoutRepeatedQuestions(kept []item) []item {
	out := make([]item, 0, len(kept))
	for _, it := range kept {
		if it.part != asked || !toldBefore(out, it) {
			out = append(out, it)
		}
	}
	return out
}

func toldBefore(before []item, question item) bool {
	for _, it := range slices.Backward(before) {
		if it.part != answered || it.n != question.n {
			return false
		}
		if strings.Contains(it.text, question.text) {
			return true
		}
	}
	return false
}

// writeTurn writes the parts of one turn that were kept, a line each.
func (b *Builder) writeTurn(out *strings.Builder, parts []item) {
	mark := "- "
	for i := 0; i < len(parts); {
		j := i
		for j < len(parts) && parts[j].part == parts[i].part && parts[j].n == parts[i].n {
			j++
		}
		out.WriteString(mark)
		b.writePart(out, parts[i:j])
		out.WriteByte('\n')
		mark, i = "  ", j
	}
}

func (b *Builder) writePart(out *strings.Builder, parts []item) {
	it := parts[0]
	if it.part == counted || it.part == answered {
		out.WriteString("→ ")
	}
	out.WriteString(anchor(it.n, it.to))
	switch it.part {
	case asked:
		out.WriteString(" the assistant asked: " + it.text)
	case marked:
		out.WriteString(ruleMark)
		b.writeRequest(out, parts)
	case wanted:
		b.writeRequest(out, parts)
	case above:
		out.WriteString(" as above")
	case stopped:
		out.WriteString(" the user interrupted")
	case refused:
		out.WriteString(" the user refused " + it.text)
	case noted:
		out.WriteString(" note: " + it.text)
	case counted:
		out.WriteString(" " + it.text + ", no closing words")
	default:
		out.WriteByte(' ')
		splice(out, parts)
	}
}

func (b *Builder) writeRequest(out *strings.Builder, parts []item) {
	if parts[0].n == b.first.n {
		out.WriteString(" the first request, above")
		return
	}
	out.WriteString(" “")
	splice(out, parts)
	out.WriteString("”")
}

// splice joins units of one text and marks what is missing between them.
func splice(out *strings.Builder, parts []item) {
	gap, prev := "", -1
	write := func(s string) {
		out.WriteString(gap)
		out.WriteString(s)
		gap = " "
	}
	for _, it := range parts {
		if it.at != prev+1 {
			write(omitted)
		}
		write(it.text)
		prev = it.at
	}
	if last := parts[len(parts)-1]; prev < last.of-1 && !strings.HasSuffix(last.text, omitted) {
		write(omitted)
	}
}
