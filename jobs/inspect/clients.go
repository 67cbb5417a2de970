package inspect

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Clients are the versions whose rules are known, newest first.
func Clients() []string { return client.Versions() }

// clients predicts what each known client would resume; named is the resolution
// of the one that was asked for, whose losses and messages are told.
func (i *inspector) clients(named *client.Resolution, messages bool) error {
	others, err := named.Others()
	if err != nil {
		return err
	}
	i.all = append([]*client.Resolution{named}, others...)
	for _, version := range client.Versions() {
		at := slices.IndexFunc(i.all, func(r *client.Resolution) bool { return r.Client == version })
		i.r.Clients = append(i.r.Clients, i.client(i.all[at]))
		if at == 0 {
			i.r.Chain.Lost = i.r.Clients[len(i.r.Clients)-1].Lost
		}
	}
	i.r.Differ = i.differ(i.all)
	if messages {
		return i.resume(named)
	}
	return nil
}

func (i *inspector) client(res *client.Resolution) Client {
	c := Client{
		Version: res.Client, Status: "valid", Refused: res.Refused, LeafReason: string(res.LeafReason),
		Records: len(res.Active), Sent: len(res.Sent), Added: len(res.Invented), Lost: []Lost{},
	}
	if res.Refused != "" {
		c.Status = "refused"
	} else {
		leaf := &i.x.Records[res.Leaf]
		c.Leaf, c.LeafLine = i.x.Name(leaf.UUID), int(leaf.Line)
	}
	for _, l := range res.Lost() {
		c.Lost = append(c.Lost, i.lost(l))
	}
	return c
}

func (i *inspector) lost(l client.Loss) Lost {
	out := Lost{Rule: l.Reason, Lines: fmt.Sprint(l.First), Records: len(l.Records), Bytes: l.Bytes, Reason: l.Because(), Turns: l.Turns}
	if l.Turns == nil {
		out.Turns = []Turn{}
	}
	if l.Last != l.First {
		out.Lines = fmt.Sprintf("%d-%d", l.First, l.Last)
	}
	return out
}

// differ compares the predictions with the first one; nil when all are the same.
func (i *inspector) differ(all []*client.Resolution) *Difference {
	d := &Difference{}
	first := all[0]
	for _, other := range all[1:] {
		d.Status = d.Status || (first.Refused == "") != (other.Refused == "")
		d.Leaf = d.Leaf || first.Refused == "" && other.Refused == "" && first.Leaf != other.Leaf
		mine, theirs := i.sent(first), i.sent(other)
		for _, r := range slices.Concat(first.Sent, other.Sent) {
			switch {
			case mine[r] && theirs[r]:
			case i.thinking(r):
				d.Thinking++
			default:
				d.Records++
			}
		}
		both := func(r int) bool { return !mine[r] || !theirs[r] }
		d.Order = d.Order || !slices.Equal(slices.DeleteFunc(slices.Clone(first.Sent), both), slices.DeleteFunc(slices.Clone(other.Sent), both))
	}
	if *d == (Difference{}) {
		return nil
	}
	return d
}

// sent marks the records that a client sends.
func (i *inspector) sent(res *client.Resolution) []bool {
	out := make([]bool, len(i.x.Records))
	for _, r := range res.Sent {
		out[r] = true
	}
	return out
}

// thinking reports a record of nothing else.
func (i *inspector) thinking(r int) bool {
	rec := &i.x.Records[r]
	return rec.Has(transcript.Thinking) && !rec.Has(transcript.Substance) && !i.x.HasTool(r, transcript.Use)
}

// added are the texts of the client's own.
func (i *inspector) added(res *client.Resolution) []string {
	out := []string{}
	for _, a := range res.Invented {
		text := a.Text
		if a.Use != 0 {
			text = fmt.Sprintf("tool_result %s: %s", i.x.Name(a.Use), text)
		}
		out = append(out, text)
	}
	return out
}

// resume lists the messages that the client would send, with what it adds: an
// answer to a call behind the results, the rest behind the message of the record
// it follows.
func (i *inspector) resume(res *client.Resolution) error {
	results, after := map[int][]Part{}, map[int][]Said{}
	for n, text := range i.added(res) {
		a := res.Invented[n]
		if a.Use != 0 {
			results[a.After] = append(results[a.After], Part{Added: text})
		} else {
			after[a.After] = append(after[a.After], Said{string(a.Role), []Part{{Added: text}}})
		}
	}
	i.r.Resume = []Said{}
	var waiting []Part
	for n, m := range res.Messages {
		said, err := i.said(m, waiting)
		if err != nil {
			return err
		}
		i.r.Resume = append(i.r.Resume, said)
		waiting = nil
		for _, r := range m.Records {
			waiting = append(waiting, results[r]...)
			i.r.Resume = append(i.r.Resume, after[r]...)
		}
		if next := n + 1; len(waiting) > 0 && (next == len(res.Messages) || res.Messages[next].Role != client.User) {
			i.r.Resume = append(i.r.Resume, Said{string(client.User), waiting})
			waiting = nil
		}
	}
	return nil
}

// said is a message; results that the client adds stand behind those there are.
func (i *inspector) said(m client.Message, added []Part) (Said, error) {
	said := Said{Role: string(m.Role)}
	for _, r := range m.Records {
		if len(added) > 0 && !i.x.HasTool(r, transcript.Result) {
			said.Parts, added = append(said.Parts, added...), nil
		}
		part, err := i.part(r)
		if err != nil {
			return said, err
		}
		said.Parts = append(said.Parts, part)
	}
	said.Parts = append(said.Parts, added...)
	return said, nil
}

// part is what a record says: its content, or of an attachment the record itself.
func (i *inspector) part(r int) (Part, error) {
	rec := &i.x.Records[r]
	p := Part{ID: i.x.Name(rec.UUID), Line: int(rec.Line)}
	content, err := i.src.Content(r)
	if err == nil && len(content) == 0 {
		var line []byte
		line, err = i.src.Record(r)
		v := jsonspan.Value{Kind: jsonspan.Object, Raw: line}
		content = v.Get("content").Raw
		if a := v.Get("attachment"); a.Kind == jsonspan.Object {
			content = a.Raw
		}
	}
	p.Content = bytes.ToValidUTF8(content, []byte("\uFFFD"))
	return p, err
}
