// Package evidence reads what a record says: the texts, calls and outcomes that
// a summary is made of. It decides nothing about importance.
package evidence

import (
	"strings"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// maxText bounds how much of one text is read: tool output reaches 100 MB.
const maxText = 64 << 10

// Entries reads one record, whose bytes are line, as the entries of a summary.
// Records that say nothing give none.
func Entries(x *transcript.Index, r int, line []byte) []summary.Entry {
	rec := &x.Records[r]
	v, err := jsonspan.Parse(line)
	if err != nil {
		return nil
	}
	e := reader{base: summary.Entry{N: r + 1, Time: v.Get("timestamp").Text(), Meta: rec.Has(transcript.Meta)}}
	switch rec.Type {
	case transcript.User:
		e.user(v, rec)
	case transcript.Assistant:
		e.base.Synthetic = rec.Has(transcript.Synthetic) || rec.Has(transcript.APIErrorMark)
		e.assistant(v)
	case transcript.System:
		e.system(v, x.Name(rec.Subtype), rec)
	case transcript.Attachment:
		e.attachment(v.Get("attachment"))
	}
	return e.out
}

// Says reports whether a record can give entries at all, without its bytes.
func Says(x *transcript.Index, r int) bool {
	switch x.Records[r].Type {
	case transcript.User, transcript.Assistant, transcript.System, transcript.Attachment:
		return true
	}
	return false
}

// reader collects the entries of one record.
type reader struct {
	base summary.Entry
	out  []summary.Entry
}

func (e *reader) add(kind summary.Kind, text string, cut bool) *summary.Entry {
	entry := e.base
	entry.Kind, entry.Text, entry.Cut = kind, text, cut
	e.out = append(e.out, entry)
	return &e.out[len(e.out)-1]
}

// say adds a text unless it is blank.
func (e *reader) say(kind summary.Kind, v jsonspan.Value) {
	if text, cut := v.Prefix(maxText); strings.TrimSpace(text) != "" {
		e.add(kind, text, cut)
	}
}

func (e *reader) user(v jsonspan.Value, rec *transcript.Record) {
	content := v.Get("message").Get("content")
	kind := summary.Prompt
	if rec.Has(transcript.CompactMark) {
		kind = summary.Prior
	}
	if content.Kind == jsonspan.String {
		e.prompt(kind, content)
		return
	}
	for b := range content.Elements() {
		switch b.Get("type").Text() {
		case "tool_result":
			e.result(b)
		case "text":
			e.prompt(kind, b.Get("text"))
		case "image":
			e.add(summary.Note, "[image]", false)
		case "document":
			e.add(summary.Note, "[document]", false)
		}
	}
}

// prompt tells the person's words from the client's own markup.
func (e *reader) prompt(kind summary.Kind, v jsonspan.Value) {
	head, _ := v.Prefix(64)
	head = strings.TrimSpace(head)
	if kind == summary.Prompt && (strings.HasPrefix(head, "<local-command-") || strings.HasPrefix(head, "<command-")) {
		kind = summary.Command
	}
	e.say(kind, v)
}

func (e *reader) result(b jsonspan.Value) {
	text, cut := resultText(b.Get("content"))
	entry := e.add(summary.Result, text, cut)
	entry.ToolID, entry.IsError = b.Get("tool_use_id").Text(), b.Get("is_error").True()
}

// resultText joins the text blocks of a result.
func resultText(content jsonspan.Value) (string, bool) {
	if content.Kind == jsonspan.String {
		return content.Prefix(maxText)
	}
	var parts []string
	for b := range content.Elements() {
		if b.Get("type").Text() != "text" {
			continue
		}
		text, cut := b.Get("text").Prefix(maxText)
		if parts = append(parts, text); cut {
			return strings.Join(parts, "\n"), true
		}
	}
	return strings.Join(parts, "\n"), false
}

func (e *reader) assistant(v jsonspan.Value) {
	content := v.Get("message").Get("content")
	if content.Kind == jsonspan.String {
		e.say(e.spoken(summary.Answer), content)
		return
	}
	for b := range content.Elements() {
		switch b.Get("type").Text() {
		case "text":
			e.say(e.spoken(summary.Answer), b.Get("text"))
		case "thinking":
			e.say(summary.Thinking, b.Get("thinking"))
		case "tool_use":
			entry := e.add(summary.Call, "", false)
			entry.Tool, entry.ToolID = b.Get("name").Text(), b.Get("id").Text()
			entry.Input = fields(b.Get("input"))
		}
	}
}

// spoken is kind, or trouble when the client made the record itself.
func (e *reader) spoken(kind summary.Kind) summary.Kind {
	if e.base.Synthetic {
		return summary.Error
	}
	return kind
}

// fields are the inputs of a call: texts as they are, other values as JSON.
func fields(input jsonspan.Value) []summary.Field {
	var out []summary.Field
	for m := range input.Members() {
		value, _ := m.Prefix(maxText)
		if m.Kind != jsonspan.String {
			value = string(m.Raw[:min(len(m.Raw), maxText)])
		}
		out = append(out, summary.Field{Name: m.Key, Value: value})
	}
	return out
}

func (e *reader) system(v jsonspan.Value, subtype string, rec *transcript.Record) {
	switch {
	case subtype == "local_command":
		e.say(summary.Command, v.Get("content"))
	case subtype == "api_error" || rec.Has(transcript.HasError):
		e.base.Synthetic = true
		e.add(summary.Error, subtype, false)
	}
}

// attachment reads the one kind that holds the person's words: a prompt typed
// while the model was working.
func (e *reader) attachment(v jsonspan.Value) {
	if v.Get("type").Text() != "queued_command" {
		return
	}
	prompt := v.Get("prompt")
	if prompt.Kind == jsonspan.String {
		e.prompt(summary.Prompt, prompt)
		return
	}
	for b := range prompt.Elements() {
		e.prompt(summary.Prompt, b.Get("text"))
	}
}
