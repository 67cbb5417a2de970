// Package step is the contract between the engine and a job kind. The engine
// knows no transcript: a kind resolves a job to items and an item to steps; the
// engine orders, keys, runs, records and reports them.
package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/spec"
)

// Kind is one job kind (compress, validate, ...).
type Kind interface {
	// Name is the value of the job's kind field.
	Name() string
	// Items resolves the job's input to its items, sorted by Source. It reads
	// folder listings only, never a session's content.
	Items(ctx context.Context, env Env, job *spec.Job) ([]Item, error)
	// Steps wires the graph of one item. The steps of one item may share state
	// through what their closures capture; a step must be able to rebuild that
	// state from the source when an earlier step was taken from the record.
	Steps(env Env, job *spec.Job, item Item) ([]Step, error)
}

// Checker is implemented by a [Kind] that cannot run every job its schema allows.
type Checker interface {
	// Check says whether this version can run the job, from the job alone. The
	// error is a *[Refusal] of class [NotAvailable] whose Place.Path is the field
	// to change, or several of them, joined.
	Check(job *spec.Job) error
}

// Guard is implemented by a [Kind] that replaces files which other programs use.
type Guard interface {
	// Idle refuses when such a program may still write to the file.
	Idle(f afero.Fs, path string) error
}

// NotAvailable is the class of what a job may say and this version cannot do.
const NotAvailable = "not-available"

// Item is one unit of work of a run, usually one session.
type Item struct {
	// ID names the item within its run and its folder in the state directory.
	ID string
	// Source is the path the item reads.
	Source string
	// Label is what people are shown.
	Label string
	// Bytes is the size of the source, for progress; 0 when it is not known.
	Bytes int64
}

// Env is the world as the jobs see it. What a step publishes is a function of its
// inputs alone, so there are no ids in it, and its clock tells the age of files.
type Env struct {
	FS afero.Fs
	// State is the state directory; what lies in it is no session.
	State string
	// Force allows an existing output that is not ours to be replaced.
	Force bool
	// SessionClosed is the person's acknowledgement for a live replacement.
	SessionClosed bool
	// Owned reports the SHA-256 that precis last published at path, by the
	// state directory's ledger.
	Owned func(path string) (sha256 string, ok bool)
	// Now is the clock, for the age of files and nothing else.
	Now func() time.Time
	// Token names this attempt at the item, uniquely among live runs and the
	// same when the run is resumed: for the name of a stage. It is 16 hexadecimal
	// digits.
	Token string
	// Progress reports bytes done of a total; never nil.
	Progress func(done, total int64)
	// Brought takes a text that a person brought for a step which waits: the first
	// that is mine, or the only one where only one step of the run waits and nothing
	// else of it was cut off. Each text is taken once. Never nil.
	Brought func(mine func(text []byte) bool) (text []byte, ok bool)
	// Once does something for a key when the first of the run's items asks, and no
	// more; the others wait for it and get its error. Never nil.
	Once func(key string, do func() error) error
	// Cleanup has something done when the item has ended, however it did; never
	// nil.
	Cleanup func(func() error)
}

