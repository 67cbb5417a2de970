package transcript_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

const casesDir = "../../../testdata/cases"

type fataler interface {
	Helper()
	Fatal(...any)
}

func read(t fataler, data []byte) *transcript.Index {
	t.Helper()
	return readFrom(t, bytes.NewReader(data))
}

func readFrom(t fataler, src io.Reader) *transcript.Index {
	t.Helper()
	x, err := transcript.Read(src, func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// places describes an index by where things stand: kind, lines and bytes.
func places(x *transcript.Index) []string {
	var out []string
	for i := range x.Records {
		r := &x.Records[i]
		out = append(out, fmt.Sprintf("%d record %s %d+%d", r.Line, x.TypeName(i), r.Off, r.Len))
	}
	for _, d := range x.Damage {
		out = append(out, fmt.Sprintf("%d-%d %s %d+%d", d.Line, d.LastLine, d.Kind, d.Off, d.Len))
	}
	return out
}

func TestFraming(t *testing.T) {
	const a, b = `{"type":"mode"}`, `{"type":"user","x":"}{"}` // 15 and 24 bytes
	tests := []struct {
		name, text string
		want       []string
		blank      int
		bom, crlf  bool
		cut        bool // no newline at the end
	}{
		{name: "empty file"},
		{name: "plain", text: a + "\n" + b + "\n", want: []string{"1 record mode 0+15", "2 record user 16+24"}},
		{name: "no final newline", text: a + "\n" + b, want: []string{"1 record mode 0+15", "2 record user 16+24"}, cut: true},
		{name: "byte order mark", text: "\ufeff" + a + "\n", want: []string{"1 record mode 3+15"}, bom: true},
		{name: "only a byte order mark", text: "\ufeff", bom: true, blank: 1, cut: true},
		{name: "byte order mark inside", text: a + "\n\ufeff" + b + "\n", want: []string{"1 record mode 0+15", "2-2 malformed-json 16+27"}},
		{name: "crlf", text: a + "\r\n" + b + "\r\n", want: []string{"1 record mode 0+15", "2 record user 17+24"}, crlf: true},
		{name: "crlf later only", text: a + "\n" + b + "\r\n", want: []string{"1 record mode 0+15", "2 record user 16+24"}},
		{name: "one CR of two is part of the line", text: a + "\r\r\n", want: []string{"1 record mode 0+16"}, crlf: true},
		{name: "cr only", text: a + "\r" + a, want: []string{"1 record mode 0+15", "1-1 glued-records 0+31", "1 record mode 16+15"}, cut: true},
		{name: "blank lines", text: "\n" + a + "\n \t\n\r\n" + a + "\n\n", want: []string{"2 record mode 1+15", "5 record mode 22+15"}, blank: 4},
		{name: "blank in unicode", text: "\u00a0\n\u2028\n\u0085\u3000\n" + a + "\n", want: []string{"4 record mode 13+15"}, blank: 3},
		{name: "line separators in a string", text: "{\"a\":\"\u2028\u2029\u0085\"}\n", want: []string{"1 record  0+16"}},
		{name: "space around", text: "  " + a + " \n", want: []string{"1 record mode 0+18"}},
		{name: "two glued", text: a + b + "\n" + a + "\n", want: []string{"1 record mode 0+15", "1 record user 15+24", "2 record mode 40+15", "1-1 glued-records 0+39"}},
		{name: "three glued", text: a + b + " " + a + "\n", want: []string{"1 record mode 0+15", "1 record user 15+24", "1 record mode 40+15", "1-1 glued-records 0+55", "1-1 glued-records 0+55"}},
		{name: "braces in a string", text: b + "\n", want: []string{"1 record user 0+24"}},
		{name: "glued and torn", text: a + `{"type":"us`, want: []string{"1 record mode 0+15", "1-1 glued-records 0+26", "1-1 torn-final-line 0+26"}, cut: true},
		{name: "text after the record", text: a + "x\n", want: []string{"1 record mode 0+15", "1-1 malformed-json 0+16"}},
		{name: "torn last line", text: a + "\n" + `{"type":"user","x":"ab`, want: []string{"1 record mode 0+15", "2-2 torn-final-line 16+22"}, cut: true},
		{name: "torn in the middle", text: `{"type":"user","x":"ab` + "\n" + a + "\n", want: []string{"2 record mode 23+15", "1-1 malformed-json 0+22"}},
		{name: "wrong last line", text: a + "\n{x", want: []string{"1 record mode 0+15", "2-2 malformed-json 16+2"}, cut: true},
		{name: "nul line", text: a + "\n\x00\x00\x00\n" + a + "\n", want: []string{"1 record mode 0+15", "3 record mode 20+15", "2-2 nul-block 16+3"}},
		{name: "nul tail", text: a + "\n\x00\x00", want: []string{"1 record mode 0+15", "2-2 nul-block 16+2"}, cut: true},
		{name: "nul before a record", text: "\x00\x00" + a + "\n", want: []string{"1-1 nul-block 0+17"}},
		{name: "nul after a record", text: a + "\x00\n", want: []string{"1 record mode 0+15", "1-1 nul-block 0+16"}},
		{name: "nul in a string", text: "{\"a\":\"\x00\"}\n", want: []string{"1-1 nul-block 0+9"}},
		{name: "no objects", text: "[]\n7\nnull\n\"x\"\ntrue\n", want: []string{"1-1 not-an-object 0+2", "2-2 not-an-object 3+1", "3-3 not-an-object 5+4", "4-4 not-an-object 10+3", "5-5 not-an-object 14+4"}},
		{name: "records in an array", text: "[" + a + "]\n", want: []string{"1-1 not-an-object 0+17"}},
		{name: "closing brace", text: "}\n", want: []string{"1-1 malformed-json 0+1"}},
		{name: "pretty printed", text: "{\n\"type\":\"mode\"\n}\n", want: []string{"1 record mode 0+17", "1-3 record-over-lines 0+17"}},
		{name: "pretty printed, CRLF", text: "{\r\n\"type\":\"mode\"\r\n}\r\n", crlf: true, want: []string{"1-3 record-over-lines 0+19"}},
		{name: "pretty printed after a torn record", text: "{\"a\":\n{\n\"type\":\"mode\"\n}\n", want: []string{"1-1 malformed-json 0+5", "2 record mode 6+17", "2-4 record-over-lines 6+17"}},
		{name: "no type", text: "{}\n", want: []string{"1 record  0+2"}},
		{name: "unknown type", text: `{"type":"voice-note"}` + "\n", want: []string{"1 record voice-note 0+21"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := read(t, []byte(tt.text))
			got := places(x)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(tt.want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if x.Blank != tt.blank || x.BOM != tt.bom || x.CRLF != tt.crlf || x.NoNewline != tt.cut {
				t.Errorf("blank %d, bom %v, crlf %v, no newline %v", x.Blank, x.BOM, x.CRLF, x.NoNewline)
			}
			account(t, []byte(tt.text), x)
		})
	}
}

func TestSplitRecords(t *testing.T) {
	const whole = `{"type":"mode"}`
	tests := []struct {
		name, text string
		want       []string
	}{
		{"two breaks", "{\"a\":\"x\ny\nz\"}\n" + whole + "\n", []string{"1-3 split-record 0+13", "4 record mode 14+15"}},
		{"a blank line within", "{\"a\":\"x\n\nz\"}\n", []string{"1-3 split-record 0+12"}},
		{"crlf within", "{\"a\":\"x\r\ny\"}\r\n", []string{"1-2 split-record 0+12"}},
		{"a number within", "{\"a\":\"x\n7\ny\"}\n", []string{"1-3 split-record 0+13"}},
		{"an escaped quote within", "{\"a\":\"x\\\"\ny\\\\\"}\n", []string{"1-2 split-record 0+15"}},
		{"two in a row", "{\"a\":\"x\ny\"}\n{\"b\":\"x\ny\"}\n", []string{"1-2 split-record 0+11", "3-4 split-record 12+11"}},
		{"after a torn one", "{\"a\":\"torn\n{\"b\":\"x\ny\"}\n", []string{"1-1 malformed-json 0+10", "2-3 split-record 11+11"}},
		{"never closed", "{\"a\":\"x\ny\nz\n", []string{"1-1 malformed-json 0+7", "2-2 malformed-json 8+1", "3-3 malformed-json 10+1"}},
		{"ended by a whole record", "{\"a\":\"x\n" + whole + "\ny\"}\n", []string{"1-1 malformed-json 0+7", "2 record mode 8+15", "3-3 malformed-json 24+3"}},
		{"without a final newline", "{\"a\":\"x\ny\"}", []string{"1-2 split-record 0+11"}},
		{"joined they are two values", "{\"a\":\"x\ny\"}{}\n", []string{"1-1 malformed-json 0+7", "2-2 malformed-json 8+5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := read(t, []byte(tt.text))
			got := places(x)
			slices.Sort(got)
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.want)), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			account(t, []byte(tt.text), x)
		})
	}
}

// account checks that records, damage and blank lines cover every line once
// read, that all spans lie where they should, and the file's own figures.
func account(t testing.TB, data []byte, x *transcript.Index) {
	t.Helper()
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	if x.Lines != len(lines) || x.Size != int64(len(data)) || x.SHA256 != sha256.Sum256(data) {
		t.Errorf("%d lines, %d bytes, sha256 %x", x.Lines, x.Size, x.SHA256)
	}
	damaged := make([]bool, len(lines)+1)
	for _, d := range x.Damage {
		if d.Line < 1 || d.LastLine < d.Line || d.LastLine > len(lines) || d.Off < 0 || d.Off+d.Len > int64(len(data)) || d.At < 0 || int64(d.At) > d.Len {
			t.Fatalf("damage out of bounds: %+v", d)
		}
		for l := d.Line; l <= d.LastLine; l++ {
			damaged[l] = true
		}
	}
	kept := make([]int, len(lines)+1)
	for i := range x.Records {
		r := &x.Records[i]
		kept[r.Line]++
		checkSpan(t, data, x, r, damaged[r.Line])
	}
	blank := 0
	for i, line := range lines {
		if i == 0 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		empty := len(bytes.TrimSpace(line)) == 0
		if empty {
			blank++
		}
		if empty == (kept[i+1] > 0 || damaged[i+1]) && !empty || kept[i+1] > 1 && !damaged[i+1] {
			t.Errorf("line %d: blank %v, %d records, damaged %v", i+1, empty, kept[i+1], damaged[i+1])
		}
	}
	if x.Blank != blank {
		t.Errorf("%d blank lines, want %d", x.Blank, blank)
	}
}

// checkSpan checks that a record's span is its line without the line's end, or
// lies within it on a damaged line.
func checkSpan(t testing.TB, data []byte, x *transcript.Index, r *transcript.Record, damaged bool) {
	t.Helper()
	end := r.Off + int64(r.Len)
	if r.Off < 0 || r.Len < 2 || end > int64(len(data)) {
		t.Fatalf("line %d: span %d+%d of %d bytes", r.Line, r.Off, r.Len, len(data))
	}
	span := data[r.Off:end]
	spread := slices.ContainsFunc(x.Damage, func(d transcript.Damage) bool { return d.Kind == transcript.Spread && d.Off == r.Off })
	if bytes.ContainsRune(span, '\n') != spread || bytes.Count(data[:r.Off], []byte("\n")) != int(r.Line)-1 {
		t.Fatalf("span of line %d is not within it: %q", r.Line, span)
	}
	if end := int(r.ParentOff + r.ParentLen); r.ParentOff < 0 && r.ParentLen > 0 || end > len(span) {
		t.Fatalf("line %d: parent at %d+%d of %d", r.Line, r.ParentOff, r.ParentLen, len(span))
	}
	if r.TimeOff < 0 && r.TimeLen > 0 || int(r.TimeOff)+int(r.TimeLen) > len(span) {
		t.Fatalf("line %d: time at %d+%d of %d", r.Line, r.TimeOff, r.TimeLen, len(span))
	}
	if s := r.Surrogate(); s != -1 && !bytes.HasPrefix(span[max(s, 0):], []byte(`\u`)) {
		t.Fatalf("line %d: no escape at %d", r.Line, s)
	}
	if damaged {
		return
	}
	before, after := data[:r.Off], data[end:]
	starts := len(before) == 0 || before[len(before)-1] == '\n' || x.BOM && r.Line == 1 && len(before) == 3
	after = bytes.TrimPrefix(after, []byte("\r"))
	if !starts || len(after) > 0 && after[0] != '\n' {
		t.Fatalf("span of line %d is not the whole line: %q", r.Line, span)
	}
}

func TestCases(t *testing.T) {
	type damage struct {
		kind     transcript.DamageKind
		line     int
		lastLine int
		at       int
	}
	tests := map[string]struct {
		records int
		damage  []damage
	}{
		"09-torn-last-line.jsonl":          {13, []damage{{transcript.Torn, 14, 14, 258}}},
		"11-glued-records.jsonl":           {14, []damage{{transcript.Glued, 10, 10, 431}}},
		"13-nul-block-middle.jsonl":        {14, []damage{{transcript.NulBlock, 10, 10, 0}}},
		"15-raw-newline-in-string.jsonl":   {15, []damage{{transcript.Split, 12, 14, 373}}},
		"16-unicode-line-separators.jsonl": {14, nil},
		"17-bom-crlf.jsonl":                {11, nil},
		"18-lone-surrogate.jsonl":          {16, nil},
		"40-exact-bytes.jsonl":             {14, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(casesDir, name))
			if err != nil {
				t.Fatal(err)
			}
			x := read(t, data)
			account(t, data, x)
			var got []damage
			for _, d := range x.Damage {
				got = append(got, damage{d.Kind, d.Line, d.LastLine, d.At})
			}
			if len(x.Records) != tt.records || !slices.Equal(got, tt.damage) {
				t.Errorf("%d records, damage %+v, want %d, %+v", len(x.Records), got, tt.records, tt.damage)
			}
		})
	}
}

