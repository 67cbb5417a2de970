package compose

import (
	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// commonKeys are the fields that the pair takes over from the raw records.
var commonKeys = []string{"userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "permissionMode"}

// member is one field of the pair.
type member struct {
	key   string
	value []byte
}

// survey finds the most frequent non-empty scalar of each common field among the
// raw records; of equally frequent ones the first.
func (c *composer) survey() error {
	counts := make(map[string]*count, len(commonKeys))
	for _, key := range commonKeys {
		counts[key] = &count{n: map[string]int{}}
	}
	for _, r := range c.Sets.Raw {
		line, err := c.Source.Record(r)
		if err != nil {
			return err
		}
		v := jsonspan.Value{Kind: jsonspan.Object, Raw: line}
		for m := range v.Members() {
			if n := counts[m.Key]; n != nil && scalar(m.Value) {
				n.add(string(m.Raw))
			}
		}
	}
	for _, key := range commonKeys {
		if value := counts[key].best(); value != "" {
			c.common = append(c.common, member{key, []byte(value)})
		}
	}
	leaf := c.Source.Records[c.Selection.Leaf]
	c.session = c.Source.Name(leaf.Session)
	return nil
}

func scalar(v jsonspan.Value) bool {
	switch v.Kind {
	case jsonspan.String:
		return len(v.Raw) > 2
	case jsonspan.Number, jsonspan.Bool:
		return true
	}
	return false
}

// count tallies values in the order of their first occurrence.
type count struct {
	n     map[string]int
	order []string
}

func (c *count) add(value string) {
	if c.n[value] == 0 {
		c.order = append(c.order, value)
	}
	c.n[value]++
}

func (c *count) best() string {
	best := ""
	for _, v := range c.order {
		if best == "" || c.n[v] > c.n[best] {
			best = v
		}
	}
	return best
}
