package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// This file words the problems; what a field allows comes from its schema.

// wrongValue reports a value that its own field does not allow.
func (d *document) wrongValue(s *jsonschema.Schema, v any, ptr, keyword string) {
	if s == nil {
		d.report(ptr, "wrong-value", "is not allowed", "")
		return
	}
	switch keyword {
	case "type":
		d.report(ptr, "wrong-type", typeWhat(v, s), typeHint(s))
	case "enum":
		d.report(ptr, "unknown-value", show(v)+" is not one of the values", enumHint(v, s))
	case "const":
		d.report(ptr, "unknown-value", show(v)+" is not supported", "write "+show(s.Constant[0]))
	case "minimum", "maximum", "not":
		d.report(ptr, "out-of-range", show(v)+" is out of range", rangeHint(s))
	case "minItems", "minLength":
		d.report(ptr, "missing-field", "is empty", s.Description)
	case "maxLength":
		d.report(ptr, "out-of-range", "is too long", fmt.Sprintf("at most %d characters", s.MaxLength))
	default:
		d.wrongForm(s, v, ptr)
	}
}

// wrongForm reports text that does not match its pattern. What stands where the
// name of a key or an address belongs may well be a secret of a form nobody
// knows, and is not shown.
func (d *document) wrongForm(s *jsonschema.Schema, v any, ptr string) {
	at, written := d.spots[ptr]
	switch ptr {
	case "/author/keyEnv", "/author/baseURL":
		if written && !d.spots.bad(ptr) {
			d.reportSecret(at, ptr, "wrong-form", "does not have the right form", s.Description)
		}
	default:
		d.report(ptr, "wrong-form", show(v)+" does not have the right form", example(s)+s.Description)
	}
}

// example is the default of a field as the beginning of a hint.
func example(s *jsonschema.Schema) string {
	if text, ok := s.Default.(string); ok && text != "" {
		return "write it like " + text + "; "
	}
	return ""
}

func typeWhat(v any, s *jsonschema.Schema) string {
	want := "a " + strings.Join(s.Types, " or ")
	switch want {
	case "a string":
		want = "text"
	case "a integer":
		want = "a whole number"
	case "a object":
		want = "a mapping of fields"
	case "a array":
		want = "a list"
	}
	if v == nil {
		return "is empty, and should be " + want
	}
	return "is not " + want
}

func typeHint(s *jsonschema.Schema) string {
	switch {
	case wants(s, "string") && len(s.Enum) > 0:
		return enumHint(nil, s)
	case wants(s, "string"):
		return example(s) + `put text in quotes; "" is empty`
	case wants(s, "boolean"):
		return "write true or false"
	case wants(s, "array"):
		return "write a list, such as [a, b]"
	case wants(s, "object"):
		return "write its fields below it, further in: " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
	case s.Default != nil:
		return "write a number without quotes, such as " + show(s.Default)
	}
	return "write a number without quotes"
}

func enumHint(v any, s *jsonschema.Schema) string {
	var values []string
	for _, e := range s.Enum {
		values = append(values, show(e))
	}
	text, _ := v.(string)
	return didYouMean(text, values, "one of "+strings.Join(values, ", "))
}

func rangeHint(s *jsonschema.Schema) string {
	switch {
	case s.Not != nil:
		return s.Not.Description
	case s.Minimum != nil && s.Maximum != nil:
		low, _ := s.Minimum.Float64()
		high, _ := s.Maximum.Float64()
		return fmt.Sprintf("from %v to %v", low, high)
	case s.Minimum != nil:
		return "at least " + s.Minimum.RatString()
	}
	return s.Description
}

func missingHint(s *jsonschema.Schema) string {
	switch {
	case s == nil:
		return ""
	case len(s.Constant) > 0:
		return "write " + show(s.Constant[0])
	case len(s.Enum) > 0:
		return enumHint(nil, s)
	case len(s.Required) > 0:
		return "it holds at least " + strings.Join(s.Required, ", ")
	}
	return s.Description
}

func integerHint(n json.Number) string {
	f, err := n.Float64()
	if i := int64(f); err == nil && float64(i) == f {
		return fmt.Sprintf("write %d", i)
	}
	return "write a number without a fraction"
}

func oddWhat(at *spot, s *jsonschema.Schema) string {
	raw := show(at.raw)
	switch {
	case wants(s, "boolean"):
		return raw + " is not a boolean"
	case wants(s, "integer"):
		return raw + " is not a plain integer"
	case wants(s, "number"):
		return raw + " is not a plain number"
	}
	return raw + " without quotes is " + string(at.odd) + " to some readers"
}

func oddHint(at *spot, s *jsonschema.Schema) string {
	switch {
	case wants(s, "boolean"):
		return "write true or false"
	case wants(s, "integer"), wants(s, "number"):
		return "write decimal digits only: no underscores, leading zeros, plus sign or other base"
	case wants(s, "string") && len(s.Enum) > 0:
		return enumHint(nil, s)
	}
	return "write " + strconv.Quote(at.raw)
}

// show is a value as people write it, cut short.
func show(v any) string {
	const most = 60
	switch v := v.(type) {
	case string:
		if v == "" {
			return `""`
		}
		if r := []rune(v); len(r) > most {
			return string(r[:most]) + "..."
		}
		return v
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// didYouMean names the candidate that is a slip of the pen away from the word,
// or else falls back.
func didYouMean(word string, candidates []string, fallback string) string {
	if near := nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return fallback
}

// nearest is the candidate that is a slip of the pen away from the word; "" for
// none.
func nearest(word string, candidates []string) string {
	const longest = 64
	if word == "" || len(word) > longest {
		return ""
	}
	best, limit := "", 1+(len(word)+1)/3
	for _, c := range candidates {
		if dist := levenshtein.Distance(strings.ToLower(word), strings.ToLower(c), nil); dist < limit {
			best, limit = c, dist
		}
	}
	return best
}

// elsewhere names the section that has a field of the name.
func elsewhere(root *jsonschema.Schema, name, fallback string) string {
	for _, section := range slices.Sorted(maps.Keys(root.Properties)) {
		if section == name {
			return "it stands at the top level"
		}
		if _, ok := root.Properties[section].Properties[name]; ok {
			return "did you mean " + section + "." + name + "?"
		}
	}
	return fallback
}
