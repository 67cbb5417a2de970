package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// modelService speaks the APIs of both kinds of model services, and writes what a
// mechanical author would. Each script has one of its own, at $SERVICE.
type modelService struct {
	*httptest.Server
	key string

	mu    sync.Mutex
	mode  string // what it does with a call
	calls []string
}

// serviceKey is the key that it accepts.
const serviceKey = "a-key-of-the-test-service"

func newModelService() *modelService {
	s := &modelService{key: serviceKey, mode: "good"}
	s.Server = httptest.NewServer(s)
	return s
}

// modelPrompt is what both APIs send.
type modelPrompt struct {
	Model    string
	Stream   bool
	Messages []struct{ Role, Content string }
}

// ServeHTTP answers a call.
func (s *modelService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p modelPrompt
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &p) != nil || !p.Stream {
		http.Error(w, "no prompt", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	mode := s.mode
	s.calls = append(s.calls, r.URL.Path+" "+p.Model+" "+strconv.Itoa(len(p.Messages)))
	s.mu.Unlock()
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key")
	status, err := strconv.Atoi(mode)
	if key != s.key {
		status, err = http.StatusUnauthorized, nil
	}
	if err == nil { // services quote what they were sent
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, "no: "+key+" said: "+p.Messages[0].Content)
		return
	}
	text, stop := "", mode
	for _, m := range p.Messages {
		if written, err := writeSummary(m.Content); err == nil {
			text = written
		}
	}
	if mode == "learn" && len(p.Messages) < 3 {
		text = "I would rather talk about the weather."
	}
	if mode == "good" || mode == "learn" {
		stop = map[bool]string{true: "end_turn", false: "stop"}[strings.HasSuffix(r.URL.Path, "/messages")]
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.HasSuffix(r.URL.Path, "/messages") {
		anthropicStream(w, text, stop)
	} else {
		openaiStream(w, text, stop)
	}
}

func anthropicStream(w io.Writer, text, stop string) {
	send := func(kind string, members string) {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\":%[1]q%s}\n\n", kind, members)
	}
	send("message_start", `,"message":{"model":"model-of-the-test-1","usage":{"input_tokens":1000,"output_tokens":1}}`)
	for line := range strings.Lines(text) {
		send("content_block_delta", `,"delta":{"type":"text_delta","text":`+quotedJSON(line)+`}`)
	}
	send("message_delta", `,"delta":{"stop_reason":"`+stop+`"},"usage":{"output_tokens":200}`)
	send("message_stop", "")
}

func openaiStream(w io.Writer, text, stop string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "data: {\"model\":\"model-of-the-test-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quotedJSON(line))
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", stop)
	fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":200,"cost":0.25}}`+"\n\ndata: [DONE]\n\n")
}

func quotedJSON(text string) string {
	doc, _ := json.Marshal(text)
	return string(doc)
}

// serviceCommand tells the script's model service what to do with calls: service
// good, learn (the first answer of a conversation is no summary), a status, or why an
// answer ends; or writes the calls so far to a file: service calls FILE.
func serviceCommand(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := ts.Value(serviceValue{}).(*modelService)
	if neg || !ok || len(args) == 0 {
		ts.Fatalf("usage: service MODE | service calls FILE")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if args[0] != "calls" {
		s.mode = args[0]
		return
	}
	text := strings.Join(append(s.calls, ""), "\n")
	s.calls = nil
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// serviceValue is the key of a script's model service among its values.
type serviceValue struct{}

// setUp starts the service of a script.
func (s *modelService) setUp(env *testscript.Env) {
	env.Values[serviceValue{}] = s
	env.Setenv("SERVICE", s.URL)
	env.Defer(s.Close)
}
