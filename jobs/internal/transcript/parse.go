package transcript

import (
	"bytes"
	"strconv"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// parser turns lines into records; its buffers and caches live for one file.
type parser struct {
	x                        *Index
	s                        jsonspan.Scanner
	session, message, prompt cached
	version                  cached

	// Of the record being parsed:
	rec    Record
	seen   uint32        // identity keys met
	all    tally         // members that an API record is charged for
	system tally         // members that a system record is charged for
	attach tokens.Weight // of the attachment object
	stdout jsonspan.Span // toolUseResult.stdout
	output jsonspan.Span // the first tool result's text
	causes Causes
}

// tally adds up the weight of an object that holds some of the members.
type tally struct {
	weight  tokens.Weight
	members tokens.Weight
}

func (t *tally) add(w tokens.Weight) {
	t.weight += w
	t.members++
}

// object is the weight of the object written with these members only.
func (t tally) object() tokens.Weight {
	return t.weight + (2+max(0, t.members-1))*tokens.ASCII
}

// record parses the object at the scanner's position into p.rec and appends its
// tools; it stops after the closing brace.
func (p *parser) record() *jsonspan.Error {
	p.rec = Record{tools: int32(len(p.x.Tools)), refs: int32(len(p.x.refs))}
	p.seen, p.all, p.system, p.attach = 0, tally{}, tally{}, 0
	p.stdout, p.output, p.causes = jsonspan.Span{}, jsonspan.Span{}, Causes{}
	m := p.s.Members()
	for {
		key, ok, err := m.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := p.member(key); err != nil {
			return err
		}
	}
	p.finish()
	return nil
}

// member passes one member of the record and charges its weight.
func (p *parser) member(key jsonspan.Span) *jsonspan.Error {
	name, w := p.key(key), p.s.Weight
	object := p.s.Peek() == '{'
	charged, err := p.field(name)
	if err != nil {
		return err
	}
	w = p.s.Weight - w
	if name == "attachment" {
		p.attach = 0
		if object {
			p.attach = w
		}
	}
	w += p.keyWeight(key)
	if charged {
		p.all.add(w)
	}
	switch name {
	case "subtype", "content", "error", "compactMetadata":
		p.system.add(w)
	}
	return nil
}

// key returns a member's name, without allocating for the plain spelling.
func (p *parser) key(key jsonspan.Span) string {
	b := key.Of(p.s.Data)
	if key.Escaped {
		return jsonspan.Unquote(b)
	}
	return known(b)
}

// keyWeight is the weight of a key with its quotes and colon.
func (p *parser) keyWeight(key jsonspan.Span) tokens.Weight {
	s := jsonspan.Scanner{Data: p.s.Data, Pos: key.Start - 1}
	if _, err := s.String(); err != nil {
		return 0
	}
	return s.Weight + tokens.ASCII
}

// field reads one top-level member; charged says whether an API record pays for
// it.
func (p *parser) field(name string) (charged bool, err *jsonspan.Error) {
	r := &p.rec
	switch name {
	case "uuid":
		return false, p.uuid()
	case "parentUuid":
		return false, p.parent()
	case "sessionId":
		p.once(2)
		r.Session, err = p.repeated(&p.session)
		return false, err
	case "timestamp":
		return false, p.timestamp()
	case "cwd":
		return false, p.skip()
	case "version":
		return false, p.versionText()
	case "type":
		p.once(3)
		return true, p.typ()
	case "message":
		p.once(4)
		return true, p.messageObject()
	case "leafUuid":
		p.once(5)
		r.Flags &^= HasLeaf
		if r.Leaf, err = p.sym(); r.Leaf != 0 {
			r.Flags |= HasLeaf
		}
	case "subtype":
		r.Subtype, err = p.sym()
	case "isSidechain":
		err = p.flag(Sidechain)
	case "isMeta":
		err = p.flag(Meta)
	case "isCompactSummary":
		err = p.flag(CompactMark)
	case "isApiErrorMessage":
		err = p.flag(APIErrorMark)
	case "sourceToolAssistantUUID":
		r.Source, err = p.sym()
	case "promptId":
		r.Prompt, err = p.repeated(&p.prompt)
	case "messageId", "snapshotMessageId", "sourceUuid", "sourceUUID":
		err = p.ref()
	case "attachment":
		err = p.attachment()
	case "compactMetadata":
		err = p.metadata()
	case "error":
		err = p.errorValue()
	case "toolUseResult":
		err = p.toolUseResult()
	case "data":
		err = p.progressData()
	default:
		err = p.skip()
	}
	return true, err
}

// once marks an identity key and notes its second occurrence.
func (p *parser) once(bit uint) {
	if p.seen&(1<<bit) != 0 {
		p.rec.Flags |= DuplicateKey
	}
	p.seen |= 1 << bit
}

func (p *parser) skip() *jsonspan.Error {
	_, _, err := p.s.Value()
	return err
}

// text passes a value; ok tells that it was a string, whose content it returns.
func (p *parser) text() (content jsonspan.Span, ok bool, err *jsonspan.Error) {
	if p.s.Peek() != '"' {
		return jsonspan.Span{}, false, p.skip()
	}
	content, err = p.s.String()
	return content, err == nil, err
}

// word passes a value like text and returns the string itself, decoded if it was
// written with escapes.
func (p *parser) word() (b []byte, ok bool, err *jsonspan.Error) {
	sp, ok, err := p.text()
	if b = sp.Of(p.s.Data); sp.Escaped {
		b = []byte(jsonspan.Unquote(b))
	}
	return b, ok, err
}

// sym interns a string value; every other type gives 0.
func (p *parser) sym() (Sym, *jsonspan.Error) {
	sp, ok, err := p.text()
	if !ok {
		return 0, err
	}
	return p.x.symbols.intern(sp.Of(p.s.Data), sp.Escaped), nil
}

func (p *parser) repeated(c *cached) (Sym, *jsonspan.Error) {
	sp, ok, err := p.text()
	if !ok {
		return 0, err
	}
	return c.intern(&p.x.symbols, sp.Of(p.s.Data), sp.Escaped), nil
}

// flag sets f for exactly true.
func (p *parser) flag(f Flags) *jsonspan.Error {
	p.rec.Flags &^= f
	if p.s.Peek() == 't' {
		p.rec.Flags |= f
	}
	return p.skip()
}

func (p *parser) uuid() *jsonspan.Error {
	p.once(0)
	p.rec.Flags &^= HasUUID | BadUUID
	p.rec.UUID = 0
	switch p.s.Peek() {
	case '"':
		p.rec.Flags |= HasUUID
	case 'n':
	default:
		p.rec.Flags |= BadUUID
	}
	var err *jsonspan.Error
	p.rec.UUID, err = p.sym()
	return err
}

func (p *parser) parent() *jsonspan.Error {
	p.once(1)
	r := &p.rec
	r.Flags |= HasParentKey
	r.Parent, r.BadParent = 0, ParentFine
	kind := jsonspan.KindOf(p.s.Peek())
	start := p.s.Pos
	sym, err := p.sym()
	if err != nil {
		return err
	}
	r.Parent = sym
	r.ParentOff, r.ParentLen = int32(start), int32(p.s.Pos-start)
	switch kind {
	case jsonspan.String:
		if sym == 0 {
			r.BadParent = ParentEmpty
		}
	case jsonspan.Number:
		r.BadParent = ParentNumber
	case jsonspan.Bool:
		r.BadParent = ParentBool
	case jsonspan.Array:
		r.BadParent = ParentArray
	case jsonspan.Object:
		r.BadParent = ParentObject
	}
	return nil
}

func (p *parser) timestamp() *jsonspan.Error {
	sp, ok, err := p.text()
	p.rec.TimeOff, p.rec.TimeLen = 0, 0
	if n := sp.End - sp.Start; ok && n < 256 {
		p.rec.TimeOff, p.rec.TimeLen = int32(sp.Start), uint8(n)
	}
	return err
}

func (p *parser) typ() *jsonspan.Error {
	b, ok, err := p.word()
	p.rec.Type, p.rec.Name = Other, 0
	if !ok {
		return err
	}
	if p.rec.Type = types[string(b)]; p.rec.Type == Other {
		p.rec.Name = p.x.symbols.intern(b, false)
	}
	return nil
}

// versionText notes each client version the first time it is seen.
func (p *parser) versionText() *jsonspan.Error {
	known := len(p.x.symbols.names)
	v, err := p.repeated(&p.version)
	if v != 0 && int(v) >= known {
		p.x.Versions = append(p.x.Versions, p.x.Name(v))
	}
	return err
}

func (p *parser) ref() *jsonspan.Error {
	sym, err := p.sym()
	if sym != 0 {
		p.x.refs = append(p.x.refs, ref{sym})
	}
	return err
}

// errorValue notes a truthy error.
func (p *parser) errorValue() *jsonspan.Error {
	sp, kind, err := p.s.Value()
	switch v := string(sp.Of(p.s.Data)); {
	case err != nil:
	case kind == jsonspan.Null, v == "false", v == `""`, v == "0":
	default:
		p.rec.Flags |= HasError
	}
	return err
}

func (p *parser) metadata() *jsonspan.Error {
	if p.s.Peek() == '{' {
		p.rec.Flags |= MetadataMap
	}
	return p.skip()
}

// members calls f before each value of the object at the scanner's position; a
// value of another type is passed over.
func (p *parser) members(f func(key string) *jsonspan.Error) *jsonspan.Error {
	if p.s.Peek() != '{' {
		return p.skip()
	}
	m := p.s.Members()
	for {
		key, ok, err := m.Next()
		if err != nil || !ok {
			return err
		}
		if err := f(p.key(key)); err != nil {
			return err
		}
	}
}

func (p *parser) attachment() *jsonspan.Error {
	return p.members(func(key string) *jsonspan.Error {
		if key != "toolUseID" {
			return p.skip()
		}
		id, err := p.sym()
		if id != 0 {
			p.tool(Tool{ID: id, Kind: Hook})
		}
		return err
	})
}

func (p *parser) tool(t Tool) {
	t.Record = int32(len(p.x.Records))
	p.x.Tools = append(p.x.Tools, t)
}

func (p *parser) toolUseResult() *jsonspan.Error {
	if p.s.Peek() != 'n' {
		p.rec.Flags |= HasToolResult
	}
	start := p.s.Pos
	err := p.members(func(key string) *jsonspan.Error {
		if key != "stdout" {
			return p.skip()
		}
		sp, ok, err := p.text()
		if ok {
			p.stdout = sp
		}
		return err
	})
	p.causes.ToolUseResult = int64(p.s.Pos - start)
	return err
}

func (p *parser) progressData() *jsonspan.Error {
	p.s.Peek()
	start := p.s.Pos
	err := p.members(func(key string) *jsonspan.Error {
		from := p.s.Pos
		err := p.skip()
		if key == "normalizedMessages" {
			p.causes.NormalizedCopy += int64(p.s.Pos - from)
		}
		return err
	})
	p.causes.ProgressPayload = int64(p.s.Pos - start)
	return err
}

// finish settles what depends on several members.
func (p *parser) finish() {
	r := &p.rec
	switch {
	case r.API():
		r.Tokens = charge(p.all.object())
	case r.Type == Attachment && p.attach > 0:
		r.Tokens = charge(p.attach)
	case r.Type == System:
		r.Tokens = charge(p.system.object())
	}
	if p.s.LoneSurrogate > 0 {
		r.Flags |= LoneSurrogate
		r.surrogate = int32(p.s.LoneSurrogate)
	}
	if p.s.BadUTF8 > 0 {
		r.Flags |= BadUTF8
	}
}

func charge(w tokens.Weight) int32 { return int32(w.Tokens() + tokens.PerRecord) }

// count adds the record's share of the causes to the file's, once its line is
// known.
func (p *parser) count() {
	c, t := &p.causes, &p.x.Causes
	t.ToolUseResult += c.ToolUseResult
	t.Images += c.Images
	t.Signatures += c.Signatures
	if p.rec.Type == Progress {
		t.ProgressPayload += c.ProgressPayload
		t.NormalizedCopy += c.NormalizedCopy
	}
	if p.rec.Type == Snapshot {
		t.Snapshots += int64(p.rec.Len)
	}
	out := p.stdout.Of(p.s.Data)
	if len(out) > 0 && bytes.Equal(out, p.output.Of(p.s.Data)) {
		n := int64(jsonspan.TextLen(out))
		t.DoubleOutput += n
		if n > t.doubleMax {
			t.doubleMax, t.DoubleLine = n, int(p.rec.Line)
		}
	}
}

func (p *parser) outputTokens() *jsonspan.Error {
	return p.members(func(key string) *jsonspan.Error {
		sp, kind, err := p.s.Value()
		if key == "output_tokens" && kind == jsonspan.Number && err == nil {
			n, _ := strconv.ParseInt(string(sp.Of(p.s.Data)), 10, 32)
			p.rec.OutputToks = int32(n)
		}
		return err
	})
}
