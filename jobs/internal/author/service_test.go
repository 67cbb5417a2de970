package author

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis/spec"
)

// A dialect is what a server of one of the APIs says.
type dialect struct {
	by, path, key    string
	good             string // a whole stream
	begun            string // its beginning
	limit, declined  string // streams that end with these stops
	overload, longer string // error bodies
	failing          string // a stream that breaks off with an error
}

func delta(text string) string {
	doc, _ := json.Marshal(text)
	return string(doc)
}

func claude(deltas, stop string) string {
	return `event: message_start
data: {"type":"message_start","message":{"model":"claude-x-1","usage":{"input_tokens":100,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

` + deltas + `event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

`
}

func claudeDelta(text string) string {
	return `event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + delta(text) + "}}\n\n"
}

func gptDelta(text, stop string) string {
	if stop != "null" {
		stop = `"` + stop + `"`
	}
	return `data: {"model":"gpt-x-1","choices":[{"index":0,"delta":{"content":` + delta(text) + `},"finish_reason":` + stop + "}],\"usage\":null}\n\n"
}

const gptUsage = `data: {"model":"gpt-x-1","choices":[],"usage":{"prompt_tokens":123,"completion_tokens":42,"cost":0.0125,"prompt_tokens_details":{"cached_tokens":20}}}

`

func halves() (string, string) { return theAnswer[:20], theAnswer[20:] }

func dialects() []dialect {
	one, two := halves()
	thinking := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
	text := thinking + claudeDelta(one) + claudeDelta(two)
	quoted := " " + strings.ReplaceAll(thePack+theKey, `"`, "") + `"}}`
	return []dialect{{
		by: "anthropic", path: "/v1/messages", key: "X-Api-Key: " + theKey,
		good: claude(text, "end_turn"), begun: claudeDelta(one),
		limit: claude(text, "max_tokens"), declined: claude(text, "refusal"),
		overload: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded` + quoted,
		longer:   `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum` + quoted,
		failing:  claudeDelta(one) + "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded` + quoted + "\n\n",
	}, {
		by: "openai", path: "/v1/chat/completions", key: "Authorization: Bearer " + theKey,
		good: gptDelta(one, "null") + gptDelta(two, "null") + gptDelta("", "stop") + gptUsage + "data: [DONE]\n\n", begun: gptDelta(one, "null"),
		limit: gptDelta(one, "length") + "data: [DONE]\n\n", declined: gptDelta(one, "content_filter") + "data: [DONE]\n\n",
		overload: `{"error":{"code":"server_error","type":"server_error","message":"Overloaded` + quoted,
		longer:   `{"error":{"code":"context_length_exceeded","type":"invalid_request_error","message":"This model's maximum is` + quoted,
		failing:  gptDelta(one, "null") + `data: {"error":{"code":503,"message":"Overloaded` + quoted + "\n\n",
	}}
}

// eachDialect runs a test for both APIs.
func eachDialect(t *testing.T, test func(t *testing.T, d dialect)) {
	for _, d := range dialects() {
		t.Run(d.by, func(t *testing.T) { test(t, d) })
	}
}

// scripted answers the calls in turn, the last one for all that follow, and counts
// them.
func scripted(t *testing.T, answers ...http.HandlerFunc) (*httptest.Server, func() int) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(calls.Add(1)), len(answers))-1](w, r)
	}))
	t.Cleanup(server.Close)
	return server, func() int { return int(calls.Load()) }
}

func events(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

func failure(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut breaks the connection after a text.
func cut(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		events(text)(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func (d dialect) author(f *fakes, base string) Author {
	w := f.world()
	w.Transport = &http.Transport{}
	return New(spec.Author{By: d.by, Model: "m-1", KeyEnv: "KEY", BaseURL: base, Timeout: spec.Duration(10 * time.Minute)}, "", w)
}

func TestServiceAnswers(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		f := newFakes()
		var request *http.Request
		var body map[string]any
		server, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
			request = r
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			events(d.good)(w, r)
		})
		p := prompt()
		p.Earlier = []Attempt{{"first <try>", theReport}}
		a, err := d.author(f, server.URL).Write(t.Context(), p)
		want := Facts{Model: map[string]string{"anthropic": "claude-x-1", "openai": "gpt-x-1"}[d.by], InputTokens: 123, CacheRead: 20, OutputTokens: 42, Calls: 1}
		if want.Stop, want.CacheWrite = "end_turn", 3; d.by == "openai" {
			want.Stop, want.CacheWrite, want.Cost = "stop", 0, "0.0125"
		}
		if err != nil || a.Text != theAnswer || a.Facts != want {
			t.Errorf("%q, %+v, %v, want %+v", a.Text, a.Facts, err, want)
		}
		name, value, _ := strings.Cut(d.key, ": ")
		if request.URL.Path != d.path || request.Header.Get(name) != value {
			t.Errorf("%s with %v", request.URL.Path, request.Header)
		}
		var said []string
		for _, m := range body["messages"].([]any) {
			said = append(said, fmt.Sprint(m.(map[string]any)["role"], ":", m.(map[string]any)["content"]))
		}
		if d.by == "anthropic" {
			said = append([]string{fmt.Sprint("system:", body["system"])}, said...)
			if body["max_tokens"] != 4000.0 || request.Header.Get("Anthropic-Version") != "2023-06-01" {
				t.Errorf("max_tokens %v, version %q", body["max_tokens"], request.Header.Get("Anthropic-Version"))
			}
		}
		if wanted := []string{"system:Write.", "user:" + thePack, "assistant:first <try>", "user:" + theReport}; !slices.Equal(said, wanted) || body["model"] != "m-1" || body["stream"] != true {
			t.Errorf("asked %q of %v", said, body["model"])
		}
		if last := f.progress[len(f.progress)-1]; last.Chars != len([]rune(theAnswer)) || last.Call != 1 {
			t.Errorf("progress ended at %+v", last)
		}
	})
}

