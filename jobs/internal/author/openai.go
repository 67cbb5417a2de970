package author

import (
	"net/http"
	"net/url"
	"strconv"
)

// openai is the Chat Completions API.
type openai struct{}

// address takes a base with its version, as its clients do; a bare host gets one.
func (openai) address(base *url.URL) *url.URL {
	switch {
	case base.Host == "":
		base = &url.URL{Scheme: "https", Host: "api.openai.com", Path: "/v1"}
	case base.Path == "" || base.Path == "/":
		base = base.JoinPath("v1")
	}
	return base.JoinPath("chat", "completions")
}

func (openai) header(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// body names no limit for the answer: services disagree about its name, and
// without it the model's own holds.
func (openai) body(model string, p Prompt) any {
	type options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	messages := turns(p)
	if p.Instructions != "" {
		messages = append([]turn{{"system", p.Instructions}}, messages...)
	}
	return struct {
		Model    string  `json:"model"`
		Messages []turn  `json:"messages"`
		Stream   bool    `json:"stream"`
		Options  options `json:"stream_options"`
	}{model, messages, true, options{true}}
}

type openaiChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *openaiUsage `json:"usage"`
	Error *complaint   `json:"error"`
}

type openaiUsage struct {
	Input  int64 `json:"prompt_tokens"`
	Output int64 `json:"completion_tokens"`
	Cost   any   `json:"cost"` // a number, of routers that sell many models
	Detail struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (openai) take(r *reply, m message) error {
	if string(m.data) == "[DONE]" {
		r.done = true
		if !r.ended {
			return passing(StreamCut, "the stream ended before the answer did")
		}
		return nil
	}
	var c openaiChunk
	if err := parse(m, &c); err != nil {
		return err
	}
	if c.Error != nil || m.event == "error" {
		return c.Error.fault(0)
	}
	if c.Model != "" {
		r.used.Model = r.call.word(c.Model)
	}
	c.Usage.count(r)
	return c.choose(r)
}

// choose takes in the first choice; there should be no other.
func (c openaiChunk) choose(r *reply) error {
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.Delta.Refusal != "" {
			return fatal(Declined, "the model declined to write the summary")
		}
		if err := r.add(choice.Delta.Content); err != nil {
			return err
		}
		openaiStop(r, choice.FinishReason)
	}
	return nil
}

func openaiStop(r *reply, reason string) {
	switch reason {
	case "":
	case "length":
		r.stop(reason, fatal(AnswerCut, "the answer reached the most tokens the model may write, and was cut"))
	case "content_filter":
		r.stop(reason, fatal(Declined, "the service's filter stopped the answer"))
	case "tool_calls", "function_call":
		r.stop(reason, fatal(NoAnswer, "the model stopped before it had answered"))
	default: // "stop", or what a similar service says
		r.stop(reason, nil)
	}
}

// count takes over the totals, which come once, at the end, or with every chunk.
func (u *openaiUsage) count(r *reply) {
	if u == nil {
		return
	}
	r.used.InputTokens, r.used.CacheRead, r.used.OutputTokens = max(u.Input, 0), max(u.Detail.Cached, 0), max(u.Output, 0)
	if cost, ok := u.Cost.(float64); ok {
		r.used.Cost = strconv.FormatFloat(cost, 'f', -1, 64)
	}
}
