package author

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// api is how a kind of service is spoken to.
type api interface {
	// address is where the calls go, from author.baseURL.
	address(base *url.URL) *url.URL
	// header sets what the service wants to see; the key may be empty.
	header(h http.Header, key string)
	body(model string, p Prompt) any
	// take adds a message of the stream to the answer.
	take(r *reply, m message) error
}

// service is a model service.
type service struct {
	spec.Author
	api   api
	world World
}

// errTimeout ends a context whose time is over.
var errTimeout = errors.New("the author's time is over")

// Write implements [Author].
func (s *service) Write(ctx context.Context, p Prompt) (Answer, error) {
	c, err := s.prepare(p)
	if err != nil {
		return Answer{}, err
	}
	limited, stop := limit(ctx, time.Duration(s.Timeout))
	defer stop()
	text, err := c.untilAnswered(limited)
	return Answer{Text: text, Facts: c.facts}, ended(ctx, limited, time.Duration(s.Timeout), err)
}

// prepare makes the call that is then made as often as it takes.
func (s *service) prepare(p Prompt) (*call, error) {
	key, err := lookup(s.world, s.KeyEnv)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, refuse(NoKey, "the environment variable %s holds something that is no key", s.KeyEnv)
	}
	base, err := url.Parse(s.BaseURL)
	if err != nil || base.User != nil || s.BaseURL != "" && (base.Host == "" || base.Scheme != "https" && base.Scheme != "http") {
		return nil, refuse(BadAddress, "author.baseURL is no address of a service")
	}
	body, err := encode(s.api.body(s.Model, p))
	if err != nil {
		return nil, refuse(BadRequest, "the prompt cannot be put into a request")
	}
	return &call{
		world: s.world, api: s.api, key: key, address: s.api.address(base).String(), body: body,
		maxText: 8 * p.MaxChars, maxWire: maxOverhead + 64*8*int64(p.MaxChars), timeout: time.Duration(s.Timeout),
	}, nil
}

// lookup is the key, or nothing where the job names none.
func lookup(w World, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	value, _ := w.Getenv(name)
	key := strings.TrimSpace(value)
	if key == "" {
		return "", refuse(NoKey, "the environment variable %s is not set, or empty", name)
	}
	return key, nil
}

// limit ends a context after a time; 0 for never.
func limit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, errTimeout)
}

// ended puts the reason for an end from outside in the place of what it looked
// like from inside.
func ended(outer, limited context.Context, timeout time.Duration, err error) error {
	switch {
	case err == nil:
		return nil
	case outer.Err() != nil:
		return context.Cause(outer)
	case context.Cause(limited) == errTimeout:
		return refuse(TimedOut, "no whole answer within %s", timeout)
	}
	var f *fault
	if errors.As(err, &f) {
		return f.Refusal
	}
	return err
}

// fault is a call that failed.
type fault struct {
	*step.Refusal
	again bool          // another call may do better
	after time.Duration // the service's wish for the wait; 0 for none
}

func fatal(class, format string, args ...any) *fault {
	return &fault{Refusal: refuse(class, format, args...)}
}

func passing(class, format string, args ...any) *fault {
	return &fault{Refusal: refuse(class, format, args...), again: true}
}

// capped is a reader with a bound on all that it gives.
type capped struct {
	r    io.Reader
	left int64
}

var errEndless = errors.New("more bytes than any answer takes")

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errEndless
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