// chunks hands out data in pieces of the sizes given, over and over.
type chunks struct {
	data  []byte
	sizes []int
	n     int
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := min(c.sizes[c.n%len(c.sizes)], len(b), len(c.data))
	c.n++
	copy(b, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}

// However the bytes arrive, the index is the same.
func TestReadInPieces(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(casesDir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases:", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		data, err := os.ReadFile(rapid.SampledFrom(files).Draw(t, "file"))
		if err != nil {
			t.Fatal(err)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 700), 1, 8).Draw(t, "sizes")
		whole, pieces := read(t, data), readFrom(t, &chunks{data: data, sizes: sizes})
		if diff := cmp.Diff(summary(whole), summary(pieces)); diff != "" {
			t.Fatalf("(-one read +pieces)\n%s", diff)
		}
	})
}

// summary is all of an index that is public.
func summary(x *transcript.Index) []string {
	out := append(places(x), fmt.Sprintf("%x %d %d %d %v %v %v", x.SHA256, x.Size, x.Lines, x.LongestLine, x.BOM, x.CRLF, x.NoNewline))
	for i := range x.Records {
		r := &x.Records[i]
		out = append(out, fmt.Sprintf("%s %s %d %x %d", x.Name(r.UUID), x.Name(r.Parent), r.Tokens, r.Flags, r.Surrogate()))
	}
	for _, tool := range x.Tools {
		out = append(out, fmt.Sprintf("%s %s %d %d %d", x.Name(tool.ID), x.Name(tool.Name), tool.Record, tool.Block, tool.Kind))
	}
	return out
}

