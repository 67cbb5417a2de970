package pack

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/spec/canon"
)

// Terms are words that tell what a record is about. They order the optional
// evidence and label the rest; whether a mandatory record is shown depends on no
// word.
type Terms struct {
	Words  []string // what obliges, forbids, limits
	Topics []Topic  // the most important first
}

// Topic is a matter that matters, and words that tell it.
type Topic struct {
	Name    string
	Needles []string
}

//go:embed terms.txt
var ownTerms string

// constraintClass is the class of the list whose terms are Words.
const constraintClass = "constraint"

// DefaultTerms are the project's own lists: some words in each of the languages
// that sessions are held in.
func DefaultTerms() Terms { return ParseTerms(ownTerms) }

// ParseTerms reads lists in lines of the form "topic = term | term". Lines of
// one topic are joined; topics are in the order of their first lines. The topic
// "constraint" gives the Words.
func ParseTerms(text string) Terms {
	var t Terms
	for line := range strings.Lines(text) {
		name, list, found := strings.Cut(line, "=")
		if !found {
			continue
		}
		t.learn(strings.TrimSpace(name), strings.Split(list, "|"))
	}
	return t
}

func (t *Terms) learn(name string, terms []string) {
	for i := range terms {
		terms[i] = strings.TrimSpace(terms[i])
	}
	if name == constraintClass {
		t.Words = append(t.Words, terms...)
		return
	}
	i := slices.IndexFunc(t.Topics, func(have Topic) bool { return have.Name == name })
	if i < 0 {
		i = len(t.Topics)
		t.Topics = append(t.Topics, Topic{Name: name})
	}
	t.Topics[i].Needles = append(t.Topics[i].Needles, terms...)
}

// Digests are importanceWordsSha256 and topicPatternsSha256 of the request.
func (t Terms) Digests() (words, topics string, err error) {
	w, err := canon.JSON(distinct(t.Words))
	if err != nil {
		return "", "", err
	}
	list := make([]any, len(t.Topics))
	for i, topic := range t.Topics {
		list[i] = map[string]any{"name": topic.Name, "needles": topic.Needles}
	}
	p, err := canon.JSON(list)
	return canon.Full(w), canon.Full(p), err
}

// distinct leaves out blank words and repetitions.
func distinct(words []string) []string {
	out := make([]string, 0, len(words))
	have := map[string]bool{}
	for _, w := range words {
		if !have[w] && strings.TrimSpace(w) != "" {
			out = append(out, w)
			have[w] = true
		}
	}
	return out
}

// cues are the lists of which a text holds a term: bit 0 the words, bit i+1 the
// topic i. Topics beyond the last bit share it.
type cues uint64

const aboutRules cues = 1

func topicBit(i int) cues { return 1 << min(i+1, 63) }

// topic is the most important topic told, and whether there is one.
func (c cues) topic() (int, bool) {
	for i := range 63 {
		if c&topicBit(i) != 0 {
			return i, true
		}
	}
	return 0, false
}

// matcher finds terms. One of a script that sets words apart must begin a word,
// and the word may go on; others are found anywhere.
type matcher struct {
	ascii [128][]needle  // by first byte
	pairs [128][4]uint64 // the bytes that follow it
	other map[rune][]needle
	text  []byte // being read, in lower case
}

type needle struct {
	text string
	cue  cues
}

func newMatcher(t Terms) *matcher {
	m := &matcher{other: map[rune][]needle{}}
	m.learn(t.Words, aboutRules)
	for i, topic := range t.Topics {
		m.learn(topic.Needles, topicBit(i))
	}
	return m
}

func (m *matcher) learn(terms []string, cue cues) {
	for _, term := range terms {
		n := needle{string(appendLower(nil, strings.TrimSpace(term))), cue}
		switch first, _ := utf8.DecodeRuneInString(n.text); {
		case n.text == "":
		case first < utf8.RuneSelf:
			m.ascii[first] = append(m.ascii[first], n)
			m.follow(n.text)
		default:
			m.other[first] = append(m.other[first], n)
		}
	}
}

// follow notes a term's second byte; one of a single byte goes on with any.
func (m *matcher) follow(term string) {
	set := &m.pairs[term[0]]
	if len(term) == 1 {
		*set = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
		return
	}
	set[term[1]>>6] |= 1 << (term[1] & 63)
}

// may tells cheaply of most places in a text that no term begins there.
func (m *matcher) may(text []byte) bool {
	second := byte(' ')
	if len(text) > 1 {
		second = text[1]
	}
	return m.pairs[text[0]][second>>6]>>(second&63)&1 != 0
}

// read tells what the terms of a text are about.
func (m *matcher) read(text string) cues {
	m.text = appendLower(m.text[:0], text)
	var found cues
	within := false // a word
	for i := 0; i < len(m.text); {
		c := m.text[i]
		if c < utf8.RuneSelf {
			if !within && m.may(m.text[i:]) {
				found |= begins(m.text[i:], m.ascii[c])
			}
			within = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
			i++
			continue
		}
		r, size := utf8.DecodeRune(m.text[i:])
		if list := m.other[r]; list != nil && !(within && unicode.In(r, spaced...)) {
			found |= begins(m.text[i:], list)
		}
		within = r < firstWide && (unicode.IsLetter(r) || unicode.IsMark(r))
		i += size
	}
	return found
}

func begins(text []byte, list []needle) cues {
	var found cues
	for _, n := range list {
		if len(text) >= len(n.text) && string(text[:len(n.text)]) == n.text {
			found |= n.cue
		}
	}
	return found
}

// firstWide is where the scripts begin that set no words apart.
const firstWide = 0x2E80

// spaced are the scripts that set words apart and add nothing before them.
var spaced = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Georgian, unicode.Ethiopic,
	unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Malayalam,
}

// appendLower appends a text in lower case, typographic apostrophes made plain.
func appendLower(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '’' {
			r = '\''
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		i += size
	}
	return dst
}
