package pack

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// head is what a line of evidence says about its record before the text.
type head struct {
	n                     int
	typ, role, time, uuid string
}

func (c *collector) headOf(r int, line []byte) head {
	rec := &c.src.Records[r]
	h := head{n: r + 1, typ: cmp.Or(c.src.TypeName(r), "None"), uuid: c.src.Name(rec.UUID)}
	h.time = string(line[rec.TimeOff : rec.TimeOff+int32(rec.TimeLen)])
	h.role = roleOf(rec, line, h.typ)
	return h
}

// roleOf is the message's role, or the record's type where it has none.
func roleOf(rec *transcript.Record, line []byte, typ string) string {
	switch {
	case rec.Has(transcript.RoleUser):
		return "user"
	case rec.Has(transcript.RoleAssistant):
		return "assistant"
	case !rec.Has(transcript.HasMessage):
		return typ
	}
	role := jsonspan.Value{Kind: jsonspan.Object, Raw: line}.Get("message").Get("role")
	if role.Kind != jsonspan.String {
		return typ
	}
	return role.Text()
}

func (h head) append(dst []byte, c class) []byte {
	dst = fmt.Appendf(dst, "- L%d type=%s role=%s", h.n, word(h.typ), word(h.role))
	if h.time != "" {
		dst = append(append(dst, " ts="...), word(h.time)...)
	}
	if h.uuid != "" {
		dst = append(append(dst, " uuid="...), word(h.uuid)...)
	}
	return append(append(dst, " evidence_class="...), c.String()...)
}

// word is a value from the file that can end neither its field nor the line.
func word(s string) string {
	if strings.IndexFunc(s, space) < 0 {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, space), "_")
}
