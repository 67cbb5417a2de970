package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/step"
)

// TestGravest has errors by name, and which of them says most: of equal ones the
// first, whose step comes first.
func TestGravest(t *testing.T) {
	wait, fail := &step.Refusal{Class: "w", Open: step.Waiting}, &step.Refusal{Class: "f", Open: step.Failed}
	known := map[string]error{
		"-": nil, "wait": wait, "wait2": &step.Refusal{Open: step.Waiting}, "wrapped": fmt.Errorf("x: %w", wait),
		"fail": fail, "fail2": &step.Refusal{Open: step.Failed}, "joined": errors.Join(fail, errors.New("x")),
		"refuse": &step.Refusal{}, "error": errors.New("x"), "panic": &local.PanicError{}, "halt": &haltError{},
	}
	for in, want := range map[string]string{
		"":                   "-",
		"-":                  "-",
		"- - -":              "-",
		"- wait -":           "wait",
		"wait wait2":         "wait",
		"wrapped fail":       "fail",
		"fail wrapped":       "fail",
		"wait fail2 fail":    "fail2",
		"joined wait":        "joined",
		"wait joined":        "joined",
		"wait refuse fail":   "refuse",
		"fail error":         "error",
		"error refuse":       "error",
		"refuse error":       "refuse",
		"fail - panic wait":  "panic",
		"wait halt fail":     "halt",
		"fail wait wait2 -":  "fail",
		"joined refuse wait": "refuse",
	} {
		var errs []error
		for _, name := range strings.Fields(in) {
			errs = append(errs, known[name])
		}
		if got := gravest(errs); got != known[want] {
			t.Errorf("%q: %v, want %s", in, got, want)
		}
	}
}

// TestTogether has steps as "name:need,need", with a ? where they ask.
func TestTogether(t *testing.T) {
	for in, want := range map[string]int{
		"a":                1,
		"a b":              1,
		"a?":               1,
		"a? b? c?":         3,
		"a? b? c d?":       2,
		"a b? c?":          1,
		"a? b c?":          1,
		"a? b:a? c?":       1,
		"a? b? c:a? d?":    2,
		"a? b? c:x,b? d?":  2,
		"a:x? b:x? c:x,y?": 3,
	} {
		var steps []step.Step
		for _, word := range strings.Fields(in) {
			text, asks := strings.CutSuffix(word, "?")
			name, needs, _ := strings.Cut(text, ":")
			steps = append(steps, step.Step{Name: name, Needs: strings.Split(needs, ","), Asks: asks})
		}
		if got := together(steps); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}
