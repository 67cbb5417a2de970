package compress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gowebpki/jcs"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/agents"
	"github.com/precis-dev/precis/jobs/internal/author"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/pack"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
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
	choice    *topology.Choice
	sel       *topology.Selection // of the choice
	pairs     pairing.Report
	texts     Texts
	requested string // the request digest
	authors   author.World
	priors    priors
	solver    *solver
	planning  *planning // with a summary that is asked for
	solution  *solution
	verified  *transcript.Index
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
	f.env.Cleanup(s.Close)
	if s.Empty || topology.LastConversation(s.Index) < 0 && s.Agent == agents.Claude && len(s.Damage) == 0 {
		return f.stub()
	}
	if want := f.job.Input.Agent; want == "auto" && s.Agent != agents.Claude {
		return f.refuse("unsupported-agent", "the file is a session of "+s.Agent+"; compress reads those of claude", "name input.agent: claude if it is one all the same")
	}
	if f.job.Mode.Chain == string(topology.Client) {
		return nil // the client goes on past what it cannot read
	}
	return s.Damaged()
}

// chainsDiffer refuses a session that the pointer's rule and the client do not
// read alike: to fold by one of them would lose what the other brings back.
func (f *fold) chainsDiffer() error {
	d, c := f.choice.Differ, f.choice.Client
	leaf := &f.session.Records[d.StrictEnd]
	next := "--set mode.chain=pointer takes the pointer's chain"
	if d.Refused == "" {
		next = fmt.Sprintf("--set mode.chain=client takes the client's (%d records), --set mode.chain=pointer the pointer's (%d records)", len(c.Active), len(f.choice.Active))
	}
	return &step.Refusal{
		Class: "chains-differ", Message: f.difference(), Next: next,
		Place: step.Place{File: f.item.Source, Line: int(leaf.Line), Byte: leaf.Off},
	}
}

// difference says where the two ends are and what lies between them.
func (f *fold) difference() string {
	d, who := f.choice.Differ, f.choice.Client.Client
	line := func(r int) int32 { return f.session.Records[r].Line }
	message := fmt.Sprintf("the pointer ends the conversation at line %d", line(d.StrictEnd))
	if d.Refused != "" {
		return fmt.Sprintf("%s, and client %s would not resume the session at all (%s)", message, who, d.Refused)
	}
	message += fmt.Sprintf(", client %s at line %d; they differ in %s and %s", who, line(d.ClientEnd), counted(len(d.ClientOnly)+len(d.StrictOnly), "message"), counted(d.Turns, "turn"))
	for _, side := range []struct {
		who     string
		records []int
	}{{"the client", d.ClientOnly}, {"the pointer", d.StrictOnly}} {
		if n := len(side.records); n > 0 {
			message += fmt.Sprintf("; only %s has %d (lines %d to %d)", side.who, n, line(side.records[0]), line(side.records[n-1]))
		}
	}
	return message
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
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
	mode := f.job.Mode
	choice, err := topology.Choose(f.session.Source, topology.Options{
		Mode: topology.Mode(mode.Chain), Leaf: mode.Leaf, Extension: mode.Extension, Client: mode.Client,
	})
	if err != nil {
		return err
	}
	f.choice = choice
	sel := choice.Selection
	if !sel.OK() {
		return f.unresolved()
	}
	if choice.Differ != nil && sel.Mode == topology.Agreed {
		return f.chainsDiffer()
	}
	f.sel = sel
	return f.paired()
}

// paired checks the tool exchanges of the chain. The pointer's rule forbids to
// hide one that is broken; what a client's resume mends is mended in the new file.
func (f *fold) paired() error {
	x, sel := f.session.Index, f.sel
	if sel.Mode == topology.Client {
		f.choice.Mend(x)
	} else if err := f.unbroken(); err != nil {
		return err
	}
	if sel.Mode == topology.Agreed {
		f.choice.Mend(x)
	}
	if byClient := sel.Mode == topology.Client || sel.Mode == topology.Agreed; byClient && sel.Leaf >= 0 && x.Records[sel.Leaf].Has(transcript.Sidechain) {
		return f.refuse("leaf-in-sidechain", "the conversation ends in a record of a helper's chain, to which a client takes no pointer", "choose another end with mode.chain: leaf")
	}
	f.pairs = pairing.Check(x, sel.Active)
	f.pairs.Findings = slices.DeleteFunc(f.pairs.Findings, f.closed)
	if finding.HasErrors(f.pairs.Findings) {
		return f.broken("", f.pairs.Findings)
	}
	return nil
}

// unbroken refuses a chain with faults that a fold must not hide.
func (f *fold) unbroken() error {
	faults := append(verify.Chain(f.session.Source, f.sel.Active), pairing.Check(f.session.Index, f.sel.Active).Findings...)
	if finding.HasErrors(faults) {
		return f.broken("", faults)
	}
	return nil
}

// closed reports a finding about a call that the candidate closes.
func (f *fold) closed(found finding.Finding) bool {
	if found.Rule != pairing.UseWithoutResult && found.Rule != pairing.PartialResults {
		return false
	}
	return slices.ContainsFunc(f.sel.Open, func(o topology.OpenCall) bool { return int(f.session.Records[o.Call].Line) == found.Line })
}

// unresolved refuses a chain that the rule of the job does not find, and says
// what the client would make of it.
func (f *fold) unresolved() error {
	class := string(f.choice.Status)
	if f.choice.Status == topology.Refused {
		class = "client-refuses"
	}
	err := f.broken(class, f.choice.Findings)
	var r *step.Refusal
	if c := f.choice.Client; c != nil && c.Refused == "" && f.choice.Mode == topology.Agreed && errors.As(err, &r) {
		r.Next += fmt.Sprintf("; or --set mode.chain=client takes what client %s resumes: %s, to line %d", c.Client, counted(len(c.Active), "record"), f.session.Records[c.Leaf].Line)
	}
	return err
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
		f.requested = Request(f.job, f.texts)
	}
	return f.requested
}

// Request is the request digest of a job with these texts.
func Request(job *spec.Job, t Texts) string {
	resources := map[string]string{
		"engine":  EngineVersion,
		"pack":    fmt.Sprint(PackVersion),
		"layout":  summary.Version,
		"terms":   summary.TermsDigest(),
		"handoff": t.handoffDigest(),
		"client":  rules(job).Version,
	}
	if job.Mode.Summary == "model" {
		resources["fold"] = job.Author.Fold
		resources["template"] = pack.TemplateDigest()
		resources["evidenceTerms"] = t.termsDigest()
	}
	return job.RequestDigest(resources)
}

// rules are those of the client that will resume the session; the schema knows
// the same versions.
func rules(job *spec.Job) *client.Rules {
	r, ok := client.Known(job.Mode.Client)
	if !ok {
		panic("compress: internal error: a checked job names client " + job.Mode.Client)
	}
	return r
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
