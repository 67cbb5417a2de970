// Package schemas holds the JSON Schemas (draft 2020-12) of everything precis
// reads from people and writes for programs. They are part of the binary:
// compiling one reads neither disk nor network, whatever it refers to.
//
// The schemas are the only place where fields, ranges and defaults of a job are
// written down; package spec takes them from here. The package checks nothing
// itself and knows no YAML.
package schemas

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

//go:embed *.schema.json
var files embed.FS

const (
	suffix = ".schema.json"
	base   = "embed:///"
)

// Names lists the schemas, sorted: "job", and "job." with its kind for each
// kind of job, beside the documents precis writes.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic("schemas: internal error: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), suffix)
	}
	slices.Sort(names) // the suffix counts in the order of the files
	return names
}

// Get returns the text of a schema.
func Get(name string) ([]byte, bool) {
	data, err := files.ReadFile(name + suffix)
	return data, err == nil
}

// compiled keeps each validator: making one takes some ten milliseconds, and the
// text it is made from is part of the binary.
var compiled sync.Map

// Compile gives the validator of a schema, annotations (description, default)
// included. It is safe for concurrent use.
func Compile(name string) (*jsonschema.Schema, error) {
	if s, ok := compiled.Load(name); ok {
		return s.(*jsonschema.Schema), nil
	}
	s, err := compile(name)
	if err == nil {
		compiled.Store(name, s)
	}
	return s, err
}

func compile(name string) (*jsonschema.Schema, error) {
	if _, ok := Get(name); !ok {
		return nil, fmt.Errorf("schemas: no schema %q", name)
	}
	c := jsonschema.NewCompiler()
	c.ExtractAnnotations = true
	c.LoadURL = load
	return c.Compile(base + name + suffix)
}

// load serves references between the embedded files and refuses every other:
// the library's own loader would follow file: addresses to the disk.
func load(url string) (io.ReadCloser, error) {
	name, ok := strings.CutPrefix(url, base)
	if !ok {
		return nil, fmt.Errorf("schemas: %q is not embedded", url)
	}
	return files.Open(name)
}
