package evidence

import (
	"bytes"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// The published digest of a request with all defaults but two.
func TestRequestDigest(t *testing.T) {
	r := Request{
		TargetRatio: 0.3, MinRecentRecords: 6, SummaryCharBudget: 4000, PreserveActiveChain: true,
		MaxSnapshots: 80, CheckpointPolicy: "active-correlated", PackChars: 500_000, PackTokens: 150_000,
		ImportanceWords: "b3cca035ac3d5ce6af421ad86d2a56e55f26f57f41c786f59c19c165e4fc67d8",
		TopicPatterns:   "d4a63186d72f82cc26d0aa84e3ce3213957de55fb4a8e1493547be626b791012",
		SummaryTemplate: "f1f2cd6080f012ee3070127ecd20df15aa069e6da828bc0d6956f2e4e8d3022c",
	}
	got, err := r.Digest()
	if want := "fd9c51dafd2a4a3ebe2717376acf794436c3d53938bf6e47b9166ce456e6b443"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestEmptySets(t *testing.T) {
	if got, want := AnchorsDigest(nil), "e3b0c44298fc1c14"; got != want {
		t.Errorf("no anchors: %s, want %s", got, want)
	}
	got, err := ClaimsDigest(nil)
	if want := "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"; err != nil || got != want {
		t.Errorf("no claims: %s, %v, want %s", got, err, want)
	}
	if got := HandoffDigest(nil); got != "none" {
		t.Errorf("no handoff: %s", got)
	}
}

// Digests computed elsewhere, with a standard hash tool over text written out by
// hand: "2,10", {"a":[1,3],"b":[2]} and {"10":"x","9":"é\n"}.
func TestDigestsOfKnownText(t *testing.T) {
	if got, want := AnchorsDigest([]int{10, 2, 10}), "3b5140aab9f8b824"; got != want {
		t.Errorf("anchors: %s, want %s", got, want)
	}
	if got, err := GroupsDigest(map[string][]int{"b": {2}, "a": {3, 1, 3}}); err != nil || got != "3695d3b3dca735a9" {
		t.Errorf("groups: %s, %v", got, err)
	}
	if got, err := ClaimsDigest(map[int]string{9: "é\n", 10: "x"}); err != nil || got != "0c0e2b390599498872f55e6bdb8066e77f4896611fdf6bd485d44e7be816cc2f" {
		t.Errorf("claims: %s, %v", got, err)
	}
}

func TestSourceDigestIgnoresFraming(t *testing.T) {
	digest := func(file string) string {
		x, err := transcript.Read(strings.NewReader(file), func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := SourceDigest(transcript.NewSource(x, bytes.NewReader([]byte(file))), []int{1, 0})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	plain := digest("{\"a\":1}\n{\"b\":2}\n")
	if crlf := digest("\xef\xbb\xbf{\"a\":1}\r\n\n{\"b\":2}"); crlf != plain {
		t.Errorf("%s with another framing, %s without", crlf, plain)
	}
	if want := "64a93ab355d2ebb02f23883fb5962de4fb4c28ff463a3163803a9f261b478211"; plain != want {
		t.Errorf("%s, want %s: the hash of the two lines in the order asked for", plain, want)
	}
}

// printf 'a\nb\nc\n' | sha256sum
func TestTemplateDigest(t *testing.T) {
	const want = "880553fca8fcea94e325ee2cfb48e5a985cc797f39a14cc6d3cedecfeb2ae4d2"
	for _, text := range []string{"a\nb\nc\n", "\xef\xbb\xbfa\r\nb\rc\n"} {
		if got := TemplateDigest([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
