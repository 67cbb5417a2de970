package sessiontest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// object is a JSON object with an order of keys.
type object []member

type member struct {
	key   string
	value any
}

// set replaces the value of key, or appends it.
func (o *object) set(key string, value any) {
	if i := o.index(key); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{key, value})
}

func (o *object) drop(key string) {
	if i := o.index(key); i >= 0 {
		*o = slices.Delete(*o, i, i+1)
	}
}

func (o object) index(key string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.key == key })
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(encode(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode is compact JSON that leaves <, > and & alone, as the client does. A
// value that has no JSON form is a mistake in the test and panics.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("sessiontest: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// record is a line before it is written. Its content blocks are kept apart
// because options add to them.
type record struct {
	object
	message object
	blocks  []any
}

// pending stands in a record where its message goes, until the options have
// had their say on the message or have put something else there.
type pending struct{}

// Option changes a record before it is written.
type Option func(*record)

// With sets a field. The key may be a path of two, as in "message.model"; a
// missing object on the way is made.
func With(key string, value any) Option {
	return func(r *record) {
		outer, inner, nested := strings.Cut(key, ".")
		switch {
		case !nested:
			r.set(key, value)
		case outer == "message":
			r.message.set(inner, value)
		default:
			r.set(outer, r.child(outer, inner, value))
		}
	}
}

// child is a copy of the object at key with one member set.
func (r *record) child(key, inner string, value any) object {
	var o object
	if i := r.index(key); i >= 0 {
		o, _ = r.object[i].value.(object)
	}
	o = slices.Clone(o)
	o.set(inner, value)
	return o
}

// Without removes a field of the record.
func Without(key string) Option { return func(r *record) { r.drop(key) } }

// At sets the timestamp, in the client's form 2006-01-02T15:04:05.000Z.
func At(timestamp string) Option { return With("timestamp", timestamp) }

// InSession sets the session id of one record.
func InSession(id string) Option { return With("sessionId", id) }

// Sidechain marks a record of a subagent.
func Sidechain() Option { return With("isSidechain", true) }

// Meta marks a record that the person did not write.
func Meta() Option { return With("isMeta", true) }

// Block adds any content block.
func Block(block any) Option {
	return func(r *record) { r.blocks = append(r.blocks, block) }
}

// Text adds a text block.
func Text(text string) Option {
	return Block(object{{"type", "text"}, {"text", text}})
}

// Thinking adds a thinking block with a signature.
func Thinking(text string) Option {
	return Block(object{{"type", "thinking"}, {"thinking", text}, {"signature", "c2lnbmF0dXJl"}})
}

// Use adds a tool_use block. The input is any JSON value.
func Use(toolID, tool string, input any) Option {
	return func(r *record) {
		r.message.set("stop_reason", "tool_use")
		Block(object{{"type", "tool_use"}, {"id", toolID}, {"name", tool}, {"input", input}})(r)
	}
}

// Output adds a tool_result block.
func Output(toolID, text string) Option {
	return Block(object{{"tool_use_id", toolID}, {"type", "tool_result"}, {"content", text}, {"is_error", false}})
}
