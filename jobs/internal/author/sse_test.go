package author

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// messages reads a stream to its end, each message as "event|data".
func messages(r io.Reader) ([]string, error) {
	var out []string
	s := newStream(r)
	for {
		m, err := s.next()
		if err != nil {
			return out, err
		}
		out = append(out, m.event+"|"+string(m.data))
	}
}

func TestStream(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "data: a\n\ndata: b\n\n", "|a,|b"},
		{"crlf", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "x|a,|b"},
		{"cr", "event: x\rdata: a\r\rdata: b\r\r", "x|a,|b"},
		{"mixed ends", "data: a\r\n\ndata: b\n\r\n", "|a,|b"},
		{"comments", ": keep-alive\n\n:\ndata: a\n: more\n\n", "|a"},
		{"no space", "data:a\ndata:  b\n\n", "|a\n b"},
		{"empty data", "data\n\ndata:\n\n", "|,|"},
		{"other fields", "id: 1\nretry: 5\nnonsense\ndata: a\n\n", "|a"},
		{"event without data", "event: ping\n\ndata: a\n\n", "|a"},
		{"byte order mark", "\uFEFFdata: a\n\n", "|a"},
		{"utf-8", "data: 灯é😀\n\n", "|灯é😀"},
		{"cut in a message", "data: a\n\ndata: b\n", "|a"},
		{"cut in a line", "data: a\n\ndata: b", "|a"},
		{"nothing", "", ""},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text))} {
			got, err := messages(r)
			if strings.Join(got, ",") != c.want || err != io.EOF {
				t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
			}
		}
	}
}

func TestStreamBoundsALine(t *testing.T) {
	for _, text := range []string{
		"data: " + strings.Repeat("x", maxLine+1),
		strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxLine/1000+1),
	} {
		if _, err := messages(strings.NewReader(text)); !errors.Is(err, errLongLine) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

// Whatever a service sends, the end is an answer or a fault that quotes nothing.
func FuzzAnswer(f *testing.F) {
	for _, d := range dialects() {
		for _, text := range []string{d.good, d.limit, d.declined, d.failing} {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, api := range []api{anthropic{}, openai{}} {
			c := &call{world: newFakes().world(), api: api, key: theKey, maxText: 1000}
			w := &watch{r: bytes.NewReader(text), limit: silence, timer: time.AfterFunc(silence, func() {})}
			answer, err := c.read(t.Context(), &reply{call: c, watch: w}, w)
			w.timer.Stop()
			var fault *fault
			if err == nil && strings.TrimSpace(answer) == "" || err != nil && (answer != "" || !errors.As(err, &fault)) {
				t.Fatalf("%T: %q, %v", api, answer, err)
			}
			if err != nil && planted(err.Error()) != "" {
				t.Fatalf("%T: %v", api, err)
			}
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "event: x\r\ndata: a\r\n\r\n", ": c\rdata: a\r\r", "\uFEFFdata:\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := messages(bytes.NewReader(text))
		bytewise, err2 := messages(iotest.OneByteReader(bytes.NewReader(text)))
		if strings.Join(whole, "\x00") != strings.Join(bytewise, "\x00") || err != err2 {
			t.Fatalf("%q (%v) in one piece, %q (%v) bytewise", whole, err, bytewise, err2)
		}
		lf, _ := messages(bytes.NewReader(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))))
		if strings.Join(whole, "\x00") != strings.Join(lf, "\x00") {
			t.Fatalf("%q as written, %q with plain line ends", whole, lf)
		}
	})
}
