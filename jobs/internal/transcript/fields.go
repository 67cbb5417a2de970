package transcript

import (
	"strconv"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

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
		p.x.refs = append(p.x.refs, sym)
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
	p.attachType = 0
	p.rec.Flags &^= HasAttachment
	if p.s.Peek() != 'n' {
		p.rec.Flags |= HasAttachment
	}
	return p.members(func(key string) (err *jsonspan.Error) {
		switch key {
		case "toolUseID":
			var id Sym
			if id, err = p.sym(); id != 0 {
				p.tool(Tool{ID: id, Kind: Hook})
			}
		case "type":
			p.attachType, err = p.repeated(&p.attachName)
		default:
			err = p.skip()
		}
		return err
	})
}

// leaf reads leafUuid. The client passes over null and the empty string, and
// takes every other value for a pointer.
func (p *parser) leaf() (err *jsonspan.Error) {
	p.once(5)
	p.rec.Flags &^= HasLeaf | OddLeaf
	p.rec.Flags |= LeafKey
	kind := jsonspan.KindOf(p.s.Peek())
	start := p.s.Pos
	if p.rec.Leaf, err = p.sym(); err != nil {
		return err
	}
	switch text := string(p.s.Data[start:p.s.Pos]); {
	case p.rec.Leaf != 0:
		p.rec.Flags |= HasLeaf
	case kind != jsonspan.String && kind != jsonspan.Null && text != "false" && text != "0":
		p.rec.Flags |= OddLeaf
	}
	return nil
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
