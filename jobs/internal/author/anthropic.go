package author

import (
	"net/http"
	"net/url"
	"strings"
)

// anthropic is the Messages API.
type anthropic struct{}

// mostTokens is how long an answer may be asked for: what all current models
// write.
const mostTokens = 32000

// address takes a base with and without the version.
func (anthropic) address(base *url.URL) *url.URL {
	if base.Host == "" {
		base = &url.URL{Scheme: "https", Host: "api.anthropic.com"}
	}
	if strings.HasSuffix(strings.TrimSuffix(base.Path, "/"), "/v1") {
		return base.JoinPath("messages")
	}
	return base.JoinPath("v1", "messages")
}

func (anthropic) header(h http.Header, key string) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// turns is a prompt's conversation after the instructions.
func turns(p Prompt) []turn {
	list := []turn{{"user", p.Pack}}
	for _, a := range p.Earlier {
		list = append(list, turn{"assistant", a.Answer}, turn{"user", a.Report})
	}
	return list
}

func (anthropic) body(model string, p Prompt) any {
	return struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		System    string `json:"system,omitempty"`
		Messages  []turn `json:"messages"`
		Stream    bool   `json:"stream"`
	}{model, min(p.MaxChars, mostTokens), p.Instructions, turns(p), true}
}

// anthropicUsage counts the call so far; it comes several times, and members are
// missing where they did not change.
type anthropicUsage struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

type anthropicEvent struct {
	Type    string `json:"type"`
	Message struct {
		Model string         `json:"model"`
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
	Block struct {
		Text string `json:"text"`
	} `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
	Error *complaint     `json:"error"`
}

func (anthropic) take(r *reply, m message) error {
	var e anthropicEvent
	if err := parse(m, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		r.used.Model = r.call.word(e.Message.Model)
		e.Message.Usage.count(&r.used)
	case "content_block_start":
		return r.add(e.Block.Text)
	case "content_block_delta":
		return r.add(e.Delta.Text)
	case "message_delta":
		e.Usage.count(&r.used)
		anthropicStop(r, e.Delta.StopReason)
	case "message_stop":
		r.ended, r.done = true, true
	case "error":
		return e.Error.fault(0)
	}
	return nil
}

func anthropicStop(r *reply, reason string) {
	switch reason {
	case "":
	case "end_turn", "stop_sequence":
		r.stop(reason, nil)
	case "max_tokens", "model_context_window_exceeded":
		r.stop(reason, fatal(AnswerCut, "the answer reached the most tokens the model may write, and was cut"))
	case "refusal":
		r.stop(reason, fatal(Declined, "the model declined to write the summary"))
	default:
		r.stop(reason, fatal(NoAnswer, "the model stopped before it had answered"))
	}
}

// count takes over what is there. Of the tokens read, the service counts those of
// its cache apart.
func (u anthropicUsage) count(f *Facts) {
	set := func(to *int64, from *int64) {
		if from != nil {
			*to = max(*from, 0)
		}
	}
	plain := f.InputTokens - f.CacheRead - f.CacheWrite
	set(&plain, u.Input)
	set(&f.CacheRead, u.CacheRead)
	set(&f.CacheWrite, u.CacheWrite)
	set(&f.OutputTokens, u.Output)
	f.InputTokens = plain + f.CacheRead + f.CacheWrite
}
