package compose

import (
	"bytes"
	"fmt"

	"github.com/google/uuid"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/patch"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Input is all that a candidate is a function of.
type Input struct {
	Source    *transcript.Source
	Selection *topology.Selection
	Sets      *partition.Sets
	// Item is the digest the ids are derived from: request, source and summary.
	Item string
	// Summary is the text that replaces the folded records.
	Summary string
	// Fold describes the fold for people and later runs; it goes into
	// compactMetadata.precis.
	Fold Fold
}

// Fold is what the boundary says about how it came to be.
type Fold struct {
	Engine, Client, Request, SourceSHA256, SummarySHA256, SummaryMode string
	SourceRecords                                                     int
	FoldedTokens, KeptTokens                                          int64
	FoldedDigest, BranchDigest, UnattributedDigest                    string
}

// namespace is the UUID namespace of the ids in a candidate.
var namespace = uuid.MustParse("6f1d3c52-8f0e-5a7b-9c41-2b7d1e0f4a63")

// composer carries one composition.
type composer struct {
	Input
	c       *Candidate
	common  []member
	session string
	links   []link
}

// Compose builds the candidate. It reads the raw records, and writes nothing.
func Compose(in Input) (*Candidate, error) {
	c := &composer{Input: in, c: &Candidate{source: in.Source.At}}
	c.c.Boundary, c.c.Summary = c.id("boundary"), c.id("summary")
	c.links = c.line()
	for _, stage := range []func() error{c.survey, c.control, c.side, c.pair, c.raw, c.pointer} {
		if err := stage(); err != nil {
			return nil, err
		}
	}
	return c.c, nil
}

func (c *composer) id(role string) string {
	return uuid.NewSHA1(namespace, []byte(c.Item+"/"+role)).String()
}

// control writes the last control record of each type.
func (c *composer) control() error {
	for _, r := range c.Sets.Projected(c.Source.Index) {
		c.copy(r)
	}
	return nil
}

func (c *composer) side() error {
	for _, r := range c.Sets.Side {
		c.copy(r)
	}
	return nil
}

func (c *composer) copy(r int) {
	rec := &c.Source.Records[r]
	c.c.span(rec.Off, int(rec.Len))
}

// pair writes the boundary and the summary below it.
func (c *composer) pair() error {
	time, err := c.pairTime()
	if err != nil {
		return err
	}
	var b object
	b.null("parentUuid").bool("isSidechain", false).text("type", "system").text("subtype", "compact_boundary")
	b.text("uuid", c.c.Boundary)
	c.stamp(&b, time)
	b.text("level", "info").bool("isMeta", true).text("content", "Older part folded by precis")
	b.raw("compactMetadata", c.metadata())
	boundary := b.end()
	c.c.line(boundary)

	var s object
	s.text("parentUuid", c.c.Boundary).bool("isSidechain", false).text("promptId", c.id("prompt")).text("type", "user")
	var m object
	s.raw("message", m.text("role", "user").text("content", c.Summary).end())
	s.bool("isCompactSummary", true).bool("isVisibleInTranscriptOnly", true).text("uuid", c.c.Summary)
	c.stamp(&s, time)
	summary := s.end()
	c.c.line(summary)
	return c.estimate(boundary, summary)
}

// estimate counts what the pair costs.
func (c *composer) estimate(lines ...[]byte) error {
	x, err := transcript.Read(bytes.NewReader(bytes.Join(lines, []byte{'\n'})), func(int64) error { return nil })
	if err != nil {
		return err
	}
	for i := range x.Records {
		c.c.PairTokens += int64(x.Records[i].Tokens)
	}
	return nil
}

// stamp adds the time and the fields that the raw records agree on.
func (c *composer) stamp(o *object, time string) {
	if time != "" {
		o.text("timestamp", time)
	}
	for _, m := range c.common {
		o.raw(m.key, m.value)
	}
}

// pairTime is the time of the last folded record that has one, so that times
// rise through the new file.
func (c *composer) pairTime() (string, error) {
	for i := len(c.Sets.Summary) - 1; i >= 0; i-- {
		if t, err := c.Source.Time(c.Sets.Summary[i]); t != "" || err != nil {
			return t, err
		}
	}
	if len(c.Sets.Raw) == 0 {
		return "", nil
	}
	return c.Source.Time(c.Sets.Raw[0])
}

// pointer projects the authoritative pointer onto the new leaf.
func (c *composer) pointer() error {
	c.c.Leaf = c.leaf()
	line := []byte(`{"type":"last-prompt"}`)
	if c.Selection.Pointer >= 0 {
		var err error
		if line, err = c.Source.Record(c.Selection.Pointer); err != nil {
			return err
		}
	}
	line, err := project(line, c.c.Leaf, c.session, c.Selection.Pointer < 0)
	if err != nil {
		return fmt.Errorf("project the pointer: %w", err)
	}
	c.c.line(line)
	return nil
}

// project sets what the pointer names. An explicit mark goes: it would make the
// client cut what comes after.
func project(line []byte, leaf, session string, fresh bool) ([]byte, error) {
	line, err := patch.Set(line, "leafUuid", jsonspan.Quote(nil, leaf))
	if err != nil {
		return nil, err
	}
	v, err := jsonspan.Parse(line)
	if err != nil {
		return nil, err
	}
	if session != "" && (fresh || v.Get("sessionId").Kind != jsonspan.Invalid) {
		if line, err = patch.Set(line, "sessionId", jsonspan.Quote(nil, session)); err != nil {
			return nil, err
		}
	}
	return patch.Remove(line, "explicit")
}
