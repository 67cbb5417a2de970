package applog

import (
	"bufio"
	"bytes"
	"io"
	"iter"

	"github.com/spf13/afero"
)

// Line is one line of a log.
type Line struct {
	Number int    // from 1
	Offset int64  // of its first byte, from 0
	Bytes  []byte // without the newline
}

// Read gives the lines of a log in order, also of one that is being written. A
// torn tail is not among them. It ends with the first error, fs.ErrNotExist
// when there is no such log.
func Read(f afero.Fs, name string, complete func([]byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		file, err := f.Open(name)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer file.Close()
		lines(file, complete, yield)
	}
}

func lines(r io.Reader, complete func([]byte) bool, yield func(Line, error) bool) {
	br := bufio.NewReaderSize(r, 16<<10)
	at := Line{Number: 1}
	for {
		line, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			yield(at, err)
			return
		}
		// What a writer adds behind an end that was seen is not read as more of it.
		last := err == io.EOF
		if !last {
			_, peek := br.Peek(1)
			last = peek == io.EOF
		}
		if last && (len(line) == 0 || judge(line, complete) == unwanted) {
			return
		}
		at.Bytes = bytes.TrimSuffix(line, []byte("\n"))
		if !yield(at, nil) || err == io.EOF {
			return
		}
		at = Line{Number: at.Number + 1, Offset: at.Offset + int64(len(line))}
	}
}
