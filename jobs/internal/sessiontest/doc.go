// Package sessiontest makes session files for tests: small ones written by
// hand, record by record ([Builder]), and large ones of any size ([Generate]).
//
// Both write what the client writes: one JSON object a line, in the client's
// own key order, parents by uuid. Everything is a function of the arguments:
// the clock starts at a fixed time and ids come from names or from a seed, so
// two calls give the same bytes.
//
// It is test support. It validates nothing, so that broken sessions can be
// written too, and no program may import it.
package sessiontest
