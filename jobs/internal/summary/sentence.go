package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	closers  = ")]}\"'”’»›」』）】》*_`"
	wideLine = 50 // columns: a line this long may have been wrapped
)

// sentences splits prose into whole sentences, each in one line. When in
// doubt it does not split: a longer quotation is complete, a shorter is not.
// It never splits inside code spans, brackets, numbers, names or addresses.
func sentences(text string) []string {
	var out []string
	start := 0
	emit := func(end int) {
		switch s := flat(text[start:end]); {
		case s == "":
		case plain(s):
			out = append(out, s)
		default:
			out = append(out, unspaced(s)...)
		}
		start = end
	}
	for i := 0; i < len(text); {
		if traits[text[i]]&(pausing|foreign) == 0 {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if end := enclosed(text, i, r); end > 0 {
			i = end
			continue
		}
		end := i + size
		switch {
		case r == '\n':
			if breaks(text[start:i], text[end:]) {
				emit(end)
			}
		case hardStop(r), softStop(r):
			end = stopEnd(text, end)
			if stops(text, i, end, r) {
				emit(end)
			}
		}
		i = end
	}
	emit(len(text))
	return out
}

// stopEnd takes in repeated stops and the closing marks after them.
func stopEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !hardStop(r) && !softStop(r) && !strings.ContainsRune(closers, r) {
			break
		}
		i += size
	}
	return i
}

// stops reports that the stop r at text[at:end] ends its sentence.
func stops(text string, at, end int, r rune) bool {
	rest := text[end:]
	if rest == "" || hardStop(r) {
		return true
	}
	following := strings.TrimLeft(rest, " \t\n\u00a0")
	if following == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(following)
	if len(following) == len(rest) {
		return r != '.' && r != '…' && wide(next)
	}
	if unicode.IsLower(next) || hardStop(next) || softStop(next) {
		return false
	}
	return r != '.' || !abbreviation(text[:at])
}

// shortForms are abbreviations after which a capital letter may follow.
const shortForms = " e.g i.e vs cf etc approx no nr fig eq vol dr mr mrs ms prof st inc ltd z.b d.h u.a bzw ca ggf evtl usw sr sra p.ej ej núm pág ex av c.à.d т.е т.д т.п см рис г стр "

// abbreviation reports that a full stop after before belongs to a short form,
// an initial or an ordinal.
func abbreviation(before string) bool {
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	if at := strings.LastIndex(word, "\u00a0"); at >= 0 {
		word = word[at+len("\u00a0"):]
	}
	word = strings.TrimLeft(word, "(*_[\"'“„#")
	if word == "" {
		return true
	}
	if runes(word) <= 2 && strings.Trim(word, "0123456789") == "" {
		return true
	}
	if r, size := utf8.DecodeRuneInString(word); size == len(word) && unicode.IsLetter(r) {
		return r != 'I'
	}
	const longestForm = 6 // bytes
	return len(word) <= longestForm && strings.Contains(shortForms, " "+strings.ToLower(word)+" ")
}

// enclosed returns where the span that begins at i with r ends, or 0. Only
// spans that close in the same line and soon are taken for one.
func enclosed(text string, i int, r rune) int {
	const far = 400
	closer := closerOf(r)
	if closer == 0 {
		return 0
	}
	size := utf8.RuneLen(r)
	line := text[i+size : min(len(text), i+size+far)]
	if nl := strings.IndexByte(line, '\n'); nl >= 0 {
		line = line[:nl]
	}
	return closing(line, r, closer, i+size)
}

// closerOf returns what closes the span that r opens, or 0.
func closerOf(r rune) rune {
	switch r {
	case '`':
		return '`'
	case '(':
		return ')'
	case '[':
		return ']'
	case '（':
		return '）'
	case '「':
		return '」'
	case '『':
		return '』'
	case '“':
		return '”'
	case '«':
		return '»'
	case '《':
		return '》'
	case '【':
		return '】'
	}
	return 0
}

// closing finds the closer that matches, counting nested openers. A span
// that ends in a stop is left to the caller from that stop on.
func closing(line string, opener, closer rune, base int) int {
	depth, prev, prevAt := 1, rune(0), 0
	for j, c := range line {
		switch {
		case c == closer:
			depth--
			if depth == 0 && opener != '`' && (hardStop(prev) || softStop(prev)) {
				return base + prevAt
			}
			if depth == 0 {
				return base + j + utf8.RuneLen(c)
			}
		case c == opener:
			depth++
		}
		prev, prevAt = c, j
	}
	return 0
}

// breaks reports that the newline between two lines ends a sentence rather
// than wraps one.
func breaks(before, after string) bool {
	line := strings.TrimRight(before[strings.LastIndexByte(strings.TrimRight(before, "\n"), '\n')+1:], " \t")
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \t\n"))
	last, _ := utf8.DecodeLastRuneInString(line)
	switch {
	case line == "":
		return false
	case strings.ContainsRune(",;:、，；：،-–—(", last), unicode.IsLower(next):
		return false
	case wide(last):
		return true
	}
	return runes(line) < wideLine || !unicode.IsLetter(next) && !unicode.IsDigit(next)
}

// unspaced splits the long lines of scripts that end sentences with a space
// and write none between words.
func unspaced(s string) []string {
	const long = 80
	if runes(s) <= long || !spaceless(s) {
		return []string{s}
	}
	var out []string
	var cur strings.Builder
	for word := range strings.SplitSeq(s, " ") {
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(cur.String())
		if cur.Len() > 0 && runes(cur.String()) >= long/2 && southeast(first) && southeast(last) {
			out = append(out, cur.String())
			cur.Reset()
		}
		if cur.Len() > 0 {
			cur.WriteByte(' ')
		}
		cur.WriteString(word)
	}
	return append(out, cur.String())
}

// spaceless reports a text most of whose letters are of such a script.
func spaceless(s string) bool {
	of, all := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			all++
			if southeast(r) {
				of++
			}
		}
	}
	return 2*of > all
}
