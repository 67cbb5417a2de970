package verify

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/compose"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/patch"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Candidate checks a candidate as the file it will be, and that every kept
// record equals its source but for the parent value that had to change. It
// returns the index of the candidate, whose hash is what must be published.
// rules are those of the client that will resume it. progress is that of
// [transcript.Read].
func Candidate(c *compose.Candidate, src *transcript.Source, physicalTail bool, rules *client.Rules, progress func(int64) error) (*transcript.Index, []finding.Finding, error) {
	x, err := transcript.Read(io.NewSectionReader(c, 0, c.Size()), progress)
	if err != nil {
		return nil, nil, err
	}
	v := &candidate{checker: checker{src: transcript.NewSource(x, c), x: x}, c: c, from: src, physicalTail: physicalTail}
	v.damage()
	v.records()
	v.identity()
	v.onePair()
	v.onePointer()
	v.chain()
	v.preserved()
	if err := v.resumed(rules); err != nil {
		return nil, nil, err
	}
	if err := v.sameBytes(); err != nil {
		return nil, nil, err
	}
	finding.Sort(v.findings)
	return x, v.findings, nil
}

// ClientDiffers is the rule that a client resumes the candidate's line and nothing
// else.
const ClientDiffers = "client-differs"

// ClientMends is the rule that no client has to mend a tool exchange of the
// candidate. The pointer's chain alone may hold one that it does.
const ClientMends = "client-mends"

// candidate is a checker that knows what the candidate was meant to be.
type candidate struct {
	checker
	c            *compose.Candidate
	from         *transcript.Source
	physicalTail bool
	boundary     int
	summary      int
}

func (v *candidate) fault(r int, rule, message string) {
	v.add(r, rule, finding.Error, message, "")
}

// identity refuses a uuid that occurs twice.
func (v *candidate) identity() {
	for r := range v.x.Records {
		if u := v.x.Records[r].UUID; u != 0 && v.x.ByUUID(u) != r {
			v.fault(r, "duplicate-uuid", "the uuid occurs again")
		}
	}
	if v.x.NoNewline || v.x.BOM || v.x.Blank > 0 {
		v.fault(-1, "framing", "a candidate has one record a line, each ended by a line feed")
	}
}

// onePair finds the boundary and the summary and demands that there is nothing
// else of their kind.
func (v *candidate) onePair() {
	v.boundary, v.summary = -1, -1
	boundaries, summaries := 0, 0
	for r := range v.x.Records {
		if v.x.Boundary(r) {
			boundaries++
			v.boundary = r
		}
		if v.x.Records[r].Has(transcript.CompactMark) {
			summaries++
			v.summary = r
		}
	}
	if boundaries != 1 || summaries != 1 {
		v.fault(-1, "compact-pair", fmt.Sprintf("%d boundaries and %d summaries where one pair belongs", boundaries, summaries))
		v.boundary = -1
		return
	}
	b, s := &v.x.Records[v.boundary], &v.x.Records[v.summary]
	switch {
	case v.x.Name(b.UUID) != v.c.Boundary || v.x.Name(s.UUID) != v.c.Summary:
		v.fault(v.boundary, "compact-pair", "the pair is not the one that was composed")
	case b.Parent != 0 || s.Parent != b.UUID || v.summary != v.boundary+1:
		v.fault(v.summary, "compact-pair", "the summary must follow a root boundary as its child")
	case !b.Has(transcript.MetadataMap):
		v.fault(v.boundary, "boundary-metadata-missing", "the boundary has no metadata")
	case !s.Has(transcript.HasMessage | transcript.RoleUser | transcript.TextContent | transcript.Semantic):
		v.fault(v.summary, "compact-pair", "the summary must be a user message with a text")
	}
}

// onePointer demands one pointer, physically last, to the last record with a
// uuid and of its session.
func (v *candidate) onePointer() {
	last, n := len(v.x.Records)-1, 0
	for r := range v.x.Records {
		if v.x.Records[r].Type == transcript.LastPrompt {
			n++
		}
	}
	if n != 1 || last < 1 || v.x.Records[last].Type != transcript.LastPrompt {
		v.fault(last, "pointer", "a candidate ends with its only last-prompt record")
		return
	}
	at := last - 1
	for at > 0 && (v.x.Records[at].UUID == 0 || !v.physicalTail && !client.Node(v.x.Records[at].Type)) {
		at-- // rows beside the line
	}
	leaf, ptr := &v.x.Records[at], &v.x.Records[last]
	if leaf.UUID == 0 || ptr.Leaf != leaf.UUID {
		v.fault(last, "pointer", "the pointer must name the last record with a uuid")
	}
	if ptr.Session != 0 && leaf.Session != 0 && ptr.Session != leaf.Session {
		v.fault(last, "pointer", "the pointer and its leaf belong to different sessions")
	}
}

