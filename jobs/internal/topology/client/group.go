package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// group are the records of one assistant message and what answers it. Parallel
// calls are written as a small tree; the parent walk passes one line of it only.
type group struct {
	number  int
	turn    int   // of the chain, counted by what the person says
	on      []int // fragments on the chain, in its order
	off     []int // fragments beside it, in file order
	results []int // on the chain, in its order
	late    []int // results that are put in, in file order
	beside  []int // attachments and notes that are put in, in file order
}

// groups completes the chain by the records of its messages (W3).
type groups struct {
	*graph
	chain []int
	on    []int    // by record: its position on the chain from 1, 0 beside it
	turn  []int    // by position on the chain
	of    []*group // by record: the message it is a fragment of
	in    []*group // by record: the message it is put in with
	list  []*group // in the order of the chain
	byID  map[transcript.Sym]*group
}

// complete returns the chain with what belongs to its messages put in.
func (g *graph) complete(chain []int) []int {
	n := len(g.x.Records)
	c := &groups{graph: g, chain: chain, on: make([]int, n), turn: make([]int, len(chain)+1), of: make([]*group, n), in: make([]*group, n), byID: map[transcript.Sym]*group{}}
	c.onChain()
	if len(c.list) == 0 {
		return chain
	}
	c.fragments()
	c.chainResults()
	c.resultsBelow()
	if g.rules.searchesResults {
		c.search()
	}
	if g.rules.besideGroup {
		c.notes()
	}
	return c.order()
}

func (c *groups) onChain() {
	turn := 0
	for i, r := range c.chain {
		rec := &c.x.Records[r]
		if rec.Type == transcript.User && !c.answers(r) {
			turn++
		}
		c.on[r], c.turn[i+1] = i+1, turn
		if rec.Type != transcript.Assistant || rec.Message == 0 {
			continue
		}
		t := c.byID[rec.Message]
		if t == nil {
			t = &group{number: len(c.list)}
			c.byID[rec.Message] = t
			c.list = append(c.list, t)
		}
		t.on, t.turn, c.of[r] = append(t.on, r), turn, t
	}
}

// fragments finds the other records of each message, wherever they hang.
func (c *groups) fragments() {
	for i := range c.x.Records {
		rec := &c.x.Records[i]
		if !c.node[i] || c.on[i] > 0 || rec.Type != transcript.Assistant || rec.Message == 0 {
			continue
		}
		if t := c.byID[rec.Message]; t != nil {
			t.off = append(t.off, i)
			c.of[i] = t
		}
	}
}

// parentGroup is the message that a record hangs right below, nil for none.
func (c *groups) parentGroup(i int) *group {
	if p := c.parent[i]; p >= 0 {
		return c.of[p]
	}
	return nil
}

// chainResults books the results on the chain: below a fragment, and where the
// client goes by the id, behind the call they name.
func (c *groups) chainResults() {
	called := map[transcript.Sym]*group{}
	for _, r := range c.chain {
		if t := c.of[r]; t != nil && c.rules.searchesResults && r == t.on[0] {
			c.calledBy(t, called)
		}
		if !c.answers(r) {
			continue
		}
		t := c.parentGroup(r)
		for id := range c.x.ToolIDs(r, transcript.Result) {
			if by := called[id]; by != nil {
				t = by
				break
			}
		}
		if t != nil {
			t.results = append(t.results, r)
		}
	}
}

func (c *groups) calledBy(t *group, called map[transcript.Sym]*group) {
	for _, f := range slices.Concat(t.on, t.off) {
		for id := range c.x.ToolIDs(f, transcript.Use) {
			called[id] = t
		}
	}
	delete(called, 0)
}

// resultsBelow puts in the results right below any fragment.
func (c *groups) resultsBelow() {
	for i := range c.x.Records {
		if !c.node[i] || c.on[i] > 0 || !c.answers(i) {
			continue
		}
		if t := c.parentGroup(i); t != nil {
			t.late = append(t.late, i)
			c.in[i] = t
		}
	}
}

// search gives each call that is still open the first result in the file that
// names it.
func (c *groups) search() {
	open := c.openCalls()
	if len(open) == 0 {
		return
	}
	for _, tool := range c.x.Tools {
		r := int(tool.Record)
		t := open[tool.ID]
		if t == nil || tool.Kind != transcript.Result || !c.node[r] || c.sidechain(r) || c.typ(r) != transcript.User || !c.free(r, t) {
			continue
		}
		delete(open, tool.ID)
		if c.in[r] != t {
			c.in[r] = t
			t.late = append(t.late, r)
		}
	}
	for _, t := range c.list {
		t.late = slices.DeleteFunc(t.late, func(r int) bool { return c.in[r] != t })
		slices.Sort(t.late)
	}
}

