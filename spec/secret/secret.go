// Package secret finds credentials in text by the literal prefixes their
// issuers give them for this purpose.
//
// It reads plain text and raw JSON alike (a prefix may follow an escape such as
// \n), runs in time linear in the input, and is precise rather than complete:
// record ids, digests, signatures and encrypted blobs never match, and a
// credential without a known form is not found. It never copies what it finds.
package secret

import "bytes"

// Match is one credential: its kind and the bytes [Start, End) it occupies.
type Match struct {
	Kind       string
	Start, End int
}

// Find returns the credentials in b in order, without overlap. Every prefix has
// at least three bytes, so looking at every second pair of bytes meets either its
// first two or its second and third.
func Find(b []byte) []Match {
	var found []Match
	free := 0 // the end of the last match
	for i := 0; i+1 < len(b); i += 2 {
		if !marks.has(b[i], b[i+1]) {
			continue
		}
		for start := max(i-1, free); start <= i; start++ {
			if m, ok := at(b, start); ok {
				found = append(found, m)
				free = m.End
				i = free - 2 + free%2
				break
			}
		}
	}
	return found
}

// at matches the rules at one position.
func at(b []byte, i int) (Match, bool) {
	if i >= len(b) || len(byFirst[b[i]]) == 0 || !boundary(b, i) {
		return Match{}, false
	}
	for _, r := range byFirst[b[i]] {
		rest := b[i:]
		if !bytes.HasPrefix(rest, []byte(r.prefix)) {
			continue
		}
		from, to, ok := r.body(rest, len(r.prefix))
		if !ok {
			continue
		}
		if from > 0 { // a token after a word may have a more telling form
			if m, ok := at(b, i+from); ok {
				return m, true
			}
		}
		return Match{r.kind, i + from, i + to}, true
	}
	return Match{}, false
}

// boundary tells whether a token can begin at i: not inside another one, but
// right after a JSON escape (\n, \t, <) it can.
func boundary(b []byte, i int) bool {
	if i == 0 || !token.has(b[i-1]) {
		return true
	}
	if i >= 2 && b[i-2] == '\\' {
		return bytes.IndexByte([]byte("nrtbf"), b[i-1]) >= 0
	}
	return i >= 6 && b[i-6] == '\\' && b[i-5] == 'u'
}
