package step

import "github.com/precis-dev/precis/fsys/publish"

// Candidate is what a publication left, nothing when it left nothing.
func Candidate(p publish.Published) []Published {
	if p.Op == "" {
		return nil
	}
	return []Published{{Op: Op(p.Op), Path: p.Path, Bytes: p.Bytes, SHA256: p.SHA256}}
}

// Replacement is what a replacement left: the new file, if it stands, and the
// backup, if there is one.
func Replacement(r publish.Receipt) (out []Published) {
	if r.Stands == publish.NewStands {
		out = append(out, Published{
			Op: Replace, Path: r.Path, Bytes: r.New.Bytes, SHA256: r.New.SHA256,
			Old: &Artifact{SHA256: r.Old.SHA256, Bytes: r.Old.Bytes},
		})
	}
	if r.Backup != "" {
		out = append(out, Published{Op: Backup, Path: r.Backup, Bytes: r.Old.Bytes, SHA256: r.Old.SHA256})
	}
	return out
}
