package compress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/spec"
)

func TestTmpAll(t *testing.T) {
	pats := strings.Split(os.Getenv("PATS"), ",")
	dir := t.TempDir()
	if d := os.Getenv("OUTD"); d != "" {
		dir = d
	}
	for _, p := range pats {
		files, _ := filepath.Glob(p)
		for _, file := range files {
			job, err := spec.Parse("job.yaml", []byte(`
version: 1
kind: compress
name: t
input: {sessions: ["`+file+`"]}
mode: {summary: deterministic}
budgets: {keepRecords: `+os.Getenv("KEEP")+`}
publish: {to: candidate, path: "`+dir+`/{session}.jsonl"}
`), strings.Fields(os.Getenv("SETS")))
			if err != nil {
				t.Fatal(err)
			}
			env := step.Env{FS: fsys.OS(), Dir: dir, Token: "t", Force: true, Owned: func(string) (string, bool) { return "", false }, Progress: func(a, b int64) {}}
			k := Kind{}
			items, err := k.Items(context.Background(), env, job)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				steps, _ := k.Steps(env, job, it)
				var facts = map[string]any{}
				for _, s := range steps {
					out, err := s.Run(context.Background(), step.Input{Put: func(b []byte) (step.Artifact, error) {
						return step.Artifact{SHA256: fmt.Sprintf("%x", sha256.Sum256(b)), Bytes: int64(len(b))}, nil
					}})
					for k, v := range out.Facts {
						facts[k] = v
					}
					if err != nil {
						var r *step.Refusal
						if errors.As(err, &r) {
							fmt.Printf("%-50s REFUSED %s @%d: %s | %s\n", it.ID, r.Class, r.Place.Line, r.Message, r.Next)
						} else {
							fmt.Printf("%-50s FAILED %v\n", it.ID, err)
						}
						break
					}
					if s.Name == "report" {
						fmt.Printf("%-50s ok %v -> %v cut %v\n", it.ID, facts["bytes"], facts["candidateBytes"], facts["cut"])
					}
				}
			}
		}
	}
}