// Step is a node of an item's graph.
type Step struct {
	Name    string
	Version int
	// Needs names the steps whose outputs this one reads.
	Needs []string
	// Params is everything else the output depends on; it is part of the key as
	// canonical JSON, and recorded: digests stand in it for text.
	Params any
	// Observe names what the step reads outside the state directory, with the
	// digests of now; nil for a step that reads nothing there. It is asked when a
	// result of an earlier run could do instead, so it only hashes.
	Observe func(ctx context.Context) ([]Observed, error)
	// Check refuses what can be seen to be wrong before any step of the item is run;
	// nil for nothing. A plan asks it too.
	Check func() error
	// Effect marks a step that touches the world outside the state directory. It is
	// the item's last. Run again after it was cut short, it finds what it did and
	// goes on from there.
	Effect bool
	// Asks marks a step whose output is somebody's word, and no function of its
	// inputs: a dry run does not ask, and a replay takes it from the record. Steps
	// that ask and do not need each other run side by side.
	Asks bool
	// Expand gives more steps in their order, which are known once this one is done,
	// from its artifacts alone: from none in a plan that does not know them. They come
	// behind it, and who needs it needs them too. Nil for none.
	Expand func(map[string]Artifact) ([]Step, error)
	// Intend says what an effect is about to publish, for the record; nil for
	// nothing that Settle would need.
	Intend func(ctx context.Context, in Input) ([]Published, error)
	// Settle looks at the world for what an effect with this intent did before it
	// was cut short. It is asked before anything is read that the effect may have
	// replaced. Done is false when the effect is still to be run. Nil for an effect
	// that can be run again in any case.
	Settle func(ctx context.Context, intent []Published) (out Output, done bool, err error)
	Run    func(ctx context.Context, in Input) (Output, error)
}

// Observed is a file outside the state directory that a step read.
type Observed struct {
	Name string `json:"name"` // what it is to the step
	Path string `json:"path"`
	Artifact
}

// Input is what a step may use: the artifacts of the steps it needs, by
// "step/name".
type Input struct {
	Artifacts map[string]Artifact
	// Open reads an artifact's bytes, verified against its digest.
	Open func(Artifact) ([]byte, error)
	// Put stores bytes in the artifact store, durable when it returns.
	Put func([]byte) (Artifact, error)
	// Keep stores what the step would not get a second time, by name; it is on
	// record when it returns.
	Keep func(map[string][]byte) error
	// Kept is what this and earlier attempts of the run at the step kept.
	Kept map[string]Artifact
}

// Artifact names bytes by their digest.
type Artifact struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Output is what a step leaves behind. Everything in it is recorded in the
// journal: no text of a transcript, no secret.
type Output struct {
	// Observed is what a step with an Observe read.
	Observed []Observed
	// Artifacts by name; durable before the step is recorded as done. The one
	// called "report" is for people: a JSON document about the item.
	Artifacts map[string]Artifact
	// Published lists what an effect put into the world.
	Published []Published
	// Facts are small values, functions of the step's inputs; those of an effect may
	// also tell how the world took it.
	Facts map[string]any
	// Sizes is what the item weighed before and weighs after.
	Sizes *Sizes
}

// Sizes compares an item's source with its result.
type Sizes struct {
	Before Size `json:"before"`
	After  Size `json:"after"`
}

// Size is what a file costs; tokens are of the active conversation, estimated.
type Size struct {
	Bytes   int64 `json:"bytes"`
	Records int   `json:"records"`
	Tokens  int64 `json:"tokens"`
}

// Published is one file an effect left at its final name.
type Published struct {
	Op     Op     `json:"op"`
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Old is what a replaced session was.
	Old *Artifact `json:"old,omitempty"`
}

// Result tells whether the file is what the effect was for. Backups are the
// person's, to keep or to remove.
func (p Published) Result() bool { return p.Op != Backup && p.Op != Remove }

// Op is what was done to a path.
type Op string

// The operations.
const (
	Create  Op = "create"
	Replace Op = "replace"
	Keep    Op = "keep"   // the bytes were there already
	Backup  Op = "backup" // a copy of what was replaced
	Remove  Op = "remove" // of an older backup
)

// MarshalParams is the canonical JSON (RFC 8785) of a step's parameters. Its
// numbers are doubles, so an integer that is not exactly one is an error rather
// than the same key for two values.
func MarshalParams(p any) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if err := exactNumbers(data); err != nil {
		return nil, err
	}
	return jcs.Transform(data)
}

func exactNumbers(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		n, ok := t.(json.Number)
		if !ok || strings.ContainsAny(n.String(), ".eE") {
			continue
		}
		const exact = 1 << 53
		if i, err := n.Int64(); err != nil || i > exact || i < -exact {
			return fmt.Errorf("the integer %s is not exact in canonical JSON; write it as text", n)
		}
	}
}
