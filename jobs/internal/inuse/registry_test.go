package inuse

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	since := time.Date(2026, 11, 30, 18, 21, 47, 659e6, time.UTC)
	for data, want := range map[string]entry{
		`{"pid":7,"sessionId":"s","startedAt":1796062907659,"procStart":"23"}`: {"s", "23", since},
		`{"sessionId":"s"}`:                                     {session: "s"},
		`{"pid":8,"sessionId":"s","procStart":"23"}`:            {started: "23"},
		`{"pid":"7","sessionId":"s"}`:                           {},
		`{"pid":7,"SessionId":"s"}`:                             {},
		`{"sessionId":"s","procStart":23,"startedAt":"x"}`:      {session: "s"},
		`{"sessionId":"s","procStart":"Mon","startedAt":1e300}`: {session: "s"},
		`{"sessionId":"s","startedAt":null,"procStart":null}`:   {session: "s"},
		`{"sessionId":null}`:                                    {},
		`{"sessionId":"s"}{}`:                                   {},
		`["sessionId"]`:                                         {},
		`null`:                                                  {},
		``:                                                      {},
	} {
		if got := parse([]byte(data), 7); got != want {
			t.Errorf("%s: %+v, want %+v", data, got, want)
		}
	}
}

// Whatever stands in an entry, what is taken from it has its own form.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, pid int) {
		e := parse(data, pid)
		if y := e.since.Year(); !e.since.IsZero() && (y < 1970 || y > 9999) {
			t.Errorf("since %v", e.since)
		}
		for _, c := range e.started {
			if c < '0' || c > '9' {
				t.Errorf("started %q", e.started)
			}
		}
		if e.holder(pid) == "" {
			t.Error("no holder")
		}
	})
}
