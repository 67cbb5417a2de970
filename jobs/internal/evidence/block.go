package evidence

import (
	"iter"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// block is one content block, its values in place.
type block struct {
	kind                 string
	text, thinking       jsonspan.Value
	name, id, input      jsonspan.Value // of a tool_use
	use, failed, content jsonspan.Value // of a tool_result
}

// blocks yields the blocks of a content list in one pass over its bytes. A
// string among them is a text block.
func blocks(list []byte) iter.Seq[*block] {
	return func(yield func(*block) bool) {
		s := jsonspan.Scanner{Data: list}
		if s.Peek() != '[' {
			return
		}
		e := s.Elements()
		for {
			ok, err := e.Next()
			if err != nil || !ok {
				return
			}
			b, err := readBlock(&s)
			if err != nil || !yield(b) {
				return
			}
		}
	}
}

func readBlock(s *jsonspan.Scanner) (*block, *jsonspan.Error) {
	var b block
	if s.Peek() != '{' {
		sp, kind, err := s.Value()
		b.kind, b.text = "text", jsonspan.Value{Kind: kind, Raw: sp.Of(s.Data)}
		return &b, err
	}
	m := s.Members()
	for {
		key, ok, err := m.Next()
		if err != nil || !ok {
			return &b, err
		}
		sp, kind, err := s.Value()
		if err != nil {
			return nil, err
		}
		b.set(string(key.Of(s.Data)), jsonspan.Value{Kind: kind, Raw: sp.Of(s.Data)})
	}
}

func (b *block) set(key string, v jsonspan.Value) {
	switch key {
	case "type":
		b.kind = v.Text()
	case "text":
		b.text = v
	case "thinking":
		b.thinking = v
	case "name":
		b.name = v
	case "id":
		b.id = v
	case "input":
		b.input = v
	case "tool_use_id", "toolUseID":
		b.use = v
	case "is_error":
		b.failed = v
	case "content":
		b.content = v
	}
}
