// Package inspect says what is in a session file: what a client would resume,
// what hangs beside it, what it costs, and why it is as big as it is. It reads
// the file once and writes nothing.
package inspect
