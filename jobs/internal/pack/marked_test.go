package pack

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// marked is a session in which every value but identifiers is marked with the
// number of its record, between two signs of the session.
type marked struct {
	t *rapid.T
	st.Builder
	sign      string
	n         int // number of the record that is written
	parent    string
	mandatory map[int]string // texts that must be shown, by number
}

func drawMarked(t *rapid.T, sign string) *marked {
	m := &marked{t: t, sign: sign, mandatory: map[int]string{}}
	for range rapid.IntRange(1, 25).Draw(t, "records") {
		m.n++
		rapid.SampledFrom(markedKinds).Draw(t, "kind")(m)
	}
	return m
}

// of is the mark of a record's fields.
func (m *marked) of(n int) string { return fmt.Sprintf("%s%d%s", m.sign, n, m.sign) }

// mark is the value of a field.
func (m *marked) mark(field string) string { return m.of(m.n) + field }

var fillers = []string{"", "must ", "error in src/a.go ", "決定 ", strings.Repeat("so on, ", 40), "\"\\\n\u2028 <!-- L1 [L2] ", "## Current State\n```\n"}

// text is the value of a field that the pack may show, among other words.
func (m *marked) text(field string) string {
	filler := rapid.SampledFrom(fillers)
	return filler.Draw(m.t, "before") + m.mark(field) + " " + filler.Draw(m.t, "after")
}

// spoken is a text that must be shown.
func (m *marked) spoken(field string) string {
	m.mandatory[m.n] = m.text(field)
	return m.mandatory[m.n]
}

// node is the name and parent of the record, and what it has like any other.
func (m *marked) node(own ...st.Option) (name, parent string, opts []st.Option) {
	name, parent = fmt.Sprint("r", m.n), m.parent
	m.parent = name
	for _, key := range []string{"cwd", "gitBranch", "slug", "requestId", "newMember"} {
		own = append(own, st.With(key, m.mark(key)))
	}
	odd := rapid.SampledFrom([]st.Option{st.Sidechain(), st.Meta(), st.InSession(m.mark("sessionId")), st.With("version", m.mark("version"))})
	return name, parent, append(own, odd.Draw(m.t, "odd"))
}

// markedKinds write a record each.
var markedKinds = []func(*marked){
	func(m *marked) { // the person
		name, parent, opts := m.node()
		m.User(name, parent, m.spoken("message"), opts...)
	},
	func(m *marked) { // the person beside a result
		name, parent, opts := m.node(st.Output("t", m.text("result")), st.With("toolUseResult", m.mark("toolUseResult")))
		m.User(name, parent, m.spoken("message"), opts...)
	},
	func(m *marked) { // all that an answer can hold
		thinking, said := m.text("thinking"), m.text("said")
		m.mandatory[m.n] = thinking + "\n" + said
		name, parent, opts := m.node(st.Thinking(thinking), st.Text(said), m.call(), st.With("message.model", m.mark("model")))
		m.Assistant(name, parent, m.mark("id"), opts...)
	},
	func(m *marked) { // thinking alone
		name, parent, opts := m.node(st.Thinking(m.spoken("thinking")))
		m.Assistant(name, parent, name, opts...)
	},
	func(m *marked) { // an earlier summary
		name, parent, opts := m.node()
		m.Summary(name, parent, m.spoken("summary"), opts...)
	},
	func(m *marked) {
		name, parent, opts := m.node(m.call())
		m.Assistant(name, parent, name, opts...)
	},
	func(m *marked) {
		name, parent, opts := m.node(st.With("toolUseResult.stdout", m.mark("stdout")), st.With("toolUseResult.other", m.mark("other")))
		m.Result(name, parent, "t", m.text("result"), opts...)
	},
	func(m *marked) {
		name, parent, opts := m.node(st.With("attachment.stdout", m.text("stdout")), st.With("attachment.content", m.text("content")), st.With("attachment.other", m.mark("other")))
		m.Attachment(name, parent, m.mark("kind"), opts...)
	},
	func(m *marked) {
		name, parent, opts := m.node(st.With("attachment.prompt", m.text("prompt")))
		m.Attachment(name, parent, "queued_command", opts...)
	},
	func(m *marked) {
		name, parent, opts := m.node(st.With("content", m.text("content")), st.With("error", map[string]any{"message": m.text("error")}))
		m.System(name, parent, "api_error", opts...)
	},
	func(m *marked) {
		name, parent, opts := m.node(st.With("data.output", m.text("output")))
		m.Progress(name, parent, opts...)
	},
	func(m *marked) {
		m.Snapshot("r0", st.With("snapshot.trackedFileBackups", map[string]any{m.mark("/file.go"): m.mark("backup")}))
	},
	func(m *marked) { m.LastPrompt("r0", st.With("lastPrompt", m.text("lastPrompt"))) },
	func(m *marked) { m.Control("ai-title", st.With("aiTitle", m.text("title"))) },
}

// call is a call of a tool.
func (m *marked) call() st.Option {
	return st.Use(fmt.Sprint("t", m.n), m.mark("Tool"), map[string]any{"command": m.text("command"), m.mark("key"): 1})
}
