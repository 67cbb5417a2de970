package summary

import (
	"unicode"
	"unicode/utf8"
)

// trait is what the splitting and rating of text asks about a character.
// Nearly all text is ASCII, so a table answers for it, byte by byte; all other
// bytes are foreign, and their characters are looked at one by one.
type trait uint8

const (
	letter  trait = 1 << iota
	space         // as unicode.IsSpace
	pausing       // may end a sentence, or open a span that ends none
	foreign       // not ASCII
)

var traits = func() (t [256]trait) {
	for c := range t {
		switch r := rune(c); {
		case r >= utf8.RuneSelf:
			t[c] = foreign
		case unicode.IsLetter(r):
			t[c] = letter
		case unicode.IsSpace(r):
			t[c] = space
		}
	}
	for _, c := range []byte("\n.!?([`") {
		t[c] |= pausing
	}
	return t
}()

// spelling maps the ASCII characters that words are made of to lower case,
// all others to 0.
var spelling = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if r := rune(c); inWord(r) {
			t[c] = byte(unicode.ToLower(r))
		}
	}
	return t
}()

// inWord reports a character of a word as the word lists are written.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || r == '\'' || r == '-'
}

// plain reports that a text is all ASCII.
func plain(s string) bool { return runes(s) == len(s) }

// hardStop reports a character that ends a sentence by itself: CJK, Urdu,
// Arabic, Devanagari, Armenian, Ethiopic, Khmer, Burmese, Tibetan; see the
// Sentence_Terminal property of Unicode.
func hardStop(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '؟', '۔', '।', '॥', '։', '።', '፧', '។', '။', '།':
		return true
	}
	return false
}

// softStop reports a character that ends a sentence only before white space.
func softStop(r rune) bool { return r == '.' || r == '!' || r == '?' || r == '…' }

// wide reports a letter of a script that writes no spaces between sentences.
func wide(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func hangul(r rune) bool { return r >= 0x1100 && unicode.Is(unicode.Hangul, r) }

// southeast reports a letter of a script that ends sentences with a space and
// writes none between words.
func southeast(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
