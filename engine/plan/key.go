package plan

import (
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
const Algorithm = "precis-step-key/1"

// Components is everything a step's output depends on, in the order in which a
// difference is reported.
type Components struct {
	Algorithm string          `json:"algorithm"`
	Step      string          `json:"step"`
	Version   int             `json:"version"`
	Params    json.RawMessage `json:"params"`
	Inputs    []Input         `json:"inputs"`
}

// Input is one artifact of a needed step, under the name "step/artifact".
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Describe collects a step's components. Inputs come in the order of its needs,
// and of one need's artifacts by name.
func Describe(s step.Step, outputs map[string]step.Output) (Components, error) {
	params, err := step.MarshalParams(s.Params)
	if err != nil {
		return Components{}, fmt.Errorf("parameters of step %q: %w", s.Name, err)
	}
	c := Components{Algorithm: Algorithm, Step: s.Name, Version: s.Version, Params: params, Inputs: []Input{}}
	for _, need := range s.Needs {
		artifacts := outputs[need].Artifacts
		for _, name := range slices.Sorted(maps.Keys(artifacts)) {
			c.Inputs = append(c.Inputs, Input{need + "/" + name, artifacts[name].SHA256})
		}
	}
	return c, nil
}

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
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
