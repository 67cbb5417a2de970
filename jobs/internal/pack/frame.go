package pack

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/spec/canon"
)

// Headings by which packs are recognized.
const (
	packTitle             = "# Evidence Pack v11 (precis)"
	anchorsHeading        = "## Required Anchor Coverage"
	handoffAnchorsHeading = "## Required Handoff Anchor Coverage"
	claimsHeading         = "## Required Claim Support"
	recordsHeading        = "## Evidence Records"
	handoffHeading        = "## External Handoff Summary"
)

//go:embed behavior.md
var behavior string

// frame is everything in a pack but the lines of evidence.
type frame struct {
	req    *Request
	header modelsummary.Header
	total  int // records in the file

	groups, handoffGroups []group
	handoff               []string
	claims                []int // ascending

	priors, priorChars int
	shown, omitted     int
	omittedDigest      string
	reasons            map[string]int
	truncated          bool
	maxTokens          int
}

// before is the text up to the evidence.
func (f *frame) before() []byte {
	b := []byte(packTitle + "\n\n## Required Output Metadata\n\n" +
		"The summary begins with this comment, letter for letter:\n\n" + f.header.Comment() +
		"\n\n## Compression Context\n\n")
	b = f.context(b)
	b = append(b, "\n## Required Model Behavior\n\n"...)
	b = append(b, behavior...)
	b = append(b, "\n## Required Final Summary Shape\n\nThese headings, each once, in this order:\n\n"...)
	b = append(append(b, shape()...), "\n"+anchorsHeading+"\n\n"...)
	b = listed(b, f.groups, 'L', "- No group needs an anchor.\n")
	b = append(b, "\n"+handoffAnchorsHeading+"\n\n"...)
	b = listed(b, f.handoffGroups, 'H', "- No handoff anchor is needed.\n")
	b = append(b, "\n"+claimsHeading+"\n\n"...)
	for _, n := range f.claims {
		b = append(strconv.AppendInt(append(b, "- L"...), int64(n), 10), '\n')
	}
	if len(f.claims) == 0 {
		b = append(b, "- No claim needs support.\n"...)
	}
	return append(b, "\n"+recordsHeading+"\n\n"...)
}

// TemplateDigest is summaryTemplateSha256: of what every pack tells the author to
// write, however the records may differ.
func TemplateDigest() string { return evidence.TemplateDigest([]byte(behavior + shape())) }

// shape is the title and headings of a summary.
func shape() string {
	list := append([]string{modelsummary.Title}, modelsummary.Sections[:]...)
	i := slices.Index(list, modelsummary.EvidenceSection)
	return strings.Join(slices.Insert(list, i+1, modelsummary.CoverageHeading), "\n") + "\n"
}

func listed(b []byte, groups []group, letter byte, none string) []byte {
	for _, g := range groups {
		b = append(append(append(b, "- `"...), g.name...), "`: "...)
		b = append(strconv.AppendInt(append(b, letter), int64(g.n), 10), '\n')
	}
	if len(groups) == 0 {
		b = append(b, none...)
	}
	return b
}

// after is the text behind the evidence.
func (f *frame) after() []byte {
	b := []byte("\n" + handoffHeading + "\n\n")
	if len(f.handoff) == 0 {
		return append(b, "No handoff was supplied.\n"...)
	}
	for i, line := range f.handoff {
		b = fmt.Appendf(b, "- H%d full_text_json=", i+1)
		b = append(Quoted(b, line), '\n')
	}
	return b
}

func (f *frame) context(b []byte) []byte {
	req, h := f.req, f.header
	reasons, _ := canon.JSON(f.reasons)
	for _, fact := range [...]string{
		"Source: SOURCE_JSONL",
		"Digest of the source file: " + h.Source,
		"Digest of the folded records: " + h.SummarySource,
		fmt.Sprintf("Records in the file: %d", f.total),
		"Folded records: " + f.span(),
		fmt.Sprintf("Number of folded records: %d", len(req.Fold)),
		fmt.Sprintf("Recent records that stay as they are: %d", req.Raw),
		"Selection of the conversation: " + word(req.Mode),
		"Several sessions in one conversation: " + truth(req.Mixed),
		fmt.Sprintf("Changes of session: %d", req.Transitions),
		"End of the conversation: " + word(req.Leaf),
		"Evidence left out: " + truth(f.truncated),
		fmt.Sprintf("Token ceiling of this pack: %d", f.maxTokens),
		fmt.Sprintf("Anchors shown: %d", f.shown),
		fmt.Sprintf("Mandatory records shown: %d", len(f.claims)),
		"Digest of the anchors: " + h.Anchors,
		"Digest of the groups: " + h.Groups,
		"Digest of the request: " + h.Request,
		"Digest of the claim sources: " + h.Claims,
		"Digest of the handoff: " + h.Handoff,
		fmt.Sprintf("Optional records left out: %d", f.omitted),
		"Digest of those left out: " + f.omittedDigest,
		"Reasons: " + string(reasons),
		"Earlier summaries are kept word for word: " + truth(req.Binding.PriorsVerbatim),
		fmt.Sprintf("Earlier summaries: %d", f.priors),
		fmt.Sprintf("Characters of earlier summaries: %d", f.priorChars),
		priorNote(req.Binding.PriorsVerbatim),
	} {
		b = append(append(append(b, "- "...), fact...), '\n')
	}
	return b
}

func priorNote(verbatim bool) string {
	if verbatim {
		return "The program puts the earlier summaries in front of yours: build on them, do not repeat them."
	}
	return "The earlier summaries vanish: carry over from them what still holds."
}

// span is the first and last folded record of the file.
func (f *frame) span() string {
	if len(f.req.Fold) == 0 {
		return "none"
	}
	return fmt.Sprintf("L%d to L%d", slices.Min(f.req.Fold)+1, slices.Max(f.req.Fold)+1)
}

// truth is a boolean in the format's spelling.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// largest is the size of the frame when everything that the choice of optional
// evidence decides takes the most room, and any ceiling: so that what is needed
// is known before, and does not grow with the ceiling.
func (f frame) largest() size {
	f.shown, f.omitted, f.maxTokens = math.MaxInt32, math.MaxInt32, math.MaxInt32
	f.omittedDigest, f.truncated = canon.LineSet(nil), false
	f.reasons = map[string]int{}
	for _, why := range reasons {
		f.reasons[string(why)] = math.MaxInt32
	}
	return measure(f.before()).plus(measure(f.after()))
}
