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
		if src.HasTool(r, transcript.Result) && !rec.Has(transcript.OtherBlock) {
			return e.results(src, r)
		}
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

func (e *reader) add(kind summary.Kind, text string) *summary.Entry {
	entry := e.base
	entry.Kind, entry.Text = kind, text
	e.out = append(e.out, entry)
	return &e.out[len(e.out)-1]
}

// say adds a text unless it is blank.
func (e *reader) say(kind summary.Kind, v jsonspan.Value) {
	if text, _ := v.Prefix(maxText); strings.TrimSpace(text) != "" {
		e.add(kind, text)
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
		entry := e.add(summary.Result, "")
		entry.ToolID, entry.IsError = b.use.Text(), b.failed.True()
		content := b.content
		entry.Load = func() string { return resultText(content) }
	case "text":
		e.prompt(b.text)
	case "image", "document":
		e.add(summary.Note, "["+b.kind+"]")
	}
}

// results reads a record of tool results from the index: what they say is read
// only when it is wanted, which is the smaller part of the larger part of a file.
func (e *reader) results(src *transcript.Source, r int) ([]summary.Entry, error) {
	var err error
	if e.base.Time, err = src.Time(r); err != nil {
		return nil, err
	}
	for _, t := range src.ToolsOf(r) {
		entry := e.add(summary.Result, "")
		entry.ToolID, entry.IsError = src.Name(t.ID), t.Error
		entry.Load = func() string { return resultOf(src, r, int(t.Block)) }
	}
	return e.out, nil
}

// resultOf reads the text of a record's nth block. What cannot be read again says
// nothing; the record's bytes are read and compared when they are kept.
func resultOf(src *transcript.Source, r, n int) string {
	content, err := src.Content(r)
	if err != nil {
		return ""
	}
	i := 0
	for b := range blocks(content) {
		if i == n {
			return resultText(b.content)
		}
		i++
	}
	return ""
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
		entry := e.add(summary.Call, "")
		entry.Tool, entry.ToolID = b.name.Text(), b.id.Text()
		entry.Input = fields(b.input)
	}
}

// fields are the inputs of a call: texts as they are, other values as JSON.
func fields(input jsonspan.Value) []summary.Field {
	var out []summary.Field
	for m := range input.Members() {
		value := m.Value
		out = append(out, summary.Field{Name: m.Key, Load: func() string {
			if value.Kind != jsonspan.String {
				return string(value.Raw[:min(len(value.Raw), maxText)])
			}
			text, _ := value.Prefix(maxText)
			return text
		}})
	}
	return out
}

// resultText joins the text blocks of a result.
func resultText(content jsonspan.Value) string {
	if content.Kind != jsonspan.Array {
		text, _ := content.Prefix(maxText)
		return text
	}
	var parts []string
	for b := range blocks(content.Raw) {
		if b.kind != "text" {
			continue
		}
		text, cut := b.text.Prefix(maxText)
		if parts = append(parts, text); cut {
			break
		}
	}
	return strings.Join(parts, "\n")
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
		e.add(summary.Error, subtype)
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
