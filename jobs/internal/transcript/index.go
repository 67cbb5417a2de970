package transcript

import (
	"iter"
)

// Index is what one pass over a session file found.
type Index struct {
	Records []Record
	Tools   []Tool
	Damage  []Damage
	// Size and SHA256 are of the whole file.
	Size   int64
	SHA256 [32]byte
	// BOM, CRLF and NoNewline describe the file's framing: a byte order mark, the
	// first line's ending, and a last line that is not terminated.
	BOM, CRLF, NoNewline bool
	Lines                int // physical lines
	Blank                int
	LongestLine          int
	Causes               Causes
	// Versions are the clients that wrote the records, in order of appearance.
	Versions []string

	refs    []Sym // the rarer links that tie a snapshot to a message
	symbols symbols
	byUUID  []int32 // record+1 by symbol: the last copy
}

// Causes are bytes that make sessions large without being conversation.
type Causes struct {
	ToolUseResult   int64 `json:"toolUseResult"`   // structured copies of tool output, never sent
	DoubleOutput    int64 `json:"doubleOutput"`    // of these, equal to the text that is sent
	Images          int64 `json:"images"`          // base64 image and document data
	Signatures      int64 `json:"signatures"`      // of thinking blocks
	ProgressPayload int64 `json:"progressPayload"` // data of progress records
	NormalizedCopy  int64 `json:"normalizedMessages"`
	Snapshots       int64 `json:"snapshots"`
	DoubleLine      int   `json:"-"` // line of the largest double output
	doubleMax       int64
}

// Name returns the text of a symbol, "" for none.
func (x *Index) Name(s Sym) string { return string(x.symbols.text(s)) }

// Lookup finds the symbol of a text that occurs in the file.
func (x *Index) Lookup(text string) (Sym, bool) {
	s := x.symbols.lookup([]byte(text))
	return s, s != 0
}

// Symbols is the number of symbols: each is smaller.
func (x *Index) Symbols() int { return len(x.symbols.names) }

// ByUUID returns the last record with the uuid, -1 without one.
func (x *Index) ByUUID(uuid Sym) int {
	if uuid == 0 || int(uuid) >= len(x.byUUID) {
		return -1
	}
	return int(x.byUUID[uuid]) - 1
}

// Parent returns the record that r hangs below, -1 for a root or an unknown one.
func (x *Index) Parent(r int) int { return x.ByUUID(x.Records[r].Parent) }

// ToolsOf returns the tool blocks of a record.
func (x *Index) ToolsOf(r int) []Tool {
	end := len(x.Tools)
	if r+1 < len(x.Records) {
		end = int(x.Records[r+1].tools)
	}
	return x.Tools[x.Records[r].tools:end]
}

// ToolIDs yields the ids of a record's blocks of one kind.
func (x *Index) ToolIDs(r int, kind ToolKind) iter.Seq[Sym] {
	return func(yield func(Sym) bool) {
		for _, t := range x.ToolsOf(r) {
			if t.Kind == kind && !yield(t.ID) {
				return
			}
		}
	}
}

// HasTool reports whether the record has a block of the kind.
func (x *Index) HasTool(r int, kind ToolKind) bool {
	for range x.ToolIDs(r, kind) {
		return true
	}
	return false
}

// TypeName is the record's type as written.
func (x *Index) TypeName(r int) string {
	rec := &x.Records[r]
	if rec.Type == Other {
		return x.Name(rec.Name)
	}
	return typeNames[rec.Type]
}

// Correlations yields the identifiers that tie a record to others: its own,
// those of the prompt and call it belongs to, and the message a snapshot names.
// The nested snapshot.messageId is not one of them.
func (x *Index) Correlations(r int) iter.Seq[Sym] {
	return func(yield func(Sym) bool) {
		rec := &x.Records[r]
		for _, s := range [...]Sym{rec.UUID, rec.Prompt, rec.Source, rec.Message} {
			if s != 0 && !yield(s) {
				return
			}
		}
		end := len(x.refs)
		if r+1 < len(x.Records) {
			end = int(x.Records[r+1].refs)
		}
		for _, s := range x.refs[rec.refs:end] {
			if !yield(s) {
				return
			}
		}
	}
}

// Boundary reports a compaction boundary.
func (x *Index) Boundary(r int) bool {
	rec := &x.Records[r]
	return rec.Type == System && rec.Subtype == boundarySubtype
}

// Compact reports a record of an earlier compact pair.
func (x *Index) Compact(r int) bool {
	return x.Records[r].Has(CompactMark) || x.Boundary(r)
}

// LastPointer returns the physically last last-prompt record, -1 without one.
func (x *Index) LastPointer() int {
	for i := len(x.Records) - 1; i >= 0; i-- {
		if x.Records[i].Type == LastPrompt {
			return i
		}
	}
	return -1
}

// link fills the uuid table; the last copy of a duplicate wins, as it does in
// the client.
func (x *Index) link() {
	x.byUUID = make([]int32, len(x.symbols.names))
	for i := range x.Records {
		if u := x.Records[i].UUID; u != 0 {
			x.byUUID[u] = int32(i) + 1
		}
	}
}
