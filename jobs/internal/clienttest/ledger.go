package clienttest

import (
	"bytes"
	"encoding/json"
	"iter"
	"regexp"
	"strings"
)

// A record is what attribution needs of a line of a session file.
type record struct {
	UUID    json.RawMessage
	Parent  string `json:"parentUuid"`
	Type    string
	Message json.RawMessage
	raw     []byte
}

// message is empty where it has another form than a client gives it.
func (r record) message() Message {
	var m Message
	if json.Unmarshal(r.Message, &m) != nil {
		return Message{}
	}
	return m
}

// id is the uuid, or the JSON of what stands in its place.
func (r record) id() string {
	var s string
	if json.Unmarshal(r.UUID, &s) == nil {
		return s
	}
	return string(r.UUID)
}

// records are the records of a session file. It may be damaged: what cannot be
// read is passed over to the end of the line. A record may take several lines.
func records(session []byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		for len(session) > 0 {
			var raw json.RawMessage
			d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(session, []byte("\ufeff"))))
			if d.Decode(&raw) != nil {
				_, session, _ = bytes.Cut(session, []byte("\n"))
				continue
			}
			session = bytes.TrimPrefix(session, []byte("\ufeff"))[d.InputOffset():]
			rec := record{raw: raw}
			// Fields of another type than here stay empty.
			_ = json.Unmarshal(raw, &rec)
			if !yield(rec) {
				return
			}
		}
	}
}

// A ledger says which record holds what. Of several, the first counts.
type ledger struct {
	has     map[string]bool
	marks   map[string]string
	named   map[string]string // the marker that a record was found by
	uses    map[string]string
	results map[string]string
	texts   map[string][]string // several records may say the same
}

func newLedger(session []byte) *ledger {
	l := &ledger{
		has:   map[string]bool{},
		marks: map[string]string{}, named: map[string]string{},
		uses: map[string]string{}, results: map[string]string{},
		texts: map[string][]string{},
	}
	for r := range records(session) {
		id := r.id()
		if id == "" {
			continue
		}
		l.has[id] = true
		for _, m := range marksIn(string(r.raw)) {
			note(l.marks, m, id)
		}
		for _, b := range r.message().Blocks {
			l.enter(b, id)
		}
	}
	return l
}

func (l *ledger) enter(b Block, id string) {
	switch b.Type {
	case "tool_use":
		note(l.uses, b.ID, id)
	case "tool_result":
		note(l.results, b.ToolUseID, id)
	default:
		text := strings.TrimSpace(b.Text)
		l.texts[text] = append(l.texts[text], id)
	}
}

func note(m map[string]string, key, id string) {
	if _, ok := m[key]; !ok {
		m[key] = id
	}
}

// find gives the records that b shows, and whether b is from the file at all. A
// text that several records have stands for one of them after the other.
func (l *ledger) find(b Block) (uuids []string, known bool) {
	if len(l.marks) > 0 {
		return l.findMarks(b.Text)
	}
	id := ""
	switch b.Type {
	case "tool_use":
		id = l.uses[b.ID]
	case "tool_result":
		id = l.results[b.ToolUseID]
	default:
		text := strings.TrimSpace(b.Text)
		if ids := l.texts[text]; len(ids) > 0 {
			id, l.texts[text] = ids[0], ids[1:]
		}
	}
	if id == "" {
		return nil, false
	}
	return []string{id}, true
}

// findMarks passes over the further markers of a record that has several.
func (l *ledger) findMarks(text string) (uuids []string, known bool) {
	marks := marksIn(text)
	for _, m := range marks {
		id, ok := l.marks[m]
		if !ok {
			continue
		}
		note(l.named, id, m)
		if l.named[id] == m {
			uuids = append(uuids, id)
		}
	}
	return uuids, len(marks) > 0
}

var marker = regexp.MustCompile(`mk:(\w+)`)

func marksIn(text string) []string {
	var names []string
	for _, m := range marker.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}