// A stream is the same however it comes: in odd pieces, with CRLF, comments,
// compressed, without its end mark.
func TestServiceStreams(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		bytewise := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range len(d.good) {
				_, _ = io.WriteString(w, d.good[i:i+1])
				w.(http.Flusher).Flush()
			}
		}
		zipped := func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Error("gzip not offered")
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, d.good)
			_ = z.Close()
		}
		end := map[string]string{"anthropic": "event: message_stop", "openai": "data: [DONE]"}[d.by]
		endless, _, _ := strings.Cut(d.good, end)
		for name, answer := range map[string]http.HandlerFunc{
			"bytewise": bytewise, "gzip": zipped,
			"crlf":        events(strings.ReplaceAll(d.good, "\n", "\r\n")),
			"comments":    events(": hello\n\n" + strings.ReplaceAll(d.good, "\n\n", "\n\n: keep-alive\n\n")),
			"no end mark": events(endless),
			"cut after":   cut(endless),
		} {
			server, calls := scripted(t, answer)
			a, err := d.author(newFakes(), server.URL).Write(t.Context(), prompt())
			if err != nil || a.Text != theAnswer || calls() != 1 || a.Facts.OutputTokens != 42 {
				t.Errorf("%s: %q, %+v, %v", name, a.Text, a.Facts, err)
			}
		}
	})
}

