package clienttest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"time"
)

// A Session is a running client that is given one prompt after the other.
type Session struct {
	ID     string // known from the first turn on
	client *Client
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stop   context.CancelFunc
}

// An Answer is how a turn ended.
type Answer struct {
	IsError bool   `json:"is_error"`
	Result  string // the last text
}

// Drive starts the client for many turns. It may use its usual tools without
// asking. args are further arguments, as --resume id and --fork-session.
func (c *Client) Drive(args ...string) *Session {
	c.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.tb.Cleanup(cancel)
	cmd := c.command(ctx, append([]string{"-p",
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-mode", "acceptEdits",
		"--allowedTools", "Bash,Read,Write,Edit,Task,Agent,Glob,Grep,TodoWrite",
	}, args...)...)
	s := &Session{client: c, cmd: cmd, stop: cancel}
	var err error
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		c.tb.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		s.stdout, err = bufio.NewReader(stdout), cmd.Start()
	}
	if err != nil {
		c.tb.Fatal(err)
	}
	return s
}

// Send gives the client a prompt and does not wait for what it makes of it.
func (s *Session) Send(text string) {
	s.client.tb.Helper()
	line, err := json.Marshal(object{"type": "user", "message": object{"role": "user", "content": text}})
	if err == nil {
		_, err = s.stdin.Write(append(line, '\n'))
	}
	if err != nil {
		s.client.tb.Fatal(err)
	}
}

// Turn gives the client a prompt and waits for the end of the turn.
func (s *Session) Turn(text string) Answer {
	s.client.tb.Helper()
	s.Send(text)
	// Without the client there is no more output, and reading ends.
	defer time.AfterFunc(limit, s.stop).Stop()
	for {
		line, err := s.stdout.ReadBytes('\n')
		if err != nil {
			s.client.tb.Fatalf("client %s, in the turn %q: %v", s.client.Version, text, err)
		}
		if a := s.take(line); a != nil {
			return *a
		}
	}
}

// take reads one line of output, which may end the turn.
func (s *Session) take(line []byte) *Answer {
	var out struct {
		Answer
		Type      string
		SessionID string `json:"session_id"`
	}
	// Lines in another form are none of ours.
	_ = json.Unmarshal(line, &out)
	if out.SessionID != "" {
		s.ID = out.SessionID
	}
	if out.Type != "result" {
		return nil
	}
	return &out.Answer
}

// Path is the session file.
func (s *Session) Path() string { return s.client.Path(s.ID) }

// Close ends the client as the end of its input does, and waits for it.
func (s *Session) Close() {
	s.client.tb.Helper()
	s.stdin.Close()
	defer time.AfterFunc(limit, s.stop).Stop()
	// Wait closes the pipe, and the client may have something left to say.
	_, _ = io.Copy(io.Discard, s.stdout)
	if err := s.cmd.Wait(); err != nil {
		s.client.tb.Errorf("client %s: %v", s.client.Version, err)
	}
}

// Kill ends the client and all it started with SIGKILL.
func (s *Session) Kill() {
	s.stop()
	_ = s.cmd.Wait() // it says that the client was killed
}
