package compress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Report says what one compression did. It holds counts and digests, no text of
// the session, and nothing that differs between two runs on the same input.
type Report struct {
	Schema    int               `json:"schema"`
	Job       string            `json:"job"`
	Session   string            `json:"session"`
	Status    step.Status       `json:"status"`
	Source    ReportSource      `json:"source"`
	Chain     ReportChain       `json:"chain"`
	Partition ReportPartition   `json:"partition"`
	Cut       ReportCut         `json:"cut"`
	Before    step.Size         `json:"before"`
	After     step.Size         `json:"after"`
	Gates     []Gate            `json:"gates"`
	Tools     ReportTools       `json:"tools"`
	Summary   ReportSummary     `json:"summary"`
	Digests   map[string]string `json:"digests"`
	Warnings  []Warning         `json:"warnings"`
	Output    *ReportOutput     `json:"output,omitempty"`
	Versions  map[string]any    `json:"versions"`
}

// ReportSource identifies the session file.
type ReportSource struct {
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Records int    `json:"records"`
}

// ReportChain is the active chain; Recovered counts the records of parallel
// calls that hang beside the plain walk.
type ReportChain struct {
	Mode      string `json:"mode"`
	Status    string `json:"status"`
	Leaf      string `json:"leaf"`
	Length    int    `json:"length"`
	Recovered int    `json:"recovered"`
	Later     int    `json:"later"`
}

// Set is a set of records by size and content-free digest.
type Set struct {
	Count  int    `json:"count"`
	Digest string `json:"digest"`
}

// ReportPartition are the six sets.
type ReportPartition struct {
	Summary              Set `json:"summary"`
	Raw                  Set `json:"raw"`
	Side                 Set `json:"side"`
	Control              Set `json:"control"`
	ExcludedBranch       Set `json:"excludedBranch"`
	ExcludedUnattributed Set `json:"excludedUnattributed"`
}

// ReportCut is the first kept record.
type ReportCut struct {
	Record int `json:"record"`
	Line   int `json:"line"`
}

// Gate is a hard limit and what the candidate has.
type Gate struct {
	Name  string `json:"name"`
	Limit int64  `json:"limit"`
	Value int64  `json:"value"`
	OK    bool   `json:"ok"`
}

// ReportTools counts the tool exchanges of the active chain.
type ReportTools struct {
	Uses    int `json:"uses"`
	Results int `json:"results"`
	Partial int `json:"partial"`
}

// Warning is something the person should know.
type Warning struct {
	Rule    string `json:"rule"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// ReportOutput is the published file.
type ReportOutput struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// reportStep makes the report.
func (f *fold) reportStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.composed(ctx, in); err != nil {
		return step.Output{}, err
	}
	written, err := f.reportSummary(in)
	if err != nil {
		return step.Output{}, err
	}
	data, err := json.MarshalIndent(f.report(written), "", "  ")
	if err != nil {
		return step.Output{}, err
	}
	artifact, err := in.Put(append(data, '\n'))
	return step.Output{Artifacts: map[string]step.Artifact{"report": artifact}}, err
}

func (f *fold) report(written ReportSummary) *Report {
	x, sol := f.session.Index, f.solution
	first := &x.Records[sol.sets.Raw[0]]
	before, after := f.weights()
	r := &Report{
		Schema: ReportVersion, Job: f.job.Name, Session: f.item.ID, Status: step.Done,
		Source:    ReportSource{x.Size, f.session.SHA256(), len(x.Records)},
		Chain:     ReportChain{f.job.Mode.Chain, string(f.sel.Status), sol.candidate.Leaf, len(f.sel.Active), f.sel.Recovered, len(f.sel.Later)},
		Partition: f.partition(),
		Cut:       ReportCut{sol.sets.Raw[0] + 1, int(first.Line)},
		Before:    before,
		After:     after,
		Summary:   written,
		Tools:     ReportTools{f.pairs.Uses, f.pairs.Results, f.pairs.Partial},
		Digests: map[string]string{
			"request": f.request(), "item": sol.item,
			"candidate": "sha256:" + f.candidateSum(), "summary": "sha256:" + sol.digest,
		},
		Versions: map[string]any{"engine": EngineVersion, "pack": PackVersion, "report": ReportVersion, "client": rules(f.job).Version},
	}
	r.Gates = f.gates(r.After)
	r.Warnings = f.reportWarnings(r)
	if path := f.output(); path != "" {
		r.Output = &ReportOutput{path, f.verified.Size, f.candidateSum()}
	}
	return r
}

func (f *fold) partition() ReportPartition {
	s := f.solution.sets
	set := func(records []int) Set { return Set{len(records), lineSet(records)} }
	return ReportPartition{set(s.Summary), set(s.Raw), set(s.Side), set(s.Control), set(s.ExcludedBranch), set(s.ExcludedUnattributed)}
}

func total(x *transcript.Index) int64 {
	n := int64(0)
	for i := range x.Records {
		n += int64(x.Records[i].Tokens)
	}
	return n
}

func (f *fold) gates(after step.Size) []Gate {
	b := f.job.Budgets
	gates := []Gate{}
	if b.Tokens > 0 {
		gates = append(gates, Gate{"tokens", int64(b.Tokens), after.Tokens, after.Tokens <= int64(b.Tokens)})
	}
	if b.Bytes > 0 {
		gates = append(gates, Gate{"bytes", b.Bytes, after.Bytes, after.Bytes <= b.Bytes})
	}
	return gates
}

func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
}
