package finding

import "github.com/precis-dev/precis/jobs/internal/transcript"

// At places a finding at a record; -1 is the file as a whole.
func At(x *transcript.Index, r int, f Finding) Finding {
	if r >= 0 {
		rec := &x.Records[r]
		f.Line, f.Byte, f.ID = int(rec.Line), rec.Off, x.Name(rec.UUID)
	}
	return f
}
