package client

import (
	"cmp"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// group are the records of one assistant message and what answers it. Parallel
// calls are written as a small tree; the parent walk passes one line of it only.
type group struct {
	turn    int32   // of the chain, counted by what the person says
	on      []int32 // fragments on the chain, in its order
	off     []int32 // fragments beside it, in file order
	results []int32 // on the chain, in its order
	late    []int32 // results that are put in, in file order
	beside  []int32 // attachments and notes that are put in, in file order
}

// groups completes the chain by the records of its messages (W3). A group is
// known by its number from 1, in the order of the chain; 0 is none.
type groups struct {
	*graph
	chain []int
	on    []int32 // by record: its position on the chain from 1, 0 beside it
	turn  []int32 // by position on the chain
	of    []int32 // by record: the message it is a fragment of
	in    []int32 // by record: the message it is put in with
	list  []group
}

// complete returns the chain with what belongs to its messages put in.
func (g *graph) complete(chain []int) []int {
	n := len(g.x.Records)
	c := &groups{graph: g, chain: chain, on: make([]int32, n), turn: make([]int32, len(chain)+1), of: make([]int32, n), in: make([]int32, n)}
	byMessage := c.onChain()
	if len(c.list) == 0 {
		return chain
	}
	c.fragments(byMessage)
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

func (c *groups) group(number int32) *group { return &c.list[number-1] }

// onChain finds the messages of the chain; it returns their groups by message.id.
func (c *groups) onChain() []int32 {
	byMessage := c.number()
	turn := int32(0)
	for i, r := range c.chain {
		rec := &c.x.Records[r]
		if rec.Type == transcript.User && !c.answers(r) {
			turn++
		}
		c.on[r], c.turn[i+1] = int32(i)+1, turn
		if number := byMessage[rec.Message]; number > 0 && rec.Type == transcript.Assistant {
			t := c.group(number)
			t.on, t.turn, c.of[r] = append(t.on, int32(r)), turn, number
		}
	}
	return byMessage
}

// number gives each message of the chain its number, by message.id.
func (c *groups) number() []int32 {
	byMessage := make([]int32, c.x.Symbols())
	n := int32(0)
	for _, r := range c.chain {
		rec := &c.x.Records[r]
		if rec.Type == transcript.Assistant && rec.Message != 0 && byMessage[rec.Message] == 0 {
			n++
			byMessage[rec.Message] = n
		}
	}
	c.list = make([]group, n)
	return byMessage
}

// fragments finds the other records of each message, wherever they hang.
func (c *groups) fragments(byMessage []int32) {
	for i := range c.x.Records {
		rec := &c.x.Records[i]
		if !c.node[i] || c.on[i] > 0 || rec.Type != transcript.Assistant || rec.Message == 0 {
			continue
		}
		if number := byMessage[rec.Message]; number > 0 {
			t := c.group(number)
			t.off = append(t.off, int32(i))
			c.of[i] = number
		}
	}
}

// messageAbove is the message that a record hangs right below, 0 for none.
func (c *groups) messageAbove(i int) int32 {
	if p := c.above(i); p >= 0 {
		return c.of[p]
	}
	return 0
}

// chainResults books the results on the chain: below a fragment, and where the
// client goes by the id, behind the call they name.
func (c *groups) chainResults() {
	called := make([]int32, c.x.Symbols())
	for _, r := range c.chain {
		if number := c.of[r]; number > 0 && c.rules.searchesResults && int(c.group(number).on[0]) == r {
			c.eachCall(number, func(id transcript.Sym) { called[id] = number })
		}
		if !c.answers(r) {
			continue
		}
		number := c.messageAbove(r)
		for id := range c.x.ToolIDs(r, transcript.Result) {
			if called[id] > 0 {
				number = called[id]
				break
			}
		}
		if number > 0 {
			t := c.group(number)
			t.results = append(t.results, int32(r))
		}
	}
}

// eachCall gives the ids of a message's calls.
func (c *groups) eachCall(number int32, each func(id transcript.Sym)) {
	t := c.group(number)
	for _, list := range [...][]int32{t.on, t.off} {
		for _, f := range list {
			for id := range c.x.ToolIDs(int(f), transcript.Use) {
				if id != 0 {
					each(id)
				}
			}
		}
	}
}

// resultsBelow puts in the results right below any fragment.
func (c *groups) resultsBelow() {
	for i := range c.x.Records {
		if !c.node[i] || c.on[i] > 0 || !c.answers(i) {
			continue
		}
		if number := c.messageAbove(i); number > 0 {
			t := c.group(number)
			t.late = append(t.late, int32(i))
			c.in[i] = number
		}
	}
}

// search gives each call that is still open the first result in the file that
// names it.
func (c *groups) search() {
	open, n := c.openCalls()
	if n == 0 {
		return
	}
	for _, tool := range c.x.Tools {
		r, number := int(tool.Record), open[tool.ID]
		if number == 0 || tool.Kind != transcript.Result || !c.node[r] || c.sidechain(r) || c.typ(r) != transcript.User || !c.free(r, number, tool.ID) {
			continue
		}
		open[tool.ID] = 0
		if c.in[r] != number {
			c.in[r] = number
			t := c.group(number)
			t.late = append(t.late, int32(r))
		}
	}
	for i := range c.list {
		t := &c.list[i]
		t.late = slices.DeleteFunc(t.late, func(r int32) bool { return c.in[r] != int32(i)+1 })
	}
}

// free reports that a message may take a record: nothing of an earlier turn has
// it, and it does not stand behind on the chain.
func (c *groups) free(r int, number int32, id transcript.Sym) bool {
	t := c.group(number)
	if at := c.on[r]; at > 0 {
		return at < c.on[t.on[0]] && c.turn[at] == t.turn
	}
	if p := c.above(r); p >= 0 && c.of[p] != number && slices.Contains(slices.Collect(c.x.ToolIDs(p, transcript.Use)), id) {
		return false // it answers another call of this id
	}
	by := c.in[r]
	return by == 0 || by > number || c.group(by).turn == t.turn
}

// openCalls are the calls that nothing on the chain or below their message
// answers, as the numbers of their messages by id, and how many there are.
func (c *groups) openCalls() (open []int32, n int) {
	open = make([]int32, c.x.Symbols())
	for i := range c.list {
		number := int32(i) + 1
		c.eachCall(number, func(id transcript.Sym) {
			if open[id] == 0 {
				n++
			}
			open[id] = number
		})
		t := c.group(number)
		for _, list := range [...][]int32{t.results, t.late} {
			for _, r := range list {
				for id := range c.x.ToolIDs(int(r), transcript.Result) {
					if open[id] == number {
						open[id] = 0
						n--
					}
				}
			}
		}
	}
	return open, n
}

// notes finds the attachments and notes of the client below a call or a result
// that are not on the chain, if nothing else hangs below them.
func (c *groups) notes() {
	for i := range c.list {
		number, t := int32(i)+1, &c.list[i]
		for _, list := range [...][]int32{t.on, t.off} {
			for _, r := range list {
				if c.calls(int(r)) {
					c.notesBelow(number, int(r))
				}
			}
		}
		for _, list := range [...][]int32{t.results, t.late} {
			for _, r := range list {
				c.notesBelow(number, int(r))
			}
		}
	}
}

func (c *groups) notesBelow(number int32, r int) {
	for _, child := range c.childrenPast(r) {
		if c.in[child] > 0 {
			continue
		}
		for _, n := range c.onlyNotes(number, child) {
			c.in[n] = number
			t := c.group(number)
			t.beside = append(t.beside, int32(n))
		}
	}
}

// childrenPast are the children of a record, and in the place of progress what
// hangs below that.
func (c *groups) childrenPast(r int) (children []int) {
	for queue := []int{r}; len(queue) > 0; queue = queue[1:] {
		c.childrenOf(queue[0], func(child int) {
			if c.typ(child) == transcript.Progress {
				queue = append(queue, child)
			} else {
				children = append(children, child)
			}
		})
	}
	return children
}

// onlyNotes is the subtree below a record when it holds notes alone, none of them
// on the chain, and results of the message; nil when there is something else.
func (c *groups) onlyNotes(number int32, top int) (notes []int) {
	for queue := []int{top}; len(queue) > 0; queue = queue[1:] {
		r := queue[0]
		if by := c.in[r]; by > 0 && by <= number {
			continue
		}
		if c.on[r] > 0 || !c.note(r) {
			return nil
		}
		notes = append(notes, r)
		queue = append(queue, c.childrenPast(r)...)
	}
	return notes
}

// note reports a record that accompanies others.
func (c *groups) note(r int) bool {
	return !c.sidechain(r) && (c.side(r) || c.typ(r) == transcript.User && c.x.Records[r].Has(transcript.Meta) && !c.answers(r))
}

// order puts everything in its place.
func (c *groups) order() []int {
	p := places{map[int32][]int32{}, map[int32][]int32{}}
	for i := range c.list {
		t := &c.list[i]
		for _, list := range [...][]int32{t.off, t.late, t.beside} {
			slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(c.place(a), c.place(b)) })
		}
		if c.rules.fileOrder {
			c.inFileOrder(t, p)
		} else {
			p.after(t.on[len(t.on)-1], t.off...)
			p.after(t.on[len(t.on)-1], t.late...)
		}
	}
	out := make([]int, 0, len(c.chain))
	for _, r := range c.chain {
		for _, put := range p.ahead[int32(r)] {
			out = append(out, int(put))
		}
		if c.in[r] == 0 {
			out = append(out, r)
		}
		for _, put := range p.behind[int32(r)] {
			out = append(out, int(put))
		}
	}
	return out
}

// places are records to put in before or behind others.
type places struct{ ahead, behind map[int32][]int32 }

func (p places) before(at int32, records ...int32) { p.ahead[at] = append(p.ahead[at], records...) }

func (p places) after(at int32, records ...int32) {
	if len(records) > 0 {
		p.behind[at] = append(p.behind[at], records...)
	}
}

// inFileOrder places the records that are put in among those on the chain, which
// keep their order: fragments behind the first one, results among the results.
func (c *groups) inFileOrder(t *group, p places) {
	at := 0
	for _, f := range t.off {
		for at+1 < len(t.on) && c.place(t.on[at+1]) < c.place(f) {
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
		for next < len(t.results) && c.place(t.results[next]) < c.place(r) {
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
