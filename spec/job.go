package spec

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// Job is a checked job with its defaults filled in. What the fields mean and
// which values they take stands in the schema of the job's kind.
type Job struct {
	Version     int         `json:"version"`
	Kind        string      `json:"kind"`
	Name        string      `json:"name"`
	Input       Input       `json:"input"`
	Mode        Mode        `json:"mode"`
	Budgets     Budgets     `json:"budgets"`
	Checkpoints Checkpoints `json:"checkpoints"`
	Author      Author      `json:"author"`
	Publish     Publish     `json:"publish"`
	Run         Run         `json:"run"`

	// File is the name the job was read by and Dir its folder. They are not
	// part of the canonical form.
	File string `json:"-"`
	Dir  string `json:"-"`

	canonical []byte
	text      *text
	spots     spots
}

// Input names the sessions.
type Input struct {
	Sessions []string `json:"sessions"`
	Exclude  []string `json:"exclude"`
	Agent    string   `json:"agent"`
	Handoff  string   `json:"handoff"`
}

// Mode is how the active chain is found and who writes the summary.
type Mode struct {
	Chain          string `json:"chain"`
	Client         string `json:"client"`
	Leaf           string `json:"leaf"`
	Extension      int    `json:"extension"`
	Summary        string `json:"summary"`
	PriorSummaries string `json:"priorSummaries"`
	Embed          string `json:"embed"`
}

// Budgets are targets and hard limits.
type Budgets struct {
	Ratio        float64 `json:"ratio"`
	Tokens       int     `json:"tokens"`
	Bytes        int64   `json:"bytes"`
	KeepRecords  int     `json:"keepRecords"`
	SummaryChars int     `json:"summaryChars"`
	PackChars    int     `json:"packChars"`
	PackTokens   int     `json:"packTokens"`
}

// Checkpoints is which file-history snapshots are kept.
type Checkpoints struct {
	Policy string `json:"policy"`
	Max    int    `json:"max"`
}

// Author is who writes a summary of mode model.
type Author struct {
	By      string   `json:"by"`
	Model   string   `json:"model"`
	KeyEnv  string   `json:"keyEnv"`
	Command []string `json:"command"`
	Env     []string `json:"env"`
	Timeout Duration `json:"timeout"`
	BaseURL string   `json:"baseURL"`

	Attempts int    `json:"attempts"`
	Fold     string `json:"fold"`
	Terms    string `json:"terms"`
}

// Publish is where the result goes.
type Publish struct {
	To        string   `json:"to"`
	Path      string   `json:"path"`
	WorkDir   string   `json:"workDir"`
	BackupDir string   `json:"backupDir"`
	Backups   int      `json:"backups"`
	Quiet     Duration `json:"quiet"`
	KeepTimes bool     `json:"keepTimes"`
}

// Run is how the items are worked through.
type Run struct {
	Workers   int      `json:"workers"`
	OnFailure string   `json:"onFailure"`
	Timeout   Duration `json:"timeout"`
}

// Duration is a time.Duration written as text, such as 15m.
type Duration time.Duration

// UnmarshalText reads the form of [time.ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

func (d Duration) String() string { return time.Duration(d).String() }

// Load reads a job file, changes it by the assignments ("a.b.c=VALUE") and
// checks it. The error is [Problems], or comes from the filesystem. Output paths
// are also checked after resolving symbolic links, where fs can resolve them.
func Load(fs afero.Fs, file string, set []string) (*Job, error) {
	data, err := readFile(fs, file)
	if err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	return parse(file, data, set, func(name string) (string, error) { return fsys.Canonical(fs, name) })
}

// Parse is [Load] for text in memory. It is pure: links are not resolved.
func Parse(file string, data []byte, set []string) (*Job, error) {
	return parse(file, data, set, func(name string) (string, error) { return name, nil })
}

func parse(file string, data []byte, set []string, resolve resolver) (*Job, error) {
	d := newDocument(file, data)
	d.read()
	for _, s := range set {
		d.assign(s)
	}
	if err := d.check(resolve); err != nil {
		return nil, err
	}
	if len(d.found) > 0 {
		return nil, d.problems()
	}
	return d.job()
}

// job builds the typed job from values that passed every check.
func (d *document) job() (*Job, error) {
	plain, err := json.Marshal(d.root)
	if err != nil {
		return nil, fmt.Errorf("spec: internal error: %w", err)
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return nil, fmt.Errorf("spec: internal error: %w", err)
	}
	job := &Job{File: d.file, Dir: filepath.Dir(d.file), canonical: canonical, text: d.text, spots: d.spots}
	if err := json.Unmarshal(canonical, job); err != nil {
		return nil, fmt.Errorf("spec: internal error: %w", err)
	}
	return job, nil
}

// Resolve returns a path of the job relative to the job file's folder. Absolute
// and empty paths stay as they are.
func (j *Job) Resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(j.Dir, path)
}

// Position is where the value of a field ("publish.to", "input.sessions[1]")
// stands in the job file, both from 1; for a field that is not written, its
// nearest parent. A value that came from an assignment has no position: 0, 0.
func (j *Job) Position(path string) (line, col int) {
	m := j.spots.nearest(pointer(path))
	return m.line, m.col
}
