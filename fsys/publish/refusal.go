package publish

// The classes of refusal.
const (
	OutputExists   = "output-exists"
	OutputNotAFile = "output-not-a-file"

	SourceChanged     = "source-changed"     // the session is not, or no more, what was read
	SourceNotAFile    = "source-not-a-file"  // it is a folder, a link, a device
	OwnerNotKept      = "owner-not-kept"     // the new file would be somebody else's
	SessionLocked     = "session-locked"     // another precis is at it
	TargetChanged     = "target-changed"     // the new file stands, but others wrote meanwhile
	VolumeUnsupported = "volume-unsupported" // the volume lacks what a safe replacement needs
)

// Refusal says that the target may not be written, or what others did to it, and what a person can do. It
// holds no content of a file.
type Refusal struct {
	Class   string
	Path    string
	Message string
	Next    string
}

func (r *Refusal) Error() string { return r.Class + ": " + r.Message }

// Exists refuses to replace what stands at a path; the message says why it is not ours.
func Exists(path, message string) error {
	return &Refusal{OutputExists, path, message, "choose another path, or replace the file with --force"}
}

func notAFile(path string) error {
	return &Refusal{OutputNotAFile, path, "the output path is a folder, a symbolic link or a special file", "choose another path"}
}
