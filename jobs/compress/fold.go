package compress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/agents"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/jobs/internal/verify"
	"github.com/precis-dev/precis/spec"
)

// fold is one session on its way through the steps. Each part is made when it is
// first needed, so that a step can run though the ones before it were taken from
// the record.
type fold struct {
	env  step.Env
	job  *spec.Job
	item step.Item

	session   *sessions.Session
	sel       *topology.Selection
	leftOut   []verify.Group
	pairs     pairing.Report
	handoff   handoff
	requested string // the request digest
	solution  *solution
	verified  *transcript.Index
	kept      bool // the output stood there already
	warnings  []finding.Finding
}

// open reads the session, once.
func (f *fold) open(ctx context.Context) error {
	if f.session != nil {
		return nil
	}
	s, err := sessions.Open(ctx, f.env.FS, f.item.Source, f.env.Progress)
	if err != nil {
		return err
	}
	f.session = s
	if s.Empty || topology.LastConversation(s.Index) < 0 && s.Agent == agents.Claude && len(s.Damage) == 0 {
		return f.stub()
	}
	if want := f.job.Input.Agent; want == "auto" && s.Agent != agents.Claude {
		return f.refuse("unsupported-agent", "the file is a session of "+s.Agent+"; compress reads those of claude", "name input.agent: claude if it is one all the same")
	}
	return s.Damaged()
}

// agreed refuses a chain that a client would not end where the pointer does: to
// fold it would lose what was written since.
func (f *fold) agreed() error {
	if f.job.Mode.Chain != "agreed" || len(f.leftOut) == 0 {
		return nil
	}
	g := f.leftOut[0]
	first, last := f.ends(g.Records)
	next := "--set mode.chain=pointer leaves them out"
	if g.Rule == "records-after-pointer" {
		next = topology.LeafFlags(f.session.Index, g.Records[len(g.Records)-1]) + " keeps them, " + next
	}
	return &step.Refusal{
		Class:   "chains-differ",
		Message: fmt.Sprintf("the pointer's chain leaves out %d records that a client may bring back: %s (lines %d to %d)", len(g.Records), g.Reason, first.Line, last.Line),
		Place:   step.Place{File: f.item.Source, Line: int(first.Line), Byte: first.Off}, Next: next,
	}
}

// ends are the first and the last of some records.
func (f *fold) ends(records []int) (first, last *transcript.Record) {
	return &f.session.Records[records[0]], &f.session.Records[records[len(records)-1]]
}

// stub refuses a file without a message, of which every client leaves many: there
// is nothing to fold and nothing wrong.
func (f *fold) stub() error {
	return &step.Refusal{
		Class: string(topology.Absent), Message: "the file holds no conversation", Place: step.Place{File: f.item.Source},
		Next: "nothing: there is nothing to fold in it", Skip: true,
	}
}

// selected resolves the active records, once.
func (f *fold) selected(ctx context.Context) error {
	if f.sel != nil {
		return nil
	}
	if err := f.open(ctx); err != nil {
		return err
	}
	x := f.session.Index
	mode := f.job.Mode
	sel, kept, err := topology.SelectChain(f.session.Source, mode.Chain, topology.Options{Leaf: mode.Leaf, Extension: mode.Extension})
	if err != nil {
		return err
	}
	if !sel.OK() {
		return f.broken(string(sel.Status), sel.Findings)
	}
	f.sel, f.leftOut = sel, verify.LeftOut(sel, kept)
	if err := f.agreed(); err != nil {
		return err
	}
	f.pairs = pairing.Check(x, sel.Active)
	faults := append(verify.Chain(f.session.Source, sel.Active), f.pairs.Findings...)
	if finding.HasErrors(faults) {
		return f.broken("", faults)
	}
	return nil
}

// broken is the refusal for the first error among findings.
func (f *fold) broken(class string, findings []finding.Finding) error {
	n := 0
	var first *finding.Finding
	for i := range findings {
		if findings[i].Severity != finding.Error {
			continue
		}
		if n++; first == nil {
			first = &findings[i]
		}
	}
	if first == nil {
		return f.refuse(class, "the chain cannot be resolved", "precis inspect shows it")
	}
	if class == "" {
		class = first.Rule
	}
	message := first.Message
	if n > 1 {
		message = fmt.Sprintf("%s (and %d more; precis validate lists all)", message, n-1)
	}
	return &step.Refusal{Class: class, Message: message, Place: step.Place{File: f.item.Source, Line: first.Line, Byte: first.Byte, Path: first.Path}, Next: first.Fix}
}

func (f *fold) refuse(class, message, next string) error {
	return &step.Refusal{Class: class, Message: message, Place: step.Place{File: f.item.Source}, Next: next}
}

// request is the digest of everything that decides what is selected and shown.
func (f *fold) request() string {
	if f.requested == "" {
		f.requested = Request(f.job, HandoffDigest(f.handoff.file))
	}
	return f.requested
}

// Request is the request digest of a job whose handoff file has the SHA-256
// ("none" without one).
func Request(job *spec.Job, handoffDigest string) string {
	return job.RequestDigest(map[string]string{
		"engine":  EngineVersion,
		"pack":    fmt.Sprint(PackVersion),
		"layout":  summary.Version,
		"terms":   summary.TermsDigest(),
		"handoff": handoffDigest,
	})
}

// itemDigest binds the candidate's bytes: request, source and summary.
func itemDigest(request, source, summary string) string {
	plain, err := json.Marshal(map[string]string{"request": request, "source": source, "summary": summary})
	if err != nil {
		panic("compress: internal error: " + err.Error())
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		panic("compress: internal error: " + err.Error())
	}
	return "sha256:" + hash(append([]byte("precis item digest v1\n"), canonical...))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// setsAt divides the records at the cut.
func (f *fold) setsAt(cut int) *partition.Sets {
	c := f.job.Checkpoints
	return partition.Split(f.session.Index, f.sel, cut, partition.Policy(c.Policy), c.Max)
}
