package clienttest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Attribution says which records of a session file a request holds.
type Attribution struct {
	UUIDs       []string `json:"uuids,omitempty"` // in the order of the request
	ToolUses    []string `json:"toolUses,omitempty"`
	ToolResults []string `json:"toolResults,omitempty"`
	Synthetic   []string `json:"synthetic,omitempty"` // texts the client added
	// Leaf is the record of the file below which the client hung the prompt,
	// with or without records of its own in between.
	Leaf string `json:"leaf,omitempty"`
}

// Attribution finds the records of the request. It goes by the markers mk:NAME in
// the records' texts where the file has any, else by the ids of calls and by
// equal text. Texts that every start of the client sends are left out.
func (r Resumption) Attribution() Attribution {
	l := newLedger(r.session)
	var a Attribution
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			a.add(l, b, r)
		}
	}
	a.Leaf = r.leaf(l)
	return a
}

func (a *Attribution) add(l *ledger, b Block, r Resumption) {
	switch b.Type {
	case "tool_use":
		a.ToolUses = append(a.ToolUses, b.ID)
	case "tool_result":
		a.ToolResults = append(a.ToolResults, b.ToolUseID)
	}
	uuids, known := l.find(b)
	a.UUIDs = append(a.UUIDs, uuids...)
	if known || strings.Contains(b.Text, r.prompt) || atStart(b.Text) {
		return
	}
	switch text := r.client.neutral(lasting(b.Text)); b.Type {
	case "text":
		a.Synthetic = append(a.Synthetic, text)
	case "tool_result":
		a.Synthetic = append(a.Synthetic, fmt.Sprintf("tool_result %s: %s", b.ToolUseID, text))
	}
}

// atStart reports whether text is only what a client says about where and when
// it was started.
func atStart(text string) bool {
	rest := lasting(text)
	if rest == "" {
		return text != ""
	}
	return slices.ContainsFunc([]string{
		"<system-reminder>\nAs you answer the user",
		"<system-reminder>\nAttribution for git",
		"Available agent types for the Agent tool",
		"The following skills are available",
		"# Environment\n",
	}, func(prefix string) bool { return strings.HasPrefix(rest, prefix) })
}

// lasting is text without the paragraphs in which a client says that a session is
// resumed in another place or on another day.
func lasting(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n\n"), func(paragraph string) bool {
		return strings.HasPrefix(paragraph, "# Environment update\n") || strings.HasPrefix(paragraph, "The date has changed. ")
	}), "\n\n")
}

// neutral is text without the names of this run's folders, and not too long to
// be stored.
func (c *Client) neutral(text string) string {
	text = strings.NewReplacer(c.Dir, "WORK", c.Home, "HOME").Replace(text)
	n := utf8.RuneCountInString(text)
	if n < 300 {
		return text
	}
	return fmt.Sprintf("%s...[%d chars]", string([]rune(text)[:200]), n)
}

// leaf goes up from the prompt through what the client added.
func (r Resumption) leaf(l *ledger) string {
	parents := map[string]string{}
	at := ""
	for _, file := range r.Sessions {
		for rec := range records(file) {
			id := rec.id()
			if id == "" || l.has[id] {
				continue
			}
			parents[id] = rec.Parent
			if rec.Type == "user" && strings.Contains(rec.message().text(), r.prompt) {
				at = id
			}
		}
	}
	for at != "" && !l.has[at] {
		at, parents[at] = parents[at], "" // a cycle would not end
	}
	return at
}
