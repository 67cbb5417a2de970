// Package agents tells which coding agent wrote a session file, by its content:
// names and folders are the user's.
package agents

import (
	"bytes"
	"strings"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// Names of the agents.
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	Copilot  = "copilot"
	Droid    = "droid"
	OpenCode = "opencode"
	Pi       = "pi"
	Unknown  = "unknown"
)

// HeadBytes is how much of a file's beginning [Detect] wants to see.
const HeadBytes = 256 << 10

// Detect names the agent from the beginning of a file. The first record that
// only one agent writes decides.
func Detect(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(head) {
		v, err := jsonspan.Parse(bytes.TrimSpace(line))
		if err != nil || v.Kind != jsonspan.Object {
			continue
		}
		if a := byRecord(v); a != Unknown {
			return a
		}
	}
	return byDocument(head)
}

// byRecord recognises one line of a line-based format.
func byRecord(v jsonspan.Value) string {
	typ := v.Get("type").Text()
	has := func(key string) bool { return v.Get(key).Kind != jsonspan.Invalid }
	switch {
	case has("payload") && has("timestamp"):
		return Codex
	case has("projectHash"), has("$set"), has("$rewindTo"):
		return Gemini
	case has("data") && has("id") && strings.Contains(typ, "."):
		return Copilot
	case typ == "session_start" && has("id"):
		return Droid
	case typ == "session" && has("id"):
		return Pi
	case claudeTypes[typ] && (has("sessionId") || has("uuid") || has("leafUuid")), typ == "file-history-snapshot":
		return Claude
	}
	return Unknown
}

var claudeTypes = map[string]bool{
	"user": true, "assistant": true, "system": true, "attachment": true, "progress": true,
	"last-prompt": true, "mode": true, "permission-mode": true, "ai-title": true,
	"custom-title": true, "agent-name": true, "queue-operation": true, "summary": true,
}

// byDocument recognises the formats that are one JSON document, of which the
// head may be only the beginning.
func byDocument(head []byte) string {
	s := jsonspan.Scanner{Data: head}
	if s.Peek() != '{' {
		return Unknown
	}
	m := s.Members()
	for {
		key, ok, err := m.Next()
		if err != nil || !ok {
			return Unknown
		}
		switch string(key.Of(head)) {
		case "projectHash":
			return Gemini
		case "info":
			return OpenCode
		}
		if _, _, err := s.Value(); err != nil {
			return Unknown
		}
	}
}
