package publish

import "github.com/spf13/afero"

// Intent is a replacement as a program records it before it tries it.
type Intent struct {
	Path, Token, BackupDir string
	Old, New               Content
}

// Recover settles what a replacement left that was killed, without writing the
// new file again: it finishes one that had replaced the old file and takes back
// one that had not. That the new file has grown since is no error. When neither
// file stands the error is a [Refusal].
func Recover(f afero.Fs, i Intent) (Receipt, error) {
	l := newLive(f, i)
	err := l.lock()
	if err == nil {
		err = l.settle()
		if err != nil || l.receipt.Stands == Foreign {
			err = l.verdict(err)
		}
	}
	return l.end(err)
}
