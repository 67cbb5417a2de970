package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/gowebpki/jcs"
)

// The names and versions of the digests; they are part of what is hashed, so
// that no two kinds of digest, nor two versions of one, can be equal.
const (
	specDigest    = "precis job digest v1\n"
	requestDigest = "precis request digest v1\n"
)

// Canonical is the job as RFC 8785 JSON with every default filled in. It holds
// the whole job, and reads as a job file itself.
func (j *Job) Canonical() []byte { return bytes.Clone(j.canonical) }

// Made is the canonical form of what the job makes: without what only says how it is
// worked through, such as workers, time limits, and how often and with which key
// an author is asked.
func (j *Job) Made() []byte {
	var root map[string]any
	if err := json.Unmarshal(j.canonical, &root); err != nil {
		panic("spec: internal error: " + err.Error())
	}
	delete(root, "run")
	if author, ok := root["author"].(map[string]any); ok {
		for _, field := range []string{"attempts", "env", "keyEnv", "timeout"} {
			delete(author, field)
		}
	}
	return canonical(root)
}

// canonical is the JSON (RFC 8785) of values that were read from such JSON.
func canonical(v any) []byte {
	plain, err := json.Marshal(v)
	if err != nil {
		panic("spec: internal error: " + err.Error())
	}
	text, err := jcs.Transform(plain)
	if err != nil {
		panic("spec: internal error: " + err.Error())
	}
	return text
}

// Digest changes with anything a person can write in the job, and with nothing
// else: "sha256:" and 64 hex digits.
func (j *Job) Digest() string { return digest(specDigest, j.canonical) }

// RequestDigest changes with what selects or shows content: the mode, budgets
// and checkpoints of the job, and the resources (content digests and versions by
// name). Paths, workers, publication and the job's name do not count.
func (j *Job) RequestDigest(resources map[string]string) string {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(j.canonical, &parts); err != nil {
		panic("spec: internal error: " + err.Error())
	}
	return digest(requestDigest, canonical(map[string]any{
		"mode":        parts["mode"],
		"budgets":     parts["budgets"],
		"checkpoints": parts["checkpoints"],
		"resources":   resources,
	}))
}

func digest(name string, data []byte) string {
	sum := sha256.Sum256(append([]byte(name), data...))
	return "sha256:" + hex.EncodeToString(sum[:])
}
