package summary

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// change is what a call does to a file.
type change uint8

const (
	reads change = iota
	edits
	writes
	creates
	deletes
	moves
)

type touch struct {
	path string
	how  change
}

// fileTools are the tools whose input names a file, in lower case.
var fileTools = map[string]change{
	"read": reads, "read_file": reads, "view": reads,
	"write": writes, "write_file": writes, "create_file": creates,
	"edit": edits, "multiedit": edits, "notebookedit": edits, "edit_file": edits, "str_replace": edits,
}

// files counts what happened to every path.
type files struct {
	paths map[string]*file
}

type file struct {
	path           string
	reads, changes int
	readAt, at     int // last record
	fate           change
}

func (f *files) touch(t touch, n int) {
	if f.paths == nil {
		f.paths = map[string]*file{}
	}
	p := f.paths[t.path]
	if p == nil {
		p = &file{path: strings.Clone(t.path)} // not the command it is part of
		f.paths[p.path] = p
	}
	if t.how == reads {
		p.reads++
		p.readAt = n
		return
	}
	p.changes++
	p.at = n
	if t.how != edits || p.fate != creates && p.fate != writes {
		p.fate = t.how
	}
}

// changed returns the paths that were changed, last changed first.
func (f *files) changed() []*file {
	return f.sorted(func(p *file) int { return p.at })
}

// read returns the paths that were only read, last read first.
func (f *files) read() []*file {
	return f.sorted(func(p *file) int {
		if p.changes > 0 {
			return 0
		}
		return p.readAt
	})
}

func (f *files) sorted(at func(*file) int) []*file {
	var out []*file
	for _, p := range f.paths {
		if at(p) > 0 {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *file) int {
		return cmp.Or(cmp.Compare(at(b), at(a)), cmp.Compare(a.path, b.path))
	})
	return out
}

// weight rates a changed file: by its changes, and low outside of the folder
// of the work, where scratch files are.
func (p *file) weight(cwd string) int {
	if cwd != "" && (strings.HasPrefix(p.path, "/") || strings.Contains(p.path, `:\`)) && !strings.HasPrefix(p.path, cwd) {
		return 1
	}
	return 2 + min(p.changes, 20)
}

// told says what became of a file.
func (p *file) told() string {
	word := map[change]string{edits: "edited", writes: "written", creates: "created", deletes: "deleted", moves: "moved away"}[p.fate]
	switch {
	case p.changes > 1 && (p.fate == deletes || p.fate == moves):
		word = "changed, then " + word
	case p.changes > 1 && p.fate != edits:
		word += " and changed " + strconv.Itoa(p.changes-1) + "×"
	case p.changes > 1:
		word += " " + strconv.Itoa(p.changes) + "×"
	}
	return word
}

// short names a path from the working folder.
func short(path, cwd string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimRight(cwd, `/\`)); ok && cwd != "" && rest != "" && strings.ContainsRune(`/\`, rune(rest[0])) {
		path = rest[1:]
	}
	return ticked(reduce(safe(flat(path)), 200))
}

// todos is the newest state of the task list.
type todos struct {
	at    int
	tasks []task
}

type task struct {
	id, text, status string
	n                int
}

const maxTasks = 200

// replace takes over a whole list, as TodoWrite gives it.
func (t *todos) replace(n int, list string) {
	var rows []struct{ Content, Status string }
	if json.Unmarshal([]byte(list), &rows) != nil {
		return
	}
	*t = todos{at: n}
	for _, r := range rows[:min(len(rows), maxTasks)] {
		t.tasks = append(t.tasks, task{text: r.Content, status: r.Status, n: n})
	}
}

func (t *todos) create(n int, number []string, subject string) {
	if len(number) != 2 || len(t.tasks) >= maxTasks {
		return
	}
	t.at = n
	t.tasks = append(t.tasks, task{id: strings.Clone(number[1]), text: strings.Clone(reduce(flat(subject), longest)), status: "pending", n: n})
}

func (t *todos) update(n int, id, status string) {
	for i := range t.tasks {
		if t.tasks[i].id == id && id != "" {
			t.tasks[i].status, t.tasks[i].n, t.at = status, n, n
		}
	}
}
