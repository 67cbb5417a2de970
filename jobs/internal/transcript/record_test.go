package transcript_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/tokens"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// one reads a file of a single record.
func one(t *testing.T, line string) (*transcript.Index, *transcript.Record) {
	t.Helper()
	x := read(t, []byte(line+"\n"))
	if len(x.Records) != 1 {
		t.Fatalf("%d records, damage %v", len(x.Records), x.Damage)
	}
	return x, &x.Records[0]
}

func TestIdentity(t *testing.T) {
	type want struct {
		uuid, parent, session string
		typ                   string
		flags                 transcript.Flags
	}
	const has, key, dup = transcript.HasUUID, transcript.HasParentKey, transcript.DuplicateKey
	tests := map[string]want{
		`{"type":"user","uuid":"u","parentUuid":"p","sessionId":"s"}`: {"u", "p", "s", "user", has | key},
		`{"type":"user","uuid":"u","parentUuid":null}`:                {"u", "", "", "user", has | key},
		`{"type":"user","uuid":"u"}`:                                  {"u", "", "", "user", has},
		`{"uuid":""}`:                                                 {"", "", "", "", has},
		`{"uuid":null}`:                                               {"", "", "", "", 0},
		`{"uuid":7}`:                                                  {"", "", "", "", transcript.BadUUID},
		`{"uuid":["u"]}`:                                              {"", "", "", "", transcript.BadUUID},
		`{"uuid":{"uuid":"u"}}`:                                       {"", "", "", "", transcript.BadUUID},
		`{"UUID":"u","ParentUuid":"p","SESSIONID":"s","Type":"user"}`: {"", "", "", "", 0},
		`{"type":["user"]}`:                      {"", "", "", "", 0},
		`{"type":7}`:                             {"", "", "", "", 0},
		`{"sessionId":{"a":1}}`:                  {"", "", "", "", 0},
		`{"sessionId":["s"]}`:                    {"", "", "", "", 0},
		`{"uuid":"a","uuid":"b"}`:                {"b", "", "", "", has | dup},
		`{"uuid":"a","uuid":null}`:               {"", "", "", "", dup},
		`{"uuid":7,"uuid":"b"}`:                  {"b", "", "", "", has | dup},
		`{"parentUuid":null,"parentUuid":"p"}`:   {"", "p", "", "", key | dup},
		`{"parentUuid":"p","parentUuid":null}`:   {"", "", "", "", key | dup},
		`{"parentUuid":5,"parentUuid":"p"}`:      {"", "p", "", "", key | dup},
		`{"sessionId":"a","sessionId":"b"}`:      {"", "", "b", "", dup},
		`{"type":"user","type":"voice"}`:         {"", "", "", "voice", dup},
		`{"type":"voice","type":"system"}`:       {"", "", "", "system", dup},
		`{"\u0075uid":"a","uu\u0069d":"\u0062"}`: {"b", "", "", "", has | dup},
		`{"t\u0079pe":"us\u0065r"}`:              {"", "", "", "user", 0},
		`{"type":"v\u006fice"}`:                  {"", "", "", "voice", 0},
		`{"cwd":"a","cwd":"b"}`:                  {"", "", "", "", 0},
	}
	for line, w := range tests {
		x, r := one(t, line)
		got := want{x.Name(r.UUID), x.Name(r.Parent), x.Name(r.Session), x.TypeName(0), r.Flags}
		if got != w {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, w)
		}
	}
}

func TestParentKinds(t *testing.T) {
	for value, want := range map[string]transcript.ParentKind{
		`"p"`: transcript.ParentFine, `null`: transcript.ParentFine, `""`: transcript.ParentEmpty,
		`0`: transcript.ParentNumber, `-1.5`: transcript.ParentNumber, `true`: transcript.ParentBool, `false`: transcript.ParentBool,
		`[]`: transcript.ParentArray, `["p"]`: transcript.ParentArray, `{"p":1}`: transcript.ParentObject,
	} {
		line := `{"uuid":"u","parentUuid": ` + value + ` }`
		_, r := one(t, line)
		if r.BadParent != want {
			t.Errorf("%s: %s, want %s", value, r.BadParent, want)
		}
		if got := line[r.ParentOff : r.ParentOff+r.ParentLen]; got != value {
			t.Errorf("the place of %s holds %s", value, got)
		}
	}
	if _, r := one(t, `{"uuid":"u"}`); r.BadParent != transcript.ParentFine || r.ParentLen != 0 {
		t.Errorf("without the key: %+v", r)
	}
}

