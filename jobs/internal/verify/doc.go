// Package verify checks a session file against the rules a client and a model's
// server hold it to. Two profiles share the rules: a candidate (a file precis is
// about to publish: exactly one compact pair, one pointer, physically last) and a
// session (any file, also one a client went on writing).
//
// All findings are reported in one pass; a damaged line never hides the rest.
package verify
