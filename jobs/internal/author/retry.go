package author

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxCalls is how often a service is called for one answer, at most.
const MaxCalls = 5

// The waits between calls: twice as long each time, a random part of it off, and
// as long as the service asks for if that is longer, up to a bound.
const (
	firstWait   = 2 * time.Second
	longestWait = time.Minute
	longestWish = 5 * time.Minute
)

// untilAnswered calls until there is an answer, or no sense in another call.
func (c *call) untilAnswered(ctx context.Context) (string, error) {
	start := c.world.Now()
	for {
		c.facts.Calls++
		text, err := c.once(ctx)
		var f *fault
		if err == nil || !errors.As(err, &f) || !f.again || ctx.Err() != nil {
			return text, err
		}
		wait := c.wait(f)
		late := c.timeout > 0 && c.world.Now().Add(wait).Sub(start) >= c.timeout
		if c.facts.Calls == MaxCalls || late {
			return "", givenUp(f, c.facts.Calls, late)
		}
		if err := c.world.Sleep(ctx, wait); err != nil {
			return "", err
		}
	}
}

// wait is the time before the next call.
func (c *call) wait(f *fault) time.Duration {
	wait := min(firstWait<<(c.facts.Calls-1), longestWait)
	wait -= time.Duration(c.world.Random() * float64(wait) / 2)
	return max(wait, min(f.after, longestWish))
}

// givenUp is the last fault, with how often it was tried.
func givenUp(f *fault, calls int, late bool) error {
	r := *f.Refusal
	r.Message += " (call " + strconv.Itoa(calls) + " of " + strconv.Itoa(MaxCalls)
	if late {
		r.Message += "; the next one would begin after author.timeout"
	}
	r.Message += ")"
	return &r
}

// wish is how long the service asks to wait: seconds, or a date; 0 for no word.
func wish(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(min(max(seconds, 0), longestWish.Seconds()) * float64(time.Second))
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(date.Sub(now), 0)
}

// Sleep is a wait in real time.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
