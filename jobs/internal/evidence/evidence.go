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

// Entries reads one record as the entries of a summary. Records that say nothing
// give none.
func Entries(src *transcript.Source, r int) ([]summary.Entry, error) {
	rec := &src.Records[r]
	e := reader{base: summary.Entry{N: r + 1, Meta: rec.Has(transcript.Meta)}, compact: rec.Has(transcript.CompactMark)}
	switch rec.Type {
	case transcript.User:
		return e.message(src, r, e.userBlock, e.prompt)
	case transcript.Assistant:
		e.base.Synthetic = rec.Has(transcript.Synthetic) || rec.Has(transcript.APIErrorMark)
		return e.message(src, r, e.assistantBlock, e.answer)
	case transcript.System, transcript.Attachment:
		return e.other(src, r)
	}
	return nil, nil
}

// reader collects the entries of one record.
type reader struct {
	base    summary.Entry
	compact bool
	out     []summary.Entry
}

// message reads a message's content: a text, or a list of blocks.
func (e *reader) message(src *transcript.Source, r int, block func(*block), text func(jsonspan.Value)) ([]summary.Entry, error) {
	var err error
	if e.base.Time, err = src.Time(r); err != nil {
		return nil, err
	}
	content, err := src.Content(r)
	if err != nil || len(content) == 0 {
		return nil, err
	}
	if content[0] == '"' {
		text(jsonspan.Value{Kind: jsonspan.String, Raw: content})
		return e.out, nil
	}
	for b := range blocks(content) {
		block(b)
	}
	return e.out, nil
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

// prompt tells the person's words from earlier summaries and the client's own
// markup.
func (e *reader) prompt(v jsonspan.Value) {
	kind := summary.Prompt
	head, _ := v.Prefix(64)
	head = strings.TrimSpace(head)
	switch {
	case e.compact:
		kind = summary.Prior
	case strings.HasPrefix(head, "<local-command-"), strings.HasPrefix(head, "<command-"):
		kind = summary.Command
	}
	e.say(kind, v)
}

func (e *reader) userBlock(b *block) {
	switch b.kind {
	case "tool_result":
		text, cut := resultText(b.content)
		entry := e.add(summary.Result, text, cut)
		entry.ToolID, entry.IsError = b.use.Text(), b.failed.True()
	case "text":
		e.prompt(b.text)
	case "image", "document":
		e.add(summary.Note, "["+b.kind+"]", false)
	}
}

// answer is what the model said, or trouble when the client made the record
// itself.
func (e *reader) answer(v jsonspan.Value) {
	kind := summary.Answer
	if e.base.Synthetic {
		kind = summary.Error
	}
	e.say(kind, v)
}

func (e *reader) assistantBlock(b *block) {
	switch b.kind {
	case "text":
		e.answer(b.text)
	case "thinking":
		e.say(summary.Thinking, b.thinking)
	case "tool_use":
		entry := e.add(summary.Call, "", false)
		entry.Tool, entry.ToolID = b.name.Text(), b.id.Text()
		entry.Input = fields(b.input)
	}
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

// resultText joins the text blocks of a result.
func resultText(content jsonspan.Value) (string, bool) {
	if content.Kind != jsonspan.Array {
		return content.Prefix(maxText)
	}
	var parts []string
	for b := range blocks(content.Raw) {
		if b.kind != "text" {
			continue
		}
		text, cut := b.text.Prefix(maxText)
		if parts = append(parts, text); cut {
			return strings.Join(parts, "\n"), true
		}
	}
	return strings.Join(parts, "\n"), false
}

// other reads the few system and attachment records that say something.
func (e *reader) other(src *transcript.Source, r int) ([]summary.Entry, error) {
	rec := &src.Records[r]
	subtype := src.Name(rec.Subtype)
	if rec.Type == transcript.System && subtype != "local_command" && subtype != "api_error" && !rec.Has(transcript.HasError) {
		return nil, nil
	}
	line, err := src.Record(r)
	if err != nil {
		return nil, err
	}
	v := jsonspan.Value{Kind: jsonspan.Object, Raw: line}
	e.base.Time = v.Get("timestamp").Text()
	switch {
	case rec.Type == transcript.Attachment:
		e.queued(v.Get("attachment"))
	case subtype == "local_command":
		e.say(summary.Command, v.Get("content"))
	default:
		e.base.Synthetic = true
		e.add(summary.Error, subtype, false)
	}
	return e.out, nil
}

// queued reads the one attachment that holds the person's words: a prompt typed
// while the model was working.
func (e *reader) queued(v jsonspan.Value) {
	if v.Get("type").Text() != "queued_command" {
		return
	}
	prompt := v.Get("prompt")
	if prompt.Kind == jsonspan.String {
		e.prompt(prompt)
		return
	}
	for b := range blocks(prompt.Raw) {
		e.prompt(b.text)
	}
}
