package ledger

import (
	"bytes"
	"errors"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
)

// Tidy drops the lines that count no more, when they outweigh the others. While
// another run writes, it is left to that one.
func (l *Ledger) Tidy() error {
	if !l.wasteful() {
		return nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	// The lock is on a file of its own, so that it is the same one before and after
	// the ledger is replaced.
	log, err := applog.Open(l.fs, l.name, applog.Options{Owner: l.owner})
	if errors.Is(err, fsys.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	// Another run may have written since this ledger was opened, or tidied.
	now, err := Open(l.fs, l.name, l.owner)
	if err == nil {
		err = errors.Join(now.tidy(), now.Close())
	}
	return errors.Join(err, log.Close())
}

// little is the size below which nothing is gained by dropping old lines.
var little int64 = 4 << 20

func (l *Ledger) wasteful() bool { return l.size >= little && l.live()*2 < l.size }

// live is about what the ledger would weigh without the lines that count no more.
func (l *Ledger) live() int64 {
	total := l.newer
	counts := map[int64]bool{}
	for _, s := range l.items {
		counts[s.off] = true
		total += int64(s.length) + 1
	}
	const around = 200 // a path and its digest, in a line of their own
	for path, c := range l.owns {
		if !counts[c.off] {
			total += int64(len(path)) + around
		}
	}
	return total
}

// tidy is Tidy while nobody else writes.
func (l *Ledger) tidy() error {
	if !l.wasteful() {
		return nil
	}
	var text bytes.Buffer
	for line, err := range l.lines() {
		if err != nil {
			return err
		}
		kept, err := l.keep(line)
		if err != nil {
			return err
		}
		text.Write(kept)
	}
	return fsys.WriteFile(l.fs, l.name, "tidy", text.Bytes())
}

// keep gives what counts of a line, with its newline: a newest record whole, of an
// older one what is not owned by another since. What this version does not know it
// leaves alone.
func (l *Ledger) keep(line applog.Line) ([]byte, error) {
	h, _, ok := parse(line.Bytes)
	newest := h.ID != "" && l.items[h.ID].off == line.Offset
	if newest || !ok && later(line.Bytes) {
		return append(line.Bytes, '\n'), nil
	}
	owns := map[string]string{}
	for path, sum := range h.Owns {
		if l.owns[path].off == line.Offset {
			owns[path] = sum
		}
	}
	if len(owns) == 0 {
		return nil, nil
	}
	text, err := header{V: version, Owns: owns}.line([]byte("null"))
	return append(text, '\n'), err
}
