// Package sessions finds and opens the session files of a job.
package sessions

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// Find resolves the job's input to files, sorted by path, each once. A path
// without wildcards is taken as it is: if it is missing, [Open] refuses it, and
// the other sessions of the job run. What lies in the state folder is no session.
func Find(f afero.Fs, job *spec.Job, state string) ([]step.Item, error) {
	paths := map[string]bool{}
	for _, pattern := range job.Input.Sessions {
		found, err := glob(f, job.Resolve(pattern))
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !within(state, p) {
				paths[p] = true
			}
		}
	}
	for _, pattern := range job.Input.Exclude {
		for p := range paths {
			if match, _ := doublestar.PathMatch(job.Resolve(pattern), p); match {
				delete(paths, p)
			}
		}
	}
	return items(f, paths, job.Publish.To != "candidate")
}

// within tells whether a path lies in the state folder.
func within(state, path string) bool {
	if state == "" {
		return false
	}
	a, errA := filepath.Abs(state)
	b, errB := filepath.Abs(path)
	rel, err := filepath.Rel(a, b)
	return errA == nil && errB == nil && err == nil && filepath.IsLocal(rel)
}

// items names the files after their stems. Two of one stem would have one output;
// where outputs are not named after them, they get their folder's name in front.
func items(f afero.Fs, paths map[string]bool, shared bool) ([]step.Item, error) {
	var out []step.Item
	seen := map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		id := strings.ToValidUTF8(Stem(p), "\uFFFD")
		if _, taken := seen[id]; taken && shared {
			id = strings.ToValidUTF8(filepath.Base(filepath.Dir(p)), "\uFFFD") + "+" + id
		}
		if other, taken := seen[id]; taken {
			return nil, &step.Refusal{
				Class:   "session-names-collide",
				Message: fmt.Sprintf("%s and %s have one name, so their outputs would be one file", other, p),
				Next:    "run them as two jobs with different publish.path, or exclude one",
			}
		}
		seen[id] = p
		item := step.Item{ID: id, Source: p, Label: p}
		if info, err := f.Stat(p); err == nil {
			item.Bytes = info.Size()
		}
		out = append(out, item)
	}
	return out, nil
}

// Stem is a session's name: its file name without the extension.
func Stem(p string) string {
	base := filepath.Base(p)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// glob lists the files of one pattern. Of those that wildcards match, folders are passed over, and links to
// folders are not followed: they may lead back. What is neither file nor folder
// is left for the opening to refuse.
func glob(f afero.Fs, pattern string) ([]string, error) {
	if !hasMeta(pattern) {
		return []string{filepath.Clean(pattern)}, nil
	}
	base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	base = filepath.FromSlash(base)
	names, err := doublestar.Glob(afero.NewIOFS(afero.NewBasePathFs(f, base)), rest, doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil && !isNotExist(err) {
		return nil, &step.Refusal{Class: "unreadable-folder", Message: "a folder of input.sessions cannot be read", Place: step.Place{File: base}, Next: "make it readable, or narrow input.sessions", Err: cause(err)}
	}
	for i, n := range names {
		names[i] = filepath.Join(base, filepath.FromSlash(n))
	}
	return names, nil
}

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[{`) }

func isNotExist(err error) bool { return strings.Contains(err.Error(), fs.ErrNotExist.Error()) }

// cause is the innermost reason, without the path that is in the place already.
func cause(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}
