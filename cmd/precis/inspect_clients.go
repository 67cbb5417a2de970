package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis/jobs/inspect"
)

// shownTurns bounds the lost turns that are listed; the JSON has all of them.
const shownTurns = 8

// refusals say why a client does not resume a session.
var refusals = map[string]string{
	"null-line":         "a line is the bare word null",
	"no-conversation":   "there is no conversation in it",
	"sidechain-pointer": "the last pointer names a record of a helper's chain",
	"no-timestamp":      "the last message has no timestamp",
	"no-content":        "a message has no content that it can read",
}

// clients tells what each known client would resume, and what would be lost.
func (p *page) clients(r *inspect.Report, words bool) {
	if r.Agent != "claude" {
		return
	}
	var texts []string
	for _, c := range r.Clients {
		texts = append(texts, prediction(c))
	}
	if d := r.Differ; d != nil {
		texts = append(texts, "they differ: "+difference(d))
	}
	p.rows("clients", texts)
	p.losses(r.Clients, words)
}

func prediction(c inspect.Client) string {
	if c.Status != "valid" {
		return fmt.Sprintf("%s would not resume it: %s", c.Version, refusals[c.Refused])
	}
	text := fmt.Sprintf("%s would send %s and end at line %s", c.Version, counted(c.Sent, "record", "records"), count(c.LeafLine))
	if c.Added > 0 {
		text += fmt.Sprintf(", adding %s of its own", counted(c.Added, "text", "texts"))
	}
	return text
}

func difference(d *inspect.Difference) string {
	var parts []string
	if d.Status {
		parts = append(parts, "one refuses the file")
	}
	if d.Leaf {
		parts = append(parts, "they end at different records")
	}
	if d.Records > 0 {
		parts = append(parts, counted(d.Records, "record is", "records are")+" sent by one of them only")
	}
	if d.Thinking > 0 {
		parts = append(parts, counted(d.Thinking, "record of thinking goes", "records of thinking go")+" back with one of them only")
	}
	if d.Order {
		parts = append(parts, "the order")
	}
	return strings.Join(parts, ", ")
}

// losses tells what clients would not bring back, turn by turn; those that lose the
// same are told together.
func (p *page) losses(clients []inspect.Client, words bool) {
	var keys []string
	losers, lost := map[string][]string{}, map[string]inspect.Lost{}
	for _, c := range clients {
		for _, l := range c.Lost {
			key := fmt.Sprint(l.Rule, l.Lines, l.Records)
			if l.Rule == "whole-session" {
				continue // said with the refusal
			}
			if losers[key] == nil {
				keys = append(keys, key)
				lost[key] = l
			}
			losers[key] = append(losers[key], c.Version)
		}
	}
	var texts []string
	for _, key := range keys {
		texts = append(texts, loss(strings.Join(losers[key], " and "), lost[key]))
		if words {
			texts = append(texts, firstWords(lost[key].Turns)...)
		}
	}
	p.rows("lost", texts)
}

func loss(who string, l inspect.Lost) string {
	lines := "line " + l.Lines
	if strings.Contains(l.Lines, "-") {
		lines = "lines " + l.Lines
	}
	if l.Records == 0 {
		return fmt.Sprintf("%s could not read %s (%s)", who, lines, size(l.Bytes))
	}
	return fmt.Sprintf("%s would lose %s in %s (%s, %s): what %s", who, counted(l.Records, "message", "messages"), counted(len(l.Turns), "turn", "turns"), lines, size(l.Bytes), l.Reason)
}

// firstWords lists the beginnings of turns.
func firstWords(turns []inspect.Turn) []string {
	var texts []string
	for _, t := range turns[:min(len(turns), shownTurns)] {
		texts = append(texts, fmt.Sprintf("at line %s: %s", count(t.Line), cmp.Or(t.Words, "(no words)")))
	}
	if more := len(turns) - shownTurns; more > 0 {
		texts = append(texts, fmt.Sprintf("and %s", counted(more, "more turn", "more turns")))
	}
	return texts
}

// resume prints the conversation as the client would send it.
func (p *page) resume(r *inspect.Report) {
	if len(r.Resume) == 0 {
		p.title(r.File, "")
		p.clients(r, false)
		p.row("resume", "there is nothing to send")
	}
	for i, said := range r.Resume {
		if i > 0 {
			p.blank()
		}
		p.printf("%s\n", p.paint(said.Role))
		for _, part := range said.Parts {
			if part.Added != "" {
				p.printf("  [added by the client] %s\n", visible(part.Added))
				continue
			}
			for _, text := range spoken(part.Content) {
				for line := range strings.Lines(text) {
					p.printf("  %s\n", visible(strings.TrimRight(line, "\r\n")))
				}
			}
		}
	}
}

// block is a content block as far as it is shown.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Name      string          `json:"name"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
}

// spoken are the texts of a record's content.
func spoken(content json.RawMessage) []string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return []string{string(content)}
	}
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.spoken())
	}
	return texts
}

func (b block) spoken() string {
	switch b.Type {
	case "text":
		return b.Text
	case "thinking":
		return "(thinking) " + b.Thinking
	case "tool_use":
		return fmt.Sprintf("-> %s %s (%s)", b.Name, b.Input, b.ID)
	case "tool_result":
		return fmt.Sprintf("<- (%s) %s", b.ToolUseID, strings.Join(spoken(b.Content), "\n"))
	}
	return "(" + b.Type + ")"
}
