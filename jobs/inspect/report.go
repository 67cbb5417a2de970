package inspect

import (
	"encoding/json"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Report is what was found. Fields are added, never changed.
type Report struct {
	File     string   `json:"file"`
	Bytes    int64    `json:"bytes"`
	SHA256   string   `json:"sha256"`
	Agent    string   `json:"agent"`
	Versions []string `json:"versions"`
	Records  int      `json:"records"`
	Lines    Lines    `json:"lines"`
	Chain    Chain    `json:"chain"`
	// Clients predict what each known version would resume, newest first.
	Clients []Client `json:"clients"`
	// Differ is nil where they all do the same.
	Differ   *Difference `json:"differ,omitempty"`
	Resume   []Said      `json:"resume,omitempty"`
	Branches []Branch    `json:"branches"`
	Pointers Pointers    `json:"pointers"`
	// Partition is how a compression with default budgets would divide the
	// records.
	Partition Partition `json:"partition"`
	// Tokens is the estimate of the active chain; rows the client made itself
	// count nothing.
	Tokens   int64             `json:"tokens"`
	Types    []Type            `json:"types"`
	Causes   transcript.Causes `json:"causes"`
	Double   *DoubleOutput     `json:"doubleOutput,omitempty"`
	Tools    Tools             `json:"tools"`
	Usage    Usage             `json:"usage"`
	Errors   int               `json:"syntheticErrors"`
	Secrets  []Secret          `json:"secrets"`
	Findings []finding.Finding `json:"findings"`
}

// Lines describes the file's framing.
type Lines struct {
	Count   int  `json:"count"`
	Blank   int  `json:"blank"`
	Longest int  `json:"longest"` // bytes
	BOM     bool `json:"bom"`
	CRLF    bool `json:"crlf"`
}

// Chain are the active records.
type Chain struct {
	Mode      string   `json:"mode"`
	Client    string   `json:"client,omitempty"` // whose rules decided
	Status    string   `json:"status"`
	Leaf      string   `json:"leaf"`
	LeafLine  int      `json:"leafLine,omitempty"`
	Length    int      `json:"length"`
	Recovered int      `json:"recovered"` // of parallel calls, beside the plain walk
	Sessions  int      `json:"sessions"`
	Reached   int      `json:"reached,omitempty"` // of a broken chain
	UUIDs     []string `json:"uuids,omitempty"`
	// Differs is what the client resumes otherwise; nil where it does not, or where
	// the chain is the client's.
	Differs   *Differs `json:"differs,omitempty"`
	Synthetic []string `json:"synthetic"`
	Lost      []Lost   `json:"lost"`
}

// Differs is where the client does not resume the chain.
type Differs struct {
	Client   string `json:"client"`
	Refused  string `json:"refused,omitempty"`
	LeafLine int    `json:"leafLine,omitempty"`
	Messages int    `json:"messages"` // that one of them leaves out
	Turns    int    `json:"turns"`
}

// Lost is conversation that a resume would not bring back.
type Lost struct {
	Rule    string `json:"rule"`
	Lines   string `json:"lines"`
	Records int    `json:"records"` // messages; 0 for lines that cannot be read
	Bytes   int64  `json:"bytes"`
	Reason  string `json:"reason"`
	Turns   []Turn `json:"turns"`
}

// Turn is the record that begins a lost turn.
type Turn = finding.Turn

// Client is what one version of the client would resume.
type Client struct {
	Version  string `json:"version"`
	Status   string `json:"status"` // valid | refused
	Refused  string `json:"refused,omitempty"`
	Leaf     string `json:"leaf,omitempty"`
	LeafLine int    `json:"leafLine,omitempty"`
	// LeafReason is the rule that decided where the conversation ends.
	LeafReason string `json:"leafReason,omitempty"`
	Records    int    `json:"records"` // active
	Sent       int    `json:"sent"`    // of these, those whose words are sent
	Added      int    `json:"added"`   // texts of the client's own
	Lost       []Lost `json:"lost"`
}

// Difference tells in what the clients known do not do the same.
type Difference struct {
	Status  bool `json:"status"`  // one refuses
	Leaf    bool `json:"leaf"`    // they end at different records
	Records int  `json:"records"` // sent by one of them only, thinking aside
	// Thinking counts records of nothing but thinking that one of them sends: it
	// goes back only to the model it came from, and each client asks its own.
	Thinking int  `json:"thinking"`
	Order    bool `json:"order"` // the same records in another order
}

// Said is a message of the request that a resume would make.
type Said struct {
	Role  string `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is what one record says in a message: the content as the record holds it,
// or a text of the client's own.
type Part struct {
	ID      string          `json:"id,omitempty"`
	Line    int             `json:"line,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	Added   string          `json:"added,omitempty"`
}

// Branch is an inactive tip and the records that only it leads to.
type Branch struct {
	Leaf    string `json:"leaf"`
	Line    int    `json:"line"`
	Fork    int    `json:"forkLine"` // line of the record it hangs from, 0 for a root of its own
	Records int    `json:"records"`
	Kind    string `json:"kind"` // branch | sidechain
}

// Pointers are the last-prompt records.
type Pointers struct {
	Count int `json:"count"`
	Line  int `json:"line,omitempty"` // of the last one
	After int `json:"after"`          // messages that go on from it
}

// Partition are the sizes of the six sets.
type Partition struct {
	Summary              int `json:"summary"`
	Raw                  int `json:"raw"`
	Side                 int `json:"side"`
	Control              int `json:"control"`
	ExcludedBranch       int `json:"excludedBranch"`
	ExcludedUnattributed int `json:"excludedUnattributed"`
}

// Type is the share of one record type.
type Type struct {
	Type    string `json:"type"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	Tokens  int64  `json:"tokens"`
}

// DoubleOutput is tool output that stands twice in its record.
type DoubleOutput struct {
	Bytes int64 `json:"bytes"`
	Line  int   `json:"line"` // of the largest
}

// Tools counts tool calls of the active chain.
type Tools struct {
	Uses    int    `json:"uses"`
	Results int    `json:"results"`
	Partial int    `json:"partial"`
	Names   []Name `json:"names"`
}

// Name is how often a tool was called.
type Name struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// Usage is what the service reported. A message's fragments repeat its usage, so
// that of the last one counts, once.
type Usage struct {
	Messages     int   `json:"messages"`
	OutputTokens int64 `json:"outputTokens"`
	// Largest are the messages with the most output, at most ten.
	Largest []Message `json:"largest"`
}

// Message is one message of the service by its id.
type Message struct {
	ID           string `json:"id"`
	Line         int    `json:"line"` // of its last fragment
	OutputTokens int64  `json:"outputTokens"`
}

// Secret counts likely credentials of one kind; values are never told.
type Secret struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Lines []int  `json:"lines"` // the first ones
}
