package summary

// helperTools are the tools that have another model work on a task and answer
// with its report (client versions 1.0 to 2.1).
var helperTools = map[string]bool{"Task": true, "Agent": true}

// addReport files what a helper agent came back with: it is what the model went
// on from, not tool output. The lead is kept, and what its sentences decide or
// find, as those of an answer are.
func (b *Builder) addReport(e Entry) {
	for _, u := range statements(e.Text) {
		if u.kind == heading || u.kind == code {
			continue
		}
		b.keep(&b.findings, item{n: e.N, text: "a helper agent reported: " + reduce(told(u), longest)}, 4)
		break
	}
	b.mine(passage{e.N, e.Text}, final)
}
