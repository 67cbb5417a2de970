package compose

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/patch"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// link is one record behind the summary.
type link struct {
	record  int // of the source; -1 for a result of our own
	uuid    string
	parent  string
	changed bool // the parent is not the source's
	beside  bool // of a type that no conversation is made of
	closes  topology.OpenCall
}

// line is what stands below the summary, record by record. It is one line, so
// that no client has anything to put in its place; in a sequential session that
// changes the parent of the first record only. Progress, and a record of a type
// that clients do not know, hangs beside it; a call that the client would answer
// itself is closed by a result.
func (c *composer) line() []link {
	if c.Selection.Mode == topology.PhysicalTail {
		return c.tail()
	}
	x := c.Source.Index
	open := map[int][]topology.OpenCall{}
	for _, call := range c.Selection.Open {
		open[call.After] = append(open[call.After], call)
	}
	var out []link
	above := c.c.Summary
	for _, r := range c.Sets.Raw {
		rec := &x.Records[r]
		l := link{record: r, uuid: x.Name(rec.UUID), parent: above, beside: !client.Node(rec.Type)}
		l.changed = x.Name(rec.Parent) != above || rec.BadParent != transcript.ParentFine
		if out = append(out, l); !l.beside {
			above = l.uuid
		}
		for _, call := range open[r] {
			out = append(out, link{record: -1, uuid: c.id("result/" + x.Name(call.Use)), parent: above, closes: call})
			above = out[len(out)-1].uuid
		}
	}
	return out
}

// tail is a physical tail: records keep their parents where those stay.
func (c *composer) tail() []link {
	x := c.Source.Index
	stays := map[transcript.Sym]bool{}
	for _, r := range c.Sets.Raw {
		stays[x.Records[r].UUID] = true
	}
	var out []link
	last, session := c.c.Summary, transcript.Sym(0)
	for _, r := range c.Sets.Raw {
		rec := &x.Records[r]
		l := link{record: r, uuid: x.Name(rec.UUID), beside: true}
		if rec.UUID != 0 {
			if first := last == c.c.Summary; first && rec.Parent == 0 || rec.Parent != 0 && !stays[rec.Parent] {
				l.parent, l.changed = last, true
				if session != 0 && rec.Session != 0 && rec.Session != session {
					l.parent = ""
				}
			}
			last, session = l.uuid, rec.Session
		}
		out = append(out, l)
	}
	return out
}

// lineUUIDs are the uuids of the line; a physical tail need not be one.
func (c *composer) lineUUIDs() []string {
	var out []string
	for _, l := range c.links {
		if !l.beside {
			out = append(out, l.uuid)
		}
	}
	return out
}

// leaf is the end of the line.
func (c *composer) leaf() string {
	if line := c.lineUUIDs(); len(line) > 0 {
		return line[len(line)-1]
	}
	return c.Source.Name(c.Source.Records[c.Selection.Leaf].UUID)
}

// raw writes the line.
func (c *composer) raw() error {
	spread := spreadRecords(c.Source.Index)
	for _, l := range c.links {
		c.c.Kept = append(c.c.Kept, Kept{Record: l.record, Off: c.c.size, Changed: l.changed})
		var err error
		switch {
		case l.record < 0:
			err = c.result(l)
		case l.changed || spread[l.record]:
			err = c.rewritten(l)
		default:
			c.copy(l.record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rewritten writes a record whose parent changes, or that stands on several
// lines.
func (c *composer) rewritten(l link) error {
	line, err := c.Source.Record(l.record)
	if err == nil && l.changed {
		line, err = setParent(line, &c.Source.Records[l.record], l.parent)
	}
	if err != nil {
		return fmt.Errorf("set the parent of record L%d: %w", l.record+1, err)
	}
	c.c.line(OneLine(line))
	return nil
}

// result writes a result that closes a call: one client would take the call away
// and another answer it, so neither is left to.
func (c *composer) result(l link) error {
	time, err := c.Source.Time(l.closes.Call)
	if err != nil {
		return err
	}
	var o, m, b object
	b.text("tool_use_id", c.Source.Name(l.closes.Use)).text("type", "tool_result").text("content", l.closes.Text).bool("is_error", true)
	m.text("role", "user").raw("content", bytes.Join([][]byte{[]byte("["), b.end(), []byte("]")}, nil))
	o.text("parentUuid", l.parent).bool("isSidechain", false).text("type", "user").raw("message", m.end()).text("uuid", l.uuid)
	c.stamp(&o, time)
	o.text("sourceToolAssistantUUID", c.Source.Name(c.Source.Records[l.closes.Call].UUID))
	line := o.end()
	c.c.line(line)
	return c.estimate(line)
}

// OneLine puts a record that stands on several lines on one: outside of strings a
// line break is white space, and within them there is none.
func OneLine(record []byte) []byte {
	if bytes.IndexByte(record, '\n') < 0 {
		return record
	}
	return bytes.ReplaceAll(record, []byte{'\n'}, []byte{' '})
}

// spreadRecords are the records of the source that stand on several lines.
func spreadRecords(x *transcript.Index) map[int]bool {
	out := map[int]bool{}
	for _, d := range x.Damage {
		if d.Kind != transcript.Spread {
			continue
		}
		at, found := slices.BinarySearchFunc(x.Records, d.Off, func(r transcript.Record, off int64) int { return cmp.Compare(r.Off, off) })
		if found {
			out[at] = true
		}
	}
	return out
}

// setParent changes the one value by its span.
func setParent(line []byte, rec *transcript.Record, parent string) ([]byte, error) {
	value := jsonspan.Quote(nil, parent)
	if parent == "" {
		value = []byte("null")
	}
	if rec.Has(transcript.DuplicateKey) || rec.ParentLen == 0 {
		return patch.Set(line, "parentUuid", value)
	}
	out := append([]byte(nil), line[:rec.ParentOff]...)
	out = append(out, value...)
	return append(out, line[rec.ParentOff+rec.ParentLen:]...), nil
}
