package inuse

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// Locate refuses what is no live session file: one that may be replaced is a
// regular file *.jsonl, by its own name, below a .claude/projects folder.
func Locate(f afero.Fs, path string) error {
	_, err := locate(f, path)
	return err
}

// place is where a session lies.
type place struct {
	path     string // as it was asked for, which is what messages name
	info     fs.FileInfo
	registry string
	ids      []string // the sessions whose clients write the file
}

func locate(f afero.Fs, path string) (place, error) {
	info, err := fsys.Lstat(f, path)
	if err != nil {
		return place{}, notLive(path, "the session file cannot be found", err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return place{}, notLive(path, "it is a symbolic link; only the file itself can be replaced", nil)
	case !info.Mode().IsRegular():
		return place{}, notLive(path, "it is a folder or a special file", nil)
	}
	real, err := fsys.Canonical(f, path)
	if err != nil {
		return place{}, notLive(path, "where it lies cannot be told", err)
	}
	home, below, ok := split(real)
	id, named := strings.CutSuffix(filepath.Base(real), extension)
	if !ok || !named || id == "" {
		return place{}, notLive(path, "a live session is a file *.jsonl below a folder .claude/projects", nil)
	}
	return place{path, info, filepath.Join(home, "sessions"), append(below, id)}, nil
}

const extension = ".jsonl"

// split takes a path apart at the innermost .claude/projects, the client's own:
// the client names the folders in it without dots. below are the folders between
// it and the file. One of them is named after the session where a subagent's file
// lies.
func split(path string) (home string, below []string, ok bool) {
	var rest []string
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		parent := filepath.Dir(dir)
		if filepath.Base(dir) == "projects" && filepath.Base(parent) == ".claude" {
			slices.Reverse(rest)
			return parent, rest, true
		}
		rest = append(rest, filepath.Base(dir))
	}
	return "", nil, false
}

func notLive(path, message string, err error) error {
	return &step.Refusal{
		Class: "not-a-live-session", Message: message, Place: step.Place{File: path},
		Next: "name the client's own file, or publish a copy with publish.to: candidate", Err: cause(err),
	}
}

// cause is the innermost reason, without the path that is in the place already.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
