package clienttest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A Message is one message of a request.
type Message struct {
	Role   string
	Blocks []Block
}

// UnmarshalJSON takes content that is a plain string as one text block. Content
// in another form, which the client passes on from damaged records, is one block
// without a type.
func (m *Message) UnmarshalJSON(data []byte) error {
	var wire struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	m.Role = wire.Role
	var text string
	if json.Unmarshal(wire.Content, &text) == nil {
		m.Blocks = []Block{Text(text)}
		return nil
	}
	if json.Unmarshal(wire.Content, &m.Blocks) != nil {
		m.Blocks = []Block{{Text: string(wire.Content), Raw: wire.Content}}
	}
	return nil
}

// A Block is one content block, of a request or of a scripted turn.
type Block struct {
	Type string
	// Text is the block in words: a text, a thought, the text of a result, the
	// JSON of a call's input, of other blocks all their JSON.
	Text      string
	ID        string // of a tool_use
	Name      string // of a tool_use
	ToolUseID string // of a tool_result
	IsError   bool   // of a tool_result
	Raw       json.RawMessage
}

// UnmarshalJSON keeps the block as it came in Raw. What is no object has no type.
func (b *Block) UnmarshalJSON(data []byte) error {
	var wire struct {
		Type, Text, Thinking, Data, ID, Name string

		ToolUseID      string `json:"tool_use_id"`
		IsError        bool   `json:"is_error"`
		Input, Content json.RawMessage
	}
	_ = json.Unmarshal(data, &wire) // valid JSON, of whatever type
	*b = Block{Type: wire.Type, ID: wire.ID, Name: wire.Name, ToolUseID: wire.ToolUseID, IsError: wire.IsError, Raw: bytes.Clone(data)}
	switch b.Type {
	case "text":
		b.Text = wire.Text
	case "thinking":
		b.Text = wire.Thinking
	case "redacted_thinking":
		b.Text = wire.Data
	case "tool_use":
		b.Text = string(wire.Input)
	case "tool_result":
		b.Text = resultText(wire.Content)
	default:
		b.Text = string(data)
	}
	return nil
}

// MarshalJSON gives the block as the API has it.
func (b Block) MarshalJSON() ([]byte, error) { return b.Raw, nil }

func resultText(content json.RawMessage) string {
	var text string
	if len(content) == 0 || json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []Block
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.Text
	}
	return strings.Join(texts, " ")
}

// Text is a text block.
func Text(text string) Block {
	return block(map[string]any{"type": "text", "text": text})
}

// Thinking is a thought with a signature that no service gave.
func Thinking(thought string) Block {
	return block(map[string]any{"type": "thinking", "thinking": thought, "signature": "c2ln"})
}

// RedactedThinking is a thought in a form that only the service could read.
func RedactedThinking(data string) Block {
	return block(map[string]any{"type": "redacted_thinking", "data": data})
}

// ToolUse is a call of a tool; input is what its JSON is made of.
func ToolUse(id, name string, input any) Block {
	return block(map[string]any{"type": "tool_use", "id": id, "name": name, "input": input})
}

// Bash is a call of the client's shell tool.
func Bash(id, command string) Block {
	return ToolUse(id, "Bash", map[string]string{"command": command, "description": "run"})
}

func block(fields map[string]any) Block {
	raw, err := json.Marshal(fields)
	var b Block
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err != nil {
		panic(err) // the test's own input cannot be written as JSON
	}
	return b
}
