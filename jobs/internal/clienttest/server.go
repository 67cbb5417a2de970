package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Turn is one answer of the assistant.
type Turn struct {
	Blocks []Block
	Sleep  time.Duration // before the end of the turn, after its blocks
}

// Say is a turn of these blocks.
func Say(blocks ...Block) Turn { return Turn{Blocks: blocks} }

// A Rule answers requests whose last user message contains Match. Rules go
// before the script and see requests without tools as well.
type Rule struct {
	Match string
	Once  bool
	Turn  Turn
}

// A Request is one request the server got.
type Request struct {
	Path     string
	Raw      []byte // the body
	Model    string
	Stream   bool
	Tools    []json.RawMessage
	Messages []Message
}

// talks reports whether r belongs to the conversation: titles, summaries and
// the like are asked for without tools.
func (r Request) talks() bool {
	return len(r.Tools) > 0 && strings.HasSuffix(r.Path, "/v1/messages")
}

func (r Request) lastUserText() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return m.text()
		}
	}
	return ""
}

func (m Message) text() string {
	var all strings.Builder
	for _, b := range m.Blocks {
		all.WriteString(b.Text + " ")
	}
	return all.String()
}

// A Server stands in for the Messages API on the loopback interface. It accepts
// everything: that a request was sent does not say that the service would have
// accepted it.
type Server struct {
	http *httptest.Server

	mu     sync.Mutex
	script []Turn
	rules  []Rule
	log    []Request
}

// NewServer starts a server that ends with the test. Without a script or a rule
// that fits, it answers a line of text.
func NewServer(tb testing.TB) *Server {
	s := &Server{}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// URL is where the server listens.
func (s *Server) URL() string { return s.http.URL }

// Script adds turns to the conversation. Each answers one request with tools.
func (s *Server) Script(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, turns...)
}

// Rules adds rules. The first that fits answers.
func (s *Server) Rules(rules ...Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, rules...)
}

// Requests are all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Conversation are the requests so far that carry the conversation: those with
// tools.
func (s *Server) Conversation() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.talks() })
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req := Request{Path: r.URL.Path, Raw: body}
	// A body in another form is in the log all the same, as it came.
	_ = json.Unmarshal(body, &req)
	req.Path, req.Raw = r.URL.Path, body
	switch {
	case strings.HasSuffix(req.Path, "/count_tokens"):
		s.add(req)
		writeJSON(w, map[string]int{"input_tokens": 100})
	case strings.HasSuffix(req.Path, "/v1/messages"):
		turn, n := s.next(req)
		reply(r.Context(), w, req, turn, fmt.Sprintf("msg_standin%05d", n))
	default:
		s.add(req)
		writeJSON(w, struct{}{})
	}
}

func (s *Server) add(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r)
}

// next logs r and finds the turn that answers it, and a number for it.
func (s *Server) next(r Request) (Turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r)
	n := len(s.log)
	if turn, ok := s.byRule(r.lastUserText()); ok {
		return turn, n
	}
	if r.talks() && len(s.script) > 0 {
		turn := s.script[0]
		s.script = s.script[1:]
		return turn, n
	}
	return Say(Text(fmt.Sprintf("reply %d", n))), n
}

func (s *Server) byRule(text string) (Turn, bool) {
	i := slices.IndexFunc(s.rules, func(r Rule) bool { return strings.Contains(text, r.Match) })
	if i < 0 {
		return Turn{}, false
	}
	turn := s.rules[i].Turn
	if s.rules[i].Once {
		s.rules = slices.Delete(s.rules, i, i+1)
	}
	return turn, true
}
