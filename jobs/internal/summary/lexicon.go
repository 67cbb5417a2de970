package summary

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed terms/*.txt
var termFiles embed.FS

// TermsDigest names the content of the word lists, as "sha256:<hex>". It
// belongs in every digest of a request, beside Version.
func TermsDigest() string { return termsDigest() }

var termsDigest = sync.OnceValue(func() string {
	h := sha256.New()
	for name, content := range termTexts() {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(content), content)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
})

// termTexts yields the embedded lists in the order of their names.
func termTexts() func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		names, _ := fs.Glob(termFiles, "terms/*.txt")
		slices.Sort(names)
		for _, name := range names {
			content, _ := termFiles.ReadFile(name)
			if !yield(name, string(content)) {
				return
			}
		}
	}
}

// cue is what a word says about its sentence.
type cue uint16

const (
	decides cue = 1 << iota
	obliges
	limits // as obliges, in words that also describe
	replaces
	fails
	leavesOpen
	denies
	explains
	announces    // what the writer is about to do
	interrogates // as the first words: a question, whatever its last mark
)

// cueNames are the classes of the lists of languages.
var cueNames = map[string]cue{
	"decide": decides, "must": obliges, "limit": limits, "replace": replaces, "fail": fails,
	"open": leavesOpen, "no": denies, "cause": explains,
	"announce": announces, "ask": interrogates,
}

// lexicon finds the listed terms in a sentence. Terms of scripts that write
// words apart match whole words, or the beginning of one if listed with "*";
// terms of other scripts match anywhere.
//
// All text of a model goes through it, so a text is spelled into one buffer
// and most words are turned down by their shape, without a look-up.
type lexicon struct {
	*terms
	spelled []byte // the words of the text being read, a space after each
	starts  []int  // where in spelled a term may begin
}

// terms are the listed terms, the same for every lexicon.
type terms struct {
	phrases  map[string][]phrase // by the first word
	stems    map[string][]phrase // by the first three bytes
	inside   map[rune][]phrase   // by the first character
	shapes   shapes              // of the first words of phrases, and of stems
	commands map[string]string   // first words of a command: its class
}

type phrase struct {
	text string // as in lexicon.spelled; without the last space the last word may go on
	cue  cue
}

func newLexicon() *lexicon { return &lexicon{terms: knownTerms()} }

var knownTerms = sync.OnceValue(func() *terms {
	l := &terms{phrases: map[string][]phrase{}, stems: map[string][]phrase{}, inside: map[rune][]phrase{}, commands: map[string]string{}}
	for name, content := range termTexts() {
		for line := range strings.SplitSeq(content, "\n") {
			class, list, found := strings.Cut(line, " = ")
			if !found {
				continue
			}
			for term := range strings.SplitSeq(list, " | ") {
				l.learn(name == "terms/commands.txt", class, strings.TrimSpace(term))
			}
		}
	}
	return l
})

func (l *terms) learn(command bool, class, term string) {
	first, _ := utf8.DecodeRuneInString(term)
	if command {
		l.commands[term] = class
		return
	}
	if wide(first) || hangul(first) {
		l.inside[first] = append(l.inside[first], phrase{term, cueNames[class]})
		return
	}
	term, stem := strings.CutSuffix(term, "*")
	ws := words(term)
	p := phrase{strings.Join(ws, " ") + " ", cueNames[class]}
	if stem {
		p.text = strings.TrimSuffix(p.text, " ")
	}
	if stem && len(ws) == 1 {
		l.shapes.addStem(ws[0])
		l.stems[ws[0][:stemKey]] = append(l.stems[ws[0][:stemKey]], p)
		return
	}
	l.shapes.addWord(ws[0])
	l.phrases[ws[0]] = append(l.phrases[ws[0]], p)
}

// sense is what the terms of a text say about it.
type sense struct {
	says  cue
	opens cue // of the terms at its very beginning
}

// read finds the terms of a text.
func (l *lexicon) read(text string) sense {
	found := l.spell(text)
	for _, at := range l.starts {
		rest := l.spelled[at:]
		word := rest[:bytes.IndexByte(rest, ' ')]
		for _, p := range l.phrases[string(word)] {
			if hasPrefix(rest, p.text) {
				found.says |= p.cue
				if at == 0 {
					found.opens |= p.cue
				}
			}
		}
		if len(word) < stemKey {
			continue
		}
		for _, p := range l.stems[string(word[:stemKey])] {
			if hasPrefix(word, p.text) {
				found.says |= p.cue
			}
		}
	}
	return found
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// cues returns what the terms of a text say about it.
func (l *lexicon) cues(text string) cue { return l.read(text).says }

// spell fills the buffer of words and finds where terms may begin. What it
// returns is of the terms that match anywhere.
func (l *lexicon) spell(text string) sense {
	var found sense
	l.spelled, l.starts = l.spelled[:0], l.starts[:0]
	word := 0 // where the current word begins
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case spelling[c] != 0:
			l.spelled = append(l.spelled, spelling[c])
		case traits[c]&foreign != 0:
			i += l.spellForeign(text[i:], &found, &word)
			continue
		case len(l.spelled) > word:
			word = l.endWord(word)
		}
		i++
	}
	l.endWord(word)
	return found
}

// spellForeign takes in the character that text begins with.
func (l *lexicon) spellForeign(text string, found *sense, word *int) int {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == '’':
		l.spelled = append(l.spelled, '\'')
	case !inWord(r):
		*word = l.endWord(*word)
	default:
		for _, p := range l.inside[r] {
			if strings.HasPrefix(text, p.text) {
				found.says |= p.cue
				if len(l.spelled) == 0 {
					found.opens |= p.cue
				}
			}
		}
		l.spelled = utf8.AppendRune(l.spelled, unicode.ToLower(r))
	}
	return size
}

// endWord ends the word that began at from, if one did, and returns where the
// next begins.
func (l *lexicon) endWord(from int) int {
	if len(l.spelled) == from {
		return from
	}
	if l.shapes.have(l.spelled[from:]) {
		l.starts = append(l.starts, from)
	}
	l.spelled = append(l.spelled, ' ')
	return len(l.spelled)
}

// words returns the words of a text in lower case, with typographic
// apostrophes made plain.
func words(s string) []string {
	s = strings.ReplaceAll(strings.ToLower(s), "’", "'")
	return strings.FieldsFunc(s, func(r rune) bool { return !inWord(r) })
}

// stemKey is how many bytes of a stem find it; none is shorter.
const stemKey = 3

// shapes says cheaply of most words that no term begins with them: by three of
// their letters and the length for whole words, by the first three letters for
// stems. It errs only in favour of a look-up, and is small enough to stay in
// the processor's nearest cache.
type shapes struct {
	words [1 << 12]uint32 // the lengths there are
	stems [1 << 12]bool
}

func (s *shapes) addWord(w string) {
	s.words[shape(w[0], w[len(w)/2], w[len(w)-1])] |= 1 << min(len(w), 31)
}

func (s *shapes) addStem(w string) { s.stems[shape(w[0], w[1], w[2])] = true }

func (s *shapes) have(w []byte) bool {
	return s.words[shape(w[0], w[len(w)/2], w[len(w)-1])]>>min(len(w), 31)&1 != 0 ||
		len(w) >= stemKey && s.stems[shape(w[0], w[1], w[2])]
}

func shape(a, b, c byte) int { return int(a&31)<<7 ^ int(b&31)<<4 ^ int(c&31) }
