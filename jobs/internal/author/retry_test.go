package author

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precis-dev/precis/spec"
)

const sec = time.Second

func TestServiceCallsAgain(t *testing.T) {
	date := newFakes().now.Add(90 * sec).Format(http.TimeFormat)
	past := newFakes().now.Add(-time.Hour).Format(http.TimeFormat)
	eachDialect(t, func(t *testing.T, d dialect) {
		good := events(d.good)
		for _, c := range []struct {
			name    string
			answers []http.HandlerFunc
			slept   []time.Duration
		}{
			{"429", []http.HandlerFunc{failure(429, "planted"), good}, []time.Duration{2 * sec}},
			{"429 seconds", []http.HandlerFunc{failure(429, "planted", "Retry-After", "17"), good}, []time.Duration{17 * sec}},
			{"429 parts of seconds", []http.HandlerFunc{failure(429, "", "Retry-After", "17.5"), good}, []time.Duration{17500 * time.Millisecond}},
			{"429 date", []http.HandlerFunc{failure(429, "", "Retry-After", date), good}, []time.Duration{90 * sec}},
			{"429 past date", []http.HandlerFunc{failure(429, "", "Retry-After", past), good}, []time.Duration{2 * sec}},
			{"429 too soon", []http.HandlerFunc{failure(429, "", "Retry-After", "0"), good}, []time.Duration{2 * sec}},
			{"429 capped", []http.HandlerFunc{failure(429, "", "Retry-After", "86400"), good}, []time.Duration{5 * time.Minute}},
			{"429 nonsense", []http.HandlerFunc{failure(429, "", "Retry-After", "planted"), failure(429, "", "Retry-After", "NaN"), good}, []time.Duration{2 * sec, 4 * sec}},
			{"each status", []http.HandlerFunc{failure(500, ""), failure(502, "<html>planted"), failure(503, ""), failure(504, d.overload), good}, []time.Duration{2 * sec, 4 * sec, 8 * sec, 16 * sec}},
			{"529", []http.HandlerFunc{failure(529, d.overload), good}, []time.Duration{2 * sec}},
			{"cut before the answer", []http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, good}, []time.Duration{2 * sec}},
			{"cut stream", []http.HandlerFunc{cut(d.begun), cut(""), events(d.begun), good}, []time.Duration{2 * sec, 4 * sec, 8 * sec}},
			{"cut in a message", []http.HandlerFunc{cut(d.good[:len(d.begun)+30]), good}, []time.Duration{2 * sec}},
			{"error in the stream", []http.HandlerFunc{events(d.failing), good}, []time.Duration{2 * sec}},
		} {
			t.Run(c.name, func(t *testing.T) {
				f := newFakes()
				server, calls := scripted(t, c.answers...)
				a, err := d.author(f, server.URL).Write(t.Context(), prompt())
				if err != nil || a.Text != theAnswer || calls() != len(c.answers) || a.Facts.Calls != calls() || !slices.Equal(f.slept, c.slept) {
					t.Errorf("%q, %v after %d calls (facts: %d) and waits %v, want %v", a.Text, err, calls(), a.Facts.Calls, f.slept, c.slept)
				}
			})
		}
	})
}

func TestServiceGivesUp(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, c := range []struct {
			name, class string
			answer      http.HandlerFunc
			calls       int
		}{
			{"overloaded", Overloaded, failure(529, d.overload), MaxCalls},
			{"failing", ServiceFailed, failure(500, thePack+theKey), MaxCalls},
			{"cut", StreamCut, cut(d.begun), MaxCalls},
			{"error in the stream", Overloaded, events(d.failing), MaxCalls},
			{"ends early", StreamCut, events(d.begun), MaxCalls},
			{"beyond the time", Overloaded, failure(429, "", "Retry-After", "290"), 3},
		} {
			f := newFakes()
			server, calls := scripted(t, c.answer)
			a, err := d.author(f, server.URL).Write(t.Context(), prompt())
			t.Run(c.name, func(t *testing.T) {
				refused(t, err, c.class)
				spent(t, a)
				if calls() != c.calls || a.Facts.Calls != c.calls || len(f.slept) != c.calls-1 {
					t.Errorf("%d calls, %d in the facts, waits %v", calls(), a.Facts.Calls, f.slept)
				}
			})
		}
	})
}

