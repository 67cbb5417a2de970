package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/precis-dev/precis/schemas"
)

// kindPrefix begins the name of a schema of a kind of job.
const kindPrefix = "job."

func kinds() []string {
	var list []string
	for _, name := range schemas.Names() {
		if kind, ok := strings.CutPrefix(name, kindPrefix); ok {
			list = append(list, kind)
		}
	}
	return list
}

// kind is the kind that the job is checked as: its own, or the one it most likely
// means. Without one ("") nothing can be said about the fields; that is one
// problem, not one a field.
func (d *document) kind(known []string) string {
	value, given := d.root["kind"]
	if text, ok := value.(string); ok && slices.Contains(known, text) {
		return text
	}
	if given && (d.spots["/kind"].odd != "" || d.spots.bad("/kind")) {
		return ""
	}
	likely := likelyKind(d.root, known)
	hint := "one of " + strings.Join(known, ", ")
	switch {
	case !given && likely != "": // its schema asks for the field
	case !given:
		d.report("/kind", "missing-field", "is missing", hint)
	case value == nil:
		d.report("/kind", "missing-field", "is empty", hint)
	case likely != "":
		d.report("/kind", "unknown-kind", show(value)+" is not a kind of job", "did you mean "+likely+"?")
	default:
		d.report("/kind", "unknown-kind", show(value)+" is not a kind of job", hint)
	}
	return likely
}

// likelyKind is the kind that a job of no known kind most likely means: the one a
// slip of the pen away from what it says, be the key itself such a slip; where
// the job says nothing, the only one there is.
func likelyKind(root map[string]any, known []string) string {
	said := root["kind"]
	silent := said == nil
	for _, key := range slices.Sorted(maps.Keys(root)) {
		if said == nil && nearest(key, []string{"kind"}) != "" {
			said = root[key]
		}
	}
	text, _ := said.(string)
	if near := nearest(text, known); near != "" {
		return near
	}
	if silent && len(known) == 1 {
		return known[0]
	}
	return ""
}
