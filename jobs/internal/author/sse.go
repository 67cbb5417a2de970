package author

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds a line of a stream. Services send a few words a line; the
// longest lines repeat the request's settings.
const maxLine = 1 << 20

var errLongLine = errors.New("a line of the stream is too long")

// message is one message of an event stream.
type message struct {
	event string
	data  []byte
}

// stream reads server-sent events: lines that end with CR, LF or both, fields, and
// an empty line after each message. Comments and unknown fields are passed over. A
// message that the stream's end cut off is none.
type stream struct {
	r     *bufio.Reader
	begun bool
	cr    bool // the last line ended with CR: a LF that follows belongs to it
	line  []byte
	data  []byte
}

func newStream(r io.Reader) *stream { return &stream{r: bufio.NewReaderSize(r, 16<<10)} }

// next is the next message with data; its bytes are good until the next call.
func (s *stream) next() (message, error) {
	var m message
	has := false
	s.data = s.data[:0]
	for {
		line, err := s.readLine()
		switch {
		case err != nil:
			return message{}, err
		case len(line) > 0:
			has = s.field(&m, line) || has
		case has:
			m.data = bytes.TrimSuffix(s.data, []byte("\n"))
			return m, nil
		default:
			m.event = ""
		}
	}
}

// field takes in one line and tells whether it was data.
func (s *stream) field(m *message, line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		m.event = string(value)
	case "data":
		s.data = append(append(s.data, value...), '\n')
		return true
	}
	return false
}

// readLine is the next line without its end.
func (s *stream) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			return nil, err
		case c == '\n' && s.cr:
			s.cr = false
			continue
		}
		if s.cr = c == '\r'; s.cr || c == '\n' {
			return s.whole(), nil
		}
		if len(s.line)+len(s.data) >= maxLine {
			return nil, errLongLine
		}
		s.line = append(s.line, c)
	}
}

// whole is the line, the first one without a byte order mark.
func (s *stream) whole() []byte {
	if s.begun {
		return s.line
	}
	s.begun = true
	return bytes.TrimPrefix(s.line, []byte("\uFEFF"))
}
