package spec

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Problem is one thing wrong with a job, and what to do about it.
type Problem struct {
	// File is the job file, or "--set" for an assignment.
	File string `json:"file"`
	// Line and Col are where the cause stands, from 1; columns count
	// characters. 0 is unknown: a trouble of the whole file, or an assignment.
	Line int `json:"line"`
	Col  int `json:"col"`
	// Path is the field, such as input.sessions[1]; empty for the whole file.
	Path string `json:"path"`
	// Code is the stable name of the trouble, in kebab case.
	Code string `json:"code"`
	What string `json:"what"`
	Hint string `json:"hint"`
	// Source is the line of the file, or the assignment, with credentials
	// starred out; empty when there is none that can be shown.
	Source string `json:"source"`
}

func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Col > 0 {
		fmt.Fprintf(&b, ":%d", p.Col)
	}
	for _, part := range []string{p.Path, p.What, p.Hint} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	return b.String()
}

// Problems is everything wrong with a job, in the order of the file.
type Problems []Problem

func (ps Problems) Error() string {
	switch len(ps) {
	case 0:
		return "no problems"
	case 1:
		return ps[0].String()
	}
	return fmt.Sprintf("%s (and %d more)", ps[0], len(ps)-1)
}

// WriteText prints each problem as "file:line:col: path: what: hint", with its
// source line and a caret under the place.
func (ps Problems) WriteText(w io.Writer) error {
	for _, p := range ps {
		if _, err := io.WriteString(w, p.String()+"\n"+p.snippet()); err != nil {
			return err
		}
	}
	return nil
}

func (p Problem) snippet() string {
	switch {
	case p.Source == "":
		return ""
	case p.Line == 0:
		return fmt.Sprintf("    | %s\n", p.Source)
	case p.Col == 0:
		return fmt.Sprintf("%5d | %s\n", p.Line, p.Source)
	}
	return fmt.Sprintf("%5d | %s\n      | %s^\n", p.Line, p.Source, indent(p.Source, p.Col-1))
}

// indent is white space as wide on a terminal as the first n characters of s.
func indent(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if n == 0 {
			break
		}
		n--
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString(strings.Repeat(" ", width(r)))
	}
	return b.String() + strings.Repeat(" ", n)
}

// sorted orders the problems by place and drops repeated ones.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(ps)
}
