package clienttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Terminal is a running interactive client.
type Terminal struct {
	client *Client
	socket string
}

// ended stands on the screen when the client has ended.
const ended = "CLIENT-ENDED"

// Terminal starts the client in a terminal and waits for its prompt. It skips
// the test where there is no tmux.
func (c *Client) Terminal(args ...string) *Terminal {
	c.tb.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		c.tb.Skip("no tmux: install it")
	}
	c.settle()
	t := &Terminal{client: c, socket: filepath.Join(c.root, "tmux")}
	// The shell outlives the client, so that its last screen can be read.
	command := append([]string{"new-session", "-d", "-x", "150", "-y", "50", "-c", c.Dir,
		"sh", "-c", `"$@"; echo ` + ended + `; exec sleep 3600`, "sh", "env", "-i"}, c.environment()...)
	t.tmux(append(append(command, c.program), args...)...)
	c.tb.Cleanup(t.end)
	t.Wait("its prompt", func(screen string) bool {
		return strings.Contains(screen, "❯") || strings.Contains(screen, ended)
	})
	return t
}

// settle answers beforehand what the client asks when it is new to a home or a
// folder.
func (c *Client) settle() {
	c.tb.Helper()
	settings, err := json.Marshal(object{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": c.Version,
		"theme": "dark", "numStartups": 20, "hasSeenTasksHint": true, "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": object{"approved": []string{dummyKey}, "rejected": []string{}},
		"projects": object{c.Dir: object{
			"allowedTools": []string{}, "hasTrustDialogAccepted": true,
			"hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 5,
		}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Home, ".claude.json"), settings, 0o600)
	}
	if err != nil {
		c.tb.Fatal(err)
	}
}

// tmux runs a command of the terminal's own tmux server.
func (t *Terminal) tmux(args ...string) string {
	t.client.tb.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", t.socket, "-f", os.DevNull}, args...)...)
	// The server passes it on to the shell, which must not look like the client.
	cmd.Env = slices.DeleteFunc(t.client.environment(), func(entry string) bool { return entry == t.client.mark() })
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.client.tb.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Screen is what the terminal shows.
func (t *Terminal) Screen() string {
	t.client.tb.Helper()
	return t.tmux("capture-pane", "-p")
}

// Wait waits until the screen is as ok wants it, and gives it. what is for the
// message when it never is.
func (t *Terminal) Wait(what string, ok func(screen string) bool) string {
	t.client.tb.Helper()
	screen := ""
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		if screen = t.Screen(); ok(screen) {
			return screen
		}
		if time.Now().After(end) {
			t.client.tb.Fatalf("client %s: waited %v for %s; the screen:\n%s", t.client.Version, limit, what, screen)
		}
	}
}

// Shows waits until the screen has this text.
func (t *Terminal) Shows(text string) string {
	t.client.tb.Helper()
	return t.Wait(strconv.Quote(text), func(screen string) bool { return strings.Contains(screen, text) })
}

// Type types text and presses no key after it.
func (t *Terminal) Type(text string) {
	t.client.tb.Helper()
	t.tmux("send-keys", "-l", text)
}

// keyGap is what the client needs to take a key by itself: one that comes right
// after another may count as pasted, and Escape as the beginning of a sequence.
const keyGap = 500 * time.Millisecond

// Keys presses keys by their names in tmux, as Enter, Escape, Up.
func (t *Terminal) Keys(names ...string) {
	t.client.tb.Helper()
	for _, name := range names {
		t.tmux("send-keys", name)
		time.Sleep(keyGap)
	}
}

// Prompt types text, waits until it stands on the screen, and presses Enter.
func (t *Terminal) Prompt(text string) {
	t.client.tb.Helper()
	t.Type(text)
	t.Shows(text)
	time.Sleep(keyGap)
	t.Keys("Enter")
}

// Rewind goes back to before the last prompt, which the client then puts into its
// input again.
func (t *Terminal) Rewind() {
	t.client.tb.Helper()
	const question = "Restore conversation"
	t.Keys("Escape", "Escape")
	t.Shows("(current)")
	t.Keys("Up", "Enter")
	t.Shows(question)
	t.Keys("Enter")
	t.Wait("the end of the rewind", func(screen string) bool { return !strings.Contains(screen, question) })
}

// Kill9 ends the client and all it started with SIGKILL.
func (t *Terminal) Kill9() {
	t.client.tb.Helper()
	t.client.kill(0)
	t.Shows(ended)
}

// Close ends the client with /exit and waits for it.
func (t *Terminal) Close() {
	t.client.tb.Helper()
	t.Prompt("/exit")
	t.Shows(ended)
}

// end is for the end of the test: the server is gone afterwards, and with it the
// shell.
func (t *Terminal) end() {
	t.tmux("kill-server")
}
