package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precis-dev/precis/engine/step"
)

// listCommand writes what is below a path, with modes, times and digests: list . f.
func listCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: list PATH FILE")
	}
	root := ts.MkAbs(args[0])
	var b strings.Builder
	ts.Check(filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		fmt.Fprintf(&b, "%s %v %s", filepath.ToSlash(rel), info.Mode(), info.ModTime().UTC().Format(time.RFC3339Nano))
		if info.Mode().IsRegular() {
			fmt.Fprintf(&b, " %d %x", info.Size(), sha256.Sum256([]byte(ts.ReadFile(name))))
		}
		b.WriteByte('\n')
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// ageCommand sets a file's time: age FILE 2h, for two hours ago, or a time of its
// own: age FILE 2026-01-02T03:04:05Z.
func ageCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: age FILE DURATION|TIME")
	}
	at, err := time.Parse(time.RFC3339, args[1])
	if err != nil {
		ago, err := time.ParseDuration(args[1])
		ts.Check(err)
		at = time.Now().Add(-ago)
	}
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), at, at))
}

// flipCommand changes a byte of a file, or of its Nth line: flip FILE OFFSET [LINE].
// An offset below 0 is from the end.
func flipCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: flip FILE OFFSET [LINE]")
	}
	data := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(args) == 3 {
		line, err := strconv.Atoi(args[2])
		ts.Check(err)
		at += len(strings.Join(strings.SplitAfter(string(data), "\n")[:line-1], ""))
	}
	if at < 0 { // from the end
		at += len(data)
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// cutCommand runs precis and sends it a signal when it has finished N sessions:
// cut KILL 1 run job.yaml. What it told is in the file events. After STOP the
// process stands still until the script ends.
func cutCommand(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}
	if neg || len(args) < 3 || signals[args[0]] == 0 {
		ts.Fatalf("usage: cut INT|TERM|HUP|KILL|STOP N ARG...")
	}
	after, err := strconv.Atoi(args[1])
	ts.Check(err)
	cmd := exec.Command(precis(ts), append(args[2:], "--json")...)
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	var told strings.Builder
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		told.WriteString(lines.Text() + "\n")
		if !strings.HasPrefix(lines.Text(), `{"event":"item-finished"`) {
			continue
		}
		if after--; after == 0 {
			ts.Check(cmd.Process.Signal(signals[args[0]]))
			if args[0] == "STOP" {
				ts.Defer(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
				return
			}
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("events"), []byte(told.String()), 0o600))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		ts.Fatalf("the run was not cut short: %v", err)
	}
}

// precis is the program as the scripts find it.
func precis(ts *testscript.TestScript) string {
	dir := filepath.SplitList(ts.Getenv("PATH"))[0]
	return filepath.Join(dir, "precis")
}

// sumsCommand holds the files that the last event of a run names to their sizes and
// digests.
func sumsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sums FILE")
	}
	text := strings.TrimSpace(ts.ReadFile(args[0]))
	var run struct {
		Items []struct{ Outputs []step.Published }
	}
	ts.Check(json.Unmarshal([]byte(text[strings.LastIndex(text, "\n")+1:]), &run))
	files := 0
	for _, i := range run.Items {
		for _, p := range i.Outputs {
			files++
			data := ts.ReadFile(p.Path)
			if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(data))); int64(len(data)) != p.Bytes || sum != p.SHA256 {
				ts.Fatalf("%s: %d bytes, %s; want %d, %s", p.Path, len(data), sum, p.Bytes, p.SHA256)
			}
		}
	}
	if files == 0 {
		ts.Fatalf("%s names no file", args[0])
	}
}
