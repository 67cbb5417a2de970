package pack

import (
	"bytes"
	"slices"
)

// Layout tells whose evidence pack a text is.
type Layout int

// Layouts. A summary is no pack.
const (
	NoPack Layout = iota
	Own
	Foreign // of claude-jsonl-compressor, or another program that keeps to its format
)

// LayoutOf recognizes packs by the headings that the format fixes. A pack of
// another program shows other evidence under other digests, so that nothing
// written from it can be accepted here.
func LayoutOf(text []byte) Layout {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	found := make([]bool, len(fixedHeadings))
	for line := range bytes.Lines(text) {
		if i := slices.Index(fixedHeadings[:], string(bytes.TrimRight(line, "\r\n"))); i >= 0 {
			found[i] = true
		}
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	switch {
	case slices.Contains(found, false):
		return NoPack
	case string(bytes.TrimRight(first, "\r")) == packTitle:
		return Own
	}
	return Foreign
}

var fixedHeadings = [...]string{anchorsHeading, handoffAnchorsHeading, claimsHeading, recordsHeading, handoffHeading}
