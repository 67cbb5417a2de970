package transcript

// Sym is an interned string of one index (a uuid, a session id, a tool id).
// Zero means absent; two equal strings have equal symbols.
type Sym uint32

// Type is a record's type, for those that precis treats specially.
type Type uint8

// Record types. Other is every type not named here; [Index.TypeName] tells it.
const (
	Other Type = iota
	User
	Assistant
	System
	Attachment
	Progress
	LastPrompt
	Snapshot // file-history-snapshot
	Mode
	PermissionMode
	CustomTitle
	AITitle
	AgentName
	QueueOperation
	SummaryTitle // summary: a title of older clients
)

var typeNames = [...]string{
	User: "user", Assistant: "assistant", System: "system", Attachment: "attachment",
	Progress: "progress", LastPrompt: "last-prompt", Snapshot: "file-history-snapshot",
	Mode: "mode", PermissionMode: "permission-mode", CustomTitle: "custom-title",
	AITitle: "ai-title", AgentName: "agent-name", QueueOperation: "queue-operation",
	SummaryTitle: "summary",
}

var types = func() map[string]Type {
	m := make(map[string]Type, len(typeNames))
	for t, name := range typeNames {
		if name != "" {
			m[name] = Type(t)
		}
	}
	return m
}()

// Control reports whether the type carries session state in records without
// uuid, of which the last one counts.
func (t Type) Control() bool { return t >= Mode && t <= AgentName }

// Flags are the facts of one record.
type Flags uint32

// Record facts.
const (
	HasUUID       Flags = 1 << iota // a string uuid, even ""
	BadUUID                         // a uuid that is no string and not null
	HasParentKey                    // parentUuid is present, null included
	Sidechain                       // isSidechain: true
	Meta                            // isMeta: true
	CompactMark                     // isCompactSummary: true
	APIErrorMark                    // isApiErrorMessage: true
	HasMessage                      // message is an object
	RoleUser                        // message.role is "user"
	RoleAssistant                   // message.role is "assistant"
	TextContent                     // message.content is a string
	ListContent                     // message.content is an array
	Semantic                        // non-blank text or thinking in the message
	Thinking                        // a thinking or redacted_thinking block
	LateResult                      // a tool_result block after another kind of block
	OtherBlock                      // a content block that is no tool_result
	MetadataMap                     // compactMetadata is an object
	HasLeaf                         // leafUuid is a non-empty string
	HasError                        // a truthy error value
	HasToolResult                   // toolUseResult is present and not null
	Synthetic                       // message.model is "<synthetic>"
	LoneSurrogate
	BadUTF8
	DuplicateKey  // an identity key occurs twice; the last one counts
	Substance     // non-blank text, or a block that is neither thinking nor of a tool
	HasAttachment // attachment is present and not null
	LeafKey       // leafUuid is present, null included
	OddLeaf       // leafUuid is a truthy value that is no string
	Explicit      // explicit: true, in a last-prompt record
	NullBlock     // a content block is null
)

// ParentKind is the JSON type of parentUuid when it is neither null nor a
// non-empty string.
type ParentKind uint8

// Kinds of malformed parents.
const (
	ParentFine ParentKind = iota
	ParentEmpty
	ParentNumber
	ParentBool
	ParentArray
	ParentObject
)

func (k ParentKind) String() string {
	return [...]string{"", "empty string", "number", "boolean", "array", "object"}[k]
}

// Record is the index entry of one line.
type Record struct {
	Off  int64 // of the line's first byte
	Len  int32 // bytes without the line ending
	Line int32 // physical line, from 1
	// Identity and links.
	UUID, Parent, Session, Message, Prompt, Source, Leaf, Subtype Sym
	// Name is the type's name when Type is Other, and attachment.type when it is
	// Attachment.
	Name Sym
	// Model is message.model.
	Model Sym
	// Tokens is the estimate of what the record costs, 0 for control records.
	Tokens int32
	tools  int32 // index of the record's first tool in Index.Tools
	// TimeOff and TimeLen place the timestamp's text within the line.
	TimeOff   int32
	TimeLen   uint8
	Type      Type
	BadParent ParentKind
	Flags     Flags
	surrogate int32 // offset+1 within the line of the first lone surrogate
	refs      int32 // index of the first entry in Index.refs
	// ContentOff and ContentLen place the value of message.content within the line.
	ContentOff, ContentLen int32
	ParentOff              int32 // the parentUuid value within the line
	ParentLen              int32
	OutputToks             int32 // message.usage.output_tokens
}

// Has reports whether all flags of f are set.
func (r *Record) Has(f Flags) bool { return r.Flags&f == f }

// API reports whether the record is sent to a model as a message.
func (r *Record) API() bool {
	return (r.Type == User || r.Type == Assistant) && r.Has(HasMessage)
}

// ErrorRow reports whether the record stands for an error and was made by the
// client itself. It is not sent.
func (r *Record) ErrorRow() bool { return r.Has(Synthetic | APIErrorMark) }

// Surrogate returns the offset within the line of the first lone surrogate
// escape, -1 without one.
func (r *Record) Surrogate() int { return int(r.surrogate) - 1 }

// ToolKind says what a [Tool] entry is.
type ToolKind uint8

// Kinds of tool entries.
const (
	Use ToolKind = iota
	Result
	Hook // an attachment that names a tool call
)

// Tool is one tool_use or tool_result block, in the order of the file.
type Tool struct {
	ID     Sym // 0: missing, empty or no string
	Name   Sym // of a use
	Record int32
	Block  uint16
	Kind   ToolKind
	Error  bool // a result with is_error: true
}
