package pack

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// item is a record that is evidence, or may become it.
type item struct {
	n, pos int // number of the record, and its position in the fold
	kind   kind
	class  class
	rank   int
	chars  int    // of a mandatory text
	size   size   // of the line and its end; of optional ones the least it can be
	line   []byte // of mandatory evidence
}

func (it *item) record() int { return it.n - 1 }

// collector goes over the fold once and keeps the evidence it finds.
type collector struct {
	src     *transcript.Source
	req     *Request
	terms   *matcher
	sum     *evidence.SourceSum
	items   []item // in the order of the fold
	omitted []Omission
	claims  map[int]string
	needed  size // of all mandatory lines, kept or not

	line, text []byte // buffers
	squeezed   squeezed
}

// lookAhead is how many bytes of an optional text decide its rank.
const lookAhead = 2 << 10

func collect(src *transcript.Source, req *Request) (*collector, error) {
	c := &collector{src: src, req: req, terms: newMatcher(req.Terms), sum: evidence.NewSourceSum(), claims: map[int]string{}}
	for pos, r := range req.Fold {
		line, err := src.Record(r)
		if err != nil {
			return nil, err
		}
		c.sum.Add(line)
		if req.Parts == nil {
			c.record(pos, r, line)
		}
	}
	for _, p := range req.Parts {
		pos := p.End - 1
		n := req.Fold[pos] + 1
		c.mandatory(item{n: n, pos: pos, kind: prior}, head{n: n, typ: "user", role: "user"}, p.Text)
	}
	return c, nil
}

func (c *collector) record(pos, r int, line []byte) {
	rec := &c.src.Records[r]
	if mayBeWording(rec) {
		text := evidence.Semantic(rec, line)
		if k := kindOf(rec, text); k != 0 {
			c.mandatory(item{n: r + 1, pos: pos, kind: k, class: c.ofTool(r)}, c.headOf(r, line), text)
			return
		}
	}
	c.optional(pos, r, line)
}

// mayBeWording tells from the index that a record can be mandatory.
func mayBeWording(rec *transcript.Record) bool {
	if rec.Has(transcript.HasMessage) {
		return rec.Has(transcript.Semantic)
	}
	return rec.Type == transcript.Assistant || rec.Has(transcript.CompactMark)
}

// kindOf tells whose wording a record's text is, 0 if nobody's.
func kindOf(rec *transcript.Record, text string) kind {
	if blank(text) {
		return 0
	}
	var k kind
	if rec.Has(transcript.CompactMark) {
		k = prior
	}
	switch {
	case rec.Type == transcript.Assistant:
		k |= assistant
	case k == 0 && rec.Type == transcript.User && rec.Has(transcript.HasMessage|transcript.RoleUser) && !command(rec, text):
		k = human
	}
	return k
}

// command reports the client's own markup in the person's name.
func command(rec *transcript.Record, text string) bool {
	text = strings.TrimLeftFunc(text, space)
	return rec.Has(transcript.TextContent) && (strings.HasPrefix(text, "<local-command-") || strings.HasPrefix(text, "<command-"))
}

// ofTool labels a record with a call or with results.
func (c *collector) ofTool(r int) class {
	rec := &c.src.Records[r]
	result := rec.Type == transcript.User && (rec.Has(transcript.HasToolResult) || rec.Source != 0 || c.src.HasTool(r, transcript.Result))
	if result || c.src.HasTool(r, transcript.Use) {
		return sourceTool
	}
	return 0
}

// mandatory keeps the whole text of a record. Beyond a ceiling only sizes are
// counted, since there will be no pack.
func (c *collector) mandatory(it item, h head, text string) {
	told := c.terms.read(text)
	labels, rank := mandatoryRank(it.kind, told, text)
	it.class, it.rank = it.class|labels, rank
	if namesPath(text) {
		it.class |= sourceTool
	}
	if noisy(text) {
		it.class |= sourceWarning
	}
	it.chars = utf8.RuneCountInString(text)
	c.line = append(h.append(c.line[:0], it.class), ` full_text_json=`...)
	c.line = append(Quoted(c.line, text), '\n')
	it.size = measure(c.line)
	c.needed = c.needed.plus(it.size)
	if c.needed.within(c.req.Binding.PackChars, c.req.Binding.PackTokens) {
		it.line, c.claims[it.n] = bytes.Clone(c.line), text
	}
	c.items = append(c.items, it)
}

// optional ranks what a record holds beside wording.
func (c *collector) optional(pos, r int, line []byte) {
	var more bool
	c.text, more = evidence.Text(c.text[:0], c.src, r, line, lookAhead)
	c.squeezed.read(c.text, false)
	text := string(c.squeezed.text)
	it := item{n: r + 1, pos: pos, class: c.ofTool(r)}
	switch {
	case text == "":
		return
	case noisy(text):
		c.omit(it.n, Noise)
		return
	}
	path := namesPath(text)
	it.class |= c.said(r, path)
	it.rank = optionalRank(it.class, it.class&systemError != 0 || c.failed(r), c.terms.read(text), path)
	if it.rank == 0 {
		c.omit(it.n, ZeroPriority)
		return
	}
	shown := c.squeezed.shown()
	if more && c.squeezed.total > cutShown {
		shown = bytes.TrimRight(c.squeezed.text[:c.squeezed.cut], " ")
	}
	c.line = c.headOf(r, line).append(c.line[:0], it.class)
	c.line = append(append(c.line, "\n  \n"...), shown...)
	it.size = measure(c.line)
	c.items = append(c.items, it)
}

// said labels an optional record by who made it and what it names.
func (c *collector) said(r int, path bool) class {
	rec := &c.src.Records[r]
	var labels class
	if path {
		labels = sourceTool
	}
	if rec.Type == transcript.Attachment && c.src.Name(rec.Name) == "queued_command" {
		labels |= humanUser
	}
	if rec.Type == transcript.System && c.src.Name(rec.Subtype) == "api_error" || rec.Has(transcript.HasError) {
		labels |= systemError
	}
	return labels
}

func (c *collector) failed(r int) bool {
	for _, t := range c.src.ToolsOf(r) {
		if t.Error {
			return true
		}
	}
	return false
}

func (c *collector) omit(n int, why Reason) { c.omitted = append(c.omitted, Omission{n, why}) }

// optionalLine writes the line of an optional record, its end included.
func (c *collector) optionalLine(it *item) (line, text []byte, err error) {
	r := it.record()
	raw, err := c.src.Record(r)
	if err != nil {
		return nil, nil, err
	}
	c.text, _ = evidence.Text(c.text[:0], c.src, r, raw, 0)
	c.squeezed.read(c.text, true)
	line = append(c.headOf(r, raw).append(nil, it.class), "\n  "...)
	at := len(line)
	line = append(append(line, c.squeezed.shown()...), c.squeezed.mark()...)
	return append(line, '\n'), line[at:], nil
}
