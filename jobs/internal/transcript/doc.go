// Package transcript reads a session file of the Claude Code client into an
// index: one small entry a record, byte spans instead of decoded values. The
// file is read once, hashed and validated on the way; memory is bounded by the
// index and the longest line. Records keep their bytes: whoever needs a record's
// text reads it again through [Source].
//
// The format is observed, not published: types and fields unknown here are
// ordinary input. A line that is no record is kept as [Damage] with its place.
package transcript
