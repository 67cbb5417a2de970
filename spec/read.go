package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/precis-dev/precis/spec/secret"
)

// maxDepth is several times the depth of the deepest field.
const maxDepth = 32

// read fills in the values and places of the file.
func (d *document) read() {
	defer d.looseSecrets()
	if len(d.text.data) > maxBytes {
		d.reportAt(mark{}, "", "too-large", "is larger than 1 MiB", "a job names sessions, it does not hold them")
		return
	}
	if offset, what, hint := d.text.fault(); offset >= 0 {
		line, col := d.text.place(offset)
		d.reportAt(mark{line: line, col: col}, "", "not-text", what, hint)
		return
	}
	first, second, err := documents(d.text.data)
	switch {
	case err != nil:
		d.syntax(err)
	case second != nil:
		d.reportAt(mark{line: second.Line, col: second.Column}, "", "more-than-one-document",
			"a second document begins here", "write one job a file")
	case first == nil || isBlank(first.Content[0]):
		d.reportAt(mark{}, "", "empty", "holds no job", "begin with version: 1 and kind: compress")
	default:
		d.readRoot(first.Content[0])
	}
}

// isBlank tells a document without a value.
func isBlank(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" }

func (d *document) readRoot(n *yaml.Node) {
	r := &reader{document: d}
	v := r.value(n, "", mark{}, 0)
	root, ok := v.(map[string]any)
	if !ok {
		d.report("", "not-a-mapping", "is not a mapping of fields", "begin with version: 1 and kind: compress")
		return
	}
	d.root = root
}

// looseSecrets reports credentials that stand in no value, such as in comments
// or in a file that is not YAML.
func (d *document) looseSecrets() {
	d.hideSecrets()
	for _, m := range d.text.secrets() {
		line, col := d.text.place(m.Start)
		d.reportAt(mark{line: line, col: col}, "", "secret-in-spec", "looks like a credential ("+m.Kind+")", secretHint)
	}
}

// documents parses the text to its first two documents; what is not there is nil.
func documents(data []byte) (first, second *yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for _, n := range []**yaml.Node{&first, &second} {
		doc := new(yaml.Node)
		if err := dec.Decode(doc); errors.Is(err, io.EOF) {
			return first, second, nil
		} else if err != nil {
			return nil, nil, err
		}
		*n = doc
	}
	return first, second, nil
}

// reader builds values from nodes, and their spots in the order of the text.
type reader struct {
	*document
	set  *assignment // what is read, when it is not the file
	last *spot
}

// place begins the next key or value of the text.
func (r *reader) place(n *yaml.Node, s *spot) mark {
	m := mark{line: n.Line, col: n.Column}
	if r.set != nil {
		m = mark{set: r.set}
	}
	if r.last != nil {
		r.last.end = m
	}
	r.last = s
	return m
}

// value reads the node at ptr, whose key stands at key. Values that are refused
// are nil, with a bad or odd spot.
func (r *reader) value(n *yaml.Node, ptr string, key mark, depth int) any {
	s := &spot{key: key}
	s.val = r.place(n, s)
	r.spots[ptr] = s
	switch {
	case depth > maxDepth:
		r.report(ptr, "too-deep", "is nested too deeply", "no field of a job lies that deep")
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		r.report(ptr, "anchor-or-alias", "is an anchor or alias", "write the value out where it is meant")
	case n.Style&yaml.TaggedStyle != 0:
		r.report(ptr, "tag", "has a tag", "remove the tag; quotes make text")
	case n.Kind == yaml.MappingNode:
		return r.mapping(n, ptr, depth)
	case n.Kind == yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.value(c, item(ptr, i), mark{}, depth+1)
		}
		return list
	default:
		return r.scalar(n, ptr, s)
	}
	return nil
}

func (r *reader) mapping(n *yaml.Node, ptr string, depth int) any {
	m := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := member(ptr, k.Value)
		s := new(spot)
		s.val = r.place(k, s)
		key := s.val
		if !r.keyed(k, ptr, at, s) {
			continue
		}
		if before, ok := r.spots[at]; ok {
			r.reportAt(key, at, "duplicate-key", duplicate(before.key), "remove one of them")
			continue
		}
		m[k.Value] = r.value(v, at, key, depth+1)
	}
	return m
}

func duplicate(before mark) string {
	if before.line == 0 {
		return "is given twice"
	}
	return fmt.Sprintf("is given twice; the first is at %d:%d", before.line, before.col)
}

// keyed checks that a key is text as it stands; s is its own spot.
func (r *reader) keyed(k *yaml.Node, ptr, at string, s *spot) bool {
	switch {
	case k.Kind == yaml.ScalarNode && len(secret.Find([]byte(k.Value))) > 0:
		r.reportSecret(s, ptr, "secret-in-spec", "has a field name that looks like a credential", secretHint)
	case k.Style == 0 && k.Value == "<<":
		r.reportAt(s.val, ptr, "merge-key", "<< is not supported", "write the fields out")
	case !isWord(k):
		r.reportAt(s.val, ptr, "key-not-text", "has a field name that is not plain text", "field names are words, such as budgets")
	case k.Style&yaml.TaggedStyle != 0:
		r.reportAt(s.val, at, "tag", "has a tag", "remove the tag")
	default:
		return true
	}
	return false
}

func isWord(k *yaml.Node) bool {
	const longest = 100
	if k.Kind != yaml.ScalarNode || k.Anchor != "" || len(k.Value) > longest || strings.ContainsFunc(k.Value, unprintable) {
		return false
	}
	v, _ := plain(k.Value)
	_, isText := v.(string)
	return isText || k.Style != 0
}

func (r *reader) scalar(n *yaml.Node, ptr string, s *spot) any {
	if found := secret.Find([]byte(n.Value)); len(found) > 0 {
		r.reportSecret(s, ptr, "secret-in-spec", "looks like a credential ("+found[0].Kind+")", secretHint)
		return nil
	}
	if i := strings.IndexFunc(n.Value, unprintable); i >= 0 {
		r.report(ptr, "not-text", fmt.Sprintf("holds the invisible character U+%04X", []rune(n.Value[i:])[0]), "remove it")
		return nil
	}
	if n.Style != 0 {
		return n.Value
	}
	v, odd := plain(n.Value)
	s.odd, s.raw = odd, n.Value
	if num, ok := v.(json.Number); ok && !exact(num) {
		r.report(ptr, "out-of-range", "is a number that cannot be kept exactly", "write fewer digits")
		return nil
	}
	return v
}
