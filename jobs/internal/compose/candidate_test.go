package compose

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// However a candidate is read, it is the same bytes.
func TestReadAtEqualsWriteTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := []byte("{\"a\":1}\n{\"b\":22}\n{\"c\":333}\r\n{\"d\":4444}\n{\"e\":5}")
		spans := []struct{ off, n int }{{0, 7}, {8, 8}, {17, 9}, {28, 10}, {39, 7}}
		c := &Candidate{source: bytes.NewReader(source)}
		var want bytes.Buffer
		for _, pick := range rapid.SliceOfN(rapid.IntRange(-1, len(spans)-1), 1, 12).Draw(t, "picks") {
			if pick < 0 {
				c.line([]byte(`{"own":true}`))
				want.WriteString("{\"own\":true}\n")
				continue
			}
			s := spans[pick]
			c.span(int64(s.off), s.n)
			want.Write(source[s.off : s.off+s.n])
			want.WriteByte('\n')
		}
		if c.Size() != int64(want.Len()) {
			t.Fatalf("size %d, want %d", c.Size(), want.Len())
		}
		var got bytes.Buffer
		if _, err := c.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("%v\n%q\n%q", err, got.Bytes(), want.Bytes())
		}
		off := rapid.IntRange(0, want.Len()).Draw(t, "off")
		n := rapid.IntRange(0, want.Len()).Draw(t, "n")
		b := make([]byte, n)
		read, err := c.ReadAt(b, int64(off))
		rest := want.Bytes()[off:]
		if read != min(n, len(rest)) || !bytes.Equal(b[:read], rest[:read]) || (read < n) != (err == io.EOF) {
			t.Fatalf("ReadAt(%d, %d) = %d, %v", n, off, read, err)
		}
	})
}

// The ids are those of the item, and nothing else.
func TestIDs(t *testing.T) {
	a, b := &composer{Input: Input{Item: "sha256:1"}}, &composer{Input: Input{Item: "sha256:2"}}
	if again := (&composer{Input: Input{Item: "sha256:1"}}); a.id("boundary") != again.id("boundary") {
		t.Error("one item, two ids")
	}
	for _, other := range []string{a.id("summary"), b.id("boundary")} {
		if a.id("boundary") == other {
			t.Error("two roles or items, one id")
		}
	}
}

func TestProjectThePointer(t *testing.T) {
	for _, c := range []struct {
		what, line, want string
		fresh            bool
	}{
		{"leaf and session", `{"type":"last-prompt","leafUuid":"old","sessionId":"s0","x":1.0}`, `{"type":"last-prompt","leafUuid":"new","sessionId":"s1","x":1.0}`, false},
		{"no session key", `{"type":"last-prompt","leafUuid":"old"}`, `{"type":"last-prompt","leafUuid":"new"}`, false},
		{"no leaf key", `{"type":"last-prompt","lastPrompt":"p"}`, `{"type":"last-prompt","lastPrompt":"p","leafUuid":"new"}`, false},
		{"explicit", `{"explicit":true,"type":"last-prompt","leafUuid":"old"}`, `{"type":"last-prompt","leafUuid":"new"}`, false},
		{"none in the source", `{"type":"last-prompt"}`, `{"type":"last-prompt","leafUuid":"new","sessionId":"s1"}`, true},
	} {
		got, err := project([]byte(c.line), "new", "s1", c.fresh)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.what, got, err, c.want)
		}
	}
}
