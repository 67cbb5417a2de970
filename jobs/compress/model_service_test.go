package compress_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A service of the tests: it speaks one of the two APIs, counts the calls, and
// answers as its script says.

// api is how a service is spoken to and what it says.
type api struct {
	by, path, model string
	begun           func(text string) string // the beginning of a stream
	ended           func(stop string) string // its end; "" for the usual stop
	declined        string                   // the stop of a model that does not want to
	key             func(r *http.Request) string
}

func quoted(text string) string {
	doc, _ := json.Marshal(text)
	return string(doc)
}

// pieces cut a text as a stream has it, within words too.
func pieces(text string) (list []string) {
	r := []rune(text)
	for len(r) > 0 {
		n := min(700, len(r))
		list, r = append(list, string(r[:n])), r[n:]
	}
	return list
}

// The tokens that the services count for each call.
const tokensIn, tokensOut = 123, 42

var apis = []api{{
	by: "anthropic", path: "/v1/messages", model: "claude-x-1", declined: "refusal",
	begun: func(text string) string {
		s := fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x-1\",\"usage\":{\"input_tokens\":%d,\"output_tokens\":1}}}\n\n", tokensIn)
		for _, p := range pieces(text) {
			s += "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":" + quoted(p) + "}}\n\n"
		}
		return s
	},
	ended: func(stop string) string {
		if stop == "" {
			stop = "end_turn"
		}
		return fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q},\"usage\":{\"output_tokens\":%d}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", stop, tokensOut)
	},
	key: func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
}, {
	by: "openai", path: "/v1/chat/completions", model: "gpt-x-1", declined: "content_filter",
	begun: func(text string) (s string) {
		for _, p := range pieces(text) {
			s += "data: {\"model\":\"gpt-x-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":" + quoted(p) + "},\"finish_reason\":null}]}\n\n"
		}
		return s
	},
	ended: func(stop string) string {
		if stop == "" {
			stop = "stop"
		}
		return fmt.Sprintf("data: {\"model\":\"gpt-x-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", stop) +
			fmt.Sprintf("data: {\"model\":\"gpt-x-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", tokensIn, tokensOut)
	},
	key: func(r *http.Request) string {
		var key string
		_, _ = fmt.Sscanf(r.Header.Get("Authorization"), "Bearer %s", &key)
		return key
	},
}}

func eachAPI(t *testing.T, test func(t *testing.T, a api)) {
	for _, a := range apis {
		t.Run(a.by, func(t *testing.T) { test(t, a) })
	}
}

// reply answers one call of a service.
type reply func(w http.ResponseWriter, a api, c call)

// whole is an answer with its end.
func whole(write func(c call) string) reply {
	return func(w http.ResponseWriter, a api, c call) { stream(w, a.begun(write(c))+a.ended("")) }
}

func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// cutStream breaks the connection in the middle of a good answer.
func cutStream(w http.ResponseWriter, a api, c call) {
	text := good(c)
	stream(w, a.begun(text[:len(text)/2]))
	panic(http.ErrAbortHandler)
}

// decline begins an answer and stops.
func decline(w http.ResponseWriter, a api, c call) {
	stream(w, a.begun("I must not")+a.ended(a.declined))
}

// failWith is a status, with a body that quotes what was sent, as services do.
func failWith(status int, header ...string) reply {
	return func(w http.ResponseWriter, _ api, c call) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"type":"x","message":%s}}`, quoted(theKey+c.pack))
	}
}

// endless goes on for as long as somebody reads.
func endless(w http.ResponseWriter, a api, c call) {
	w.Header().Set("Content-Type", "text/event-stream")
	text := a.begun(good(c))
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// serve is a service that answers by a script, the last one for all that follow. Its
// calls are those of the world's scribe.
func (m *modelWorld) serve(a api, replies ...reply) {
	m.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := a.heard(r)
		if err != nil || r.URL.Path != a.path {
			m.t.Errorf("the service was sent %s: %v", r.URL.Path, err)
		}
		m.scribe.mu.Lock()
		c.n = len(m.scribe.calls) + 1
		m.scribe.calls = append(m.scribe.calls, c)
		m.scribe.mu.Unlock()
		replies[min(c.n, len(replies))-1](w, a, c)
	}))
	m.t.Cleanup(server.Close)
	m.kind.Authors.Transport = toServer(server)
	m.text = modelJob(a.by)
}

// toServer carries every request to the one server, whatever address the job names:
// a job is the same then before and after a service was mended.
func toServer(s *httptest.Server) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", s.Listener.Addr().String()
		return http.DefaultTransport.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// modelJob is the job of the tests with a service as its author.
func modelJob(by string) string {
	return `
version: 1
kind: compress
name: test
input: {sessions: ["/s/*.jsonl"]}
mode: {summary: model}
author: {by: ` + by + `, model: m-1, keyEnv: KEY, baseURL: "https://service.example/v1"}
budgets: {keepRecords: 2}
publish: {to: candidate, path: "/out/{session}.jsonl"}
`
}

// heard takes a request apart.
func (a api) heard(r *http.Request) (call, error) {
	var body struct {
		Model, System string
		Stream        bool
		Messages      []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return call{}, err
	}
	if a.key(r) != theKey || body.Model != "m-1" || !body.Stream || r.Host != "service.example" {
		return call{}, fmt.Errorf("key %q, model %q, streaming %t, host %s", a.key(r), body.Model, body.Stream, r.Host)
	}
	messages := body.Messages
	if a.by == "openai" {
		body.System, messages = messages[0].Content, messages[1:]
	}
	c := call{prompt: body.System + "\n\n" + messages[0].Content, pack: messages[0].Content}
	for i, m := range messages[1:] {
		if want := []string{"assistant", "user"}[i%2]; m.Role != want {
			return call{}, fmt.Errorf("message %d is of %s", i+2, m.Role)
		}
		if i%2 == 0 {
			c.answers = append(c.answers, m.Content)
		} else {
			c.reports = append(c.reports, m.Content)
		}
	}
	return c, nil
}
