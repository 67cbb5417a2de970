package overlay_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/overlay"
)

func file(op overlay.Op, path, data string) overlay.Change {
	return overlay.Change{Op: op, Path: path, Bytes: int64(len(data)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(data)))}
}

func entry(op overlay.Op, path string) overlay.Change { return overlay.Change{Op: op, Path: path} }

func TestChanges(t *testing.T) {
	write := func(name, data string) func(*overlay.FS) error {
		return func(f *overlay.FS) error { return afero.WriteFile(f, name, []byte(data), 0o600) }
	}
	rename := func(a, b string) func(*overlay.FS) error {
		return func(f *overlay.FS) error { return f.Rename(a, b) }
	}
	remove := func(name string) func(*overlay.FS) error {
		return func(f *overlay.FS) error { return f.RemoveAll(name) }
	}
	mkdir := func(name string) func(*overlay.FS) error {
		return func(f *overlay.FS) error { return f.Mkdir(name, 0o700) }
	}
	type does = []func(*overlay.FS) error
	for name, test := range map[string]struct {
		does does
		want []overlay.Change
	}{
		"nothing": {nil, nil},
		"only read": {does{func(f *overlay.FS) error {
			return afero.Walk(f, "/", func(string, os.FileInfo, error) error { return nil })
		}}, nil},
		"created":           {does{write("/d/new", "x")}, []overlay.Change{file(overlay.Create, "/d/new", "x")}},
		"created and gone":  {does{write("/d/new", "x"), remove("/d/new")}, nil},
		"replaced":          {does{write("/d/a", "x")}, []overlay.Change{file(overlay.Replace, "/d/a", "x")}},
		"replaced and back": {does{write("/d/a", "x"), write("/d/a", "/d/a")}, nil},
		"mode, time, owner": {does{
			func(f *overlay.FS) error { return f.Chmod("/d/a", 0o400) },
			func(f *overlay.FS) error { return f.Chtimes("/d", now(), now()) },
			func(f *overlay.FS) error { return f.Chown("/d/b", 1, 1) },
		}, nil},
		"removed": {does{remove("/d/a")}, []overlay.Change{entry(overlay.Remove, "/d/a")}},
		"removed tree": {does{remove("/d")}, []overlay.Change{
			entry(overlay.Remove, "/d"), entry(overlay.Remove, "/d/a"), entry(overlay.Remove, "/d/b"),
			entry(overlay.Remove, "/d/e"), entry(overlay.Remove, "/d/e/c")}},
		"renamed":          {does{rename("/d/a", "/f")}, []overlay.Change{entry(overlay.Remove, "/d/a"), file(overlay.Create, "/f", "/d/a")}},
		"renamed over":     {does{rename("/d/a", "/d/b")}, []overlay.Change{entry(overlay.Remove, "/d/a"), file(overlay.Replace, "/d/b", "/d/a")}},
		"renamed and back": {does{rename("/d", "/e"), rename("/e", "/d")}, nil},
		"exchanged": {does{func(f *overlay.FS) error { return f.Exchange("/d/a", "/d/b") }}, []overlay.Change{
			file(overlay.Replace, "/d/a", "/d/b"), file(overlay.Replace, "/d/b", "/d/a")}},
		"linked": {does{func(f *overlay.FS) error { return f.Link("/d/a", "/l") }}, []overlay.Change{file(overlay.Create, "/l", "/d/a")}},
		"renamed tree": {does{rename("/d/e", "/e"), write("/e/new", "x")}, []overlay.Change{
			entry(overlay.Remove, "/d/e"), entry(overlay.Remove, "/d/e/c"),
			entry(overlay.Mkdir, "/e"), file(overlay.Create, "/e/c", "/d/e/c"), file(overlay.Create, "/e/new", "x")}},
		"new folder, same name": {does{remove("/d"), mkdir("/d"), write("/d/a", "/d/a"), write("/d/n", "x")}, []overlay.Change{
			entry(overlay.Remove, "/d/b"), entry(overlay.Remove, "/d/e"), entry(overlay.Remove, "/d/e/c"), file(overlay.Create, "/d/n", "x")}},
		"file where a folder was": {does{remove("/d/e"), write("/d/e", "x")}, []overlay.Change{
			entry(overlay.Remove, "/d/e"), file(overlay.Create, "/d/e", "x"), entry(overlay.Remove, "/d/e/c")}},
		"folder where a file was": {does{remove("/d/a"), mkdir("/d/a")}, []overlay.Change{
			entry(overlay.Remove, "/d/a"), entry(overlay.Mkdir, "/d/a")}},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := over(t, "/d/a", "/d/b", "/d/e/c")
			for _, do := range test.does {
				must(t, do(f))
			}
			got, err := f.Changes()
			must(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesOfLinks(t *testing.T) {
	f, at := linked(t)
	must(t, f.Rename(at("link"), at("renamed")))
	must(t, f.Exchange(at("chain"), at("dangling")))
	must(t, fsys.WriteFile(f, at("absolute"), "t", []byte("x")))
	must(t, afero.WriteFile(f, at("real/up"), []byte("y"), 0))
	got, err := f.Changes()
	must(t, err)
	want := []overlay.Change{
		entry(overlay.Remove, at("absolute")), file(overlay.Create, at("absolute"), "x"),
		entry(overlay.Replace, at("chain")), entry(overlay.Replace, at("dangling")),
		entry(overlay.Remove, at("link")),
		file(overlay.Replace, at("real/file"), "y"),
		entry(overlay.Create, at("renamed")),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
