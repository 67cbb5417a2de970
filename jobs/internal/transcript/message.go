package transcript

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// messageObject reads the message of a user or assistant record.
func (p *parser) messageObject() *jsonspan.Error {
	p.rec.Message, p.rec.Model = 0, 0
	p.rec.Flags &^= HasMessage | RoleUser | RoleAssistant | Synthetic
	p.forgetContent()
	if p.s.Peek() == '{' {
		p.rec.Flags |= HasMessage
	}
	return p.members(func(key string) (err *jsonspan.Error) {
		switch key {
		case "role":
			err = p.role()
		case "id":
			p.rec.Message, err = p.repeated(&p.message)
		case "model":
			err = p.messageModel()
		case "content":
			err = p.content()
		case "usage":
			err = p.outputTokens()
		default:
			err = p.skip()
		}
		return err
	})
}

func (p *parser) role() *jsonspan.Error {
	b, _, err := p.word()
	p.rec.Flags &^= RoleUser | RoleAssistant
	switch string(b) {
	case "user":
		p.rec.Flags |= RoleUser
	case "assistant":
		p.rec.Flags |= RoleAssistant
	}
	return err
}

func (p *parser) messageModel() *jsonspan.Error {
	var err *jsonspan.Error
	p.rec.Flags &^= Synthetic
	if p.rec.Model, err = p.repeated(&p.model); p.rec.Model == syntheticModel {
		p.rec.Flags |= Synthetic
	}
	return err
}

// forgetContent takes back what an earlier copy of the same key said.
func (p *parser) forgetContent() {
	p.rec.Flags &^= TextContent | ListContent | Semantic | Thinking | LateResult | OtherBlock | Substance | NullBlock
	p.output = jsonspan.Span{}
	own := p.x.Tools[p.rec.tools:]
	own = slices.DeleteFunc(own, func(t Tool) bool { return t.Kind != Hook })
	p.x.Tools = p.x.Tools[:int(p.rec.tools)+len(own)]
}

func (p *parser) content() (err *jsonspan.Error) {
	p.forgetContent()
	kind := p.s.Peek()
	start := p.s.Pos
	switch kind {
	case '"':
		p.rec.Flags |= TextContent
		err = p.said()
	case '[':
		p.rec.Flags |= ListContent
		err = p.blocks(p.block)
	default:
		err = p.skip()
	}
	p.rec.ContentOff, p.rec.ContentLen = int32(start), int32(p.s.Pos-start)
	return err
}

func (p *parser) blocks(f func(i int) *jsonspan.Error) *jsonspan.Error {
	e := p.s.Elements()
	for i := 0; ; i++ {
		ok, err := e.Next()
		if err != nil || !ok {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
}

// said passes a text and notes whether it says anything.
func (p *parser) said() *jsonspan.Error {
	sp, ok, err := p.text()
	if ok && !blank(sp, p.s.Data) {
		p.rec.Flags |= Semantic | Substance
	}
	return err
}

// blank reports a text of white space only, escapes included.
func blank(sp jsonspan.Span, data []byte) bool {
	b := sp.Of(data)
	if len(b) == 0 {
		return true
	}
	if b[0] > ' ' && b[0] < 0x80 && b[0] != '\\' {
		return false
	}
	if sp.Escaped {
		b = []byte(jsonspan.Unquote(b))
	}
	return len(bytes.TrimSpace(b)) == 0
}

// block is what one content block said before its type was known.
type block struct {
	kind           string
	id, name       Sym
	use, altUse    Sym // tool_use_id and its other spelling
	text, thinking jsonspan.Span
	hasText        bool
	hasThinking    bool
	isError        bool
	output         jsonspan.Span
}

func (p *parser) block(i int) *jsonspan.Error {
	switch p.s.Peek() {
	case '{':
	case '"':
		p.rec.Flags |= OtherBlock
		return p.said()
	case 'n':
		p.rec.Flags |= OtherBlock | NullBlock
		return p.skip()
	default: // no block at all
		p.rec.Flags |= OtherBlock
		return p.skip()
	}
	var b block
	if err := p.members(func(key string) *jsonspan.Error { return p.blockMember(&b, key) }); err != nil {
		return err
	}
	p.settle(&b, i)
	return nil
}

func (p *parser) blockMember(b *block, key string) (err *jsonspan.Error) {
	switch key {
	case "type":
		var kind []byte
		var ok bool
		if kind, ok, err = p.word(); ok {
			b.kind = cmp.Or(blockTypes[string(kind)], "other")
		}
	case "id":
		b.id, err = p.sym()
	case "tool_use_id":
		b.use, err = p.sym()
	case "toolUseID":
		b.altUse, err = p.sym()
	case "name":
		b.name, err = p.sym()
	case "text":
		b.text, b.hasText, err = p.text()
	case "thinking":
		b.thinking, b.hasThinking, err = p.text()
	case "is_error":
		b.isError = p.s.Peek() == 't'
		err = p.skip()
	case "signature":
		var sp jsonspan.Span
		sp, _, err = p.text()
		p.causes.Signatures += int64(sp.End - sp.Start)
	case "source":
		err = p.imageSource()
	case "content":
		b.output, err = p.resultContent()
	default:
		err = p.skip()
	}
	return err
}

var blockTypes = map[string]string{
	"text": "text", "thinking": "thinking", "redacted_thinking": "redacted_thinking",
	"tool_use": "tool_use", "tool_result": "tool_result",
}

// settle books a finished block.
func (p *parser) settle(b *block, i int) {
	t := Tool{Block: uint16(min(i, 1<<16-1)), Error: b.isError}
	switch b.kind {
	case "tool_use":
		t.ID, t.Name, t.Kind = b.id, b.name, Use
		p.tool(t)
	case "tool_result":
		if p.rec.Has(OtherBlock) {
			p.rec.Flags |= LateResult
		}
		t.ID, t.Kind = cmp.Or(b.use, b.altUse), Result
		p.tool(t)
		if p.output.Empty() {
			p.output = b.output
		}
		return
	case "thinking", "redacted_thinking":
		p.rec.Flags |= Thinking
		if b.hasThinking {
			b.text, b.hasText = b.thinking, true
		}
	}
	p.rec.Flags |= OtherBlock
	nonblank := b.hasText && !blank(b.text, p.s.Data)
	if nonblank && (b.kind == "text" || b.kind == "thinking" || b.kind == "") {
		p.rec.Flags |= Semantic
	}
	switch b.kind {
	case "thinking", "redacted_thinking", "tool_use":
	case "text":
		if nonblank {
			p.rec.Flags |= Substance
		}
	default:
		p.rec.Flags |= Substance
	}
}

// imageSource measures the base64 data of an image or document.
func (p *parser) imageSource() *jsonspan.Error {
	return p.members(func(key string) *jsonspan.Error {
		if key != "data" {
			return p.skip()
		}
		sp, _, err := p.text()
		p.causes.Images += int64(sp.End - sp.Start)
		return err
	})
}

// resultContent passes a tool result's content and returns its text when it is a
// string or starts with a text block.
func (p *parser) resultContent() (text jsonspan.Span, err *jsonspan.Error) {
	if p.s.Peek() != '[' {
		text, _, err = p.text()
		return text, err
	}
	err = p.blocks(func(i int) *jsonspan.Error {
		return p.members(func(key string) *jsonspan.Error {
			switch {
			case key == "source":
				return p.imageSource()
			case key == "text" && i == 0:
				sp, _, err := p.text()
				text = sp
				return err
			}
			return p.skip()
		})
	})
	return text, err
}
