package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Version of the entries this package reads and writes.
const Version = 1

// Entry is one line.
type Entry struct {
	Seq    int64
	Parent string
	Time   time.Time
	Body   Body
}

// envelope is the line without its sum, in the order of its members.
type envelope struct {
	V      int             `json:"v"`
	Seq    int64           `json:"seq"`
	Parent string          `json:"parent"`
	Type   Type            `json:"type"`
	Time   time.Time       `json:"time"`
	Body   json.RawMessage `json:"body"`
}

// encode is the one spelling of an entry.
func encode(e Entry) ([]byte, error) {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	open, err := json.Marshal(envelope{Version, e.Seq, e.Parent, e.Body.Type(), e.Time.UTC(), body})
	if err != nil {
		return nil, err
	}
	open = open[:len(open)-1]
	return fmt.Appendf(open, `,"sum":"%s"}`, digest(open)), nil
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
func decode(line []byte) (Entry, *fault) {
	var head struct {
		V *int `json:"v"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.V == nil {
		return Entry{}, &fault{Syntax, "not a journal entry"}
	}
	if *head.V != Version {
		return Entry{}, &fault{UnknownVersion, fmt.Sprintf("version %d; this program knows %d", *head.V, Version)}
	}
	if !intact(line) {
		return Entry{}, &fault{BadSum, "the line was changed after it was written"}
	}
	return decodeIntact(line)
}

func decodeIntact(line []byte) (Entry, *fault) {
	var l struct {
		envelope
		Sum string `json:"sum"`
	}
	if err := strict(line, &l); err != nil {
		return Entry{}, &fault{Syntax, "not a journal entry"}
	}
	body, ok := newBody(l.Type)
	if !ok {
		return Entry{}, &fault{UnknownType, fmt.Sprintf("entries of type %q are not known", l.Type)}
	}
	if err := strict(l.Body, body); err != nil {
		return Entry{}, &fault{Syntax, fmt.Sprintf("not the body of a %s entry", l.Type)}
	}
	e := Entry{l.Seq, l.Parent, l.Time, body}
	if again, err := encode(e); err != nil || !bytes.Equal(again, line) {
		return Entry{}, &fault{Syntax, "not the spelling of a journal entry"}
	}
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