// Tokens of calls that failed are spent, too.
func TestServiceCountsAllCalls(t *testing.T) {
	d := dialects()[0]
	whole, _, _ := strings.Cut(d.good, "event: message_delta")
	server, _ := scripted(t, cut(whole), events(d.good))
	a, err := d.author(newFakes(), server.URL).Write(t.Context(), prompt())
	if err != nil || a.Facts.InputTokens != 246 || a.Facts.CacheRead != 40 || a.Facts.OutputTokens != 43 {
		t.Errorf("%+v, %v", a.Facts, err)
	}
}

func TestServiceWaitsAreJittered(t *testing.T) {
	c := call{world: World{Random: func() float64 { return 0.5 }}}
	var waits []time.Duration
	for range 7 {
		c.facts.Calls++
		waits = append(waits, c.wait(&fault{}))
	}
	if want := []time.Duration{1500 * time.Millisecond, 3 * sec, 6 * sec, 12 * sec, 24 * sec, 45 * sec, 45 * sec}; !slices.Equal(waits, want) {
		t.Errorf("%v, want %v", waits, want)
	}
}

func TestServiceUnreachable(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	secure := httptest.NewTLSServer(events("planted"))
	defer secure.Close()
	secure.Config.ErrorLog = nil
	plain, _ := scripted(t, events("planted"))
	odd := oddServer(t, "HTTP/1.1 planted harbour "+theKey+"\r\n\r\n")
	for _, c := range []struct {
		base, class string
		calls       int
	}{
		{closed.URL, Unreachable, MaxCalls},
		{secure.URL, Untrusted, 1},
		{"https" + strings.TrimPrefix(plain.URL, "http"), Untrusted, 1},
		{odd, Unreachable, MaxCalls},
		{"http://" + theKey + "@host", BadAddress, 0},
		{"http:// planted", BadAddress, 0},
		{"planted", BadAddress, 0},
		{"ftp://127.0.0.1/planted", BadAddress, 0},
	} {
		f := newFakes()
		a, err := dialect{by: "openai"}.author(f, c.base).Write(t.Context(), prompt())
		refused(t, err, c.class)
		if a.Facts.Calls != c.calls {
			t.Errorf("%s: %d calls", c.base, a.Facts.Calls)
		}
	}
}

// broken is a transport that fails.
type broken struct{ err error }

func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

func TestServiceNetworkFaults(t *testing.T) {
	for _, err := range []error{
		&net.DNSError{Err: "planted", Name: "planted"},
		&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, // it says it is the context's, too
		errors.New("planted " + theKey),
	} {
		f := newFakes()
		w := f.world()
		w.Transport = broken{err}
		a, err := New(spec.Author{By: "anthropic", Model: "m", KeyEnv: "KEY"}, "", w).Write(t.Context(), prompt())
		refused(t, err, Unreachable)
		if a.Facts.Calls != MaxCalls {
			t.Errorf("%d calls", a.Facts.Calls)
		}
	}
}

// oddServer answers whatever it is asked with a text, and closes.
func oddServer(t *testing.T, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, text)
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		api        api
		base, want string
	}{
		{anthropic{}, "", "https://api.anthropic.com/v1/messages"},
		{anthropic{}, "http://localhost:8080", "http://localhost:8080/v1/messages"},
		{anthropic{}, "https://h/proxy/", "https://h/proxy/v1/messages"},
		{anthropic{}, "https://h/proxy/v1/", "https://h/proxy/v1/messages"},
		{openai{}, "", "https://api.openai.com/v1/chat/completions"},
		{openai{}, "http://localhost:11434", "http://localhost:11434/v1/chat/completions"},
		{openai{}, "http://localhost:11434/", "http://localhost:11434/v1/chat/completions"},
		{openai{}, "https://h/api/v1", "https://h/api/v1/chat/completions"},
		{openai{}, "https://h/openai/v2/?version=3", "https://h/openai/v2/chat/completions?version=3"},
	} {
		base, err := url.Parse(c.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.api.address(base).String(); got != c.want {
			t.Errorf("%T %q: %s, want %s", c.api, c.base, got, c.want)
		}
	}
}

