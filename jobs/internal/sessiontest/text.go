package sessiontest

import (
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

var files = [...]string{
	"internal/store/store.go", "cmd/tool/main.go", "web/app.ts", "README.md",
	"scripts/load.py", "internal/wire/frame.go", "docs/design.md", "config/app.yaml",
}

var vocabularyWords = strings.Fields(`
	buffer socket retry index token stream worker cache shard ledger batch commit
	handler lexer cursor window frame packet column table module build branch test
	fixture schema query lease timer reader writer digest anchor pointer chain leaf
	merge split drain allocate release flush compare measure refuse accept confirm
	because therefore however the a of to in with from into over under when then if
	while until before after must should keep drop rename move`)

// hanWords make a part of the prose multi-byte.
var hanWords = []string{"保留记录", "说明理由", "不要删除", "先备份再写", "恢复会话"}

// codeLines are already JSON escaped.
var codeLines = []string{
	`func (s *Store) Get(key string) ([]byte, error) {\n`,
	`\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"get %q: %w\", key, err)\n\t}\n`,
	`\tfor i := range items {\n\t\tsum += items[i].Size\n\t}\n`,
	`def load(path):\n    with open(path, 'rb') as fh:\n        return fh.read()\n`,
	`  \"name\": \"example\",\n  \"version\": \"1.4.2\",\n`,
	`--- FAIL: TestRotate (0.02s)\n    rotate_test.go:44: got 3, want 4\n`,
	`2026-03-02T10:11:12Z level=info msg=\"checkpoint written\" bytes=18432\n`,
	`\t// The lease is renewed before the deadline, never after it.\n`,
}

// vocabulary is sentences and code made once, because copying ready text is
// what makes the generator fast.
type vocabulary struct{ sentences, code []string }

func newVocabulary(rng *rand.Rand) vocabulary {
	v := vocabulary{sentences: make([]string, 2048), code: make([]string, 1024)}
	for i := range v.sentences {
		v.sentences[i] = sentence(rng, 6+rng.IntN(13))
		if rng.IntN(20) == 0 {
			v.sentences[i] += " " + hanWords[rng.IntN(len(hanWords))] + "。"
		}
	}
	for i := range v.code {
		v.code[i] = codeLines[rng.IntN(len(codeLines))]
		if rng.IntN(3) == 0 {
			v.code[i] = strings.TrimSuffix(v.code[i], `\n`) + ` // ` + sentence(rng, 5) + `\n`
		}
	}
	return v
}

func sentence(rng *rand.Rand, words int) string {
	s := make([]string, words)
	for i := range s {
		s[i] = vocabularyWords[rng.IntN(len(vocabularyWords))]
	}
	return strings.ToUpper(s[0][:1]) + s[0][1:] + " " + strings.Join(s[1:], " ") + "."
}

// appendCode appends at least size bytes of code.
func (v *vocabulary) appendCode(b []byte, rng *rand.Rand, size int) []byte {
	for start := len(b); len(b)-start < size; {
		b = append(b, v.code[rng.IntN(len(v.code))]...)
	}
	return b
}

// prose writes at least size bytes of sentences.
func (g *generator) prose(size int) {
	start := len(g.buf)
	for {
		g.str(g.words.sentences[g.rng.IntN(len(g.words.sentences))])
		if len(g.buf)-start >= size {
			return
		}
		g.str(" ")
	}
}

func (g *generator) code(size int) { g.buf = g.words.appendCode(g.buf, g.rng, size) }

// id is a random uuid of version 4.
func (g *generator) id() string {
	const digits = "0123456789abcdef"
	b := []byte("xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx")
	bits, left := uint64(0), 0
	for i, c := range b {
		if c != 'x' {
			continue
		}
		if left == 0 {
			bits, left = g.rng.Uint64(), 16
		}
		b[i] = digits[bits&15]
		bits, left = bits>>4, left-1
	}
	return string(b)
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// label is an id of the service, such as msg_01....
func (g *generator) label(prefix string) string {
	start := len(g.buf)
	g.letters(24)
	s := prefix + string(g.buf[start:])
	g.buf = g.buf[:start]
	return s
}

func (g *generator) letters(n int) {
	for n > 0 {
		bits := g.rng.Uint64()
		for range min(n, 10) {
			g.buf = append(g.buf, alphabet[bits&63])
			bits >>= 6
		}
		n -= 10
	}
}

// stamp moves the clock on and gives the time.
func (g *generator) stamp() string {
	g.clock += time.Duration(40+g.rng.IntN(8960)) * time.Millisecond
	return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC).Add(g.clock).Format(stampForm)
}

// writer collects output and remembers the first error.
type writer struct {
	w    io.Writer
	buf  []byte
	done int64 // bytes w took
	err  error
}

func (w *writer) str(parts ...string) {
	for _, s := range parts {
		w.buf = append(w.buf, s...)
	}
}

func (w *writer) bytes(b []byte) { w.buf = append(w.buf, b...) }
func (w *writer) num(n int)      { w.buf = strconv.AppendInt(w.buf, int64(n), 10) }
func (w *writer) written() int64 { return w.done + int64(len(w.buf)) }

func (w *writer) flush() {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(w.buf)
	w.done, w.err = w.done+int64(n), err
	w.buf = w.buf[:0]
}
