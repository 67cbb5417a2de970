// Package applog is an append-only log of lines in one file, with one writer.
//
// Durability: [Log.Append] returns when the line is on the disk, and the first
// one also has the file's name there ([Level] says what the filesystem can do).
// A line that was acknowledged is never lost or changed; a line that was not may
// be missing, whole, or torn.
//
// A torn tail is what a dying process or machine leaves at the end of the file:
// bytes without a newline, or a last line with NUL bytes in it, where the file
// grew before its content was written. Reading ignores it. Opening for append
// seals it: the bytes are kept aside in NAME.torn-N, then cut off. A tail that
// the caller knows to be a complete line gets its newline instead.
//
// The writer holds an OS lock on NAME.lock, which dies with its process, and
// says in NAME.owner who it is, for the message to others.
//
// The package knows nothing of what a line means; whatever is wrong inside the
// file, other than at its end, is the caller's to find.
package applog
