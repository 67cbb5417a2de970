package author

import (
	"context"
	"net/http"
	"time"

	"github.com/precis-dev/precis/spec"
)

// Author writes a summary. It may be used from several goroutines.
type Author interface {
	// Write asks once, for a service with as many calls as it takes. The error is
	// a *[step.Refusal] of one of this package's classes, or the context's cause.
	// Beside an error the answer has no text, and the facts of what was spent.
	Write(ctx context.Context, p Prompt) (Answer, error)
}

// Prompt is a conversation so far.
type Prompt struct {
	Instructions string
	Pack         string
	// Earlier are the answers that did not pass, oldest first.
	Earlier []Attempt
	// MaxChars is the limit of the summary. An answer somewhat above it is the
	// checker's affair; one of several times its size is broken off.
	MaxChars int
}

// Attempt is an earlier answer and what the checker said about it.
type Attempt struct {
	Answer string
	Report string
}

// Answer is what an author wrote.
type Answer struct {
	Text  string
	Facts Facts
}

// Facts are what is known of an answer. Zero members are unknown.
type Facts struct {
	// Model is what the service calls the model that answered.
	Model string `json:"model,omitempty"`
	// InputTokens is everything read, CacheRead and CacheWrite the parts of it that
	// came from and went to a cache of the service. Tokens are of all calls, those
	// that failed included.
	InputTokens  int64 `json:"inputTokens,omitempty"`
	CacheRead    int64 `json:"cacheRead,omitempty"`
	CacheWrite   int64 `json:"cacheWrite,omitempty"`
	OutputTokens int64 `json:"outputTokens,omitempty"`
	// Cost is the service's own figure for the last call, in its own unit.
	Cost string `json:"cost,omitempty"`
	// Stop is the service's word for why the answer ended.
	Stop string `json:"stop,omitempty"`
	// Calls is how often the service was called, or the command started.
	Calls int `json:"calls,omitempty"`
	// ErrorBytes is how much a command wrote on standard error.
	ErrorBytes int64 `json:"errorBytes,omitempty"`
}

// World is all that authors use of it. Every member is needed.
type World struct {
	Getenv func(name string) (string, bool)
	// Transport carries requests: http.DefaultTransport, but for tests. What a server
	// sends before it is asked, net/http writes to the standard logger; a program that
	// logs elsewhere has that one discard.
	Transport http.RoundTripper
	Now       func() time.Time
	// Sleep waits, or returns the context's error: [Sleep], but for tests.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random is uniform in [0,1).
	Random func() float64
	// Run starts a program and waits for its end: [Run], but for tests.
	Run func(ctx context.Context, p Process) (Exit, error)
	// Progress hears of an answer that grows. When a call is made again, it starts
	// again at nothing.
	Progress func(Progress)
}

// Progress is how far an answer is.
type Progress struct {
	Call   int   // from 1
	Chars  int   // characters of the answer
	Tokens int64 // output tokens, where the service counts while it writes
}

// New is the author a job names. Commands run in dir. The job is one that passed
// its schema.
func New(a spec.Author, dir string, w World) Author {
	switch a.By {
	case "command":
		return &command{args: a.Command, keyEnv: a.KeyEnv, env: a.Env, timeout: time.Duration(a.Timeout), dir: dir, world: w}
	case "anthropic":
		return &service{Author: a, api: anthropic{}, world: w}
	case "openai":
		return &service{Author: a, api: openai{}, world: w}
	}
	return person{}
}

// person is somebody who brings the summary in a file.
type person struct{}

func (person) Write(context.Context, Prompt) (Answer, error) {
	return Answer{}, refuse(Waiting, "the summary is to be written by a person")
}
