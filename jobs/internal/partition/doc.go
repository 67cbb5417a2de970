// Package partition divides the records of a session into six disjoint sets that
// together hold every record, and finds the cut between what is folded and what
// stays: the longest recent part that meets every constraint.
//
// Only the summary, raw, side and control sets may reach an output. The two
// excluded sets leave nothing but counts and line-set digests.
package partition
