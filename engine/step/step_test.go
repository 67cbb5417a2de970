package step_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine/step"
)

func TestMarshalParamsIsCanonical(t *testing.T) {
	type params struct {
		B int            `json:"b"`
		A map[string]any `json:"a"`
	}
	got, err := step.MarshalParams(params{B: 1, A: map[string]any{"z": 1.0, "y": "<é>"}})
	if want := `{"a":{"y":"<é>","z":1},"b":1}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if got, err := step.MarshalParams(nil); err != nil || string(got) != "null" {
		t.Errorf("nothing gave %s, %v", got, err)
	}
}

func TestMarshalParamsRefusesInexactIntegers(t *testing.T) {
	for value, ok := range map[int64]bool{1 << 53: true, 1<<53 + 1: false, -1<<53 - 1: false} {
		if _, err := step.MarshalParams([]int64{value}); (err == nil) != ok {
			t.Errorf("%d: %v", value, err)
		}
	}
	if _, err := step.MarshalParams(uint64(1 << 63)); err == nil {
		t.Error("an integer over 64 bits passed")
	}
}

func TestRefusal(t *testing.T) {
	r := &step.Refusal{
		Class: "broken", Message: "no end", Err: fs.ErrNotExist,
		Place: step.Place{File: "s.jsonl", Line: 3, Path: "$.a"},
	}
	if got, want := r.Error(), "s.jsonl:3 $.a: broken: no end: file does not exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(r, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if got := (&step.Refusal{Class: "c", Message: "m"}).Error(); strings.HasPrefix(got, ":") || got != "c: m" {
		t.Errorf("%q", got)
	}
}

func TestPlace(t *testing.T) {
	for want, p := range map[string]step.Place{
		"":            {},
		"f":           {File: "f", Byte: 7},
		"f:3":         {File: "f", Line: 3},
		"f:3:2":       {File: "f", Line: 3, Column: 2},
		"f:3:2 a.b":   {File: "f", Line: 3, Column: 2, Path: "a.b"},
		"3":           {Line: 3},
		"f $.content": {File: "f", Path: "$.content"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
