package cas

import "github.com/precis-dev/precis/engine/step"

// Artifacts is everything in the index.
func (s *Store) Artifacts() (list []step.Artifact) {
	_, _, _ = s.find(digest{}) // builds the index
	for sum, p := range s.index {
		list = append(list, head{sum, p.bytes}.artifact())
	}
	return list
}
