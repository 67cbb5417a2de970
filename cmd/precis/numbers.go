package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// size is a number of bytes as people say it.
func size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

func count[T int | int64](n T) string { return humanize.Comma(int64(n)) }

// counted is a number with its noun.
func counted[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// change is how much smaller or larger a number became.
func change(before, after int64) string {
	switch percent := percentage(before, after); {
	case before == after:
		return "unchanged"
	case percent == 0:
		return "about the same"
	case after < before:
		return fmt.Sprintf("%d %% less", percent)
	default:
		return fmt.Sprintf("%d %% more", percent)
	}
}

// percentage is the size of a change, rounded, and never 100 unless it is all.
func percentage(before, after int64) int64 {
	if before == 0 {
		return 0
	}
	p := math.Abs(float64(after-before)) * 100 / float64(before)
	if after > 0 && after < before {
		return min(int64(math.Round(p)), 99)
	}
	return int64(math.Round(p))
}

// share is a part of a whole, from 0 to 1.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
