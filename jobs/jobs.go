// Package jobs knows which kinds of job there are. It adds nothing to them, and
// runs none: that is the engine's affair.
package jobs

import (
	"bytes"
	"embed"
	"net/http"
	"time"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/author"
)

//go:embed compress/example.yaml
var examples embed.FS

// World is what jobs use of the world beside the engine's: to ask those who write
// summaries. Its zero value asks nobody.
type World = author.World

// NewWorld is a world that waits and starts programs as this process can.
func NewWorld(getenv func(string) (string, bool), transport http.RoundTripper, now func() time.Time, random func() float64) World {
	return World{Getenv: getenv, Transport: transport, Now: now, Random: random, Sleep: author.Sleep, Run: author.Run}
}

// Kinds are the job kinds that this program can run.
func Kinds(w World) []step.Kind { return []step.Kind{compress.Kind{Authors: w}} }

// Example is a complete, commented job file of a kind: the one of its folder, for
// a folder of one's own. Its paths begin there, and its first paragraph, which
// names the schema of this repository to editors, is left out.
func Example(kind string) ([]byte, bool) {
	for _, k := range Kinds(World{}) {
		if k.Name() == kind {
			text, err := examples.ReadFile(kind + "/example.yaml")
			_, text, found := bytes.Cut(text, []byte("\n\n"))
			return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("../../testdata/"), nil), []byte("../../"), nil), err == nil && found
		}
	}
	return nil, false
}
