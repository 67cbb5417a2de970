package compress

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine/step"
)

// ReportSummary is how the summary came to be. The members about an author are missing
// where none was asked.
type ReportSummary struct {
	Mode   string       `json:"mode"`
	Embed  string       `json:"embed,omitempty"`
	Chars  int          `json:"chars"` // of the text in the session
	Priors ReportPriors `json:"priorSummaries"`

	Covered  int                  `json:"covered,omitempty"`  // mandatory records with an excerpt
	Cited    int                  `json:"cited,omitempty"`    // records that the summary names
	Evidence map[string]*Evidence `json:"evidence,omitempty"` // by pack
	Authors  map[string]*Account  `json:"authors,omitempty"`  // by step
}

// ReportPriors is what became of earlier summaries.
type ReportPriors struct {
	Policy string `json:"policy"`
	Count  int    `json:"count"`
	Chars  int    `json:"chars"`
	Reason string `json:"reason,omitempty"` // why they were folded, though the job keeps them
}

// reportSummary tells how the summary came to be.
func (f *fold) reportSummary(in step.Input) (ReportSummary, error) {
	p := f.priors
	r := ReportSummary{
		Mode: f.job.Mode.Summary, Chars: runes(f.solution.summary),
		Priors: ReportPriors{p.policy(f.keepsPriors()), p.count, p.chars, p.reason},
	}
	if !f.asksModel() {
		return r, nil
	}
	r.Embed, r.Evidence, r.Authors = f.job.Mode.Embed, map[string]*Evidence{}, map[string]*Account{}
	for _, name := range slices.Sorted(maps.Keys(in.Artifacts)) {
		var err error
		switch who, what, _ := strings.Cut(name, "/"); {
		case what == accountName:
			r.Authors[who], err = get[*Account](in, name)
		case strings.HasPrefix(what, evidenceName):
			r.Evidence[strings.Replace(what, evidenceName, who, 1)], err = get[*Evidence](in, name)
		}
		if err != nil {
			return r, err
		}
	}
	return r, f.grounds(in, &r)
}

// grounds counts what the summary rests on.
func (f *fold) grounds(in step.Input, r *ReportSummary) error {
	e, err := get[expect](in, lastPack(in)+expectName)
	if err != nil {
		return err
	}
	s, err := answered(in, "author", e)
	if err == nil {
		r.Covered, r.Cited = len(s.Coverage), len(s.Records)
	}
	return err
}

// warn gives what a person should know about the summary.
func (r *ReportSummary) warn() (out []Warning) {
	if reason := r.Priors.Reason; reason != "" {
		out = append(out, Warning{Rule: "priors-folded", Message: "earlier summaries are not kept word for word: " + reason})
	}
	if r.Authors["author"] == nil || r.Authors["author"].By == "file" {
		return out
	}
	n := 0
	for _, e := range r.Evidence {
		n += e.Credentials
	}
	if n > 0 {
		out = append(out, Warning{Rule: "credentials-sent", Message: fmt.Sprintf("the evidence that the author read holds %s that looks like a credential; precis inspect lists the lines", counted(n, "text"))})
	}
	return out
}
