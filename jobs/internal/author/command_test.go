package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis/spec"
)

// asCommand is the test binary as an author: it does what it is told and ends.
func asCommand(what string) {
	switch what {
	case "answer":
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Print(theAnswer)
		fmt.Fprint(os.Stderr, thePack)
	case "prompt":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "environment":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "folder":
		dir, _ := os.Getwd()
		fmt.Print(dir)
	case "fail":
		fmt.Print(theAnswer)
		fmt.Fprint(os.Stderr, thePack)
		os.Exit(7)
	case "not reading":
		fmt.Print("short")
	case "nothing":
		fmt.Print(" \n")
		fmt.Fprint(os.Stderr, "planted")
	case "bytes":
		fmt.Print("planted \xff")
	case "endless":
		for {
			fmt.Println(strings.Repeat("planted", 100))
		}
	case "killed":
		fmt.Print("planted")
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Minute)
	case "family": // a child that holds the output open and lives on
		child := exec.Command(os.Args[0], "as-command", "sleep")
		child.Stdout = os.Stdout
		_ = child.Start()
		fmt.Println(child.Process.Pid)
		time.Sleep(time.Minute)
	case "orphan":
		child := exec.Command(os.Args[0], "as-command", "sleep")
		child.Stdout = os.Stdout
		_ = child.Start()
		fmt.Println(child.Process.Pid)
	case "sleep":
		time.Sleep(time.Minute)
	case "terminal":
		if _, err := os.Open("/dev/tty"); err == nil {
			fmt.Print("a terminal")
		} else {
			fmt.Print("none")
		}
	}
	os.Exit(0)
}

func commandAuthor(f *fakes, dir string, timeout time.Duration, args ...string) Author {
	return New(spec.Author{By: "command", Command: args, KeyEnv: "KEY", Env: []string{"MY_PROXY", "PATH", "ABSENT"}, Timeout: spec.Duration(timeout)}, dir, f.world())
}

// self is the test binary as an author that does something.
func self(t *testing.T, what string) []string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, "as-command", what}
}

func TestCommandAnswers(t *testing.T) {
	f := newFakes()
	a, err := commandAuthor(f, t.TempDir(), time.Minute, self(t, "answer")...).Write(t.Context(), prompt())
	a.Facts.ErrorBytes -= int64(len(thePack))
	if err != nil || a.Text != theAnswer || a.Facts.Calls != 1 || a.Facts.ErrorBytes < 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if last := f.progress[len(f.progress)-1]; last != (Progress{Call: 1, Chars: len([]rune(theAnswer))}) {
		t.Errorf("progress ended at %+v", last)
	}
}

func TestCommandReadsTheConversation(t *testing.T) {
	p := prompt()
	p.Pack = strings.Repeat(thePack+"\n", 500) // more than a pipe holds
	p.MaxChars = len(p.Pack)
	p.Earlier = []Attempt{{"first", theReport}, {"second", "again"}}
	a, err := commandAuthor(newFakes(), "", time.Minute, self(t, "prompt")...).Write(t.Context(), p)
	want := "Write.\n\n" + p.Pack + "\n\n# Your answer\n\nfirst\n\n# What the checker says\n\n" + theReport + "\n\n# Your answer\n\nsecond\n\n# What the checker says\n\nagain"
	if err != nil || a.Text != want {
		t.Errorf("%q, %v", a.Text, err)
	}
	if _, err := commandAuthor(newFakes(), "", time.Minute, self(t, "not reading")...).Write(t.Context(), p); err != nil {
		t.Errorf("a command that does not read: %v", err)
	}
}

func TestCommandEnvironment(t *testing.T) {
	f := newFakes()
	f.env = map[string]string{"KEY": theKey, "HOME": "/h", "PATH": "/p", "CODEX_HOME": "/c", "TERM": "xterm", "CLAUDECODE": "1", "ANTHROPIC_API_KEY": "x", "LC_ALL": "", "MY_PROXY": "m"}
	a, err := commandAuthor(f, "", time.Minute, self(t, "environment")...).Write(t.Context(), prompt())
	got := strings.Fields(a.Text)
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(strings.ToUpper(s), "SYSTEMROOT=") })
	slices.Sort(got)
	want := []string{"CODEX_HOME=/c", "HOME=/h", "KEY=" + theKey, "LC_ALL=", "MY_PROXY=m", "NO_COLOR=1", "PATH=/p", "TERM=dumb"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	delete(f.env, "KEY")
	_, err = commandAuthor(f, "", time.Minute, self(t, "environment")...).Write(t.Context(), prompt())
	refused(t, err, NoKey)
}

func TestCommandFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := commandAuthor(newFakes(), dir, time.Minute, self(t, "folder")...).Write(t.Context(), prompt())
	if err != nil || a.Text != dir {
		t.Errorf("%q, %v, want %q", a.Text, err, dir)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "write.sh"), []byte("#!/bin/sh\necho \"$1 from a script\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err = commandAuthor(newFakes(), dir, time.Minute, "./write.sh", "words").Write(t.Context(), prompt())
	if err != nil || a.Text != "words from a script\n" {
		t.Errorf("%q, %v", a.Text, err)
	}
}

func TestCommandFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "planted"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		class string
		args  []string
	}{
		{CommandFailed, self(t, "fail")},
		{NoAnswer, self(t, "nothing")},
		{CommandNoText, self(t, "bytes")},
		{AnswerTooLong, self(t, "endless")},
		{NoCommand, []string{"planted-no-such-program"}},
		{NoCommand, []string{"./planted-no-such-file"}},
		{NoCommand, []string{"./planted"}},
		{NoCommand, []string{dir}},
		{CommandFailed, []string{"./planted\x00"}},
	}
	if runtime.GOOS != "windows" {
		cases = append(cases, struct {
			class string
			args  []string
		}{CommandKilled, self(t, "killed")})
	}
	for _, c := range cases {
		a, err := commandAuthor(newFakes(), dir, time.Minute, c.args...).Write(t.Context(), prompt())
		t.Run(c.class, func(t *testing.T) {
			refused(t, err, c.class)
			spent(t, a)
		})
	}
}

func TestCommandTime(t *testing.T) {
	a, err := commandAuthor(newFakes(), "", 100*time.Millisecond, self(t, "sleep")...).Write(t.Context(), prompt())
	refused(t, err, TimedOut)
	spent(t, a)
}

func TestCommandIsCancelled(t *testing.T) {
	why := errors.New("somebody pressed a key")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := commandAuthor(newFakes(), "", 0, self(t, "sleep")...).Write(ctx, prompt()); err != why {
		t.Errorf("%v", err)
	}
}
