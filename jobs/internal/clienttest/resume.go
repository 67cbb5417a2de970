package clienttest

import (
	"bytes"
	"context"
	"strings"
	"time"
)

// An Outcome says what the client made of a session file.
type Outcome string

const (
	Sent    Outcome = "sent"    // it sent a request
	Refused Outcome = "refused" // it ended with a message and an exit code
	Failed  Outcome = "error"   // neither: it hung, or ended as if all were well
)

// A Resumption is what came of resuming a session file.
type Resumption struct {
	Outcome  Outcome
	Messages []Message // of the first request
	ExitCode int
	Message  string // what the client printed
	Took     time.Duration
	File     []byte            // the session file afterwards
	Sessions map[string][]byte // all session files afterwards, by id

	session []byte
	prompt  string
	client  *Client
}

// Resume places a session file as id and gives the client the prompt to go on
// with. args stand in for --resume id.
func (c *Client) Resume(session []byte, id, prompt string, args ...string) Resumption {
	c.tb.Helper()
	c.Place(id, session)
	if len(args) == 0 {
		args = []string{"--resume", id}
	}
	before := len(c.Server.Conversation())
	r := c.ask(prompt, args)
	r.session = session
	if requests := c.Server.Conversation()[before:]; len(requests) > 0 {
		r.Outcome, r.Messages = Sent, requests[0].Messages
	}
	r.Sessions = c.Sessions()
	r.File = r.Sessions[id]
	return r
}

// ask runs the client for one prompt.
func (c *Client) ask(prompt string, args []string) Resumption {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := c.command(ctx, append(append([]string{"-p", prompt}, args...), "--output-format", "json")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		c.tb.Fatal(err)
	}
	r := Resumption{Outcome: Failed, ExitCode: cmd.ProcessState.ExitCode(), Took: time.Since(start), prompt: prompt, client: c}
	if r.ExitCode > 0 {
		r.Outcome = Refused
	}
	r.Message = strings.TrimSpace(stderr.String())
	if r.Message == "" {
		r.Message = strings.TrimSpace(stdout.String())
	}
	return r
}
