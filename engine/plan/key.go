package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gowebpki/jcs"

	"github.com/precis-dev/precis/engine/step"
)

// Algorithm is how keys are made; it is hashed with the rest, so keys of another
// algorithm never match.
const Algorithm = "precis-step-key/2"

// Components is everything a step's output depends on, in the order in which a
// difference is reported.
type Components struct {
	Algorithm string          `json:"algorithm"`
	Step      string          `json:"step"`
	Version   int             `json:"version"`
	Params    json.RawMessage `json:"params"`
	Inputs    []Input         `json:"inputs"`
}

// Input is something a step reads: a file outside, under its name; the result of
// a step it needs, under that step's name and by its key; an artifact of such a
// step, under "step/artifact".
type Input struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // "sha256:" and hexadecimal
}

// Done is a finished step as later steps and later runs see it.
type Done struct {
	Step       string                   `json:"step"`
	Key        string                   `json:"key"`
	Components Components               `json:"components"`
	Home       string                   `json:"home,omitempty"` // the run that has the artifacts, if it is another one
	Observed   []step.Observed          `json:"observed,omitempty"`
	Artifacts  map[string]step.Artifact `json:"artifacts,omitempty"`
	Published  []step.Published         `json:"published,omitempty"`
	Facts      map[string]any           `json:"facts,omitempty"`
	Asked      bool                     `json:"asked,omitempty"` // it is somebody's word, and the facts are about that
	Sizes      *step.Sizes              `json:"sizes,omitempty"`
}

// Describe collects a step's components: what it observes, then what it needs, in
// the order of its needs, and of one need's artifacts by name.
func Describe(s step.Step, observed []step.Observed, done map[string]Done) (Components, error) {
	params, err := step.MarshalParams(s.Params)
	if err != nil {
		return Components{}, fmt.Errorf("parameters of step %q: %w", s.Name, err)
	}
	c := Components{Algorithm: Algorithm, Step: s.Name, Version: s.Version, Params: params, Inputs: []Input{}}
	for _, o := range observed {
		c.Inputs = append(c.Inputs, Input{o.Name, prefix + o.SHA256})
	}
	for _, need := range s.Needs {
		d := done[need]
		c.Inputs = append(c.Inputs, Input{need, d.Key})
		for _, name := range slices.Sorted(maps.Keys(d.Artifacts)) {
			c.Inputs = append(c.Inputs, Input{need + "/" + name, prefix + d.Artifacts[name].SHA256})
		}
	}
	return c, nil
}

const prefix = "sha256:"

// Key is "sha256:" and the digest of the components' canonical JSON (RFC 8785).
func (c Components) Key() (string, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	canonical, err := jcs.Transform(data)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return prefix + hex.EncodeToString(sum[:]), nil
}

// Difference is the first component in which a step differs from an earlier one.
type Difference struct {
	Component string `json:"component"`
	Old       string `json:"old"`
	New       string `json:"new"`
}

// none stands for a component that one side does not have.
const none = "(none)"

// Differ gives the first difference to the components of an earlier run, nil when
// there is none.
func (c Components) Differ(last Components) *Difference {
	switch {
	case c.Algorithm != last.Algorithm:
		return &Difference{"algorithm", last.Algorithm, c.Algorithm}
	case c.Step != last.Step:
		return &Difference{"step", last.Step, c.Step}
	case c.Version != last.Version:
		return &Difference{"version", fmt.Sprint(last.Version), fmt.Sprint(c.Version)}
	}
	if was, is := canonical(last.Params), canonical(c.Params); !bytes.Equal(was, is) {
		return Compare("params", was, is)
	}
	return differentInputs(last.Inputs, c.Inputs)
}

// canonical spells recorded JSON canonically again: encoding/json writes <, > and &
// as escapes into a record.
func canonical(v json.RawMessage) json.RawMessage {
	if c, err := jcs.Transform(v); err == nil {
		return c
	}
	return v
}

func differentInputs(last, now []Input) *Difference {
	for i := range max(len(last), len(now)) {
		switch {
		case i >= len(last):
			return &Difference{"inputs." + now[i].Name, none, now[i].Digest}
		case i >= len(now):
			return &Difference{"inputs." + last[i].Name, last[i].Digest, none}
		case last[i].Name != now[i].Name:
			return &Difference{"inputs", last[i].Name, now[i].Name}
		case last[i].Digest != now[i].Digest:
			return &Difference{"inputs." + now[i].Name, last[i].Digest, now[i].Digest}
		}
	}
	return nil
}

// Compare finds the first member, by name, in which two values in canonical JSON
// differ that are not equal; the path is where they stand.
func Compare(path string, last, now json.RawMessage) *Difference {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(last, &a) != nil || json.Unmarshal(now, &b) != nil || a == nil || b == nil {
		return &Difference{path, string(last), string(now)}
	}
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		switch at := path + "." + name; {
		case a[name] == nil:
			return &Difference{at, none, string(b[name])}
		case b[name] == nil:
			return &Difference{at, string(a[name]), none}
		case !bytes.Equal(a[name], b[name]):
			return Compare(at, a[name], b[name])
		}
	}
	return &Difference{path, string(last), string(now)}
}
