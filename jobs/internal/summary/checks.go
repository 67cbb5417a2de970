package summary

import (
	"cmp"
	"slices"
	"strconv"
)

// recent is a set of records by key that forgets the one least recently used.
type recent[T any] struct {
	limit int
	byKey map[string]*dated[T]
}

type dated[T any] struct {
	key   string
	n     int // record of the last use
	value T
}

func (r *recent[T]) at(key string, n int) *T {
	if r.byKey == nil {
		r.byKey = map[string]*dated[T]{}
	}
	d := r.byKey[key]
	if d == nil {
		if len(r.byKey) >= r.limit {
			delete(r.byKey, r.sorted()[0].key)
		}
		d = &dated[T]{key: key}
		r.byKey[key] = d
	}
	d.n = n
	return &d.value
}

// sorted returns the entries, least recently used first.
func (r *recent[T]) sorted() []*dated[T] {
	var out []*dated[T]
	for _, d := range r.byKey {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *dated[T]) int {
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.key, b.key))
	})
	return out
}

// checks holds the tests, builds and other commands with a class.
type checks struct {
	runs recent[run]
}

type run struct {
	class   string
	n       int // record of the last call
	ok, bad int
	last    outcome
}

func (c *checks) add(p pendingCall, n int, out outcome) {
	switch p.command.class {
	case "test", "build", "lint", "land":
	default:
		return
	}
	r := c.runs.at(p.command.key, n)
	r.class, r.n, r.last = p.command.class, p.n, out
	if out.ok {
		r.ok++
	} else {
		r.bad++
	}
}

// told says how a command went, the last run first.
func (r *run) told() string {
	s := "ok"
	if !r.last.ok {
		s = "failed"
	}
	if r.last.detail != "" {
		s += " (" + r.last.detail + ")"
	}
	if all := r.ok + r.bad; all > 1 {
		s += "; " + strconv.Itoa(all) + " runs"
		if r.bad > 0 {
			s += ", " + strconv.Itoa(r.bad) + " failed"
		}
	}
	return s
}

// faults holds the calls that failed and whether the same thing worked later.
type faults struct {
	recent[fault]
}

type fault struct {
	detail      string
	first, last int
	times       int
	cured       int // record of the first success after it
}

// add notes a failure, or that what failed before has worked. Wrong use of a
// tool, and searches that find nothing, are no failures of the work.
func (f *faults) add(p pendingCall, e Entry, out outcome) {
	key := p.target
	if out.ok {
		if d := f.byKey[key]; d != nil && d.value.cured == 0 {
			d.value.cured = p.n
		}
		return
	}
	if p.command.class == "quiet" || misuse(e.Text) || out.detail == "" {
		return
	}
	v := f.at(key, e.N)
	if v.cured > 0 || v.times == 0 {
		v.first, v.times, v.cured = p.n, 0, 0
	}
	v.detail, v.last = out.detail, e.N
	v.times++
}

// misuse reports that the client turned the call down before it ran.
func misuse(text string) bool {
	return len(text) > 0 && text[0] == '<' && clientTag.FindString(text[:min(len(text), 20)]) == "<tool_use_error"
}
