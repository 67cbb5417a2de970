package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/spec/secret"
)

// The credentials are put together here so that no scanner of this repository
// takes them for real ones.
func credentials() map[string][]string {
	a := func(n int) string { return strings.Repeat("Ab3", n)[:n] }
	body := strings.Repeat(a(64)+"\n", 3)
	pem := func(label string) string {
		return "-----BEGIN " + label + "-----\n" + body + "-----END " + label + "-----"
	}
	return map[string][]string{
		"anthropic-key":     {"sk-" + "ant-api03-" + strings.Repeat("A", 40), "sk-" + "ant-oat01-" + a(20) + "-_" + a(60)},
		"openai-key":        {"sk-" + a(48), "sk-" + "proj-" + a(30) + "_-" + a(30), "sk-" + "svcacct-" + a(40)},
		"aws-access-key-id": {"AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "IOSFODNN7EXAMPLE"},
		"github-token": {
			"ghp_" + a(36), "gho_" + a(36), "ghu_" + a(36), "ghs_" + a(36), "ghr_" + a(70),
			"github_" + "pat_" + a(22) + "_" + a(59),
		},
		"slack-token":       {"xoxb-" + "123456789012-123456789012-" + a(24), "xoxp-" + "1234567890-1234567890-" + a(12)},
		"google-api-key":    {"AIza" + "Sy" + a(30) + "-_9"},
		"stripe-key":        {"sk_" + "live_" + a(24), "rk_" + "live_" + a(24)},
		"gitlab-token":      {"glpat-" + a(12) + "_" + a(7)},
		"npm-token":         {"npm_" + a(36)},
		"huggingface-token": {"hf_" + a(34)},
		"json-web-token":    {"eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0In0." + a(43)},
		"private-key": {
			pem("PRIVATE KEY"), pem("RSA PRIVATE KEY"), pem("OPENSSH PRIVATE KEY"), pem("EC PRIVATE KEY"),
			pem("PGP PRIVATE KEY BLOCK"),
		},
		"bearer-token": {a(24), "v2." + a(30) + "==", strings.Repeat("0123456789abcdef", 2)},
	}
}

func find(b []byte) (kinds, texts []string) {
	for _, m := range secret.Find(b) {
		kinds = append(kinds, m.Kind)
		texts = append(texts, string(b[m.Start:m.End]))
	}
	return kinds, texts
}

func TestFind(t *testing.T) {
	for kind, list := range credentials() {
		for _, c := range list {
			if kind == "bearer-token" {
				c = "Bearer " + c
			}
			for _, around := range []string{"%s", "key: %s", "x='%s';", "(%s)", "<%s>,", "a %s\n", "://u:%s@h/", "KEY=%s"} {
				text := fmt.Sprintf(around, c)
				kinds, texts := find([]byte(text))
				want := strings.TrimPrefix(c, "Bearer ")
				if !cmp.Equal(kinds, []string{kind}) || texts[0] != want {
					t.Errorf("%s in %q: found %v %q", kind, around, kinds, texts)
				}
			}
		}
	}
}

// A transcript is scanned as it stands on disk: inside JSON strings.
func TestFindInJSON(t *testing.T) {
	for kind, list := range credentials() {
		for _, c := range list {
			if kind == "bearer-token" {
				c = "bearer " + c
			}
			for _, before := range []string{"", "\n", "\t", "<", "\x01"} {
				line, err := json.Marshal(map[string]string{"content": before + c + "\nnext"})
				if err != nil {
					t.Fatal(err)
				}
				if kinds, _ := find(line); !cmp.Equal(kinds, []string{kind}) {
					t.Errorf("%s after %q: found %v", kind, before, kinds)
				}
			}
		}
	}
}

func TestFindNothing(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	base64 := strings.Repeat("EqQBCkgIARABGAIiQL9xK2+sk/AKIAIOSFODNN7EXAMPLE9+ghp/hf", 20)
	for _, text := range []string{
		"", "s", "sk", "sk-", "eyJ", "-----BEGIN ", "Bearer ", "AKIA",
		"9b9c5ec4-6904-5ba1-9d77-410a8e4db4b6", hex, base64,
		"msg_0110b6992bebe1544ea0d4da", "toolu_01A09q90qw90lq917835lq9", "req_011CSHoEeqs5C35K2UUqR7Fy",
		"sk-fading-circle sk-cube-grid sk-learn", "task-" + hex, "risk-" + hex, "disk-proj-" + hex,
		"sk-ant-api03-...", "sk-ant-YOUR_KEY", "xAKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLEX", "AKIA_IOSFODNN7EXAMP",
		"xoxb-this-is-only-a-placeholder-text", "npm_config_registry npm_lifecycle_event_and_more_of_the_same_kind",
		"hf_model_name_that_goes_on_and_on_and_on", "github_pat_", "gh_" + hex, "ghp_" + hex[:20],
		"eyJhbGciOiJIUzI1NiJ9 alone", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", `{"eyJ": "eyJ0eXAiOiJKV1QifQ"}`,
		"-----BEGIN PRIVATE KEY----- is how such files begin, then comes a great deal of other text",
		"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----\n" + base64,
		"-----BEGIN PUBLIC KEY-----\n" + hex,
		"Bearer of bad news", "Bearer authentication-middleware-version-2-of-3", "Authorization: Bearer $ACCESS_TOKEN_2",
		"Bearer 9b9c5ec4-6904-5ba1-9d77-410a8e4db4b6", "Bearer YOUR_ACCESS_TOKEN_GOES_IN_HERE",
	} {
		if kinds, texts := find([]byte(text)); kinds != nil {
			t.Errorf("%.60q: found %v %q", text, kinds, texts)
		}
	}
}

func TestFindSeveral(t *testing.T) {
	aws := "AKIA" + "IOSFODNN7EXAMPLE"
	hub := "ghp_" + strings.Repeat("a1", 18)
	anthropic := "sk-" + "ant-" + strings.Repeat("x", 30)
	kinds, texts := find([]byte(aws + "," + aws + " " + hub + "\nAuthorization: Bearer " + anthropic))
	if d := cmp.Diff([]string{"aws-access-key-id", "aws-access-key-id", "github-token", "anthropic-key"}, kinds); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{aws, aws, hub, anthropic}, texts); d != "" {
		t.Error(d)
	}
}

