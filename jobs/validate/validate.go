// Package validate checks session files against the rules a client and a
// model's server hold them to. It writes nothing.
package validate

import (
	"context"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/jobs/internal/agents"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/verify"
)

// File is the outcome for one file.
type File struct {
	File     string            `json:"file"`
	OK       bool              `json:"ok"`
	Agent    string            `json:"agent"`
	Records  int               `json:"records"`
	Findings []finding.Finding `json:"findings"`
}

// Check checks one file by the session profile. The error is a refusal or the
// filesystem's; trouble in the file is in the findings.
func Check(ctx context.Context, f afero.Fs, path string, progress func(done, total int64)) (*File, error) {
	s, err := sessions.Open(ctx, f, path, progress)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	c, err := topology.Choose(s.Source, topology.Options{Mode: topology.Pointer})
	if err != nil {
		return nil, err
	}
	clients, err := c.Client.Others()
	if err != nil {
		return nil, err
	}
	if clients = append([]*client.Resolution{c.Client}, clients...); s.Agent != agents.Claude {
		clients = nil
	}
	findings := verify.Session(s.Source, c.Selection, clients, pairing.Check(s.Index, c.Active))
	out := &File{File: path, Agent: s.Agent, Records: len(s.Records), Findings: findings}
	if out.Findings == nil {
		out.Findings = []finding.Finding{}
	}
	out.OK = !finding.HasErrors(out.Findings)
	return out, nil
}
