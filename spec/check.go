package spec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/precis-dev/precis/schemas"
)

// rules is where a job's schema keeps the rules between fields: their title says
// what is wrong, their description what to do.
const rules = "/allOf/"

// check completes the values by their defaults and holds them against the
// schema of their kind and the rules beyond it. The error is one of the
// filesystem, or of the program.
func (d *document) check(resolve resolver) error {
	if d.root == nil {
		return nil
	}
	kind := d.kind(kinds())
	if kind == "" {
		d.checkOdd(nil, d.root, "")
		return nil
	}
	schema, err := schemas.Compile(kindPrefix + kind)
	if err != nil {
		return err
	}
	d.checkOdd(schema, d.root, "")
	fill(schema, d.root)
	if err := d.checkSchema(schema); err != nil {
		return err
	}
	return d.checkRules(resolve)
}

// fill adds the defaults of the fields that are not given.
func fill(s *jsonschema.Schema, m map[string]any) {
	for name, field := range s.Properties {
		if _, given := m[name]; !given && field.Default != nil {
			m[name] = clone(field.Default)
		}
		if child, ok := m[name].(map[string]any); ok {
			fill(field, child)
		}
	}
}

// clone copies a default, which belongs to the schema. Only empty mappings and
// lists of defaults can be changed by anyone.
func clone(v any) any {
	if m, ok := v.(map[string]any); ok {
		return maps.Clone(m)
	}
	return v
}

// checkOdd reports the values that the schema cannot judge: scalars another
// reader would take for something else, and numbers in the wrong spelling. Fields
// that the schema does not know are a problem as a whole.
func (d *document) checkOdd(s *jsonschema.Schema, v any, ptr string) {
	at, written := d.spots[ptr]
	if written && at.odd != "" {
		d.report(ptr, "implicit-type", oddWhat(at, s), oddHint(at, s))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if field := property(s, key); s == nil || field != nil {
				d.checkOdd(field, v[key], member(ptr, key))
			}
		}
	case []any:
		for i, e := range v {
			d.checkOdd(items(s), e, item(ptr, i))
		}
	case json.Number:
		if wants(s, "integer") && !isInteger(v) {
			d.report(ptr, "wrong-type", v.String()+" is not a whole number", integerHint(v))
		}
	}
}

// checkSchema reports the errors of the schema, each at its cause.
func (d *document) checkSchema(s *jsonschema.Schema) error {
	err := s.Validate(d.root)
	var invalid *jsonschema.ValidationError
	if err != nil && !errors.As(err, &invalid) {
		return fmt.Errorf("spec: internal error: %w", err)
	}
	errs := leaves(invalid)
	slices.SortFunc(errs, byCause)
	for _, e := range errs {
		d.schemaError(s, e)
	}
	return nil
}

// byCause puts the errors, which the library finds in the order of a map, in an
// order of their own: a value that is wrong in itself before rules between
// fields that it may break as well.
func byCause(a, b *jsonschema.ValidationError) int {
	order := func(e *jsonschema.ValidationError) int {
		if strings.HasPrefix(e.KeywordLocation, rules) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(order(a), order(b)),
		cmp.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.KeywordLocation, b.KeywordLocation))
}

// leaves are the errors that are no mere summary of others.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if e == nil {
		return nil
	}
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var list []*jsonschema.ValidationError
	for _, c := range e.Causes {
		list = append(list, leaves(c)...)
	}
	return list
}

func (d *document) schemaError(s *jsonschema.Schema, e *jsonschema.ValidationError) {
	ptr := e.InstanceLocation
	field, v := descend(s, d.root, ptr)
	keyword := e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
	switch rule := conditional(s, e.KeywordLocation); {
	case rule != nil:
		d.ruleBroken(ptr, v, rule)
	case keyword == "required":
		d.missing(field, v, ptr)
	case keyword == "additionalProperties":
		d.unknown(s, field, v, ptr)
	default:
		d.wrongValue(field, v, ptr, keyword)
	}
}

// conditional is the rule between fields that an error stems from, if any.
func conditional(s *jsonschema.Schema, keywordLocation string) *jsonschema.Schema {
	rest, ok := strings.CutPrefix(keywordLocation, rules)
	if !ok {
		return nil
	}
	number, _, _ := strings.Cut(rest, "/")
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(s.AllOf) {
		return nil
	}
	return s.AllOf[i]
}

// ruleBroken reports a field that another one forbids or asks for.
func (d *document) ruleBroken(ptr string, v any, rule *jsonschema.Schema) {
	code := "conflict"
	if list, ok := v.([]any); v == "" || ok && len(list) == 0 {
		code = "missing-field"
	}
	d.report(ptr, code, rule.Title, rule.Description)
}

func (d *document) missing(s *jsonschema.Schema, v any, ptr string) {
	m, _ := v.(map[string]any)
	for _, name := range s.Required {
		if _, given := m[name]; !given {
			d.report(member(ptr, name), "missing-field", "is missing", missingHint(s.Properties[name]))
		}
	}
}

func (d *document) unknown(root, s *jsonschema.Schema, v any, ptr string) {
	m, _ := v.(map[string]any)
	known := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if _, ok := s.Properties[name]; !ok {
			hint := didYouMean(name, known, elsewhere(root, name, "known here are "+strings.Join(known, ", ")))
			d.reportKey(member(ptr, name), "unknown-field", "is not a field", hint)
		}
	}
}

// descend follows a pointer through the schema and the values.
func descend(s *jsonschema.Schema, v any, ptr string) (*jsonschema.Schema, any) {
	for _, seg := range segments(ptr) {
		switch parent := v.(type) {
		case map[string]any:
			s, v = property(s, seg), parent[seg]
		case []any:
			i, err := strconv.Atoi(seg)
			if err != nil || i >= len(parent) {
				return nil, nil
			}
			s, v = items(s), parent[i]
		}
	}
	return s, v
}

func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

func items(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	return s.Items2020
}

func wants(s *jsonschema.Schema, kind string) bool { return s != nil && slices.Contains(s.Types, kind) }
