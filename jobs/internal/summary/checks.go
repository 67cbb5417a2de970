package summary

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
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
			delete(r.byKey, slices.MinFunc(slices.Collect(maps.Values(r.byKey)), older[T]).key)
		}
		d = &dated[T]{key: key}
		r.byKey[key] = d
	}
	d.n = n
	return &d.value
}

// sorted returns the entries, least recently used first.
func (r *recent[T]) sorted() []*dated[T] {
	return slices.SortedFunc(maps.Values(r.byKey), older[T])
}

func older[T any](a, b *dated[T]) int {
	return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.key, b.key))
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

// newest returns the last run of every class.
func (c *checks) newest() map[string]*dated[run] {
	out := map[string]*dated[run]{}
	for _, d := range c.runs.sorted() { // the last one stays
		out[d.value.class] = d
	}
	return out
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
	what        string // the last call that failed
	detail      string
	check       bool // a test, build or lint
	first, last int
	times       int
	cured       int // record of the first success after it
}

// add notes a failure, or that what failed before has worked. Wrong use of a
// tool, and searches that find nothing, are no failures of the work.
func (f *faults) add(p pendingCall, e Entry, out outcome) {
	if out.ok {
		f.cure(p, e.N)
		return
	}
	if p.command.class == "quiet" || misuse(e.Text) || out.detail == "" {
		return
	}
	v := f.at(p.faultKey(), e.N)
	if v.cured > 0 || v.times == 0 {
		v.first, v.times, v.cured = p.n, 0, 0
	}
	v.what, v.detail, v.last, v.check = p.target, out.detail, e.N, p.command.isCheck()
	v.times++
}

// faultKey is what failures count as the same by: a check by its command, with
// its arguments, any other command by its first words.
func (p pendingCall) faultKey() string {
	if p.command.key == "" || p.command.isCheck() {
		return p.target
	}
	first, rest, _ := strings.Cut(p.command.key, " ")
	second, _, found := strings.Cut(rest, " ")
	if !found {
		return p.command.key
	}
	return p.command.key[:len(first)+1+len(second)]
}

// cure notes what a success settles: the same call, and the narrower runs of
// the same check.
func (f *faults) cure(p pendingCall, n int) {
	if d := f.byKey[p.faultKey()]; d != nil && d.value.cured == 0 {
		d.value.cured = n
	}
	if !p.command.isCheck() {
		return
	}
	spaces := strings.Count(p.command.key, " ")
	for _, d := range f.byKey {
		narrower := d.value.check && strings.HasPrefix(d.key, p.command.head+" ") && strings.Count(d.key, " ") >= spaces
		if narrower && d.value.cured == 0 {
			d.value.cured = n
		}
	}
}

// misuse reports that the client turned the call down before it ran.
func misuse(text string) bool {
	return len(text) > 0 && text[0] == '<' && clientTag.FindString(text[:min(len(text), 20)]) == "<tool_use_error"
}
