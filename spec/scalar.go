package spec

import (
	"encoding/json"
	"regexp"
	"strings"
)

// oddity is why an unquoted scalar is refused: what another YAML reader, or
// another version of YAML, takes it for.
type oddity string

const (
	oddBool   oddity = "a boolean"
	oddNull   oddity = "an empty value"
	oddNumber oddity = "a number"
	oddDate   oddity = "a date"
)

var (
	// jsonNumber is the only spelling of numbers (RFC 8259, section 6).
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

	// What YAML 1.1 and the core schema of YAML 1.2 resolve beyond JSON.
	date        = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)
	yamlDecimal = regexp.MustCompile(`^[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$`)
	yamlRadix   = regexp.MustCompile(`^[-+]?0([xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)$`)
	yamlBase60  = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
	yamlSpecial = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// plain reads an unquoted scalar: true, false, null, a JSON number, or text. A
// scalar that is text to one reader and something else to another is none of
// these; its oddity is returned instead.
func plain(s string) (any, oddity) {
	switch s {
	case "true":
		return true, ""
	case "false":
		return false, ""
	case "null", "":
		return nil, ""
	}
	if jsonNumber.MatchString(s) {
		return json.Number(s), ""
	}
	switch strings.ToLower(s) {
	case "y", "yes", "n", "no", "on", "off", "true", "false":
		return nil, oddBool
	case "~", "null":
		return nil, oddNull
	}
	switch {
	case date.MatchString(s):
		return nil, oddDate
	case yamlDecimal.MatchString(s), yamlRadix.MatchString(s), yamlBase60.MatchString(s), yamlSpecial.MatchString(s):
		return nil, oddNumber
	}
	return s, ""
}

// isInteger tells a number written as an integer: 1, but not 1.0 or 1e3.
func isInteger(n json.Number) bool { return !strings.ContainsAny(n.String(), ".eE") }

// exact tells whether every JSON reader has the same idea of the number: within
// the integers a float64 holds (RFC 7493, section 2.2), or a float within its
// range. An exponent beyond that would also take exact arithmetic for ever.
func exact(n json.Number) bool {
	const most, longest = 1<<53 - 1, 40
	f, err := n.Float64()
	if err != nil || len(n) > longest {
		return false
	}
	if f == 0 {
		mantissa, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
		return !strings.ContainsAny(mantissa, "123456789")
	}
	return !isInteger(n) || -most <= f && f <= most
}