func TestMessageFacts(t *testing.T) {
	const (
		api  = transcript.HasMessage
		usr  = transcript.HasMessage | transcript.RoleUser
		asst = transcript.HasMessage | transcript.RoleAssistant
		list = transcript.ListContent
		said = transcript.Semantic | transcript.Substance
	)
	tests := map[string]transcript.Flags{
		`null`: 0, `"text"`: 0, `[]`: 0, `{}`: api,
		`{"role":"user","content":"hi"}`:                                                         usr | transcript.TextContent | said,
		`{"role":"us\u0065r","content":"\u0020\n"}`:                                              usr | transcript.TextContent,
		`{"role":"system","content":""}`:                                                         api | transcript.TextContent,
		`{"role":"user","content":null}`:                                                         usr,
		`{"role":"user","content":[]}`:                                                           usr | list,
		`{"role":"user","content":["hi"]}`:                                                       usr | list | transcript.OtherBlock | said,
		`{"role":"user","content":[7,null]}`:                                                     usr | list | transcript.OtherBlock | transcript.NullBlock,
		`{"role":"assistant","content":[{"type":"text"}]}`:                                       asst | list | transcript.OtherBlock,
		`{"content":[{"type":"text","text":"hi"}],"role":"assistant"}`:                           asst | list | transcript.OtherBlock | said,
		`{"content":[{"text":"hi","type":"te\u0078t"}]}`:                                         api | list | transcript.OtherBlock | said,
		`{"content":[{"type":"text","text":" \n\u00a0"}]}`:                                       api | list | transcript.OtherBlock,
		`{"content":[{"type":"thinking","thinking":"hm"}]}`:                                      api | list | transcript.OtherBlock | transcript.Semantic | transcript.Thinking,
		`{"content":[{"type":"redacted_thinking","data":"x"}]}`:                                  api | list | transcript.OtherBlock | transcript.Thinking,
		`{"content":[{"type":"image","text":"hi"}]}`:                                             api | list | transcript.OtherBlock | transcript.Substance,
		`{"content":[{"type":"tool_result","tool_use_id":"t"}]}`:                                 api | list,
		`{"content":[{"type":"tool_result"},{"type":"text","text":"x"}]}`:                        api | list | transcript.OtherBlock | said,
		`{"content":[{"type":"text","text":"x"},{"type":"tool_result"}]}`:                        api | list | transcript.OtherBlock | said | transcript.LateResult,
		`{"model":"<synthetic>"}`:                                                                api | transcript.Synthetic,
		`{"model":"<synthetic>","model":"m"}`:                                                    api,
		`{"role":"user","role":"assistant"}`:                                                     asst,
		`{"content":"hi","content":[]}`:                                                          api | list,
		`{"content":[{"type":"text","text":"x"}],"content":[{"type":"tool_result"}]}`:            api | list,
		`{"role":"user","content":"hi"},"message":{"role":"assistant"}`:                          asst | transcript.DuplicateKey,
		`{"role":"user","content":[{"type":"tool_use","id":"x"}]},"message":null`:                transcript.DuplicateKey,
		`{"id":"m1","model":"<synthetic>","content":[{"type":"thinking"}]},"message":{"id":"x"}`: api | transcript.DuplicateKey,
	}
	for message, want := range tests {
		_, r := one(t, `{"type":"user","message":`+message+`}`)
		if r.Flags != want {
			t.Errorf("%s: flags %b, want %b", message, r.Flags, want)
		}
	}
}

