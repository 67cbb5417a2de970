package evidence

import (
	"fmt"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Semantic is the wording of a record, of which line is the bytes: the message's
// content, or in a record without message the record's own. Of blocks it takes
// text and thinking, joined by line feeds; calls and results are no wording.
func Semantic(rec *transcript.Record, line []byte) string {
	if rec.Has(transcript.HasMessage) {
		return wording(content(rec, line))
	}
	v := jsonspan.Value{Kind: jsonspan.Object, Raw: line}
	if m := v.Get("message"); m.Kind == jsonspan.String {
		return m.Text()
	}
	return wording(v.Get("content"))
}

// content is the value of message.content, the zero Value without one.
func content(rec *transcript.Record, line []byte) jsonspan.Value {
	raw := line[rec.ContentOff : rec.ContentOff+rec.ContentLen]
	if len(raw) == 0 {
		return jsonspan.Value{}
	}
	return jsonspan.Value{Kind: jsonspan.KindOf(raw[0]), Raw: raw}
}

func wording(v jsonspan.Value) string {
	if v.Kind != jsonspan.Array {
		return v.Text()
	}
	var text []byte
	for b := range blocks(v.Raw) {
		said := b.wording()
		if said == "" {
			continue
		}
		if text != nil {
			text = append(text, '\n')
		}
		text = append(text, said...)
	}
	return string(text)
}

func (b *block) wording() string {
	switch {
	case b.kind == "thinking" && b.thinking.Kind == jsonspan.String:
		return b.thinking.Text()
	case b.kind == "thinking", b.kind == "text", b.kind == "":
		return b.text.Text()
	}
	return ""
}

// maxInput is how many bytes of a call's input are shown.
const maxInput = 800

// Text appends what a record holds beside or instead of wording: calls, results,
// what the client noted. It stops near limit bytes, if that is not 0; cut tells
// that there was more.
func Text(dst []byte, src *transcript.Source, r int, line []byte, limit int) (text []byte, cut bool) {
	rec := &src.Records[r]
	w := writer{text: dst, limit: limit}
	v := jsonspan.Value{Kind: jsonspan.Object, Raw: line}
	switch rec.Type {
	case transcript.User, transcript.Assistant:
		w.content(content(rec, line))
	case transcript.Attachment:
		w.attachment(v.Get("attachment"))
	case transcript.System:
		w.content(v.Get("subtype"))
		w.content(v.Get("content"))
		w.raw(v.Get("error"))
	case transcript.Snapshot:
		w.snapshot(v.Get("snapshot").Get("trackedFileBackups"))
	}
	return w.text, w.cut
}

// writer collects texts, a line feed between them, until its limit.
type writer struct {
	text  []byte
	limit int
	begun bool
	cut   bool
}

func (w *writer) add(text string) {
	if text == "" {
		return
	}
	if w.begun {
		w.text = append(w.text, '\n')
	}
	w.text, w.begun = append(w.text, text...), true
}

func (w *writer) say(v jsonspan.Value) {
	room := len(v.Raw)
	if w.limit > 0 {
		room = max(0, w.limit-len(w.text))
	}
	text, cut := v.Prefix(room)
	w.cut = w.cut || cut
	w.add(text)
}

// content writes a string, or a list of blocks and of lists within them.
func (w *writer) content(v jsonspan.Value) {
	if v.Kind != jsonspan.Array {
		w.say(v)
		return
	}
	for b := range blocks(v.Raw) {
		if w.cut {
			return
		}
		w.block(b)
	}
}

func (w *writer) block(b *block) {
	switch b.kind {
	case "tool_use":
		w.add(b.name.Text() + " " + prefix(b.input.Raw))
	case "tool_result":
		w.content(b.content)
	case "image", "document":
		w.add("[" + b.kind + "]")
	default:
		w.add(b.wording())
	}
}

// raw writes a text as it is, any other value as JSON.
func (w *writer) raw(v jsonspan.Value) {
	if v.Kind == jsonspan.String {
		w.say(v)
		return
	}
	if string(v.Raw) != "null" {
		w.add(prefix(v.Raw))
	}
}

// prefix is the beginning of a value's JSON, no character divided.
func prefix(raw []byte) string {
	if len(raw) <= maxInput {
		return string(raw)
	}
	n := maxInput
	for n > 0 && !utf8.RuneStart(raw[n]) {
		n--
	}
	return string(raw[:n])
}

// attachmentTexts are the members of attachments that say something, with the
// queued prompts among them.
var attachmentTexts = [...]string{"type", "hookName", "filename", "displayPath", "path", "prompt", "content", "stdout", "stderr", "message"}

func (w *writer) attachment(v jsonspan.Value) {
	var found [len(attachmentTexts)]jsonspan.Value
	for m := range v.Members() {
		for i, name := range attachmentTexts {
			if m.Key == name {
				found[i] = m.Value
			}
		}
	}
	for _, v := range found {
		if !w.cut {
			w.content(v)
		}
	}
}

func (w *writer) snapshot(tracked jsonspan.Value) {
	n := 0
	for range tracked.Members() {
		n++
	}
	if n > 0 {
		w.add(fmt.Sprintf("file history: %d files", n))
	}
}
