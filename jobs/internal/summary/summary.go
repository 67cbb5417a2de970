// Package summary writes the text that replaces the older part of a
// coding-agent session, without a model. Whoever resumes the session, a model
// or a person, has this text and the recent records and nothing else.
//
// What it does: it selects whole sentences, list items and outcomes by their
// place in the conversation first and by small word lists in twelve languages
// second, keeps them with the number of the record they come from, and lays
// them out with what a resuming reader needs first on top.
//
// Invariants:
//   - the text never has more code points than the budget;
//   - the same entries and facts give the same bytes;
//   - every [L…] stands for a record that was added, every [H…] for a handoff
//     line; the same spelling inside quoted text is made harmless;
//   - a quotation is a whole sentence, or it ends in the mark […];
//   - only the person's own words are presented as such: what the client
//     injects, meta rows and synthetic rows are not;
//   - tool output appears as an outcome only, never as a statement;
//   - memory is a small multiple of the budget plus the distinct file paths,
//     whatever the number and the size of entries: what is kept is a copy.
//
// Add is made for sessions of hundreds of megabytes. Output of tools is looked
// at only where a call failed or ran tests, and a text is taken apart only if
// one quick pass finds words in it that could bring it onto a shelf.
//
// It does not read files, know a record format, mask secrets by itself or
// decide where a session is cut.
package summary

import (
	"strings"
	"unicode/utf8"
)

// Version names the layout of the text. It changes when the same entries
// would give another text, and belongs in every digest of a request.
const Version = "2"

// MinBudget is the smallest budget in code points; New raises smaller ones.
const MinBudget = 4000

// maxText bounds what is looked at of one entry, in bytes.
const maxText = 64 << 10

// Kind says what an entry is in the conversation.
type Kind uint8

// The kinds of entries.
const (
	Prompt   Kind = iota // text of the person
	Answer               // text of the model
	Thinking             // reasoning of the model
	Call                 // tool call
	Result               // result of a tool call
	Error                // trouble of the system or the API
	Prior                // an earlier compact summary
	Command              // slash command or local command
	Note                 // anything else worth a line
)

// Field is one top-level input of a tool call. Load, when set, gives the value:
// most inputs are contents of files that nobody asks for.
type Field struct {
	Name, Value string
	Load        func() string
}

func (f Field) value() string {
	if f.Load != nil {
		return f.Load()
	}
	return f.Value
}

// Entry is one piece of the conversation. A record with several blocks gives
// several entries with the same N.
type Entry struct {
	N    int    // number of the record in the source file, from 1
	Kind Kind   //
	Text string // the text; of a result at least its beginning
	// Load, when set, gives the text of a Result: of most it is not wanted. It is
	// called before Add returns, or not at all.
	Load      func() string
	Tool      string  // Call: name of the tool
	ToolID    string  // Call and Result: what joins them
	Input     []Field // Call: top-level strings and numbers, other values as JSON
	IsError   bool    // Result: the tool reported a failure
	Time      string  // ISO 8601, or empty
	Synthetic bool    // made by the client, not by the model
	Meta      bool    // put in by the client in the person's name
}

// Facts is what the caller knows about the session as a whole.
type Facts struct {
	Title, Cwd, Branch, Model string
	FirstTime, LastTime       string   // ISO 8601; empty: taken from the entries
	SourcePrefix              string   // first hex digits of the SHA-256 of the source file
	Records                   int      // records that the summary replaces
	First, Last               int      // numbers of their first and last; 0: of the records added
	Tokens                    int      // their estimated tokens; 0: not told
	Handoff                   []string // lines; line i has the anchor H<i+1>
}

// Builder collects entries. It is not safe for concurrent use.
type Builder struct {
	budget int
	mask   func(string) string
	words  *lexicon

	span     span // every record added
	times    [2]string
	seq      int
	turns    int
	first    request
	cur      turn
	history  shelf // requests and their outcomes, of closed turns
	rules    shelf
	choices  shelf
	findings shelf
	open     shelf
	prior    prior
	plan     passage
	calls    calls
	files    files
	checks   checks
	commits  shelf
	faults   faults
	todos    todos
	trouble  span // API errors
}

// Option changes a Builder.
type Option func(*Builder)

// WithMask has every text go through mask before anything is taken from it.
// mask must give the same answer for the same text.
func WithMask(mask func(string) string) Option {
	return func(b *Builder) { b.mask = mask }
}

// New returns a Builder whose texts have at most budget code points.
func New(budget int, options ...Option) *Builder {
	b := &Builder{
		budget: max(budget, MinBudget),
		mask:   func(s string) string { return s },
		words:  newLexicon(),
	}
	for _, option := range options {
		option(b)
	}
	b.history.limit = b.budget
	for _, s := range []*shelf{&b.rules, &b.choices, &b.findings, &b.open, &b.commits} {
		s.limit = b.budget / 2
	}
	b.checks.runs.limit, b.faults.limit = maxKeys, maxKeys
	return b
}

// Add takes the next entry, in the order of the conversation.
func (b *Builder) Add(e Entry) {
	b.span.add(e.N)
	b.clock(e.Time)
	if e.Kind != Result { // of most results the text is not used, see addResult
		e.Text = b.clean(e.Text)
	}
	switch e.Kind {
	case Prompt, Command:
		b.addPrompt(e)
	case Answer:
		b.addAnswer(e)
	case Thinking:
		b.addThinking(e)
	case Call:
		b.addCall(e)
	case Result:
		b.addResult(e)
	case Error:
		b.trouble.add(e.N)
	case Prior:
		b.addPrior(e)
	case Note:
		b.addNote(e)
	}
}

// clean bounds, validates and masks a text.
func (b *Builder) clean(text string) string {
	text = beginning(text, maxText)
	if !utf8.ValidString(text) { // faster than ToValidUTF8, which checks as well
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return b.mask(strings.ReplaceAll(text, "\r\n", "\n"))
}

// beginning returns at most the first size bytes of a text, in whole
// characters.
func beginning(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

func (b *Builder) clock(t string) {
	if t == "" {
		return
	}
	if b.times[0] == "" || t < b.times[0] {
		b.times[0] = t
	}
	b.times[1] = max(b.times[1], t)
}

// next is the place of the next item in the conversation.
func (b *Builder) next() int {
	b.seq++
	return b.seq
}

// span is a set of records, told by its size and its ends.
type span struct{ count, first, last int }

func (s *span) add(n int) {
	s.join(span{1, n, n})
}

func (s *span) join(o span) {
	if o.count == 0 {
		return
	}
	if s.count == 0 || o.first < s.first {
		s.first = o.first
	}
	s.last = max(s.last, o.last)
	s.count += o.count
}
