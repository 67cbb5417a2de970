package compress

import (
	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// title is the session's last title; the person's own goes before the client's.
func (f *fold) title(sets *partition.Sets) string {
	titles := map[transcript.Type]string{}
	for _, r := range sets.Projected(f.session.Index) {
		t := f.session.Records[r].Type
		if t == transcript.CustomTitle || t == transcript.AITitle {
			v := f.value(r)
			titles[t] = v.Get("customTitle").Text() + v.Get("aiTitle").Text()
		}
	}
	if own := titles[transcript.CustomTitle]; own != "" {
		return own
	}
	return titles[transcript.AITitle]
}

// place is the folder, branch and model at the end of the conversation.
func (f *fold) place(sets *partition.Sets) (cwd, branch, model string) {
	for i := len(sets.Raw) - 1; i >= 0 && (cwd == "" || model == ""); i-- {
		r := sets.Raw[i]
		if !f.session.Records[r].API() {
			continue
		}
		v := f.value(r)
		if cwd == "" {
			cwd, branch = v.Get("cwd").Text(), v.Get("gitBranch").Text()
		}
		if m := v.Get("message").Get("model").Text(); model == "" && m != "<synthetic>" {
			model = m
		}
	}
	return cwd, branch, model
}

// value is a record as a JSON value; one that cannot be read has no members.
func (f *fold) value(r int) jsonspan.Value {
	line, err := f.session.Record(r)
	if err != nil {
		return jsonspan.Value{}
	}
	return jsonspan.Value{Kind: jsonspan.Object, Raw: line}
}
