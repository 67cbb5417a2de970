package fsys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// proc is where the kernel shows its processes (proc(5)).
const proc = "/proc"

// OpenBy compares the file with every open file of every process by device and
// inode: the link that /proc shows for an open file leads to it even when it has
// lost its name or got another.
func (osFS) OpenBy(name string) ([]int, error) {
	want, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, pid := range all {
		if pid != os.Getpid() && holds(pid, want) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func processes() ([]int, error) {
	list, err := readProc(os.ReadDir, proc)
	var pids []int
	for _, e := range list {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, err
}

// readProc reads what is there whenever /proc is. Where it is not, nothing is
// known of any process, which must not look like a process that does not exist.
func readProc[T any](read func(string) (T, error), name string) (T, error) {
	v, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("no %s: %w", name, errors.ErrUnsupported)
	}
	return v, err
}

// holds tells whether a process has a file open, as far as it shows its files
// and does not end or close them meanwhile.
func holds(pid int, want fs.FileInfo) bool {
	dir := filepath.Join(proc, strconv.Itoa(pid), "fd")
	fds, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer fds.Close()
	names, _ := fds.Readdirnames(-1)
	return slices.ContainsFunc(names, func(fd string) bool {
		got, err := os.Stat(filepath.Join(dir, fd))
		return err == nil && os.SameFile(got, want)
	})
}

// Started is made of the boot and the clock ticks from it to the start.
func (osFS) Started(pid int) (string, error) {
	boot, err := readProc(os.ReadFile, proc+"/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	name := filepath.Join(proc, strconv.Itoa(pid), "stat")
	stat, err := os.ReadFile(name)
	if errors.Is(err, syscall.ESRCH) { // it ended while its file was read
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return "", err
	}
	ticks, err := startTicks(stat)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Sprintf("linux:%s:%s", bytes.TrimSpace(boot), ticks), nil
}

// startTicks is field 22 of a process's stat file. The second is the program's
// name in parentheses, in which anything may stand; the third follows the last
// of them.
func startTicks(stat []byte) (string, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 22-2 {
		return "", errors.New("no start time")
	}
	return fields[22-3], nil
}
