package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Version of the lines this package reads and writes.
const Version = 2

// Entry is one thing that happened.
type Entry struct {
	Time time.Time
	Body Body
}

// commit is one line: entries that became durable together.
type commit struct {
	seq     int64
	parent  string
	entries []Entry
}

// line is a commit without its sum, in the order of its members.
type line struct {
	V       int        `json:"v"`
	Seq     int64      `json:"seq"`
	Parent  string     `json:"parent"`
	Entries []envelope `json:"entries"`
}

type envelope struct {
	Type Type            `json:"type"`
	Time time.Time       `json:"time"`
	Body json.RawMessage `json:"body"`
}

func (e Entry) seal() (envelope, error) {
	body, err := json.Marshal(e.Body)
	return envelope{e.Body.Type(), e.Time.UTC(), body}, err
}

// settle gives an entry as it will be read, and its spelling. A text that is not
// UTF-8 and a fact of a type of its own come back as something else than they were.
func (e Entry) settle() (Entry, envelope, error) {
	v, err := e.seal()
	if err != nil {
		return Entry{}, envelope{}, err
	}
	e, bad := v.open()
	if bad != nil {
		return Entry{}, envelope{}, errors.New(bad.detail)
	}
	return e, v, nil
}

// encode is the one spelling of a commit.
func encode(seq int64, parent string, entries []envelope) ([]byte, error) {
	open, err := json.Marshal(line{Version, seq, parent, entries})
	if err != nil {
		return nil, err
	}
	open = open[:len(open)-1]
	sum := digest(open)
	return fmt.Appendf(open, `,"sum":"%s"}`, sum), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sumLen is the length of the part that encode appends.
const sumLen = len(`,"sum":""}`) + 2*sha256.Size

// intact tells whether a line ends with the right sum: whether it is complete.
func intact(line []byte) bool {
	if len(line) <= sumLen {
		return false
	}
	open, end := line[:len(line)-sumLen], line[len(line)-sumLen:]
	return string(end) == fmt.Sprintf(`,"sum":"%s"}`, digest(open))
}

// decode is the inverse of encode, and accepts nothing else.
func decode(text []byte) (commit, *fault) {
	var head struct {
		V *int `json:"v"`
	}
	if err := json.Unmarshal(text, &head); err != nil || head.V == nil {
		return commit{}, &fault{Syntax, "not a line of a journal"}
	}
	if *head.V != Version {
		return commit{}, &fault{UnknownVersion, fmt.Sprintf("version %d; this program knows %d", *head.V, Version)}
	}
	if !intact(text) {
		return commit{}, &fault{BadSum, "the line was changed after it was written"}
	}
	return decodeIntact(text)
}

func decodeIntact(text []byte) (commit, *fault) {
	var l struct {
		line
		Sum string `json:"sum"`
	}
	if err := strict(text, &l); err != nil || len(l.Entries) == 0 {
		return commit{}, &fault{Syntax, "not a line of a journal"}
	}
	c := commit{seq: l.Seq, parent: l.Parent}
	for i := range l.Entries {
		e, bad := l.Entries[i].open()
		if bad != nil {
			return commit{}, bad
		}
		c.entries = append(c.entries, e)
	}
	if again, err := encode(l.Seq, l.Parent, l.Entries); err != nil || !bytes.Equal(again, text) {
		return commit{}, &fault{Syntax, "not the spelling of a line of a journal"}
	}
	return c, nil
}

// open decodes a body, and puts its one spelling in place of what was read.
func (v *envelope) open() (Entry, *fault) {
	body, ok := newBody(v.Type)
	if !ok {
		return Entry{}, &fault{UnknownType, fmt.Sprintf("entries of type %q are not known", v.Type)}
	}
	if err := strict(v.Body, body); err != nil {
		return Entry{}, &fault{Syntax, fmt.Sprintf("not the body of a %s entry", v.Type)}
	}
	e := Entry{v.Time, body}
	again, err := e.seal()
	if err != nil {
		return Entry{}, &fault{Syntax, fmt.Sprintf("not the body of a %s entry", v.Type)}
	}
	*v = again
	return e, nil
}

// strict decodes one value with known members only, and numbers as written.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more than one value")
	}
	return nil
}