// pipes is a network in memory, whose waits a bubble's clock can skip.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// inBubble runs a test where real waits take no time, with a server in memory.
func inBubble(t *testing.T, timeout time.Duration, d dialect, answer http.HandlerFunc, test func(t *testing.T, a Author)) {
	synctest.Test(t, func(t *testing.T) {
		network := make(pipes)
		server := &http.Server{Handler: answer}
		go func() { _ = server.Serve(network) }()
		w := newFakes().world()
		w.Transport, w.Now, w.Sleep = &http.Transport{DialContext: network.dial}, time.Now, Sleep
		test(t, New(spec.Author{By: d.by, Model: "m", BaseURL: "http://memory", Timeout: spec.Duration(timeout)}, "", w))
		_ = server.Close()
		synctest.Wait()
	})
}

// slowly sends a text, and then something every so often.
func slowly(text, again string, every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		events(text)(w, r)
		for {
			if http.NewResponseController(w).Flush() != nil || Sleep(r.Context(), every) != nil {
				return
			}
			_, _ = io.WriteString(w, again)
		}
	}
}

func TestServiceTime(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, c := range []struct {
			name, class string
			timeout     time.Duration
			answer      http.HandlerFunc
			took        time.Duration
		}{
			{"never begins", TimedOut, time.Minute, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}, time.Minute},
			{"never ends", TimedOut, time.Hour, slowly(d.begun, ": ping\n\n", sec), time.Hour},
			{"falls silent", Silent, 0, slowly(d.begun, "", 24*time.Hour), MaxCalls*silence + 30*sec},
			{"is overloaded beyond the time", Overloaded, 10 * sec, failure(529, ""), 6 * sec},
		} {
			t.Run(c.name, func(t *testing.T) {
				inBubble(t, c.timeout, d, c.answer, func(t *testing.T, a Author) {
					start := time.Now()
					answer, err := a.Write(t.Context(), prompt())
					refused(t, err, c.class)
					spent(t, answer)
					if took := time.Since(start); took != c.took {
						t.Errorf("took %s, want %s", took, c.took)
					}
				})
			})
		}
	})
}

// After the answer's end nothing is waited for long.
func TestServiceLeavesOpenStream(t *testing.T) {
	end := map[string]string{"anthropic": "event: message_stop", "openai": "data: [DONE]"}
	eachDialect(t, func(t *testing.T, d dialect) {
		text, _, _ := strings.Cut(d.good, end[d.by])
		inBubble(t, 0, d, slowly(text, "", time.Hour), func(t *testing.T, a Author) {
			start := time.Now()
			answer, err := a.Write(t.Context(), prompt())
			if took := time.Since(start); err != nil || answer.Text != theAnswer || took > silenceAfter {
				t.Errorf("%q, %v after %s", answer.Text, err, took)
			}
		})
	})
}

func TestServiceIsCancelled(t *testing.T) {
	why := errors.New("somebody pressed a key")
	eachDialect(t, func(t *testing.T, d dialect) {
		for name, answer := range map[string]http.HandlerFunc{
			"in a stream": slowly(d.begun, ": ping\n\n", sec), "in a wait": failure(429, "", "Retry-After", "200"),
		} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, time.Hour, d, answer, func(t *testing.T, a Author) {
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(30*sec, func() { cancel(why) })
					start := time.Now()
					_, err := a.Write(ctx, prompt())
					if took := time.Since(start); err != why || took != 30*sec {
						t.Errorf("%v after %s", err, took)
					}
				})
			})
		}
	})
}
