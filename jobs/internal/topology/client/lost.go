package client

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Reasons for which conversation is lost on a resume.
const (
	AfterPointer   = "after-pointer"    // the client ends before it
	BehindBreak    = "behind-break"     // a parent is missing, or a circle, and time does not bridge it
	BeforeBoundary = "before-boundary"  // a large file is read from its last boundary on
	DamagedLine    = "damaged-line"     // no record could be read
	SecondOnLine   = "second-on-a-line" // only the first value of a line is read
	WholeSession   = "whole-session"    // the client refuses the file
)

// Loss is conversation that a resume does not bring back.
type Loss struct {
	Reason      string
	First, Last int // lines
	Bytes       int64
	Records     []int // in file order; none for damage
	// Turns begin with what the person said, or with the first record where nothing
	// was.
	Turns []finding.Turn
}

// Lost finds what a resume would not bring back, though nobody left it behind: a
// branch that was rewound is not lost.
func (r *Resolution) Lost() []Loss {
	var out []Loss
	add := func(reason string, records []int) {
		if len(records) > 0 {
			out = append(out, r.loss(reason, records))
		}
	}
	if r.Refused != "" {
		add(WholeSession, r.messages(func(int) bool { return true }))
	} else {
		add(AfterPointer, r.afterLeaf())
		add(BeforeBoundary, r.hiddenAbove())
		for _, b := range r.Breaks {
			if b.Parent < 0 {
				add(BehindBreak, r.messages(func(i int) bool { return i < b.Child && r.g.node[i] }))
			}
		}
		add(SecondOnLine, r.messages(r.g.second))
	}
	return append(out, r.damaged()...)
}

// messages are the messages that the conversation does not hold and that
// fulfil a condition.
func (r *Resolution) messages(want func(int) bool) []int {
	var out []int
	for i := range r.g.x.Records {
		if rec := &r.g.x.Records[i]; rec.API() && rec.UUID != 0 && !rec.Has(transcript.Sidechain) && !r.Holds(i) && want(i) {
			out = append(out, i)
		}
	}
	return out
}

// hiddenAbove are the messages that the conversation hangs below and that a large
// file hides, for they stand before its last boundary.
func (r *Resolution) hiddenAbove() []int {
	g := r.g
	if g.x.Size <= skipAbove || len(r.Breaks) == 0 {
		return nil
	}
	above := make([]bool, len(g.x.Records))
	for _, b := range r.Breaks {
		for i := g.x.Parent(b.Child); i >= 0 && i < g.boundary && !g.node[i] && !above[i]; i = g.x.Parent(i) {
			above[i] = true
		}
	}
	return r.messages(func(i int) bool { return above[i] })
}

// afterLeaf are the messages written after the leaf, and those that go on from it
// or from its tool group.
func (r *Resolution) afterLeaf() []int {
	g := r.g
	below := make([]bool, len(g.x.Records))
	below[r.Leaf] = true
	for _, i := range r.Active {
		rec := &g.x.Records[i]
		p := int(g.parent[i])
		answers := rec.Type == transcript.User && g.x.HasTool(i, transcript.Result) && p >= 0
		below[i] = below[i] || answers && g.sameGroup(p, r.Leaf)
	}
	for i := range g.x.Records {
		p := int(g.parent[i])
		below[i] = below[i] || g.node[i] && p >= 0 && below[p] && !r.Holds(i)
	}
	return r.messages(func(i int) bool { return g.node[i] && (i > r.Leaf || below[i]) })
}

// sameGroup reports that the leaf is a result of a call's message, or one of its
// fragments.
func (g *graph) sameGroup(call, leaf int) bool {
	id := g.x.Records[call].Message
	if g.typ(leaf) == transcript.User && g.parent[leaf] >= 0 {
		leaf = int(g.parent[leaf])
	}
	return id != 0 && g.x.Records[leaf].Message == id
}

// second reports a record that is not the first on its line.
func (g *graph) second(i int) bool {
	return i > 0 && g.x.Records[i-1].Line == g.x.Records[i].Line
}

func (r *Resolution) loss(reason string, records []int) Loss {
	x := r.g.x
	l := Loss{Reason: reason, Records: records, First: int(x.Records[records[0]].Line), Last: int(x.Records[records[len(records)-1]].Line)}
	for i, m := range records {
		l.Bytes += int64(x.Records[m].Len) + 1
		if i == 0 || x.Records[m].Type == transcript.User && !x.HasTool(m, transcript.Result) && !x.Records[m].Has(transcript.Meta) {
			l.Turns = append(l.Turns, finding.Turn{ID: x.Name(x.Records[m].UUID), Line: int(x.Records[m].Line), Words: r.words(m)})
		}
	}
	return l
}

// damaged are the lines of which nothing is read.
func (r *Resolution) damaged() []Loss {
	var out []Loss
	for _, d := range r.g.x.Damage {
		switch d.Kind {
		case transcript.Glued, transcript.Spread, transcript.NoObject:
			continue // read, told above, or nothing that counts
		}
		_, held := slices.BinarySearchFunc(r.g.x.Records, d.Line, func(rec transcript.Record, line int) int { return int(rec.Line) - line })
		if !held {
			out = append(out, Loss{Reason: DamagedLine, First: d.Line, Last: d.LastLine, Bytes: d.Len})
		}
	}
	return out
}

// maxWords bounds the first words of a turn, in characters.
const maxWords = 60

// words are the first words of a message, "" where it cannot be read.
func (r *Resolution) words(record int) string {
	content, err := r.g.src.Content(record)
	if err != nil {
		return ""
	}
	v, err := jsonspan.Parse(content)
	if err != nil {
		return ""
	}
	text := v.Text()
	for block := range v.Elements() {
		if text = block.Get("text").Text(); text != "" {
			break
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxWords {
		text = string([]rune(text)[:maxWords]) + "..."
	}
	return text
}
