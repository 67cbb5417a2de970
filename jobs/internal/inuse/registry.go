package inuse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// entry is what the registry says of one process.
type entry struct {
	session string    // "" when that cannot be told
	started string    // as the system counts it; "" when unknown
	since   time.Time // the client's own clock; zero when unknown
}

// parse reads an entry of a process. The file is foreign and may be half-written
// or of a later client: each field stands for itself, and what is of an unexpected
// type counts as not there.
func parse(data []byte, pid int) (e entry) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return e
	}
	e.started = ticks(fields["procStart"])
	var number int
	if raw, ok := fields["pid"]; ok && (json.Unmarshal(raw, &number) != nil || number != pid) {
		return e // of whom the rest tells is in doubt
	}
	_ = json.Unmarshal(fields["sessionId"], &e.session)
	var ms int64
	if json.Unmarshal(fields["startedAt"], &ms) == nil && 0 < ms && ms < maxMillis {
		e.since = time.UnixMilli(ms).UTC()
	}
	return e
}

// maxMillis is the year 5138; a time beyond it is no time of this client.
const maxMillis = 1e14

// ticks is a start of a process that is a plain number, as it is on Linux.
func ticks(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	if _, err := strconv.ParseUint(text, 10, 64); err != nil {
		return ""
	}
	return text
}

// registered refuses a session that a living client has registered, and also when
// what a living process registered cannot be told.
func registered(f afero.Fs, p place) error {
	dir, err := afero.ReadDir(f, p.registry)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no client that registers has run here
	}
	if err != nil {
		return open(p.registry, "the client's list of running sessions cannot be read", "make it readable, or override with --force", err)
	}
	var holders []string
	var odd error
	for _, info := range dir {
		pid, e, err := living(f, p.registry, info)
		switch {
		case pid == 0:
		case e.session == "":
			odd = unclear(filepath.Join(p.registry, info.Name()), pid, err)
		case p.of(e.session):
			holders = append(holders, e.holder(pid))
		}
	}
	if len(holders) > 0 {
		return open(p.path, "a client has registered the session as open: "+strings.Join(holders, ", "), closeIt, nil)
	}
	return odd
}

// living reads an entry; pid is 0 when it is of no process that may live.
func living(f afero.Fs, dir string, info fs.FileInfo) (pid int, e entry, err error) {
	pid, ok := number(info.Name())
	if !ok {
		return 0, e, nil
	}
	e, err = read(f, filepath.Join(dir, info.Name()), info, pid)
	if errors.Is(err, fs.ErrNotExist) || !lives(f, pid, e.started) {
		return 0, e, nil
	}
	return pid, e, err
}

func unclear(name string, pid int, err error) error {
	return open(name, fmt.Sprintf("process %d may be a client, and which session it has open cannot be read", pid),
		"end that client; if it is none, remove the file or override with --force", err)
}

// of tells whether the session writes the file. Where letters fold, the path may
// have been typed in others.
func (p place) of(session string) bool {
	return slices.ContainsFunc(p.ids, func(id string) bool { return strings.EqualFold(id, session) })
}

// number is the process of an entry <pid>.json.
func number(name string) (int, bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	pid, err := strconv.Atoi(stem)
	return pid, ok && err == nil && pid > 0 && strconv.Itoa(pid) == stem
}

func (e entry) holder(pid int) string {
	if e.since.IsZero() {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("process %d, running since %s", pid, e.since.Format(time.RFC3339))
}

// maxEntry bounds what is read of an entry; they have about 500 bytes.
const maxEntry = 1 << 20

// read opens nothing but a regular file: another could keep the reader waiting.
func read(f afero.Fs, name string, info fs.FileInfo, pid int) (entry, error) {
	if !info.Mode().IsRegular() {
		return entry{}, nil
	}
	file, err := f.Open(name)
	if err != nil {
		return entry{}, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxEntry))
	if err = errors.Join(err, file.Close()); err != nil {
		return entry{}, err
	}
	return parse(data, pid), nil
}

// lives tells whether the process of an entry may still be there. Only a clear no
// counts as one.
func lives(f afero.Fs, pid int, started string) bool {
	p, ok := fsys.As[fsys.Processes](f)
	if !ok {
		return true
	}
	if alive, err := p.Alive(pid); err == nil && !alive {
		return false
	}
	now, err := p.Started(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return err != nil || !other(now, started)
}

// other tells that a number went to another process: on Linux the client and fsys
// count the start in the same clock ticks.
func other(now, started string) bool {
	parts := strings.Split(now, ":")
	return started != "" && len(parts) == 3 && parts[0] == "linux" && parts[2] != started
}
