package main_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ownMounts is set in the process that may mount, to a folder for that: it has a
// mount namespace of its own, so that nothing stays mounted whatever becomes of it.
const ownMounts = "PRECIS_TEST_OWN_MOUNTS"

func TestFullDisk(t *testing.T) {
	if os.Getenv(ownMounts) == "" {
		withOwnMounts(t)
		return
	}
	must(t, syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	must(t, syscall.Mount("tmpfs", os.Getenv(ownMounts), "tmpfs", 0, "mode=700"))
	t.Setenv("TMPDIR", os.Getenv(ownMounts)) // what is not full is fast
	items, n := full(200, 20), full(*rounds, 2)
	sessions := batch(t, items)
	want, _ := straight(t, sessions)
	found := counts{}
	for _, small := range []string{"everything", "out", ".precis"} {
		need := diskNeed(t, sessions, small)
		for round := range n {
			d := fullDisk{batchGround(t, sessions), items, small}
			found[small+": "+d.round(need*int64(round)/int64(n), want)]++
			if t.Failed() {
				t.Fatalf("%s, %d of %d bytes free", small, need*int64(round)/int64(n), need)
			}
		}
	}
	t.Logf("%d rounds:%s", 3*n, found)
}

// withOwnMounts runs the test again where it may mount.
func withOwnMounts(t *testing.T) {
	args := []string{"-test.run=^TestFullDisk$", "-test.v", fmt.Sprint("-rounds=", *rounds)}
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), ownMounts+"="+t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	}
	out, err := c.CombinedOutput()
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSPC):
		t.Skipf("mounting is not permitted here: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// fullDisk is a batch that has a small disk for all that it writes, or for its
// outputs or its state alone.
type fullDisk struct {
	ground
	items int
	small string
}

// mount puts the small disk in place.
func (d fullDisk) mount(size int64) {
	d.t.Helper()
	at := d.path("disk")
	must(d.t, os.MkdirAll(at, 0o700))
	must(d.t, syscall.Mount("tmpfs", at, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)))
	d.t.Cleanup(func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) })
	for _, name := range []string{"out", ".precis"} {
		if d.small == name || d.small == "everything" {
			must(d.t, os.MkdirAll(filepath.Join(at, name), 0o700), os.Symlink("disk/"+name, d.path(name)))
		}
	}
}

// diskNeed is how much of the disk a straight run takes.
func diskNeed(t *testing.T, sessions, small string) int64 {
	t.Helper()
	d := fullDisk{ground: batchGround(t, sessions), small: small}
	d.mount(1 << 30)
	free := d.free()
	d.must("run", "job.yaml")
	return free - d.free()
}

func (d fullDisk) free() int64 {
	d.t.Helper()
	var s syscall.Statfs_t
	must(d.t, syscall.Statfs(d.path("disk"), &s))
	return int64(s.Bfree) * s.Bsize
}

// round fills the disk so that only some bytes are free, runs the batch into it,
// makes room and goes on. It says how far the batch came.
func (d fullDisk) round(free int64, want map[string]string) string {
	const size = 64 << 20
	d.mount(size)
	if n := d.free() - free; n > 0 {
		d.write("disk/filler", make([]byte, n))
	}
	e := d.run("run", "job.yaml")
	d.told(e)
	d.whole(want)
	must(d.t, os.Remove(d.path("disk/filler")))
	state := tenth(d.begun(d.items))
	d.must(d.goOn(d.items, "run", "job.yaml")...)
	d.finished(d.items, want)
	if d.t.Failed() {
		d.t.Log(e)
	}
	return state
}

// told checks that the program says once what is wrong.
func (d fullDisk) told(e ending) {
	d.t.Helper()
	said := e.errOut
	full := strings.Count(said, "no space left on device")
	code := 1
	if strings.Contains(e.out, fmt.Sprintf("\n%d done;", d.items)) {
		code = 3
	}
	if e.code != code || full != 1 || !strings.Contains(said, "next: ") {
		d.t.Errorf("exit %d, want %d; %d times told that the disk is full", e.code, code, full)
	}
	if n := strings.Count(e.out, "no space left") + strings.Count(e.out, "disk is full"); n > 0 {
		d.t.Errorf("told %d times more for single sessions", n)
	}
}

// whole checks that every output there is is whole, and nothing else.
func (d fullDisk) whole(want map[string]string) {
	d.t.Helper()
	got := d.files("out")
	maps.DeleteFunc(got, func(name, text string) bool { return want[name] == text })
	for name, text := range got {
		d.t.Errorf("%s with %d bytes is in the output folder", name, len(text))
	}
}
