package spec

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// sessionName is replaced by the session's name in publish.path.
const sessionName = "{session}"

// resolver resolves the symbolic links of a path.
type resolver func(name string) (string, error)

// checkRules holds the values against what a schema cannot say. Fields that a
// kind does not have are empty here.
func (d *document) checkRules(resolve resolver) error {
	d.checkGlobs("/input/sessions")
	d.checkGlobs("/input/exclude")
	outputs := []string{"/publish/workDir", "/publish/backupDir"}
	if d.str("/publish/to") == "candidate" {
		outputs = append(outputs, "/publish/path")
		d.checkUnique()
	}
	for _, ptr := range outputs {
		if err := d.checkOutside(ptr, resolve); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) checkGlobs(ptr string) {
	for i, glob := range d.list(ptr) {
		if !doublestar.ValidatePattern(filepath.ToSlash(glob)) {
			d.report(item(ptr, i), "bad-glob", "is not a valid pattern", "close every bracket and brace, or put a backslash before it")
		}
	}
}

// checkUnique makes sure that two sessions cannot have one output.
func (d *document) checkUnique() {
	sessions := d.list("/input/sessions")
	several := len(sessions) > 1
	for _, s := range sessions {
		several = several || strings.ContainsAny(s, "*?[{")
	}
	if path := d.str("/publish/path"); several && path != "" && !strings.Contains(path, sessionName) {
		d.report("/publish/path", "output-not-unique", "is one file for several sessions",
			"put "+sessionName+" in it, such as out/"+sessionName+".jsonl")
	}
}

// checkOutside refuses an output in the client's own tree, where it would turn
// up as a session, be the path spelled directly, with "..", or through a link.
func (d *document) checkOutside(ptr string, resolve resolver) error {
	name := d.str(ptr)
	if name == "" || d.spots.bad(ptr) {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(d.file), name)
	}
	name = filepath.Clean(name)
	inside := inClaudeTree(name)
	if !inside {
		real, err := resolve(name)
		if err != nil {
			return fmt.Errorf("resolve %s: %w", path(ptr), err)
		}
		inside = inClaudeTree(real)
	}
	if inside {
		d.report(ptr, "output-inside-claude-tree", "lies inside a .claude folder",
			"choose a folder outside it; what is written there turns up as a session")
	}
	return nil
}

// inClaudeTree compares without case: some volumes do.
func inClaudeTree(name string) bool {
	for elem := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if strings.EqualFold(elem, ".claude") {
			return true
		}
	}
	return false
}

func (d *document) str(ptr string) string {
	_, v := descend(nil, d.root, ptr)
	s, _ := v.(string)
	return s
}

func (d *document) list(ptr string) []string {
	_, v := descend(nil, d.root, ptr)
	values, _ := v.([]any)
	texts := make([]string, len(values))
	for i, e := range values {
		texts[i], _ = e.(string)
	}
	return texts
}
