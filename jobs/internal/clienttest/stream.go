package clienttest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// object is a JSON object that is only written.
type object map[string]any

// reply answers req with turn, streamed or whole as req asks.
func reply(ctx context.Context, w http.ResponseWriter, req Request, turn Turn, id string) {
	stop := "end_turn"
	if slices.ContainsFunc(turn.Blocks, func(b Block) bool { return b.Type == "tool_use" }) {
		stop = "tool_use"
	}
	message := object{
		"id": id, "type": "message", "role": "assistant", "model": req.Model,
		"content": []Block{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 1},
	}
	if req.Stream {
		stream(ctx, w, message, turn, stop)
		return
	}
	message["content"], message["stop_reason"] = turn.Blocks, stop
	if sleep(ctx, turn.Sleep) {
		writeJSON(w, message)
	}
}

// stream writes the events of one answer. A write fails when the client is gone,
// and then nobody is left to tell.
func stream(ctx context.Context, w http.ResponseWriter, message object, turn Turn, stop string) {
	w.Header().Set("content-type", "text/event-stream")
	event(w, "message_start", object{"message": message})
	for i, b := range turn.Blocks {
		start, deltas := pieces(b)
		event(w, "content_block_start", object{"index": i, "content_block": start})
		for _, d := range deltas {
			event(w, "content_block_delta", object{"index": i, "delta": d})
		}
		event(w, "content_block_stop", object{"index": i})
	}
	if !sleep(ctx, turn.Sleep) {
		return
	}
	event(w, "message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": 20},
	})
	event(w, "message_stop", object{})
}

// pieces is a block as the stream gives it: an empty one and what fills it.
func pieces(b Block) (start any, deltas []object) {
	switch b.Type {
	case "text":
		return object{"type": "text", "text": ""},
			[]object{{"type": "text_delta", "text": b.Text}}
	case "thinking":
		var signed struct{ Signature string }
		_ = json.Unmarshal(b.Raw, &signed) // Raw was decoded before
		return object{"type": "thinking", "thinking": "", "signature": ""},
			[]object{{"type": "thinking_delta", "thinking": b.Text}, {"type": "signature_delta", "signature": signed.Signature}}
	case "tool_use":
		return object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": object{}},
			[]object{{"type": "input_json_delta", "partial_json": b.Text}}
	}
	return b, nil
}

func event(w http.ResponseWriter, kind string, data object) {
	data["type"] = kind
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // made of strings, numbers and valid JSON
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// sleep reports whether somebody still waits afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("content-type", "application/json")
	// As above: a client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(v)
}