// chain demands that the pointer leads over the raw records to the pair, and
// that all calls are paired.
func (v *candidate) chain() {
	sel := topology.Select(v.x, topology.Options{Mode: topology.Pointer})
	v.findings = append(v.findings, sel.Findings...)
	if !sel.OK() || v.boundary < 0 {
		return
	}
	if len(sel.Walk) < 2 || sel.Walk[0] != v.boundary || sel.Walk[1] != v.summary {
		v.fault(v.boundary, "compact-pair", "the pointer's chain does not start with the pair")
	}
	if !v.physicalTail && !v.line(sel.Active) {
		v.fault(-1, "active-set", fmt.Sprintf("%d records are active; the pair and %d kept ones belong there, as one line", len(sel.Active), len(v.c.Kept)))
	}
	v.findings = append(v.findings, pairing.Check(v.x, sel.Active).Findings...)
}

// line reports that the records are the pair and the kept ones, as they stand in
// the file.
func (v *candidate) line(records []int) bool {
	want := []int{v.boundary, v.summary}
	for r := v.summary + 1; r < min(v.summary+1+len(v.c.Kept), len(v.x.Records)); r++ {
		if client.Node(v.x.Records[r].Type) {
			want = append(want, r)
		}
	}
	return slices.Equal(records, want)
}

// resumed demands that the client resumes that line and nothing else. For other
// known clients a difference is a warning: they may not resume the source either.
func (v *candidate) resumed(rules *client.Rules) error {
	if v.boundary < 0 || v.physicalTail {
		return nil
	}
	for _, version := range client.Versions() {
		other, _ := client.Known(version)
		res, err := client.Resolve(v.src, other)
		if err != nil {
			return err
		}
		sev := finding.Warning
		if version == rules.Version {
			sev = finding.Error
		}
		if res.Refused != "" || len(res.Breaks) > 0 || !v.line(res.Active) {
			v.add(-1, ClientDiffers, sev, fmt.Sprintf("client %s would not resume exactly the pair and the kept records", version), "")
		} else if n := mended(res); n > 0 {
			v.add(-1, ClientMends, finding.Warning, fmt.Sprintf("client %s would take away or answer %d tool calls or results by itself", version, n), "")
		}
	}
	return nil
}

// mended counts what a client changes in the tool exchanges.
func mended(res *client.Resolution) int {
	n := len(res.Dropped)
	for _, i := range res.Invented {
		if i.Use != 0 {
			n++
		}
	}
	return n
}

// preserved demands that the boundary's list of kept records is exactly the
// walk below the summary.
func (v *candidate) preserved() {
	if v.boundary < 0 || v.physicalTail {
		return
	}
	line, err := v.src.Record(v.boundary)
	if err != nil {
		v.fault(v.boundary, "preserved-messages", "the boundary cannot be read")
		return
	}
	meta := jsonspan.Value{Kind: jsonspan.Object, Raw: bytes.Clone(line)}.Get("compactMetadata")
	list := meta.Get("preservedMessages")
	want := v.summary
	for u := range list.Get("uuids").Elements() {
		sym, known := v.x.Lookup(u.Text())
		r := v.x.ByUUID(sym)
		if !known || r < 0 || v.x.Parent(r) != want {
			v.fault(v.boundary, "preserved-messages", "the list of kept records is not the chain below the summary")
			return
		}
		want = r
	}
	tail := meta.Get("preservedSegment").Get("tailUuid").Text()
	if anchor := list.Get("anchorUuid").Text(); anchor != v.c.Summary || tail != v.c.Leaf || v.x.Name(v.x.Records[want].UUID) != v.c.Leaf {
		v.fault(v.boundary, "preserved-messages", "the kept records must run from the summary to the leaf")
	}
}

// sameBytes compares each kept record with its source.
func (v *candidate) sameBytes() error {
	at := v.summary + 1
	for i, k := range v.c.Kept {
		r := at + i
		if v.summary < 0 || r >= len(v.x.Records) || v.x.Records[r].Off != k.Off {
			v.fault(-1, "kept-record", "a kept record does not stand where it belongs")
			return nil
		}
		if k.Record < 0 {
			continue // a result of the candidate's own
		}
		now, err := v.src.Record(r)
		if err != nil {
			return err
		}
		was, err := v.from.Record(k.Record)
		if err != nil {
			return err
		}
		was = compose.OneLine(was)
		if k.Changed {
			now, was = withoutParent(now, &v.x.Records[r], &v.from.Records[k.Record]), withoutParent(was, &v.from.Records[k.Record], nil)
		}
		if !bytes.Equal(now, was) {
			v.fault(r, "kept-record", "a kept record is not what the source holds")
		}
	}
	return nil
}

// withoutParent is the record's bytes before and after the parent value; where
// the source has no such member, without it.
func withoutParent(line []byte, rec, source *transcript.Record) []byte {
	switch {
	case rec.ParentLen == 0:
		return line
	case source != nil && source.ParentLen == 0:
		if bare, err := patch.Remove(line, "parentUuid"); err == nil {
			return bare
		}
	}
	return append(append([]byte(nil), line[:rec.ParentOff]...), line[rec.ParentOff+rec.ParentLen:]...)
}