func TestTools(t *testing.T) {
	type tool struct {
		id, name string
		block    uint16
		kind     transcript.ToolKind
		failed   bool
	}
	tests := map[string][]tool{
		`"message":{"content":[{"type":"text"},{"type":"tool_use","id":"a","name":"Read","input":{"id":"no","type":"x"}}]}`:   {{"a", "Read", 1, transcript.Use, false}},
		`"message":{"content":[{"id":"a","name":"Read","type":"tool_use"},{"type":"tool_use"}]}`:                              {{"a", "Read", 0, transcript.Use, false}, {"", "", 1, transcript.Use, false}},
		`"message":{"content":[{"type":"tool_use","id":7}]}`:                                                                  {{"", "", 0, transcript.Use, false}},
		`"message":{"content":[{"tool_use_id":"a","type":"tool_result","is_error":true}]}`:                                    {{"a", "", 0, transcript.Result, true}},
		`"message":{"content":[{"toolUseID":"a","type":"tool_result","is_error":"true"}]}`:                                    {{"a", "", 0, transcript.Result, false}},
		`"message":{"content":[{"tool_use_id":"a","toolUseID":null,"type":"tool_result"}]}`:                                   {{"a", "", 0, transcript.Result, false}},
		`"message":{"content":[{"toolUseID":"b","tool_use_id":"a","type":"tool\u005fresult"}]}`:                               {{"a", "", 0, transcript.Result, false}},
		`"message":{"content":[{"type":"tool_result","content":[{"type":"tool_use","id":"no"}]}]}`:                            {{"", "", 0, transcript.Result, false}},
		`"message":{"content":[{"type":"tool_use","id":"a"}],"content":[{"type":"tool_use","id":"b"}]}`:                       {{"b", "", 0, transcript.Use, false}},
		`"attachment":{"toolUseID":"h"},"message":{"content":[{"type":"tool_use","id":"a"}]},"message":{"content":"nothing"}`: {{"h", "", 0, transcript.Hook, false}},
		`"attachment":{"toolUseID":""}`: nil,
		`"toolUseID":"a"`:               nil,
	}
	for members, want := range tests {
		x := read(t, []byte(`{"message":{"content":[{"type":"tool_use","id":"before"}]}}`+"\n{"+members+"}\n"+`{"message":{"content":[{"type":"tool_use","id":"after"}]}}`))
		var got []tool
		for _, e := range x.ToolsOf(1) {
			if e.Record != 1 {
				t.Errorf("%s: a tool of record %d", members, e.Record)
			}
			got = append(got, tool{x.Name(e.ID), x.Name(e.Name), e.Block, e.Kind, e.Error})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", members, got, want)
		}
		if a, b := x.ToolsOf(0), x.ToolsOf(2); len(a) != 1 || x.Name(a[0].ID) != "before" || len(b) != 1 || x.Name(b[0].ID) != "after" {
			t.Errorf("%s: the tools of the neighbours are %v, %v", members, a, b)
		}
	}
}

// The tools of a line that turns out to be damaged are taken back.
func TestToolsOfDamagedLine(t *testing.T) {
	x := read(t, []byte(`{"message":{"content":[{"type":"tool_use","id":"a"}]},"messageId":"m",x}`+"\n"+`{"uuid":"u"}`))
	if len(x.Tools) != 0 || len(slices.Collect(x.Correlations(0))) != 1 {
		t.Errorf("tools %v, correlations %v", x.Tools, slices.Collect(x.Correlations(0)))
	}
}

func TestCorrelations(t *testing.T) {
	x, _ := one(t, `{"uuid":"1","messageId":"2","snapshotMessageId":"3","sourceUuid":"4","sourceUUID":"5","sourceToolAssistantUUID":"6","promptId":"7","message":{"id":"8","messageId":"no"},"snapshot":{"messageId":"no"},"parentUuid":"no","leafUuid":"no","sessionId":"no"}`)
	var got []string
	for s := range x.Correlations(0) {
		got = append(got, x.Name(s))
	}
	slices.Sort(got)
	if want := strings.Split("12345678", ""); !slices.Equal(got, want) {
		t.Errorf("correlations %v, want %v", got, want)
	}
}

func TestPointerLeaf(t *testing.T) {
	for line, want := range map[string]string{
		`{"leafUuid":"l"}`: "l", `{"leafUuid":""}`: "", `{"leafUuid":null}`: "", `{"leafUuid":5}`: "", `{"leafUUID":"l"}`: "", `{}`: "",
		`{"leafUuid":"a","leafUuid":"b"}`: "b", `{"leafUuid":"a","leafUuid":null}`: "",
	} {
		x, r := one(t, line)
		if x.Name(r.Leaf) != want || r.Has(transcript.HasLeaf) != (want != "") {
			t.Errorf("%s: leaf %q, has one %v", line, x.Name(r.Leaf), r.Has(transcript.HasLeaf))
		}
	}
}

