package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/jobs/internal/agents"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/jobs/internal/verify"
)

// Options choose what is told.
type Options struct {
	Chain  string // as in a job's mode.chain: agreed (also when empty), pointer, client or leaf
	Leaf   string // with chain leaf: the record's uuid
	Client string // as in a job's mode.client
	UUIDs  bool   // list the active records
	Resume bool   // list the messages that the client would send
}

// The budgets whose partition is shown: a job's defaults.
const (
	defaultKeep  = 120
	defaultRatio = 0.30
	defaultSide  = 80
)

// inspector carries one inspection.
type inspector struct {
	x   *transcript.Index
	src *transcript.Source
	sel *topology.Selection
	all []*client.Resolution // of the known clients, the one asked for first
	r   *Report
}

// Inspect reads a session file. The error is a refusal or the filesystem's;
// trouble in the file is in the report.
func Inspect(ctx context.Context, f afero.Fs, path string, o Options, progress func(done, total int64)) (*Report, error) {
	s, err := sessions.Open(ctx, f, path, progress)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x := s.Index
	i := &inspector{x: x, src: s.Source, r: &Report{
		File: path, Bytes: x.Size, SHA256: s.SHA256(), Agent: s.Agent, Versions: x.Versions, Records: len(x.Records),
		Lines:  Lines{x.Lines, x.Blank, x.LongestLine, x.BOM, x.CRLF},
		Causes: x.Causes,
	}}
	if i.r.Versions == nil {
		i.r.Versions = []string{}
	}
	if err := i.chain(o); err != nil {
		return nil, err
	}
	i.branches()
	i.partition()
	i.types()
	i.usage()
	i.secrets()
	return i.r, nil
}

func (i *inspector) chain(o Options) error {
	mode := cmp.Or(o.Chain, "agreed")
	choice, err := topology.Choose(i.src, topology.Options{Mode: topology.Mode(mode), Leaf: o.Leaf, Client: o.Client})
	if err != nil {
		return err
	}
	i.sel = choice.Selection
	i.r.Chain = i.told(choice, mode)
	if o.UUIDs {
		i.r.Chain.UUIDs = i.uuids(choice)
	}
	if err := i.clients(choice.Client, o.Resume); err != nil {
		return err
	}
	i.pointers()
	i.findings()
	return nil
}

// told is the chain as it was chosen.
func (i *inspector) told(choice *topology.Choice, mode string) Chain {
	x, sel := i.x, choice.Selection
	c := Chain{
		Mode: mode, Status: string(sel.Status), Length: len(sel.Active), Recovered: sel.Recovered,
		Sessions: len(sel.Lineage.Runs), Synthetic: i.added(choice.Client), Lost: []Lost{},
	}
	if mode == string(topology.Client) {
		c.Client = choice.Client.Client
	}
	if d := choice.Differ; d != nil {
		c.Differs = &Differs{Client: choice.Client.Client, Refused: d.Refused, Messages: len(d.ClientOnly) + len(d.StrictOnly), Turns: d.Turns}
		if d.ClientEnd >= 0 {
			c.Differs.LeafLine = int(x.Records[d.ClientEnd].Line)
		}
	}
	if sel.Leaf >= 0 {
		c.Leaf, c.LeafLine = x.Name(x.Records[sel.Leaf].UUID), int(x.Records[sel.Leaf].Line)
	}
	if !sel.OK() {
		c.Reached = sel.Reached
	}
	return c
}

// uuids are the records of the conversation: in a client's chain, those it sends,
// in the order of its request.
func (i *inspector) uuids(c *topology.Choice) []string {
	out := []string{}
	records := c.Active
	if c.Mode == topology.Client {
		records = c.Client.Sent
	}
	for _, r := range records {
		out = append(out, i.x.Name(i.x.Records[r].UUID))
	}
	return out
}

