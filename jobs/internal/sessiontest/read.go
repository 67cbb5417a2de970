package sessiontest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"testing"
)

// Read reads a file of the test data; where only NAME.gz is there, that.
func Read(tb testing.TB, files fs.FS, name string) []byte {
	tb.Helper()
	data, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = unzipped(files, name+".gz")
	}
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func unzipped(files fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
