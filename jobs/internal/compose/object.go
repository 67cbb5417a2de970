package compose

import (
	"strconv"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// object builds a JSON object in the order in which its members are given.
type object []byte

func (o *object) raw(key string, value []byte) *object {
	sep := byte(',')
	if len(*o) == 0 {
		sep = '{'
	}
	*o = append(*o, sep)
	*o = append(jsonspan.Quote(*o, key), ':')
	*o = append(*o, value...)
	return o
}

func (o *object) text(key, value string) *object { return o.raw(key, jsonspan.Quote(nil, value)) }

func (o *object) number(key string, n int64) *object {
	return o.raw(key, strconv.AppendInt(nil, n, 10))
}

func (o *object) bool(key string, v bool) *object { return o.raw(key, strconv.AppendBool(nil, v)) }

func (o *object) null(key string) *object { return o.raw(key, []byte("null")) }

func (o *object) texts(key string, values []string) *object {
	list := []byte{'['}
	for i, v := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = jsonspan.Quote(list, v)
	}
	return o.raw(key, append(list, ']'))
}

func (o *object) end() []byte {
	if len(*o) == 0 {
		return []byte("{}")
	}
	return append(*o, '}')
}
