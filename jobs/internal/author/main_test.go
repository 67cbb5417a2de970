package author

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// What must show in no error and no log.
const (
	theKey    = "sk-planted-key-0123456789"
	thePack   = "planted pack: L1 the secret harbour plan 灯"
	theAnswer = "planted answer: the é😀灯 plan [L1]"
	theReport = "planted report: line 3 has no anchor"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "as-command" {
		asCommand(os.Args[2])
	}
	log.SetOutput(&logged)
	code := m.Run()
	if w := planted(logged.String()); w != "" {
		fmt.Println("in the log:", w)
		code = 1
	}
	os.Exit(code)
}

// logged is what net/http has to say; servers may go on after the tests.
var logged logs

type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// planted is the first secret in a text.
func planted(text string) string {
	for _, w := range []string{theKey, theKey[:12], "planted", "harbour", theAnswer[:14], theReport[:14]} {
		if strings.Contains(text, w) {
			return w
		}
	}
	return ""
}

func prompt() Prompt { return Prompt{Instructions: "Write.", Pack: thePack, MaxChars: 4000} }

// fakes is a world without waits.
type fakes struct {
	now      time.Time
	slept    []time.Duration
	env      map[string]string
	progress []Progress
}

func newFakes() *fakes {
	return &fakes{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), env: map[string]string{"KEY": theKey}}
}

func (f *fakes) world() World {
	return World{
		Getenv: func(name string) (string, bool) { v, ok := f.env[name]; return v, ok },
		Now:    func() time.Time { return f.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			f.slept, f.now = append(f.slept, d), f.now.Add(d)
			return ctx.Err()
		},
		Random:   func() float64 { return 0 },
		Run:      Run,
		Progress: func(p Progress) { f.progress = append(f.progress, p) },
	}
}

// refused checks that an error is a refusal of a class with a next step, and that
// it gives nothing away.
func refused(t *testing.T, err error, class string) {
	t.Helper()
	var r *step.Refusal
	if !errors.As(err, &r) || r.Class != class || r.Next == "" || r.Message == "" {
		t.Errorf("%v (%T), want %s", err, err, class)
	}
	text := fmt.Sprintf("%v %+v %#v", err, err, err)
	if r != nil {
		doc, _ := json.Marshal(r)
		text += string(doc)
	}
	if w := planted(text); w != "" {
		t.Errorf("%q is in the error: %s", w, text)
	}
}

// spent checks that what comes beside an error gives nothing away.
func spent(t *testing.T, a Answer) {
	t.Helper()
	if doc, _ := json.Marshal(a); a.Text != "" || planted(string(doc)) != "" {
		t.Errorf("beside an error: %s", doc)
	}
}

func TestPerson(t *testing.T) {
	_, err := New(spec.Author{By: "file"}, "", World{}).Write(t.Context(), prompt())
	refused(t, err, Waiting)
}