func TestPrivateKeyCutShort(t *testing.T) {
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("Ab3/", 20)
	if kinds, texts := find([]byte(key + `" and more`)); len(kinds) != 1 || texts[0] != key {
		t.Errorf("found %v %q", kinds, texts)
	}
}

// Text of ids, digests and signatures never matches, wherever it is cut.
func TestNoFalseMatches(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		rapid.StringMatching(`[0-9a-f]{64}`),
		rapid.StringMatching(`(msg|toolu|req|call|srvtoolu)_[0-9A-Za-z]{24}`),
		rapid.StringMatching(`"signature":"[A-Za-z0-9+/]{80}={0,2}"`),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ",")
		if kinds, texts := find([]byte(text)); kinds != nil {
			t.Fatalf("found %v %q", kinds, texts)
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, list := range credentials() {
		for _, c := range list {
			f.Add([]byte(c))
		}
	}
	f.Add([]byte("Bearer Bearer -----BEGIN -----BEGIN PRIVATE KEY----- eyJeyJ.eyJ"))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		last := 0
		for _, m := range secret.Find(b) {
			if m.Kind == "" || m.Start < last || m.End <= m.Start || m.End > len(b) {
				t.Fatalf("bad match %+v after %d in %d bytes", m, last, len(b))
			}
			last = m.End
		}
		if !bytes.Equal(before, b) {
			t.Fatal("the input was changed")
		}
	})
}

func BenchmarkFind(b *testing.B) {
	line := `{"parentUuid":"9b9c5ec4-6904-5ba1-9d77-410a8e4db4b6","type":"assistant","message":{"id":"msg_0110b6992bebe1544ea0d4da",` +
		`"content":[{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","input":{"command":"grep -rn 'sort' src | head\n"}}]}}` + "\n"
	for _, c := range []struct{ name, unit string }{
		{"transcript", line},
		{"base64", "iVBORw0KGgoAAAANSUhEUgAAAQAAAAEACAYAAABccqhmAAAgAElEQVR4nO3de"},
		{"prefixes", "sk-ant-x eyJ.eyJ. -----BEGIN PRIVATE KEY----- Bearer "},
	} {
		data := bytes.Repeat([]byte(c.unit), 1<<20/len(c.unit))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				secret.Find(data)
			}
		})
	}
}

// Credentials that follow each other directly are found at whatever offset.
func TestFindNeighbours(t *testing.T) {
	id := "AKIA" + strings.Repeat("B", 16)
	for pad := range 4 {
		text := strings.Repeat(".", pad) + id + " " + id + "\n" + id + ".." + id
		if got := secret.Find([]byte(text)); len(got) != 4 {
			t.Errorf("%d of 4 found behind %d bytes", len(got), pad)
		}
	}
}
