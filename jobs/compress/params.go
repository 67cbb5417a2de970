package compress

import (
	"github.com/precis-dev/precis/jobs/internal/pack"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/spec"
)

// What the output of each step depends on beside its inputs. The members bear the
// names of the job's fields, since a plan names the first that differs.

type readParams struct {
	Agent string `json:"agent"`
}

type selectParams struct {
	Mode selectMode `json:"mode"`
}

type selectMode struct {
	Chain     string `json:"chain"`
	Client    string `json:"client"` // the version that is meant
	Leaf      string `json:"leaf"`
	Extension int    `json:"extension"`
}

func newSelectParams(job *spec.Job) selectParams {
	m := job.Mode
	return selectParams{selectMode{m.Chain, rules(job).Version, m.Leaf, m.Extension}}
}

type foldParams struct {
	Mode        foldMode         `json:"mode"`
	Budgets     spec.Budgets     `json:"budgets"`
	Checkpoints spec.Checkpoints `json:"checkpoints"`
	Versions    foldVersions     `json:"versions"`
}

type foldMode struct {
	Summary        string `json:"summary"`
	PriorSummaries string `json:"priorSummaries"`
	Embed          string `json:"embed,omitempty"` // of a pack, which says how long its summary may be
}

type foldVersions struct {
	Engine string `json:"engine"`
	Pack   int    `json:"pack"`
	Layout string `json:"layout"`
	Terms  string `json:"terms"`
}

func newFoldParams(job *spec.Job) foldParams {
	return foldParams{
		foldMode{Summary: job.Mode.Summary, PriorSummaries: job.Mode.PriorSummaries}, job.Budgets, job.Checkpoints,
		foldVersions{EngineVersion, PackVersion, summary.Version, summary.TermsDigest()},
	}
}

type reportParams struct {
	Name   string `json:"name"`
	Output string `json:"output"`
}

type publishParams struct {
	To   string `json:"to"`
	Path string `json:"path"`
}

// authorParams are who writes the summary, and what he is told.
type authorParams struct {
	Author       authorWho `json:"author"`
	Instructions string    `json:"instructions"` // digest
}

type authorWho struct {
	By      string   `json:"by"`
	Model   string   `json:"model"`
	Command []string `json:"command"`
	BaseURL string   `json:"baseURL"`
}

type packParams struct {
	foldParams
	Author   packAuthor `json:"author"`
	Template string     `json:"template"` // digest
	Terms    string     `json:"terms"`    // likewise
}

type packAuthor struct {
	Fold string `json:"fold"`
}

func (f *fold) packParams() packParams {
	p := newFoldParams(f.job)
	p.Mode.Embed = f.job.Mode.Embed
	return packParams{p, packAuthor{f.job.Author.Fold}, pack.TemplateDigest(), f.texts.termsDigest()}
}

type textParams struct {
	Mode textMode `json:"mode"`
}

type textMode struct {
	Embed string `json:"embed"`
}