func TestTime(t *testing.T) {
	for line, want := range map[string]string{
		`{"timestamp":"2026-03-02T09:00:00.000Z"}`:         "2026-03-02T09:00:00.000Z",
		`{"timestamp":5}`:                                  "",
		`{"timestamp":"a","timestamp":null}`:               "",
		`{"snapshot":{"timestamp":"no"}}`:                  "",
		`{"timestamp":"` + strings.Repeat("9", 255) + `"}`: strings.Repeat("9", 255),
		`{"timestamp":"` + strings.Repeat("9", 256) + `"}`: "",
	} {
		data := "{\"type\":\"mode\"}" + line // glued: offsets are of the record
		x := read(t, []byte(data))
		src := transcript.NewSource(x, strings.NewReader(data))
		if got, err := src.Time(1); got != want || err != nil {
			t.Errorf("%s: time %q, %v", line, got, err)
		}
		if got, err := src.Record(1); string(got) != line || err != nil {
			t.Errorf("%s: record %q, %v", line, got, err)
		}
	}
}

func TestSurrogatePlaces(t *testing.T) {
	lone := "{\"a\":\"\\ud800\"}"
	x := read(t, []byte("{}\n"+lone+"\n{}"+lone+"{}\n"))
	var got []int
	for i := range x.Records {
		got = append(got, x.Records[i].Surrogate())
		if has := x.Records[i].Has(transcript.LoneSurrogate); has != (got[i] >= 0) {
			t.Errorf("record %d: marked %v, at %d", i, has, got[i])
		}
	}
	if want := []int{-1, 6, -1, 6, -1}; !slices.Equal(got, want) {
		t.Errorf("surrogates at %v, want %v", got, want)
	}
	data, err := os.ReadFile(filepath.Join(casesDir, "18-lone-surrogate.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	x = read(t, data)
	for i := range x.Records {
		r := &x.Records[i]
		if (r.Surrogate() >= 0) != (r.Line == 11) {
			t.Errorf("line %d: surrogate at %d", r.Line, r.Surrogate())
		}
		if r.Line == 11 && !strings.HasPrefix(string(data[r.Off+int64(r.Surrogate()):]), `\ud99c`) {
			t.Errorf("line 11: no escape at %d", r.Surrogate())
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	x := read(t, []byte("{\"uuid\":\"\xff\xfe\"}\n{\"uuid\":\"\ufffd\"}\n"))
	if len(x.Records) != 2 || !x.Records[0].Has(transcript.BadUTF8) || x.Records[1].Has(transcript.BadUTF8) {
		t.Errorf("%d records, flags %b %b", len(x.Records), x.Records[0].Flags, x.Records[1].Flags)
	}
	if x.Records[0].UUID == x.Records[1].UUID {
		t.Error("bad bytes and the replacement character are one identifier")
	}
}

func TestLastCopyOfUUID(t *testing.T) {
	x := read(t, []byte(`{"uuid":"a"}`+"\n"+`{"uuid":"b","parentUuid":"a"}`+"\n"+`{"uuid":"a"}`+"\n"))
	a, _ := x.Lookup("a")
	if x.ByUUID(a) != 2 || x.Parent(1) != 2 || x.Parent(0) != -1 || x.ByUUID(0) != -1 {
		t.Errorf("a is record %d, b hangs below %d", x.ByUUID(a), x.Parent(1))
	}
	if _, ok := x.Lookup("c"); ok {
		t.Error("an unknown text has a symbol")
	}
}

// What a record costs is the cost of the members that count, written compactly.
func TestTokens(t *testing.T) {
	tests := []struct{ line, counted string }{
		{`{"uuid":"u","parentUuid":"p","sessionId":"s","timestamp":"t","cwd":"c","version":"v","type":"user","message":{"role":"user"},"gitBranch":"b"}`,
			`{"gitBranch":"b","message":{"role":"user"},"type":"user"}`},
		{`{ "type" : "assistant" , "message" : { "usage" : { "cost" : 1E5 } } , "toolUseResult" : [ ] }`,
			`{"message":{"usage":{"cost":100000.0}},"toolUseResult":[],"type":"assistant"}`},
		{`{"type":"user","message":{}}`, `{"message":{},"type":"user"}`},
		{`{"type":"user","message":"text"}`, ``},
		{`{"type":"attachment","attachment":{"type":"file","t":"中"},"uuid":"u"}`, `{"t":"中","type":"file"}`},
		{`{"type":"attachment","attachment":{}}`, `{}`},
		{`{"type":"attachment","attachment":null}`, ``},
		{`{"type":"attachment","attachment":"text"}`, ``},
		{`{"type":"attachment","attachment":{"a":1},"attachment":[]}`, ``},
		{`{"type":"attachment"}`, ``},
		{`{"type":"system","subtype":"s","content":"c","error":null,"compactMetadata":{"a":1},"level":"info"}`,
			`{"compactMetadata":{"a":1},"content":"c","error":null,"subtype":"s"}`},
		{`{"type":"system","content":"c"}`, `{"content":"c"}`},
		{`{"type":"system","uuid":"u"}`, `{}`},
		{`{"type":"last-prompt","lastPrompt":"x"}`, ``},
		{`{"type":"file-history-snapshot","message":{"role":"user"}}`, ``},
		{`{"type":"progress","data":{}}`, ``},
	}
	for _, tt := range tests {
		want := 0
		if tt.counted != "" {
			want = tokens.Text(tt.counted) + tokens.PerRecord
		}
		if _, r := one(t, tt.line); int(r.Tokens) != want {
			t.Errorf("%s: %d tokens, want %d", tt.line, r.Tokens, want)
		}
	}
}

func TestCauses(t *testing.T) {
	x := read(t, []byte(strings.Join([]string{
		`{"type":"user","toolUseResult":{"stdout":"0123456789"},"message":{"content":[{"type":"tool_result","content":"0123456789"}]}}`,
		`{"type":"user","toolUseResult":{"stdout":"other"},"message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"0123"},{"type":"image","source":{"data":"AAAA"}}]}]}}`,
		`{"type":"user","message":{"content":[{"type":"image","source":{"type":"base64","data":"BBBBBB"}}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"x","signature":"12345"}]}}`,
		`{"type":"progress","data":{"normalizedMessages":[1,2],"a":1}}`,
		`{"type":"other","data":{"normalizedMessages":[1,2],"a":1}}`,
		`{"type":"file-history-snapshot"}`,
	}, "\n")))
	want := transcript.Causes{
		ToolUseResult: int64(len(`{"stdout":"0123456789"}{"stdout":"other"}`)), DoubleOutput: 10, DoubleLine: 1,
		Images: 10, Signatures: 5, ProgressPayload: int64(len(`{"normalizedMessages":[1,2],"a":1}`)), NormalizedCopy: 5,
		Snapshots: int64(len(`{"type":"file-history-snapshot"}`)),
	}
	got := x.Causes
	if got.ToolUseResult != want.ToolUseResult || got.DoubleOutput != want.DoubleOutput || got.DoubleLine != want.DoubleLine ||
		got.Images != want.Images || got.Signatures != want.Signatures || got.ProgressPayload != want.ProgressPayload ||
		got.NormalizedCopy != want.NormalizedCopy || got.Snapshots != want.Snapshots {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestBoundaryAndPair(t *testing.T) {
	var b sessiontest.Builder
	b.User("u1", "", "hi")
	b.Boundary("b1", "u1")
	b.Summary("s1", "b1", "summary")
	b.System("x", "s1", "local_command", sessiontest.With("content", "compact_boundary"))
	x := read(t, b.Bytes())
	for i, want := range []struct{ boundary, compact bool }{{false, false}, {true, true}, {false, true}, {false, false}} {
		if x.Boundary(i) != want.boundary || x.Compact(i) != want.compact {
			t.Errorf("record %d: boundary %v, compact %v", i, x.Boundary(i), x.Compact(i))
		}
	}
}
