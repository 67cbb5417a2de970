package sessiontest

import (
	"bytes"
	"time"
)

// What the records of a [Builder] carry unless an option says otherwise.
const (
	SessionID = "11111111-2222-4333-8444-555555555555"
	Version   = "2.1.332"
	Model     = "claude-opus-4-8"
	workDir   = "/home/dev/project"
	stampForm = "2006-01-02T15:04:05.000Z"
)

// Builder writes a session line by line. The zero value is an empty session.
//
// Records are called by short names; [ID] makes the uuid. A parent is a name
// too, "" for a root; a parent outside the naming is With("parentUuid", ...).
// Every record is one second later than the one before.
type Builder struct {
	buf   bytes.Buffer
	lines int
}

// Bytes is the session so far, a newline after each line.
func (b *Builder) Bytes() []byte { return bytes.Clone(b.buf.Bytes()) }

// Raw writes a line as it stands and a newline.
func (b *Builder) Raw(line string) {
	b.buf.WriteString(line)
	b.buf.WriteByte('\n')
	b.lines++
}

// User writes a prompt. With content options the content is a list that begins
// with the text, otherwise the plain string.
func (b *Builder) User(name, parent, text string, opts ...Option) string {
	r := b.node(name, parent, object{{"type", "user"}, {"message", pending{}}})
	r.message = object{{"role", "user"}, {"content", text}}
	return b.put(r, name, opts)
}

// Assistant writes one fragment of the answer msgID. Its blocks are options:
// [Thinking], [Text], [Use].
func (b *Builder) Assistant(name, parent, msgID string, opts ...Option) string {
	r := b.node(name, parent, object{{"message", pending{}}, {"type", "assistant"}})
	r.message = object{
		{"model", Model}, {"id", msgID}, {"type", "message"}, {"role", "assistant"},
		{"content", []any{}}, {"stop_reason", "end_turn"}, {"stop_sequence", nil},
		{"usage", object{{"input_tokens", 10}, {"output_tokens", 20}, {"service_tier", "standard"}}},
	}
	return b.put(r, name, opts)
}

// Result writes the answer to the call toolID, below the fragment that made
// it. More results in the same record are [Output] options.
func (b *Builder) Result(name, parent, toolID, text string, opts ...Option) string {
	output := object{{"stdout", text}, {"stderr", ""}, {"interrupted", false}, {"isImage", false}}
	r := b.node(name, parent, object{{"type", "user"}, {"message", pending{}}, {"toolUseResult", output}, {"sourceToolAssistantUUID", link(parent)}})
	r.message = object{{"role", "user"}, {"content", ""}}
	return b.put(r, name, append([]Option{Output(toolID, text)}, opts...))
}

// Attachment writes an attachment of a kind, for example "task_reminder".
// Further members are With("attachment.KEY", ...).
func (b *Builder) Attachment(name, parent, kind string, opts ...Option) string {
	own := object{{"attachment", object{{"type", kind}}}, {"type", "attachment"}}
	return b.put(b.node(name, parent, own), name, opts)
}

// System writes a system record, for example "turn_duration".
func (b *Builder) System(name, parent, subtype string, opts ...Option) string {
	own := object{{"type", "system"}, {"subtype", subtype}, {"isMeta", false}}
	return b.put(b.node(name, parent, own), name, opts)
}

// Progress writes a progress row, which older clients put into the chain.
func (b *Builder) Progress(name, parent string, opts ...Option) string {
	own := object{{"type", "progress"}, {"data", object{{"type", "bash_progress"}, {"output", ""}}}}
	return b.put(b.node(name, parent, own), name, opts)
}

// Boundary writes the first record of a compaction: a root that remembers the
// old leaf as its logical parent.
func (b *Builder) Boundary(name, oldLeaf string, opts ...Option) string {
	own := object{
		{"logicalParentUuid", link(oldLeaf)}, {"type", "system"}, {"subtype", "compact_boundary"},
		{"content", "Conversation compacted"}, {"isMeta", false}, {"level", "info"},
		{"compactMetadata", object{{"trigger", "manual"}, {"preTokens", 1000}}},
	}
	return b.put(b.node(name, "", own), name, opts)
}

// Summary writes the second record of a compaction, below its boundary.
func (b *Builder) Summary(name, boundary, text string, opts ...Option) string {
	flags := []Option{With("isCompactSummary", true), With("isVisibleInTranscriptOnly", true)}
	return b.User(name, boundary, text, append(flags, opts...)...)
}

// Snapshot writes the file history row of the message called name.
func (b *Builder) Snapshot(name string, opts ...Option) {
	files := object{{"messageId", ID(name)}, {"trackedFileBackups", object{}}, {"timestamp", b.now()}}
	r := &record{object: object{
		{"type", "file-history-snapshot"}, {"messageId", ID(name)}, {"snapshot", files}, {"isSnapshotUpdate", false},
	}}
	b.put(r, "", opts)
}

// LastPrompt writes a pointer to the record called leaf.
func (b *Builder) LastPrompt(leaf string, opts ...Option) {
	b.Control("last-prompt", append([]Option{With("lastPrompt", "p"), With("leafUuid", ID(leaf))}, opts...)...)
}

// Control writes a row without a uuid, for example "mode" or "ai-title".
func (b *Builder) Control(kind string, opts ...Option) {
	b.put(&record{object: object{{"type", kind}, {"sessionId", SessionID}}}, "", opts)
}

// node is a record with a uuid: its place in the tree, what is its own, and
// the members that every such record ends with.
func (b *Builder) node(name, parent string, own object) *record {
	o := object{{"parentUuid", link(parent)}, {"isSidechain", false}}
	o = append(o, own...)
	return &record{object: append(o, object{
		{"uuid", ID(name)}, {"timestamp", b.now()}, {"userType", "external"}, {"cwd", workDir},
		{"sessionId", SessionID}, {"version", Version}, {"gitBranch", "main"},
	}...)}
}

func (b *Builder) put(r *record, name string, opts []Option) string {
	for _, opt := range opts {
		opt(r)
	}
	if len(r.blocks) > 0 {
		r.message.set("content", r.content())
	}
	if i := r.index("message"); i >= 0 && r.object[i].value == any(pending{}) {
		r.object[i].value = r.message
	}
	b.Raw(string(encode(r.object)))
	return ID(name)
}

// content is the blocks, after the text the record had before them.
func (r *record) content() []any {
	i := r.message.index("content")
	if text, _ := r.message[i].value.(string); text != "" {
		return append([]any{object{{"type", "text"}, {"text", text}}}, r.blocks...)
	}
	return r.blocks
}

func (b *Builder) now() string {
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	return start.Add(time.Duration(b.lines) * time.Second).Format(stampForm)
}

// link is a uuid or JSON null.
func link(name string) any {
	if name == "" {
		return nil
	}
	return ID(name)
}
