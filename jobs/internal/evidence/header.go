package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"

	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/spec/canon"
)

// The header digests of the evidence pack format, schema 11. A summary written
// for a pack repeats them, which binds it to the exact records, evidence and
// request it was written from. Their definitions are the format's; the project's
// own digests are another matter and live in package spec.

// SourceDigest is summary_source_sha256: of the folded records' lines in the
// order of the conversation, joined by line feeds, byte order mark and one
// carriage return at the end of a line left out.
func SourceDigest(src *transcript.Source, folded []int) (string, error) {
	sum := NewSourceSum()
	for _, r := range folded {
		line, err := src.Record(r)
		if err != nil {
			return "", err
		}
		sum.Add(line)
	}
	return sum.Digest(), nil
}

// SourceSum is a SourceDigest in the making, for those who read the records
// anyway.
type SourceSum struct {
	h     hash.Hash
	begun bool
}

// NewSourceSum is the sum of no records.
func NewSourceSum() *SourceSum { return &SourceSum{h: sha256.New()} }

// Add takes in the next record's bytes.
func (s *SourceSum) Add(line []byte) {
	if s.begun {
		s.h.Write([]byte{'\n'})
	}
	s.begun = true
	s.h.Write(line)
}

// Digest is the digest of the records so far.
func (s *SourceSum) Digest() string { return hex.EncodeToString(s.h.Sum(nil)) }

// AnchorsDigest is evidence_anchor_lines_digest: of the record numbers shown,
// each once, ascending.
func AnchorsDigest(numbers []int) string { return canon.LineSet(numbers) }

// GroupsDigest is required_anchor_groups_digest: of the groups and the record
// numbers that cover each.
func GroupsDigest(groups map[string][]int) (string, error) {
	sorted := make(map[string][]int, len(groups))
	for name, numbers := range groups {
		n := slices.Clone(numbers)
		slices.Sort(n)
		sorted[name] = slices.Compact(n)
	}
	b, err := canon.JSON(sorted)
	return canon.Half(b), err
}

// ClaimsDigest is required_claim_sources_digest: of the mandatory records'
// texts by record number.
func ClaimsDigest(texts map[int]string) (string, error) {
	m := make(map[string]string, len(texts))
	for n, text := range texts {
		m[strconv.Itoa(n)] = text
	}
	b, err := canon.JSON(m)
	return canon.Full(b), err
}

// HandoffDigest is handoff_summary_digest: of the file's bytes as they are, or
// the word none without one.
func HandoffDigest(file []byte) string {
	if file == nil {
		return "none"
	}
	return canon.Full(file)
}

// Request is what decides what a pack shows: its digest is
// pack_request_digest.
type Request struct {
	TargetRatio           float64
	TargetEstimatedTokens int // 0 for none
	MinRecentRecords      int
	SummaryCharBudget     int
	PreserveActiveChain   bool
	MaxExtension          int
	MaxSnapshots          int
	CheckpointPolicy      string
	ResumeLeaf            string // "" for none
	PackChars, PackTokens int
	PriorsVerbatim        bool
	Handoff               []byte // nil for none
	// The digests of the word list, the topics and the summary template.
	ImportanceWords, TopicPatterns, SummaryTemplate string
}

// Digest is the full digest of the request's canonical JSON.
func (r Request) Digest() (string, error) {
	b, err := canon.JSON(map[string]any{
		"schema":                         11,
		"engine":                         "v10",
		"targetRatio":                    r.TargetRatio,
		"targetEstimatedTokens":          orNull(r.TargetEstimatedTokens),
		"minRecentRecords":               r.MinRecentRecords,
		"summaryCharBudget":              r.SummaryCharBudget,
		"preserveActiveChain":            r.PreserveActiveChain,
		"maxPostPromptExtension":         r.MaxExtension,
		"maxFileHistorySnapshots":        r.MaxSnapshots,
		"checkpointPolicy":               r.CheckpointPolicy,
		"resumeLeafOverride":             orNull(r.ResumeLeaf),
		"modelPackCharBudget":            r.PackChars,
		"modelPackEstimatedTokenBudget":  r.PackTokens,
		"preservePriorSummariesVerbatim": r.PriorsVerbatim,
		"handoffSummarySha256":           r.handoff(),
		"resources": map[string]any{
			"importanceWordsSha256": r.ImportanceWords,
			"topicPatternsSha256":   r.TopicPatterns,
			"summaryTemplateSha256": r.SummaryTemplate,
		},
	})
	return canon.Full(b), err
}

func (r Request) handoff() any {
	if r.Handoff == nil {
		return nil
	}
	return canon.Full(r.Handoff)
}

// orNull is the value, or null when it is the zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// TemplateDigest is the digest of a summary template: byte order mark left out,
// line ends as line feeds.
func TemplateDigest(text []byte) string {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte{'\n'})
	return canon.Full(bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'}))
}
