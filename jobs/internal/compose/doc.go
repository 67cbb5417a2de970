// Package compose builds the complete new session file: the last control record
// of each type, the side records, one compact pair, the raw records as they
// stand in the source, and one pointer to the last of them.
//
// The pair comes before the raw part and the leaf stands physically last,
// because clients load nothing before the last boundary of a big file and take
// the physically last record for the end. Kept records are copied as bytes; the
// one value that may change is the parent: the raw records become one line below
// the summary, on which all known clients agree without putting anything in. Ids
// are version 5 UUIDs of the item's digest and times are the source's, so that the
// same item gives the same bytes everywhere.
package compose
