// Package topology decides which records of a session are its conversation: the
// active records, root to leaf.
//
// Where the conversation ends is the strict pointer rule of the compression
// format: the physically last last-prompt record names the leaf, and a fault in
// it is a refusal, never a reason to look for an older pointer. What belongs to
// a turn is the client's rule: an assistant turn is all records of one
// message.id, and the results that hang below any of them are part of it, though
// a plain walk from child to parent passes most of them by.
//
// Selection is a pure function of the index. Following links always ends: every
// walk keeps the set of what it has seen.
package topology
