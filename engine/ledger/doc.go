// Package ledger remembers, for every item of every job, what the last run that
// finished it left: so that the next run can tell what is up to date and why
// something is not, and may replace its own output and nothing else.
//
// It is one log (package applog) of lines
//
//	HEADER RECORD SUM
//
// of which the first two are JSON and the last is the SHA-256 of what stands
// before it and the space. The header identifies the record, so that opening a
// ledger decodes headers and not records. The newest record of an item counts, and
// the newest line that has published a path; what counts no more is dropped when
// it outweighs the rest.
//
// The journals are the truth and the ledger follows them: an entry is written
// once its run has recorded the item durably. A crash in between leaves an item
// that is done again, and a file that counts as foreign until a run finds the
// bytes it would write there. Likewise a line that is damaged, or was written by
// a version this program does not know, is as if it were not there.
package ledger