// Lines longer than the read buffer, and lines that end right at its end.
func TestLongLines(t *testing.T) {
	const buffer = 1 << 20
	for _, n := range []int{buffer - 1, buffer, buffer + 1, 2*buffer - 1, 2 * buffer, 40 << 20} {
		frame := `{"type":"user","x":""}`
		line := `{"type":"user","x":"` + strings.Repeat("y", n-len(frame)) + `"}`
		data := []byte(line + "\n" + `{"type":"mode"}` + "\n")
		x := read(t, data)
		want := []string{fmt.Sprintf("1 record user 0+%d", n), fmt.Sprintf("2 record mode %d+15", n+1)}
		if got := places(x); !slices.Equal(got, want) || x.LongestLine != n {
			t.Errorf("line of %d: %v, longest %d", n, got, x.LongestLine)
		}
		if x.SHA256 != sha256.Sum256(data) {
			t.Errorf("line of %d: wrong hash", n)
		}
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := transcript.Read(io.MultiReader(strings.NewReader("{}\n"), failing{broken}), func(int64) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("the reader's error: %v", err)
	}
	stop := errors.New("stop")
	var seen int64
	_, err := transcript.Read(strings.NewReader("{}\n"), func(done int64) error { seen = done; return stop })
	if !errors.Is(err, stop) || seen != 3 {
		t.Errorf("progress: %v after %d bytes", err, seen)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestGenerated(t *testing.T) {
	var buf bytes.Buffer
	stats, err := sessiontest.Generate(&buf, 1<<20, 7)
	if err != nil {
		t.Fatal(err)
	}
	x := read(t, buf.Bytes())
	account(t, buf.Bytes(), x)
	if len(x.Records) != stats.Records || len(x.Damage) != 0 {
		t.Errorf("%d records and %d damaged lines, want %d and 0", len(x.Records), len(x.Damage), stats.Records)
	}
	leaf, ok := x.Lookup(stats.Leaf)
	if p := x.LastPointer(); !ok || p < 0 || x.Records[p].Leaf != leaf || x.ByUUID(leaf) < 0 {
		t.Errorf("the last pointer is record %d, leaf known %v", p, ok)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(casesDir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		f.Fatal("no cases:", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 8<<10)])
	}
	f.Add([]byte("{\"a\":\"x\ny\"}\n{}{\"uuid\":\"\\ud800\"}\n\x00\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := read(t, data)
		account(t, data, x)
		for i := range x.Records {
			for range x.Correlations(i) {
			}
			_, _ = x.ToolsOf(i), x.Parent(i)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var buf bytes.Buffer
	if _, err := sessiontest.Generate(&buf, 16<<20, 1); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transcript.Read(bytes.NewReader(buf.Bytes()), func(int64) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
