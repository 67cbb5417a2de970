package jsonspan

import (
	"iter"
)

// Value is one JSON value in place.
type Value struct {
	Kind Kind
	Raw  []byte
}

// Parse checks that data is one JSON value, white space around it aside.
func Parse(data []byte) (Value, error) {
	s := Scanner{Data: data}
	sp, kind, err := s.Value()
	if err != nil {
		return Value{}, err
	}
	if s.Peek() != 0 || s.Pos < len(data) {
		return Value{}, &Error{Pos: s.Pos, Reason: "text after the value"}
	}
	return Value{kind, sp.Of(data)}, nil
}

// Member is one member of an object with its places in the object's bytes.
type Member struct {
	Key        string
	KeyStart   int // of the key's opening quote
	Start, End int // of the value
	Value
}

// Members yields an object's members in order; other values have none. The value
// must have been validated: iteration ends at the first fault.
func (v Value) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if v.Kind != Object {
			return
		}
		s := Scanner{Data: v.Raw}
		m := s.Members()
		for {
			key, ok, err := m.Next()
			if err != nil || !ok {
				return
			}
			sp, kind, err := s.Value()
			if err != nil {
				return
			}
			member := Member{
				Key: Unquote(key.Of(v.Raw)), KeyStart: key.Start - 1,
				Start: sp.Start, End: sp.End, Value: Value{kind, sp.Of(v.Raw)},
			}
			if !yield(member) {
				return
			}
		}
	}
}

// Elements yields an array's elements; other values have none.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind != Array {
			return
		}
		s := Scanner{Data: v.Raw}
		e := s.Elements()
		for {
			ok, err := e.Next()
			if err != nil || !ok {
				return
			}
			sp, kind, err := s.Value()
			if err != nil || !yield(Value{kind, sp.Of(v.Raw)}) {
				return
			}
		}
	}
}

// Get returns the member's value; of duplicate keys the last one counts. The
// zero Value means there is none.
func (v Value) Get(key string) Value {
	var found Value
	for m := range v.Members() {
		if m.Key == key {
			found = m.Value
		}
	}
	return found
}

// Text is a string value's text, "" for other kinds.
func (v Value) Text() string {
	if v.Kind != String {
		return ""
	}
	return Unquote(v.Raw[1 : len(v.Raw)-1])
}

// Prefix is the text's beginning, about limit bytes of it, and whether there is
// more.
func (v Value) Prefix(limit int) (text string, cut bool) {
	if v.Kind != String || len(v.Raw) <= limit+2 {
		return v.Text(), false
	}
	b := v.Raw[1 : len(v.Raw)-1]
	end := 0
	for { // not within an escape or a character
		_, n := next(b, end)
		if end+n > limit {
			return Unquote(b[:end]), true
		}
		end += n
	}
}

// True reports exactly the literal true.
func (v Value) True() bool { return string(v.Raw) == "true" }
