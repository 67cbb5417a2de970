package secret

import "bytes"

// A rule is a literal prefix and what must follow it.
type rule struct {
	kind, prefix string
	// body is given the text from the prefix on, and the prefix's length. It
	// returns the part of the text that is the credential.
	body func(b []byte, prefix int) (from, to int, ok bool)
}

// The forms are those the issuers document. Longer prefixes stand before the
// shorter ones they begin with.
var rules = []rule{
	{"anthropic-key", "sk-ant-", run(token, 20, 0)},
	{"openai-key", "sk-proj-", run(token, 20, 0)},
	{"openai-key", "sk-svcacct-", run(token, 20, 0)},
	{"openai-key", "sk-admin-", run(token, 20, 0)},
	{"openai-key", "sk-", run(alnum, 32, 0)},
	{"aws-access-key-id", "AKIA", run(upper, 16, 16)},
	{"aws-access-key-id", "ASIA", run(upper, 16, 16)},
	{"github-token", "github_pat_", run(word, 22, 0)},
	{"github-token", "ghp_", run(alnum, 36, 0)},
	{"github-token", "gho_", run(alnum, 36, 0)},
	{"github-token", "ghu_", run(alnum, 36, 0)},
	{"github-token", "ghs_", run(alnum, 36, 0)},
	{"github-token", "ghr_", run(alnum, 36, 0)},
	{"slack-token", "xoxa-", digits(20)},
	{"slack-token", "xoxb-", digits(20)},
	{"slack-token", "xoxe-", digits(20)},
	{"slack-token", "xoxo-", digits(20)},
	{"slack-token", "xoxp-", digits(20)},
	{"slack-token", "xoxr-", digits(20)},
	{"slack-token", "xoxs-", digits(20)},
	{"google-api-key", "AIza", run(token, 35, 35)},
	{"stripe-key", "sk_live_", run(alnum, 16, 0)},
	{"stripe-key", "rk_live_", run(alnum, 16, 0)},
	{"gitlab-token", "glpat-", run(token, 20, 0)},
	{"npm-token", "npm_", run(alnum, 36, 36)},
	{"huggingface-token", "hf_", run(alnum, 30, 0)},
	{"json-web-token", "eyJ", webToken},
	{"private-key", "-----BEGIN ", privateKey},
	{"bearer-token", "Bearer ", bearer},
	{"bearer-token", "bearer ", bearer},
}

// A set is a set of bytes.
type set [256]bool

func (s *set) has(c byte) bool { return s[c] }

func (s *set) span(b []byte) int {
	for i, c := range b {
		if !s[c] {
			return i
		}
	}
	return len(b)
}

func setOf(parts ...string) *set {
	s := new(set)
	for _, p := range parts {
		for i := range len(p) {
			s[p[i]] = true
		}
	}
	return s
}

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	smalls   = "abcdefghijklmnopqrstuvwxyz"
	decimals = "0123456789"
	dashes   = "-----"
)

var (
	upper   = setOf(capitals, decimals)
	alnum   = setOf(capitals, smalls, decimals)
	word    = setOf(capitals, smalls, decimals, "_")
	token   = setOf(capitals, smalls, decimals, "_-")
	token68 = setOf(capitals, smalls, decimals, "-._~+/=")
	base64  = setOf(capitals, smalls, decimals, "+/=")
	label   = setOf(capitals, decimals, " ")
	// keyText is what the body of a PEM block is written in; the backslash
	// begins the escapes of its line ends in JSON.
	keyText = setOf(capitals, smalls, decimals, "+/=\\ \r\n\t")
)

// marks holds the first two bytes of every prefix, and its second and third, one
// bit each: the scan of everything that is no credential is one look-up for two
// bytes.
var marks = func() *pairs {
	p := new(pairs)
	for _, r := range rules {
		p.add(r.prefix[0], r.prefix[1])
		p.add(r.prefix[1], r.prefix[2])
	}
	return p
}()

// byFirst are the rules by the first byte of their prefix, in their order.
var byFirst = func() *[256][]rule {
	m := new([256][]rule)
	for _, r := range rules {
		m[r.prefix[0]] = append(m[r.prefix[0]], r)
	}
	return m
}()

type pairs [256][4]uint64

func (p *pairs) add(a, b byte)      { p[a][b>>6] |= 1 << (b & 63) }
func (p *pairs) has(a, b byte) bool { return p[a][b>>6]&(1<<(b&63)) != 0 }

// run wants least to most bytes of the set, and no more of a token after them;
// most 0 is no limit.
func run(s *set, least, most int) func([]byte, int) (int, int, bool) {
	return func(b []byte, prefix int) (int, int, bool) {
		n := s.span(b[prefix:])
		end := prefix + n
		ok := n >= least && (most == 0 || n <= most) && (end == len(b) || !token.has(b[end]))
		return 0, end, ok
	}
}

// digits is run for forms that words with hyphens could have: it wants a digit.
func digits(least int) func([]byte, int) (int, int, bool) {
	any := run(token, least, 0)
	return func(b []byte, prefix int) (int, int, bool) {
		from, to, ok := any(b, prefix)
		return from, to, ok && bytes.ContainsAny(b[prefix:to], decimals)
	}
}

// webToken wants three parts of base64url, of which the first two hold JSON
// objects (RFC 7519).
func webToken(b []byte, _ int) (int, int, bool) {
	const least = 10
	end := 0
	for part := range 3 {
		if part < 2 && !bytes.HasPrefix(b[end:], []byte("eyJ")) {
			return 0, 0, false
		}
		n := token.span(b[end:])
		end += n
		if n < least {
			return 0, 0, false
		}
		if part < 2 {
			if end == len(b) || b[end] != '.' {
				return 0, 0, false
			}
			end++
		}
	}
	return 0, end, true
}

// privateKey wants a block of a private key whose first line is key text: the
// header alone is talk about keys. It ends with the END line or, where that is
// missing, where the text stops being a key (RFC 7468).
func privateKey(b []byte, prefix int) (int, int, bool) {
	const least = 40
	head := prefix + label.span(b[prefix:])
	name := bytes.TrimSuffix(b[prefix:head], []byte(" BLOCK"))
	if !bytes.HasSuffix(name, []byte("PRIVATE KEY")) || !bytes.HasPrefix(b[head:], []byte(dashes)) {
		return 0, 0, false
	}
	head += len(dashes)
	end := head + keyText.span(b[head:])
	first := bytes.TrimLeft(b[head:end], " \\nr\r\n\t")
	if base64.span(first) < least {
		return 0, 0, false
	}
	return 0, end + endLine(b[end:]), true
}

// endLine is the length of an END line at the beginning of b, or 0.
func endLine(b []byte) int {
	rest, ok := bytes.CutPrefix(b, []byte(dashes+"END "))
	if !ok {
		return 0
	}
	rest = rest[label.span(rest):]
	if rest, ok = bytes.CutPrefix(rest, []byte(dashes)); !ok {
		return 0
	}
	return len(b) - len(rest)
}

// bearer wants an opaque token (RFC 6750) with a long run of letters and digits
// in it, so that prose, placeholders and ids do not match. The credential is
// the token without the word.
func bearer(b []byte, prefix int) (int, int, bool) {
	const least, longRun = 24, 16
	end := prefix + token68.span(b[prefix:])
	for i := prefix; i < end; i++ {
		n := alnum.span(b[i:end])
		if n >= longRun && bytes.ContainsAny(b[i:i+n], decimals) {
			return prefix, end, end-prefix >= least
		}
		i += n
	}
	return 0, 0, false
}
