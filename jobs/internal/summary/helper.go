package summary

// helperTools are the tools that have another model work on a task and answer
// with its report (client versions 1.0 to 2.1).
var helperTools = map[string]bool{"Task": true, "Agent": true}

// leadUnits is how far into a report its lead is looked for: many begin with a
// word of joy.
const leadUnits = 6

// addReport files what a helper agent came back with: it is what the model went
// on from, not tool output. The lead is kept, and what its sentences decide or
// find, as those of an answer are.
func (b *Builder) addReport(e Entry) {
	if lead := leadOf(statements(e.Text)); lead != "" {
		b.keep(&b.findings, item{n: e.N, text: "a helper agent reported: " + lead}, 4)
	}
	b.mine(passage{e.N, e.Text}, final)
}

// leadOf is the longest statement near the beginning that is told whole.
func leadOf(us []unit) string {
	lead := ""
	for _, u := range us[:min(len(us), leadUnits)] {
		if text := told(u); u.prose() && runes(text) <= longest && runes(text) > runes(lead) {
			lead = text
		}
	}
	return lead
}
