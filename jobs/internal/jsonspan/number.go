package jsonspan

import (
	"math"
	"strconv"

	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// number passes a number by the strict grammar: no leading zeros, no bare dot.
func (s *Scanner) number() *Error {
	start := s.Pos
	i, plain := start, true
	if s.at(i) == '-' {
		i++
	}
	first := i
	if i = s.digits(i); i == first || s.Data[first] == '0' && i > first+1 {
		return s.fail(min(i, first), "expected a value")
	}
	if s.at(i) == '.' {
		plain = false
		frac := i + 1
		if i = s.digits(frac); i == frac {
			return s.fail(i, "digits missing after the decimal point")
		}
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		plain = false
		if c := s.at(i + 1); c == '+' || c == '-' {
			i++
		}
		exp := i + 1
		if i = s.digits(exp); i == exp {
			return s.fail(i, "digits missing in the exponent")
		}
	}
	s.Pos = i
	s.Weight += tokens.ASCII * tokens.Weight(numberLen(s.Data[start:i], plain))
	return nil
}

func (s *Scanner) at(i int) byte {
	if i < len(s.Data) {
		return s.Data[i]
	}
	return 0
}

func (s *Scanner) digits(i int) int {
	for i < len(s.Data) && s.Data[i] >= '0' && s.Data[i] <= '9' {
		i++
	}
	return i
}

// numberLen is the length of the number's shortest spelling, as the estimator's
// definition wants it: integers as they stand (-0 is 0), others the shortest
// form that reads back, with an exponent only below 1e-4 and from 1e16 on.
func numberLen(text []byte, integer bool) int {
	if integer {
		if len(text) == 2 && text[0] == '-' && text[1] == '0' {
			return 1
		}
		return len(text)
	}
	f, _ := strconv.ParseFloat(string(text), 64)
	if math.IsInf(f, 0) {
		return len("Infinity") + signLen(f)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return len(strconv.FormatFloat(f, 'e', -1, 64))
	}
	fixed := strconv.FormatFloat(f, 'f', -1, 64)
	if f == math.Trunc(f) {
		return len(fixed) + len(".0")
	}
	return len(fixed)
}

func signLen(f float64) int {
	if f < 0 {
		return 1
	}
	return 0
}
