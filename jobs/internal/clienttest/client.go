// Package clienttest drives the real client, Claude Code, as a black box against
// a loopback stand-in of its service, so that tests see what it sends when it
// resumes a session file, and get files that it wrote itself.
//
// The tests need the pinned clients and are skipped without them:
//
//	.ci/clients DIR
//	PRECIS_CLIENTS=DIR go test ./jobs/internal/clienttest
//
// testdata/vectors holds shapes of session files and what each client sent of
// them. This resumes them again and prints what changed; -update stores it, also
// for a client that has nothing stored yet:
//
//	PRECIS_CLIENTS=DIR go test ./jobs/internal/clienttest -run TestVectors -client 2.1.332 [-sample N] [-update -v]
package clienttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Versions are the pinned clients, the newest first.
var Versions = []string{"2.1.332", "2.1.197"}

// limit is how long a client may take for one thing. It needs one to three
// seconds when nothing else runs.
const limit = 90 * time.Second

// A Client starts one version of the client. It has a home, a working folder and
// a server of its own, which end with the test, and so do its processes.
type Client struct {
	Version string
	Home    string
	Dir     string   // the working folder
	Env     []string // further environment, as KEY=value
	Server  *Server

	tb      testing.TB
	program string
	root    string // holds Home, Dir and what the terminal needs
}

// Find is the launcher of a pinned client. It skips the test where there is none.
func Find(tb testing.TB, version string) *Client {
	tb.Helper()
	program := filepath.Join(os.Getenv("PRECIS_CLIENTS"), version, "node_modules", ".bin", "claude")
	if _, err := os.Stat(program); err != nil || !filepath.IsAbs(program) {
		tb.Skipf("no client %s: run .ci/clients DIR and set PRECIS_CLIENTS to the absolute path of DIR", version)
	}
	// Not tb.TempDir: a socket's path must be short.
	root, err := os.MkdirTemp(os.Getenv(isolated), "precis")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		tb.Fatal(err)
	}
	c := &Client{Version: version, Server: NewServer(tb), tb: tb, program: program, root: root}
	c.Home, c.Dir = c.folder("home"), c.folder("work")
	tb.Cleanup(func() {
		c.kill(0)
		if err := os.RemoveAll(root); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func (c *Client) folder(name string) string {
	c.tb.Helper()
	dir := filepath.Join(c.root, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.tb.Fatal(err)
	}
	return dir
}

// Projects is the folder in which the client keeps the sessions of Dir.
func (c *Client) Projects() string {
	return filepath.Join(c.Home, ".claude", "projects", strings.Map(dashed, c.Dir))
}

func dashed(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return r
	}
	return '-'
}

// Path is where the client keeps the session id.
func (c *Client) Path(id string) string { return filepath.Join(c.Projects(), id+".jsonl") }

// Place puts a session file where the client looks for the session id. It
// resumes it although the records name another working folder.
func (c *Client) Place(id string, session []byte) {
	c.tb.Helper()
	err := os.MkdirAll(c.Projects(), 0o700)
	if err == nil {
		err = os.WriteFile(c.Path(id), session, 0o600)
	}
	if err != nil {
		c.tb.Fatal(err)
	}
}

// Sessions are the session files there are, by id.
func (c *Client) Sessions() map[string][]byte {
	c.tb.Helper()
	paths, err := filepath.Glob(c.Path("*"))
	if err != nil {
		c.tb.Fatal(err)
	}
	all := map[string][]byte{}
	for _, p := range paths {
		if all[strings.TrimSuffix(filepath.Base(p), ".jsonl")], err = os.ReadFile(p); err != nil {
			c.tb.Fatal(err)
		}
	}
	return all
}

// Await waits until ok holds, which is asked again and again.
func (c *Client) Await(what string, ok func() bool) {
	c.tb.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.tb.Fatalf("client %s: waited %v for %s", c.Version, limit, what)
		}
	}
}

// environment has nothing of the caller's except PATH: no key, no settings, no
// trace of the program that runs the tests.
func (c *Client) environment() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"),
		c.mark(),
		"TMPDIR=" + c.folder("tmp"),
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + c.Server.URL(),
		"ANTHROPIC_API_KEY=" + dummyKey,
		"NO_PROXY=127.0.0.1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
	}, c.Env...)
}

const dummyKey = "sk-dummy"

// mark is the entry of the environment by which the client's processes are known.
func (c *Client) mark() string { return "HOME=" + c.Home }

// command is the client with args, to be killed with all it started when ctx ends.
func (c *Client) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir, cmd.Env = c.Dir, c.environment()
	cmd.Cancel = func() error {
		c.kill(cmd.Process.Pid)
		return nil
	}
	ownGroup(cmd)
	return cmd
}
