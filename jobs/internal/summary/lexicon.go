package summary

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed terms/*.txt
var termFiles embed.FS

// TermsDigest names the content of the word lists, as "sha256:<hex>". It
// belongs in every digest of a request, beside Version.
func TermsDigest() string {
	h := sha256.New()
	for name, content := range termTexts() {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(content), content)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

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
type lexicon struct {
	phrases  map[string][]phrase // by the first word
	stems    map[string][]phrase // by the first three letters
	inside   []phrase
	commands map[string]string // first words of a command: its class
}

type phrase struct {
	words []string
	stem  bool // the last word may go on
	cue   cue
}

func newLexicon() *lexicon {
	l := &lexicon{phrases: map[string][]phrase{}, stems: map[string][]phrase{}, commands: map[string]string{}}
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
}

func (l *lexicon) learn(command bool, class, term string) {
	first, _ := utf8.DecodeRuneInString(term)
	switch {
	case command:
		l.commands[term] = class
	case wide(first) || unicode.In(first, unicode.Hangul):
		l.inside = append(l.inside, phrase{words: []string{term}, cue: cueNames[class]})
	default:
		stem, cut := strings.CutSuffix(term, "*")
		p := phrase{words: words(stem), stem: cut, cue: cueNames[class]}
		if cut && len(p.words) == 1 {
			key := lead(p.words[0])
			l.stems[key] = append(l.stems[key], p)
			return
		}
		l.phrases[p.words[0]] = append(l.phrases[p.words[0]], p)
	}
}

// cues returns what the terms of a sentence say about it.
func (l *lexicon) cues(sentence string) cue {
	var found cue
	ws := words(sentence)
	for i, w := range ws {
		for _, p := range l.phrases[w] {
			if p.at(ws[i:]) {
				found |= p.cue
			}
		}
		for _, p := range l.stems[lead(w)] {
			if strings.HasPrefix(w, p.words[0]) {
				found |= p.cue
			}
		}
	}
	if strings.ContainsFunc(sentence, func(r rune) bool { return wide(r) || unicode.In(r, unicode.Hangul) }) {
		for _, p := range l.inside {
			if strings.Contains(sentence, p.words[0]) {
				found |= p.cue
			}
		}
	}
	return found
}

// opensWith reports that a term of c stands at the very beginning.
func (l *lexicon) opensWith(sentence string, c cue) bool {
	ws := words(sentence)
	if len(ws) == 0 {
		return false
	}
	for _, p := range l.phrases[ws[0]] {
		if p.cue&c != 0 && p.at(ws) {
			return true
		}
	}
	for _, p := range l.inside {
		if p.cue&c != 0 && strings.HasPrefix(ws[0], p.words[0]) {
			return true
		}
	}
	return false
}

func (p phrase) at(ws []string) bool {
	if len(ws) < len(p.words) {
		return false
	}
	last := len(p.words) - 1
	for i, w := range p.words {
		if ws[i] != w && (i != last || !p.stem || !strings.HasPrefix(ws[i], w)) {
			return false
		}
	}
	return true
}

// words returns the words of a text in lower case, with typographic
// apostrophes made plain.
func words(s string) []string {
	s = strings.ReplaceAll(strings.ToLower(s), "’", "'")
	return strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '\'' && r != '-'
	})
}

// lead is the key of a stem: its first three letters.
func lead(w string) string {
	n := 0
	for i := range w {
		if n == 3 {
			return w[:i]
		}
		n++
	}
	return w
}