// The least that a similar server sends.
func TestServiceWithoutFacts(t *testing.T) {
	for by, text := range map[string]string{
		"openai":    `data: {"choices":[{"delta":{"role":"assistant","content":null}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"eos"}]}` + "\n\n",
		"anthropic": `data: {"type":"content_block_delta","delta":{"text":"hi"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
	} {
		server, _ := scripted(t, events(text))
		a, err := dialect{by: by}.author(newFakes(), server.URL).Write(t.Context(), prompt())
		if err != nil || a.Text != "hi" || a.Facts.InputTokens != 0 || a.Facts.Model != "" {
			t.Errorf("%s: %+v, %v", by, a, err)
		}
	}
}

// What a service says in the place of a name is not recorded if it is none.
func TestServiceNames(t *testing.T) {
	for _, name := range []string{theKey, "x" + theKey, "planted harbour", "planted\n", strings.Repeat("planted", 20), "planted灯"} {
		chunk, _ := json.Marshal(map[string]any{"model": name, "choices": []any{map[string]any{"delta": map[string]any{"content": "hi"}, "finish_reason": name}}})
		server, _ := scripted(t, events("data: "+string(chunk)+"\n\n"))
		a, err := dialect{by: "openai"}.author(newFakes(), server.URL).Write(t.Context(), prompt())
		if err != nil || a.Facts != (Facts{Calls: 1}) {
			t.Errorf("%q: %+v, %v", name, a, err)
		}
	}
}

func TestServiceEndsForGood(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		echo := `{"error":{"type":"%s","code":"%s","message":"` + thePack + " " + theKey + `"}}`
		for _, c := range []struct {
			name, class string
			answer      http.HandlerFunc
		}{
			{"401", KeyRefused, failure(401, fmt.Sprintf(echo, "authentication_error", "invalid_api_key"))},
			{"403", KeyRefused, failure(403, thePack+theKey)},
			{"402", NoCredit, failure(402, fmt.Sprintf(echo, "billing_error", ""))},
			{"429 without credit", NoCredit, failure(429, fmt.Sprintf(echo, "insufficient_quota", "insufficient_quota"))},
			{"404", UnknownModel, failure(404, fmt.Sprintf(echo, "not_found_error", "model_not_found"))},
			{"404 page", UnknownModel, failure(404, "<html>"+thePack)},
			{"too long", PromptTooLong, failure(400, d.longer)},
			{"413", PromptTooLong, failure(413, theKey)},
			{"too long for vllm", PromptTooLong, failure(400, `{"object":"error","message":"This model's maximum context length is 4096 tokens `+thePack+`","code":400}`)},
			{"too long for llama.cpp", PromptTooLong, failure(400, `{"error":{"code":400,"type":"exceed_context_size_error","message":"x"}}`)},
			{"400", BadRequest, failure(400, fmt.Sprintf(echo, "invalid_request_error", ""))},
			{"bare text", BadRequest, failure(400, `{"error":"`+thePack+`"}`)},
			{"501", ServiceFailed, failure(501, thePack)},
			{"no stream", Garbled, failure(200, `{"planted":1}`, "Content-Type", "application/json")},
			{"unknown coding", Garbled, failure(200, d.good, "Content-Type", "text/event-stream", "Content-Encoding", "br")},
			{"bad json", Garbled, events(d.begun + "data: {planted " + theKey + "\n\n")},
			{"wrong shape", Garbled, events(`data: {"choices":"` + theKey + `","delta":"planted"}` + "\n\n")},
			{"most tokens", AnswerCut, events(d.limit)},
			{"declined", Declined, events(d.declined)},
			{"tool use", NoAnswer, events(strings.ReplaceAll(strings.ReplaceAll(d.good, `"end_turn"`, `"tool_use"`), `"stop"`, `"tool_calls"`))},
			{"empty", NoAnswer, events(strings.NewReplacer(strings.Trim(delta(theAnswer[:20]), `"`), "", strings.Trim(delta(theAnswer[20:]), `"`), "").Replace(d.good))},
			{"too long an answer", AnswerTooLong, events(strings.Repeat(d.begun, 4000))},
			{"long line", AnswerTooLong, events("data: " + strings.Repeat("planted", maxLine/7+1))},
		} {
			server, calls := scripted(t, c.answer)
			a, err := d.author(newFakes(), server.URL).Write(t.Context(), prompt())
			t.Run(c.name, func(t *testing.T) {
				refused(t, err, c.class)
				spent(t, a)
				if calls() != 1 || a.Facts.Calls != 1 {
					t.Errorf("%d calls, facts say %d", calls(), a.Facts.Calls)
				}
			})
		}
	})
}

func TestOpenAIDeclines(t *testing.T) {
	server, _ := scripted(t, events(`data: {"choices":[{"delta":{"refusal":"planted"}}]}`+"\n\n"))
	_, err := dialect{by: "openai"}.author(newFakes(), server.URL).Write(t.Context(), prompt())
	refused(t, err, Declined)
}

// A stream of pings ends, too.
func TestServiceBoundsPings(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		f := newFakes()
		w := f.world()
		c, err := (&service{Author: spec.Author{Model: "m"}, api: anthropic{}, world: w}).prepare(prompt())
		if err != nil {
			t.Fatal(err)
		}
		c.maxWire = 1 << 20
		server, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n: planted\n\n")
			}
		})
		c.world.Transport, c.address = &http.Transport{}, server.URL
		_, err = c.untilAnswered(t.Context())
		refused(t, ended(t.Context(), t.Context(), 0, err), AnswerTooLong)
	})
}

// The pack and the key go to the address of the job and nowhere else.
func TestServiceFollowsNoRedirect(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		other, calls := scripted(t, events(d.good))
		for _, code := range []int{301, 302, 303, 307, 308} {
			server, _ := scripted(t, failure(code, "", "Location", other.URL+"/"+theKey))
			_, err := d.author(newFakes(), server.URL).Write(t.Context(), prompt())
			refused(t, err, Redirected)
		}
		if calls() != 0 {
			t.Errorf("the other server was called %d times", calls())
		}
	})
}

func TestServiceWithoutKey(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		server, calls := scripted(t, events(d.good))
		for _, value := range []string{"", " \n", "two planted words", "planted\x01", "planted灯"} {
			f := newFakes()
			f.env = map[string]string{"KEY": value}
			_, err := d.author(f, server.URL).Write(t.Context(), prompt())
			refused(t, err, NoKey)
		}
		f := newFakes()
		f.env = nil
		_, err := d.author(f, server.URL).Write(t.Context(), prompt())
		refused(t, err, NoKey)
		if calls() != 0 {
			t.Errorf("called %d times without a key", calls())
		}
	})
}

// A server of one's own needs no key; one that wants it says so.
func TestServiceNeedsNoKey(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		server, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization")+r.Header.Get("X-Api-Key") != "" {
				t.Error("a key was sent")
			}
			events(d.good)(w, r)
		}, failure(401, "planted"))
		w := newFakes().world()
		w.Transport = &http.Transport{}
		a := New(spec.Author{By: d.by, Model: "m", BaseURL: server.URL}, "", w)
		if _, err := a.Write(t.Context(), prompt()); err != nil {
			t.Error(err)
		}
		_, err := a.Write(t.Context(), prompt())
		refused(t, err, NoKey)
	})
}
