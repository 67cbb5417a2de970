// Package tokens estimates how many model tokens a text costs, without any
// tokenizer: a quarter token for each ASCII character, more for other scripts.
//
// The estimate is the compression format's own (engine v10) and equals it bit
// for bit: there a float sum is rounded by trunc(w + a/4 + 0.999). All weights
// are multiples of a twentieth, so the sum is kept here as an integer number of
// twentieths and rounded up, which is the same number, does not depend on the
// order of the characters, and can be added up piece by piece while a file is
// scanned. (The float sum could only differ beyond a million non-ASCII
// characters in one text, where its own rounding error reaches the threshold.)
//
// It is a planning figure: system prompts, tools and a server's own accounting
// are not in it.
package tokens

import (
	"sync"
	"unicode"
)

// Weight is a part of an estimate, in twentieths of a token.
type Weight int64

// Weights of one character, by class.
const (
	ASCII  Weight = 5  // 0.25
	Other  Weight = 16 // 0.8: any other letter, digit or punctuation
	Wide   Weight = 26 // 1.3: Han, Kana, Hangul
	Symbol Weight = 30 // 1.5: beyond the BMP, symbols, combining marks
)

// PerRecord is the fixed allowance of each record that is sent to a model.
const PerRecord = 12

// Tokens rounds a weight up to whole tokens.
func (w Weight) Tokens() int { return int((w + 19) / 20) }

// Text estimates one text.
func Text(s string) int {
	var w Weight
	for _, r := range s {
		w += Rune(r)
	}
	return w.Tokens()
}

// Rune is the weight of one character.
func Rune(r rune) Weight {
	switch {
	case r < 0x80:
		return ASCII
	case r <= 0xFFFF:
		return bmp()[r]
	case r >= 0x20000 && r <= 0x323AF:
		return Wide
	}
	return Symbol
}

// bmp is the class of each character of the basic plane; a table because the
// Unicode range searches would dominate the scan of a Chinese session.
var bmp = sync.OnceValue(func() *[0x10000]Weight {
	var t [0x10000]Weight
	for r := rune(0x80); r <= 0xFFFF; r++ {
		t[r] = class(r)
	}
	return &t
})

func class(r rune) Weight {
	switch {
	case unicode.Is(wide, r):
		return Wide
	case unicode.In(r, unicode.S, unicode.M):
		return Symbol
	}
	return Other
}

var wide = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x1100, Hi: 0x11FF, Stride: 1},
	{Lo: 0x3040, Hi: 0x30FF, Stride: 1},
	{Lo: 0x31F0, Hi: 0x31FF, Stride: 1},
	{Lo: 0x3400, Hi: 0x4DBF, Stride: 1},
	{Lo: 0x4E00, Hi: 0x9FFF, Stride: 1},
	{Lo: 0xAC00, Hi: 0xD7AF, Stride: 1},
	{Lo: 0xF900, Hi: 0xFAFF, Stride: 1},
}}
