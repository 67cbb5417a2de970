package clienttest

import (
	"encoding/json"
	"reflect"
	"testing"
)

// resumption is what Resume would give of a request and of what the client wrote.
func resumption(t *testing.T, session, request, after string) Resumption {
	t.Helper()
	r := Resumption{
		session: []byte(session), prompt: "PROBE", client: &Client{Home: "/home", Dir: "/dir"},
		Sessions: map[string][]byte{"id": []byte(session + after)},
	}
	if err := json.Unmarshal([]byte(request), &r.Messages); err != nil {
		t.Fatal(err)
	}
	return r
}

const called = `[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"echo mk:b"}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"},{"type":"text","text":"again"},{"type":"text","text":"again"},` +
	`{"type":"text","text":"# Environment\nhere"},{"type":"text","text":"see /dir/x"},{"type":"text","text":"PROBE"}]}]`

func TestAttribution(t *testing.T) {
	for name, c := range map[string]struct {
		session string
		want    Attribution
	}{
		"by markers": {
			`{"uuid":"B","message":{"content":[{"type":"text","text":"mk:b"}]}}` + "\n" +
				`{"uuid":"B2","note":"mk:b"}` + "\n",
			Attribution{UUIDs: []string{"B"}, Synthetic: []string{"tool_result t1: done", "again", "again", "see WORK/x"}},
		},
		"by ids and texts": {
			`{"uuid":"U","message":{"content":[{"type":"tool_use","id":"t1"}]}}` + "\n" +
				`{"uuid":"R","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}` + "\n" +
				`{"uuid":"A1","message":{"content":"again"}}` + "\n" +
				`{"uuid":"A2","message":{"content":" again\n"}}` + "\n",
			Attribution{UUIDs: []string{"U", "R", "A1", "A2"}, Synthetic: []string{"see WORK/x"}},
		},
		"in a damaged file": {
			"\ufeff\x00\x00\nnot JSON {\n" + `{"uuid":"torn","mk:b` + "\n{\n \"uuid\": 7,\n \"message\": {\"content\": [null, \"mk:b\"]}\n}\n[1]\n",
			Attribution{UUIDs: []string{"7"}, Synthetic: []string{"tool_result t1: done", "again", "again", "see WORK/x"}},
		},
	} {
		c.want.ToolUses, c.want.ToolResults = []string{"t1"}, []string{"t1"}
		if got := resumption(t, c.session, called, "").Attribution(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestLeaf(t *testing.T) {
	const session = `{"uuid":"a"}` + "\n" + `{"uuid":"b","parentUuid":"a"}` + "\n"
	for after, want := range map[string]string{
		`{"uuid":"p","parentUuid":"b","type":"user","message":{"content":"PROBE"}}`: "b",
		`{"uuid":"c","parentUuid":"a","type":"user","message":{"content":"Continue"}}
		 {"uuid":"p","parentUuid":"c","type":"user","message":{"content":"PROBE"}}`: "a",
		`{"uuid":"p","parentUuid":"q","type":"user","message":{"content":"PROBE"}}
		 {"uuid":"q","parentUuid":"p","type":"attachment"}`: "",
		`{"uuid":"p","parentUuid":null,"type":"user","message":{"content":"PROBE"}}`: "",
	} {
		if got := resumption(t, session, "[]", after).Attribution().Leaf; got != want {
			t.Errorf("%s: leaf %q, want %q", after, got, want)
		}
	}
}

func TestPlaceAndDayDoNotCount(t *testing.T) {
	for text, want := range map[string]string{
		"# Environment update\n - here (was there)\n\nNo tool.\n\nNone.\n\nThe date has changed. It is now.": "No tool.\n\nNone.",
		"# Environment update\n - here (was there)":                                                          "",
		"No tool.\n\nNone.": "No tool.\n\nNone.",
	} {
		if got := lasting(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
