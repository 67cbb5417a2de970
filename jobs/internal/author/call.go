package author

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// silence is how long a stream that has begun may be without a byte.
	silence = 3 * time.Minute
	// silenceAfter is the same for a stream whose answer has ended.
	silenceAfter = 10 * time.Second
	// maxOverhead is what a stream may hold beside the answer: a model's thinking,
	// pings.
	maxOverhead = 64 << 20
	// maxError bounds what is read of a service's error.
	maxError = 64 << 10
)

var errSilent = errors.New("nothing came for too long")

// call is a request that may be made several times.
type call struct {
	world   World
	api     api
	key     string
	address string
	body    []byte
	maxText int // bytes of the answer
	maxWire int64
	timeout time.Duration

	facts Facts
}

// encode is JSON that leaves text as it is.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// once makes the call. All errors but the context's are faults.
func (c *call) once(ctx context.Context) (string, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	response, err := c.send(ctx)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	w := &watch{r: response.Body, limit: silence}
	w.timer = time.AfterFunc(silence, func() { stop(errSilent) })
	defer w.timer.Stop()
	body := &capped{w, c.maxWire}
	if response.StatusCode != http.StatusOK {
		return "", c.status(response, body)
	}
	if !streams(response.Header) {
		return "", fatal(Garbled, "the service answered with something else than a stream of events")
	}
	return c.read(ctx, &reply{call: c, watch: w}, body)
}

// streams tells whether events are to come. What is compressed still is so in a way
// that was not asked for.
func streams(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return (kind == "text/event-stream" || kind == "") && h.Get("Content-Encoding") == ""
}

// watch puts a timer off whenever something was read.
type watch struct {
	r     io.Reader
	limit time.Duration
	timer *time.Timer
}

func (w *watch) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.timer.Reset(w.limit)
	}
	return n, err
}

func (c *call) send(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(c.body))
	if err != nil {
		return nil, fatal(BadAddress, "author.baseURL is no address of a service")
	}
	// A connection kept for later could still be written to, and net/http would log
	// what comes.
	request.Close = true
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("User-Agent", "precis")
	c.api.header(request.Header, c.key)
	client := http.Client{
		Transport:     c.world.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, network(err)
	}
	return response, nil
}

// read takes in the stream until the answer has ended.
func (c *call) read(ctx context.Context, r *reply, body io.Reader) (string, error) {
	defer r.count()
	messages := newStream(body)
	for !r.done {
		m, err := messages.next()
		switch {
		case err != nil && r.ended:
			return r.text()
		case context.Cause(ctx) == errSilent:
			return "", passing(Silent, "nothing came from the service for %s", silence)
		case err == errEndless, err == errLongLine:
			return "", fatal(AnswerTooLong, "the service sent more than any answer takes")
		case err != nil:
			return "", passing(StreamCut, "the stream ended before the answer did")
		}
		if err := c.api.take(r, m); err != nil {
			return "", err
		}
	}
	return r.text()
}

// reply is an answer that grows.
type reply struct {
	call  *call
	watch *watch
	b     strings.Builder
	chars int
	used  Facts // by this call
	ended bool  // the service said why it ended
	done  bool  // nothing more will come
	err   error // why it ended is a fault
}

// add appends to the answer.
func (r *reply) add(text string) error {
	if text == "" {
		return nil
	}
	if r.b.Len()+len(text) > r.call.maxText {
		return fatal(AnswerTooLong, "the answer is several times as long as budgets.summaryChars")
	}
	r.b.WriteString(text)
	r.chars += utf8.RuneCountInString(text)
	r.call.world.Progress(Progress{Call: r.call.facts.Calls, Chars: r.chars, Tokens: r.used.OutputTokens})
	return nil
}

// stop notes why the answer ended; err is for an end that makes it worthless. Only
// counts and end marks may follow, which are not waited for long.
func (r *reply) stop(reason string, err error) {
	r.watch.limit = silenceAfter
	r.watch.timer.Reset(silenceAfter)
	r.used.Stop, r.ended, r.err = r.call.word(reason), true, err
}

// text is the answer that has ended.
func (r *reply) text() (string, error) {
	switch text := r.b.String(); {
	case r.err != nil:
		return "", r.err
	case strings.TrimSpace(text) == "":
		return "", fatal(NoAnswer, "the service's answer has no text")
	case r.call.key != "" && strings.Contains(text, r.call.key):
		return "", fatal(Garbled, "the service's answer holds the key; it was not kept")
	default:
		return text, nil
	}
}

// count adds what this call used to what the others did.
func (r *reply) count() {
	f := &r.call.facts
	f.InputTokens += r.used.InputTokens
	f.CacheRead += r.used.CacheRead
	f.CacheWrite += r.used.CacheWrite
	f.OutputTokens += r.used.OutputTokens
	f.Model, f.Stop, f.Cost = r.used.Model, r.used.Stop, r.used.Cost
}

// word is a name a service gave, if it is one: facts are recorded, and a service
// could say anything there.
func (c *call) word(s string) string {
	odd := func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"\\<>{}", r)
	}
	if len(s) > 100 || strings.ContainsFunc(s, odd) || c.key != "" && strings.Contains(s, c.key) {
		return ""
	}
	return s
}

// parse reads the JSON of a message.
func parse(m message, v any) error {
	if err := json.Unmarshal(m.data, v); err != nil {
		return fatal(Garbled, "the service sent a message that cannot be read")
	}
	return nil
}
