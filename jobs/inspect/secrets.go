package inspect

import (
	"maps"
	"slices"

	"github.com/precis-dev/precis/spec/secret"
)

// maxSecretLines bounds the lines that are listed for a kind.
const maxSecretLines = 20

// secrets counts likely credentials by kind and line.
func (i *inspector) secrets() {
	kinds := map[string]*Secret{}
	for r := range i.x.Records {
		line, err := i.src.Record(r)
		if err != nil {
			break
		}
		for _, m := range secret.Find(line) {
			s := kinds[m.Kind]
			if s == nil {
				s = &Secret{Kind: m.Kind}
				kinds[m.Kind] = s
			}
			s.Count++
			if at := int(i.x.Records[r].Line); len(s.Lines) < maxSecretLines && !slices.Contains(s.Lines, at) {
				s.Lines = append(s.Lines, at)
			}
		}
	}
	i.r.Secrets = []Secret{}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		i.r.Secrets = append(i.r.Secrets, *kinds[k])
	}
}
