package compose

// metadata is the boundary's compactMetadata: the keys clients read, and one
// object of our own. The preserved lists name the raw records, which is what a
// client hangs below the summary.
func (c *composer) metadata() []byte {
	var m object
	m.text("trigger", "manual")
	m.number("preTokens", c.Fold.FoldedTokens+c.Fold.KeptTokens)
	m.raw("precis", c.fold())
	uuids := c.lineUUIDs()
	if len(uuids) > 0 {
		var seg, kept object
		m.raw("preservedSegment", seg.text("headUuid", uuids[0]).text("anchorUuid", c.c.Summary).text("tailUuid", uuids[len(uuids)-1]).end())
		m.raw("preservedMessages", kept.text("anchorUuid", c.c.Summary).texts("uuids", uuids).end())
	}
	return m.end()
}

func (c *composer) fold() []byte {
	var f, source, folded, branch, loose object
	s := c.Sets
	source.text("sha256", c.Fold.SourceSHA256).number("records", int64(c.Fold.SourceRecords))
	folded.number("records", int64(len(s.Summary))).text("digest", c.Fold.FoldedDigest)
	branch.number("records", int64(len(s.ExcludedBranch))).text("digest", c.Fold.BranchDigest)
	loose.number("records", int64(len(s.ExcludedUnattributed))).text("digest", c.Fold.UnattributedDigest)
	f.text("engine", c.Fold.Engine).text("item", c.Item).text("request", c.Fold.Request)
	f.raw("source", source.end())
	f.text("summary", c.Fold.SummaryMode).text("summarySha256", c.Fold.SummarySHA256)
	f.text("chain", string(c.Selection.Mode)).text("client", c.Fold.Client)
	f.raw("folded", folded.end()).raw("excludedBranch", branch.end()).raw("excludedUnattributed", loose.end())
	f.number("kept", int64(len(s.Raw))).number("side", int64(len(s.Side)))
	return f.end()
}
