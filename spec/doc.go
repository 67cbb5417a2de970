// Package spec turns a job file into a checked [Job], or into everything that
// is wrong with it.
//
// A job file is one YAML document in a strict subset: mappings with distinct
// string keys, lists, text, true and false, and numbers as JSON writes them. No
// anchors, aliases, tags or merge keys, and no unquoted value that another YAML
// reader could take for something else. Fields, ranges and defaults come from
// package schemas; a few rules about paths and secrets are added here.
//
// Invariants:
//   - All problems are reported at once, in the order of the file, each at the
//     place of its cause; a place that is not known is left out, never guessed.
//   - Text that looks like a credential appears in no problem.
//   - Jobs that mean the same have the same canonical form and digest: order of
//     keys, quoting, layout, comments and spelled-out defaults do not count.
//   - [Parse] is pure. [Load] reads the job file and resolves links, no more.
//
// The package does not look at sessions, expand globs or know what a job does.
package spec