// free reports that a message may take a record: nothing of an earlier turn has
// it, and it does not stand behind on the chain.
func (c *groups) free(r int, t *group) bool {
	if at := c.on[r]; at > 0 {
		return at < c.on[t.on[0]] && c.turn[at] == t.turn
	}
	by := c.in[r]
	return by == nil || by.turn == t.turn || by.number > t.number
}

// openCalls are the calls that nothing on the chain or below their message
// answers.
func (c *groups) openCalls() map[transcript.Sym]*group {
	open := map[transcript.Sym]*group{}
	for _, t := range c.list {
		c.calledBy(t, open)
		for _, r := range slices.Concat(t.results, t.late) {
			for id := range c.x.ToolIDs(r, transcript.Result) {
				if open[id] == t {
					delete(open, id)
				}
			}
		}
	}
	return open
}

// notes finds the attachments and notes of the client below a call or a result
// that are not on the chain, if nothing else hangs below them.
func (c *groups) notes() {
	for _, t := range c.list {
		for _, r := range slices.Concat(t.on, t.off) {
			if c.calls(r) {
				c.notesBelow(t, r)
			}
		}
		for _, r := range slices.Concat(t.results, t.late) {
			c.notesBelow(t, r)
		}
		slices.Sort(t.beside)
	}
}

func (c *groups) notesBelow(t *group, r int) {
	c.childrenOf(r, func(child int) {
		if c.in[child] != nil {
			return
		}
		notes := c.onlyNotes(t, child)
		for _, n := range notes {
			c.in[n] = t
		}
		t.beside = append(t.beside, notes...)
	})
}

// onlyNotes is the subtree below a record when it holds notes alone, none of them
// on the chain, and results of the message; nil when there is something else.
func (c *groups) onlyNotes(t *group, top int) (notes []int) {
	for queue := []int{top}; len(queue) > 0; queue = queue[1:] {
		r := queue[0]
		if by := c.in[r]; by != nil && by.number <= t.number {
			continue
		}
		if c.on[r] > 0 || !c.note(r) {
			return nil
		}
		notes = append(notes, r)
		c.childrenOf(r, func(child int) { queue = append(queue, child) })
	}
	return notes
}

// note reports a record that accompanies others.
func (c *groups) note(r int) bool {
	return !c.sidechain(r) && (c.side(r) || c.typ(r) == transcript.User && c.x.Records[r].Has(transcript.Meta) && !c.answers(r))
}

// order puts everything in its place.
func (c *groups) order() []int {
	p := places{map[int][]int{}, map[int][]int{}}
	for _, t := range c.list {
		if c.rules.fileOrder {
			t.inFileOrder(p)
		} else {
			p.after(t.on[len(t.on)-1], slices.Concat(t.off, t.late)...)
		}
	}
	out := make([]int, 0, len(c.chain))
	for _, r := range c.chain {
		out = append(out, p.ahead[r]...)
		if c.in[r] == nil {
			out = append(out, r)
		}
		out = append(out, p.behind[r]...)
	}
	return out
}

// places are records to put in before or behind others.
type places struct{ ahead, behind map[int][]int }

func (p places) before(at int, records ...int) { p.ahead[at] = append(p.ahead[at], records...) }
func (p places) after(at int, records ...int)  { p.behind[at] = append(p.behind[at], records...) }

// inFileOrder places the records that are put in among those on the chain, which
// keep their order: fragments behind the first one, results among the results.
func (t *group) inFileOrder(p places) {
	at := 0
	for _, f := range t.off {
		for at+1 < len(t.on) && t.on[at+1] < f {
			at++
		}
		p.after(t.on[at], f)
	}
	end := t.on[len(t.on)-1]
	if n := len(t.results); n > 0 {
		end = t.results[n-1]
	}
	next := 0
	for _, r := range t.late {
		for next < len(t.results) && t.results[next] < r {
			next++
		}
		if next < len(t.results) {
			p.before(t.results[next], r)
		} else {
			p.after(end, r)
		}
	}
	p.after(end, t.beside...)
}
