package client

import "slices"

// Rules are what one version of the client does. Most rules are the same in all
// of them; a field is a place where measured versions differ. The letters are
// those of docs/client.md, which has the evidence for each.
type Rules struct {
	Version string

	// refusesNull: a line that is the bare word null ends the load (L1).
	refusesNull bool
	// refusesBroken: a message without content it can read on the chain ends the
	// load; otherwise such a record is a link of the chain and nothing more (L3).
	refusesBroken bool
	// needsTime: the last message must carry a timestamp (F3).
	needsTime bool
	// newestBelow: without any pointer the leaf is the newest record below the
	// last one (F1).
	newestBelow bool
	// followsGroup: a pointer within a tool group does not hold back what goes on
	// from another call of the group (F2).
	followsGroup bool
	// fileOrder: fragments and results that hang beside the chain are put in by
	// their place in the file; otherwise behind the last fragment, the recovered
	// results first (W3).
	fileOrder bool
	// searchesResults: a call without a result takes the first one in the file
	// that names it, wherever it hangs (W3).
	searchesResults bool
	// besideGroup: attachments and the client's own notes below a group are sent
	// with it (W3).
	besideGroup bool
	// answersOpen: an open call at the end is answered by a result that says it
	// was interrupted; otherwise it is taken away (E1).
	answersOpen bool
	// asksToContinue: after results at the end the client asks the model to go on
	// (E2).
	asksToContinue bool
	// marksOrphan: an orphan result that would open the request leaves a text
	// (N1).
	marksOrphan bool
	// defaultModel is the model that a resume asks for, "" when it is the one of
	// the last answer. Thinking is sent back to the model it came from alone (B5).
	defaultModel string
}

// The versions measured, newest first. A version between two of them may do as
// either.
var versions = []*Rules{
	{
		Version:     "2.1.332",
		newestBelow: true, followsGroup: true, fileOrder: true, searchesResults: true, besideGroup: true,
		answersOpen: true, marksOrphan: true,
	},
	{
		Version:     "2.1.197",
		refusesNull: true, refusesBroken: true, needsTime: true,
		asksToContinue: true,
		defaultModel:   "claude-opus-4-8",
	},
}

// Versions are the versions whose rules are known, newest first.
func Versions() []string {
	var out []string
	for _, r := range versions {
		out = append(out, r.Version)
	}
	return out
}

// Known returns the rules of a version, the newest for "".
func Known(version string) (*Rules, bool) {
	if version == "" {
		return versions[0], true
	}
	i := slices.IndexFunc(versions, func(r *Rules) bool { return r.Version == version })
	if i < 0 {
		return nil, false
	}
	return versions[i], true
}
