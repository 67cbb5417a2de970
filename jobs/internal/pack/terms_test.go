package pack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTerms(t *testing.T) {
	got := ParseTerms("constraint = must | do not\n\ntwo = a|b\none = c\nno list\ntwo = d\n")
	want := Terms{
		Words:  []string{"must", "do not"},
		Topics: []Topic{{"two", []string{"a", "b", "d"}}, {"one", []string{"c"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Digests of text written out by hand.
func TestTermsDigests(t *testing.T) {
	terms := Terms{Words: []string{"b", "", "a", "b"}, Topics: []Topic{{"n", []string{"x", "é"}}}}
	words, topics, err := terms.Digests()
	if want := sha(`["b","a"]`); err != nil || words != want {
		t.Errorf("words: %s, %v, want %s", words, err, want)
	}
	if want := sha(`[{"name":"n","needles":["x","é"]}]`); topics != want {
		t.Errorf("topics: %s, want %s", topics, want)
	}
	if _, _, err := (Terms{Words: []string{"\xff"}}).Digests(); err == nil {
		t.Error("a word that is no text has a digest")
	}
}

func TestDefaultTerms(t *testing.T) {
	terms := DefaultTerms()
	var names []string
	for _, topic := range terms.Topics {
		names = append(names, topic.Name)
		for _, n := range topic.Needles {
			if strings.TrimSpace(n) == "" {
				t.Errorf("%s has a blank term", topic.Name)
			}
		}
	}
	if want := []string{"decision", "supersession", "cause", "risk"}; cmp.Diff(want, names) != "" || len(terms.Words) < 50 {
		t.Error(names, len(terms.Words))
	}
}

// The default lists know a rule and a decision in each of these languages.
func TestTermsInAnyLanguage(t *testing.T) {
	m := newMatcher(DefaultTerms())
	for _, text := range []string{
		"You MUST do it.", "Das darf niemals sein.", "Il ne faut jamais.", "No lo hagas nunca.", "Tem de ser sempre assim.",
		"Это нельзя трогать.", "你必须这样做。", "必ず実行してください。", "절대 하지 마세요.", "يجب أن تفعل", "אסור לגעת", "Δεν πρέπει ποτέ", "यह हमेशा करना",
		"Դա պետք է լինի", "ეს უნდა იყოს", "คุณต้องทำ", "ሁልጊዜ ነው", "এটা অবশ্যই", "எப்போதும் செய்", "తప్పనిసరిగా చేయండి", "എപ്പോഴും ചെയ്യുക",
		"don’t", "in use，must",
	} {
		if m.read(text)&aboutRules == 0 {
			t.Errorf("%q is no rule", text)
		}
	}
	for _, text := range []string{"", "mus", "a thermust", "almost xmust", "the weather is fine"} {
		if m.read(text)&aboutRules != 0 {
			t.Errorf("%q is a rule", text)
		}
	}
}

func TestTopics(t *testing.T) {
	m := newMatcher(Terms{Words: []string{"x y"}, Topics: []Topic{{"first", []string{"a"}}, {"second", []string{"b", "A"}}}})
	for text, want := range map[string]cues{
		"": 0, "X y z": 1, "x  y": 0, "A": 2 | 4, "b": 4, "ab": 2 | 4, "b a": 2 | 4, "cb": 0, "-b": 4,
	} {
		if got := m.read(text); got != want {
			t.Errorf("%q: %b, want %b", text, got, want)
		}
	}
	many := Terms{}
	for range 80 {
		many.Topics = append(many.Topics, Topic{"t", []string{"q"}})
	}
	many.Topics[79].Needles = []string{"z"}
	if i, ok := newMatcher(many).read("z").topic(); !ok || i != 62 {
		t.Error(i, ok)
	}
}