func (i *inspector) findings() {
	pairs := pairing.Check(i.x, i.sel.Active)
	i.r.Tools = Tools{Uses: pairs.Uses, Results: pairs.Results, Partial: pairs.Partial, Names: i.toolNames()}
	clients := i.all
	if i.r.Agent != agents.Claude {
		clients = nil
	}
	i.r.Findings = verify.Session(i.src, i.sel, clients, pairs)
	if i.r.Findings == nil {
		i.r.Findings = []finding.Finding{}
	}
}

func (i *inspector) pointers() {
	p := Pointers{After: len(i.sel.Later)}
	for r := range i.x.Records {
		if i.x.Records[r].Type == transcript.LastPrompt {
			p.Count++
			p.Line = int(i.x.Records[r].Line)
		}
	}
	i.r.Pointers = p
}

func (i *inspector) toolNames() []Name {
	calls := map[string]int{}
	for _, r := range i.sel.Active {
		for _, t := range i.x.ToolsOf(r) {
			if t.Kind == transcript.Use {
				calls[i.x.Name(t.Name)]++
			}
		}
	}
	names := []Name{}
	for _, n := range slices.Sorted(maps.Keys(calls)) {
		names = append(names, Name{n, calls[n]})
	}
	slices.SortStableFunc(names, func(a, b Name) int { return b.Calls - a.Calls })
	return names
}

// partition shows the six sets that a job with default budgets would make.
func (i *inspector) partition() {
	cut := 0
	if i.sel.OK() {
		cuts := partition.NewCuts(i.x, i.sel)
		room := int64(defaultRatio * float64(cuts.Bytes(0)))
		cut = max(0, cuts.Plan(partition.Goal{Keep: defaultKeep, Bytes: room, Tokens: -1}).Cut)
	}
	s := partition.Split(i.x, i.sel, cut, partition.ActiveCorrelated, defaultSide)
	i.r.Partition = Partition{len(s.Summary), len(s.Raw), len(s.Side), len(s.Control), len(s.ExcludedBranch), len(s.ExcludedUnattributed)}
}

func (i *inspector) types() {
	by := map[string]*Type{}
	for r := range i.x.Records {
		rec := &i.x.Records[r]
		name := i.x.TypeName(r)
		t := by[name]
		if t == nil {
			t = &Type{Type: name}
			by[name] = t
		}
		t.Records++
		t.Bytes += int64(rec.Len) + 1
		t.Tokens += i.tokens(r)
	}
	i.r.Types = []Type{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		i.r.Types = append(i.r.Types, *by[name])
	}
	slices.SortStableFunc(i.r.Types, func(a, b Type) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, r := range i.sel.Active {
		i.r.Tokens += i.tokens(r)
	}
	if n := i.x.Causes.DoubleOutput; n > 0 {
		i.r.Double = &DoubleOutput{n, i.x.Causes.DoubleLine}
	}
}

// tokens is a record's estimate; an error row of the client costs nothing, it is
// not sent.
func (i *inspector) tokens(r int) int64 {
	rec := &i.x.Records[r]
	if rec.ErrorRow() {
		return 0
	}
	return int64(rec.Tokens)
}

// usage adds up what the service reported, once a message.
func (i *inspector) usage() {
	last := map[transcript.Sym]int{}
	for r := range i.x.Records {
		rec := &i.x.Records[r]
		if rec.ErrorRow() {
			i.r.Errors++
		}
		if rec.Type == transcript.Assistant && rec.Message != 0 {
			last[rec.Message] = r
		}
	}
	u := Usage{Messages: len(last), Largest: []Message{}}
	for _, r := range slices.Sorted(maps.Values(last)) {
		rec := &i.x.Records[r]
		m := Message{i.x.Name(rec.Message), int(rec.Line), int64(rec.OutputToks)}
		u.OutputTokens += m.OutputTokens
		if m.OutputTokens > 0 {
			u.Largest = append(u.Largest, m)
		}
	}
	slices.SortStableFunc(u.Largest, func(a, b Message) int { return cmp.Compare(b.OutputTokens, a.OutputTokens) })
	u.Largest = u.Largest[:min(len(u.Largest), maxLargest)]
	i.r.Usage = u
}

// maxLargest bounds the list of the largest messages.
const maxLargest = 10
