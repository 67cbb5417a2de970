package modelsummary

import (
	"regexp"
	"slices"
	"strings"
)

// What an author says of itself rather than of the session: what it is, and that it
// cannot see. Such a line is refused also with a citation.
var (
	ofItself = regexp.MustCompile(`^\W*as an? ` + machine + `\b|\bas an? ` + machine + `,? (?:i|we)\b|\b(?:i am|i'm) (?:just |only |merely )*an? ` + machine + `\b`)
	noSight  = regexp.MustCompile(`\b(?:i|we) (?:do not|don't|did not|didn't|cannot|can't|can not|could not|couldn't|lack|have no|had no|am unable to|are unable to|was unable to|were unable to) ` +
		`(?:currently |directly |actually )*(?:have |get |gain )?(?:any |direct |the )*` +
		`(?:access(?:[.,;:!]|\W*$| to (?:the |this |that |your |any )*(?:[a-z]+ )?` + things + `)|(?:see|view|open|read|access) (?:the |this |that |your )+(?:[a-z]+ )?` + things + `)`)
	// itself holds the same in other languages, in lower case.
	itself = []string{
		"作为一个ai", "作为ai", "作为人工智能", "作为一个人工智能", "作为一个语言模型", "我无法访问", "我无法查看",
		"aiとして", "言語モデルとして", "아이언어모델로서", "언어 모델로서",
		"als ki-modell", "als ki-sprachmodell", "als sprachmodell", "ich habe keinen zugriff",
		"en tant qu'ia", "en tant que modèle de langage", "je n'ai pas accès",
		"como modelo de lenguaje", "como modelo de linguagem", "como una ia", "no tengo acceso", "não tenho acesso",
		"come modello linguistico", "non ho accesso",
		"как языковая модель", "как ии", "у меня нет доступа",
		"كنموذج لغوي", "بصفتي نموذج", "ليس لدي حق الوصول",
	}
	// notGiven says that something was not there to be seen. With a citation it is
	// what the session says.
	notGiven = regexp.MustCompile(`\b(?:files?|data|information|context|sources?|content|transcript|session) (?:was|were|is|are) (?:not|un)\s*(?:provided|available|accessible)\b` +
		`|\bno (?:source|evidence|information|context|data)(?: \w+)? (?:(?:was|were|is|are|has been) )?(?:provided|available|accessible)\b` +
		`|\baccess to (?:the )?(?:files?|data|sources?|context|session|transcript) (?:is|was) (?:unavailable|not available)\b`)
)

const (
	machine = `(?:ai(?: language)?(?: model| assistant)?|(?:large )?language model)`
	things  = `(?:files?|session|transcript|conversation|history|data|sources?|content|context|evidence|pack)\b`
)

// noAccess reports what an author says who did not read the pack. What it quotes is
// somebody else's.
func (c *checker) noAccess() {
	for i := range c.lines {
		l := &c.lines[i]
		if l.kind != prose || l.block {
			continue
		}
		said := unquoted(strings.ToLower(strings.ReplaceAll(l.text, "’", "'")))
		switch {
		case speaksOfItself(said):
			c.add(NoAccess, i, "this line speaks of its author", "say what the pack shows; put another's words in quotation marks, with a citation")
			l.wrong = true
		case !l.cites && hasAny(said, "provided", "available", "accessible") && notGiven.MatchString(said):
			c.add(NoAccess, i, "this line says that there was nothing to see", "say what the pack shows, with a citation, or leave the line at: "+Unknown)
			l.wrong = true
		}
	}
}

func speaksOfItself(said string) bool {
	if hasAny(said, " ai", " language model", " large language") && ofItself.MatchString(said) {
		return true
	}
	return hasAny(" "+said, " i ", " we ") && hasAny(said, "access", "see ", "view ", "open ", "read ") && noSight.MatchString(said) ||
		hasAny(said, itself...)
}

// hasAny finds a word; it also spares most lines the slow look of an expression.
func hasAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// quotes are opening marks and what closes them.
var quotes = []struct{ open, end string }{
	{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"‘", "'"}, {" '", "'"}, {"`", "`"},
}

// unquoted takes out what stands in quotation marks or code.
func unquoted(s string) string {
	for _, q := range quotes {
		if strings.Contains(s, q.open) {
			s = without(s, q.open, q.end)
		}
	}
	return s
}

func without(s, open, end string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, open)
		n := closingQuote(rest, end)
		if !ok || n < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before + " § ")
		s = rest[n:]
	}
}

// closingQuote is the end of the closing mark, -1 without one; an apostrophe closes
// only at a word's end.
func closingQuote(s, mark string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return -1
		}
		from += i + len(mark)
		if mark != "'" || !startsWord(s[from:]) {
			return from
		}
	}
}
