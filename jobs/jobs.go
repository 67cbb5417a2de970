// Package jobs knows which kinds of job there are. It adds nothing to them, and
// runs none: that is the engine's affair.
package jobs

import (
	"bytes"
	"embed"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
)

//go:embed compress/example.yaml
var examples embed.FS

// Kinds are the job kinds that this program can run.
func Kinds() []step.Kind { return []step.Kind{compress.Kind{}} }

// Example is a complete, commented job file of a kind: the one of its folder, for
// a folder of one's own. Its paths begin there, and its first paragraph, which
// names the schema of this repository to editors, is left out.
func Example(kind string) ([]byte, bool) {
	for _, k := range Kinds() {
		if k.Name() == kind {
			text, err := examples.ReadFile(kind + "/example.yaml")
			_, text, found := bytes.Cut(text, []byte("\n\n"))
			return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("../../testdata/"), nil), []byte("../../"), nil), err == nil && found
		}
	}
	return nil, false
}
