package verify

import (
	"bytes"
	"fmt"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Session checks a file by the session profile: the pointer's selection is sel,
// pairs are the tool exchanges of its active records, and clients is what the
// known clients resume, the one that matters first; none for a file of another
// agent.
func Session(src *transcript.Source, sel *topology.Selection, clients []*client.Resolution, pairs pairing.Report) []finding.Finding {
	c := &checker{src: src, x: src.Index}
	c.damage()
	c.records()
	c.topology(sel)
	if len(clients) > 0 {
		c.clients(sel, clients)
	}
	if sel.OK() {
		c.findings = append(c.findings, pairs.Findings...)
	}
	c.pairs(func(int) bool { return true })
	c.notes(sel)
	finding.Sort(c.findings)
	return c.findings
}

// checker collects findings.
type checker struct {
	src      *transcript.Source
	x        *transcript.Index
	findings []finding.Finding
}

func (c *checker) add(r int, rule string, sev finding.Severity, message, fix string) *finding.Finding {
	c.findings = append(c.findings, finding.At(c.x, r, finding.Finding{Rule: rule, Severity: sev, Message: message, Fix: fix}))
	return &c.findings[len(c.findings)-1]
}

// Damage turns the damaged lines of a file into findings.
func Damage(x *transcript.Index) []finding.Finding {
	var out []finding.Finding
	for _, d := range x.Damage {
		message := d.Reason
		switch d.Kind {
		case transcript.Glued:
			message = fmt.Sprintf("two records on one line; the second starts at column %d", d.At+1)
		case transcript.NulBlock:
			message = fmt.Sprintf("NUL bytes in a line of %d bytes", d.Len)
		case transcript.Split:
			message = fmt.Sprintf("lines %d to %d are one record with unescaped line breaks", d.Line, d.LastLine)
		case transcript.Spread:
			message = fmt.Sprintf("lines %d to %d are one record; a record is one line", d.Line, d.LastLine)
		case transcript.Torn:
			message = "the last line ends within a record: a write was cut off"
		}
		out = append(out, finding.Finding{Rule: string(d.Kind), Severity: finding.Error, Line: d.Line, Byte: d.Off + int64(d.At), Message: message, Fix: mend[d.Kind]})
	}
	return out
}

// mend says what a person can do about a damaged line, in a copy of the file.
var mend = map[transcript.DamageKind]string{
	transcript.Malformed: "take the line out of a copy, or write it again; what it held is lost otherwise",
	transcript.Torn:      "cut a copy of the file off after the line before",
	transcript.Glued:     "put a line break between the two records in a copy",
	transcript.NulBlock:  "take the NUL bytes out of a copy",
	transcript.Split:     "write the line breaks within the text as \\n in a copy",
	transcript.Spread:    "write it on one line in a copy",
	transcript.NoObject:  "take the line out of a copy",
	transcript.TooDeep:   "nothing: values nested this deep are not read, nor by the client",
}

func (c *checker) damage() { c.findings = append(c.findings, Damage(c.x)...) }

// Content checks what the given records hold, each by itself.
func Content(src *transcript.Source, records []int) []finding.Finding {
	c := &checker{src: src, x: src.Index}
	for _, r := range records {
		c.content(r)
	}
	return c.findings
}

func (c *checker) content(r int) {
	rec := &c.x.Records[r]
	if rec.Has(transcript.LoneSurrogate) {
		c.surrogate(r)
	}
	if rec.Has(transcript.BadUTF8) {
		c.add(r, "invalid-utf8", finding.Error, "the record holds bytes that are no UTF-8", "replace them in a copy")
	}
}

// Chain checks the compact pairs among the active records, which a fold must not
// hide.
func Chain(src *transcript.Source, active []int) []finding.Finding {
	c := &checker{src: src, x: src.Index}
	on := make(map[int]bool, len(active))
	for _, r := range active {
		on[r] = true
	}
	c.pairs(func(r int) bool { return on[r] })
	return c.findings
}

// records checks each record by itself and its parent link.
func (c *checker) records() {
	for r := range c.x.Records {
		rec := &c.x.Records[r]
		c.content(r)
		if rec.Has(transcript.DuplicateKey) {
			c.add(r, "duplicate-key", finding.Warning, "an identity key occurs twice; clients take the last one", "")
		}
		if rec.BadParent != transcript.ParentFine {
			c.add(r, "malformed-parent", finding.Error, "parentUuid is a "+rec.BadParent.String(), "set it in a copy to the uuid of the record before, or to null")
		} else if rec.Parent != 0 && c.x.Parent(r) < 0 && !c.damagedBytes(c.x.Name(rec.Parent)) {
			c.add(r, "missing-parent", finding.Error, fmt.Sprintf("the parent %s is not in the file", c.x.Name(rec.Parent)), "set parentUuid in a copy to the uuid of the record it goes on from")
		}
	}
}

// damagedBytes tells that a uuid stands in a damaged line: the record is there,
// its links are not broken once the line is mended.
func (c *checker) damagedBytes(uuid string) bool {
	for _, d := range c.x.Damage {
		b := make([]byte, min(d.Len, maxDamage))
		n, _ := c.src.At.ReadAt(b, d.Off)
		if bytes.Contains(b[:n], []byte(uuid)) {
			return true
		}
	}
	return false
}

// maxDamage bounds how much of a damaged line is searched.
const maxDamage = 16 << 20

// surrogate reports the first half of a pair that stands alone.
func (c *checker) surrogate(r int) {
	rec := &c.x.Records[r]
	f := c.add(r, "lone-surrogate", finding.Error, "an escape is half of a surrogate pair; the model's server refuses every further prompt", "replace the six bytes of the escape by \\ufffd in a copy")
	line, err := c.src.Record(r)
	if err != nil || rec.Surrogate()+6 > len(line) {
		return
	}
	f.Byte += int64(rec.Surrogate())
	f.Path = jsonspan.Value{Kind: jsonspan.Object, Raw: line}.PathAt(rec.Surrogate())
	f.Message = fmt.Sprintf("the escape %s is half of a surrogate pair; the model's server refuses every further prompt", line[rec.Surrogate():rec.Surrogate()+6])
}

// resumable are the statuses of a healthy file whose pointer is of an older
// client or not there yet.
var resumable = map[topology.Status]bool{topology.Absent: true, topology.MalformedLeaf: true}

// topology reports what keeps the chain from being selected.
func (c *checker) topology(sel *topology.Selection) {
	for _, f := range sel.Findings {
		if resumable[sel.Status] {
			f.Severity = finding.Warning
		}
		if f.Rule == string(topology.Dangling) && (c.reported(f.Line) || c.damagedBytes(sel.Missing)) {
			continue
		}
		c.findings = append(c.findings, f)
	}
	if n := len(sel.Later); n > 0 {
		c.add(sel.Later[0], "records-after-pointer", finding.Warning, fmt.Sprintf("%d messages follow the last pointer and go on from it", n), "")
	}
}

// clients adds what the first client does to the file on a resume, and what any of
// them loses; what other rules tell already is left out.
func (c *checker) clients(sel *topology.Selection, clients []*client.Resolution) {
	c.findings = append(c.findings, client.Losses(clients...)...)
	if sel.Mode == topology.Client {
		return // the rest is told as the selection's own findings
	}
	told := map[string]bool{"client-completes": sel.Recovered > 0, "client-drops": sel.OK()}
	for _, f := range clients[0].Findings() {
		if !told[f.Rule] {
			c.findings = append(c.findings, f)
		}
	}
}

// reported tells that a missing parent was found at the line already.
func (c *checker) reported(line int) bool {
	for _, f := range c.findings {
		if f.Rule == "missing-parent" && f.Line == line {
			return true
		}
	}
	return false
}

// pairs checks the compact pairs among the records that count.
func (c *checker) pairs(counts func(int) bool) {
	summaries := map[int]int{} // boundary record -> summaries below it
	for r := range c.x.Records {
		if c.x.Records[r].Has(transcript.CompactMark) && counts(r) {
			if p := c.x.Parent(r); p >= 0 {
				summaries[p]++
			}
		}
	}
	for r := range c.x.Records {
		if !c.x.Boundary(r) || !counts(r) {
			continue
		}
		if !c.x.Records[r].Has(transcript.MetadataMap) {
			c.add(r, "boundary-metadata-missing", finding.Error, "a compaction boundary without compactMetadata; the client fails at every later compaction", "add \"compactMetadata\":{\"trigger\":\"manual\",\"preTokens\":0} to the record in a copy")
		}
		if n := summaries[r]; n > 1 {
			c.add(r, "compact-pair", finding.Error, fmt.Sprintf("%d compact summaries hang below one boundary", n), "")
		}
	}
}

// notes reports what is healthy and surprising.
func (c *checker) notes(sel *topology.Selection) {
	if sel.OK() && sel.Recovered > 0 {
		c.add(-1, "parallel-siblings", finding.Note, fmt.Sprintf("records of parallel tool calls that hang beside the chain and belong to it: %d", sel.Recovered), "")
	}
	conversation := false
	for r := range c.x.Records {
		rec := &c.x.Records[r]
		conversation = conversation || rec.API()
		if rec.Type != transcript.Snapshot {
			continue
		}
		for id := range c.x.Correlations(r) {
			if at := c.x.ByUUID(id); at >= 0 && id != rec.UUID {
				c.add(r, "snapshot-id-collision", finding.Note, fmt.Sprintf("messageId is also the uuid of line %d; it is no uuid of its own", c.x.Records[at].Line), "")
			}
		}
	}
	if !conversation {
		c.add(-1, "no-conversation", finding.Note, "the file holds no message", "")
	}
}
