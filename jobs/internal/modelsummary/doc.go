// Package modelsummary checks a summary that a model wrote for an evidence pack
// v11: that it belongs to this pack, has the form the protocol asks for, and rests
// on records the pack shows. It reports everything wrong at once.
//
// # What a citation is
//
// The protocol wants substantive lines to cite anchors that the pack displays,
// L<number> and H<number>, and refuses anchors that are invisible or out of range.
// It says nothing of brackets, and nothing of words that look the same: "L2 cache"
// and "H1 2026" are no anchors, for nobody cites anything with them. Taken for
// citations they would refuse a good line or, worse, carry one that has no support.
// So a token counts by where it stands:
//
//   - A bracket pair that holds nothing but anchors, as [L12], (L3, L7) or [L3-L7],
//     is a citation whatever is in it. An anchor in it that the pack does not show
//     is an error.
//   - A bare token is a citation where a remark may stand: not within a word, a path
//     or a link, and not before a word or number, which would make it part of a name.
//     Tokens joined by a comma, a dash, or a short word ("L3 and L7") stand or fall
//     together, and count if the pack shows one of them; then the others are errors
//     if it does not. "… is 8080, L12." and "L12: the port" cite, "the L2 cache" and
//     "L12 says" do not.
//   - Within code a token counts only if its code span holds nothing else, and it is
//     never an error: code has names of its own.
//
// A bare token that the pack does not show is left alone, since the line gains
// nothing by it. A range cites its two ends: to name two of 5,000 records is not to
// cite 5,000. What remains is a name at the end of a clause ("faster in H1.") where
// the pack shows that very anchor; only a person can tell.
//
// # What needs one
//
// Every line of the body, as lines of the file, but for the required headings and
// the one sentence for what is unknown. A line without a letter or digit says nothing
// that could be supported: a table's rule, a fence, a divider. A table's header row
// names its columns and claims nothing, if it is made of labels. Fenced code is one
// quotation, supported by the line before or after it.
//
// Lines end as Markdown's do, with LF, CR LF or CR; white space at their end, blank
// lines around the text and a byte order mark are no part of it.
package modelsummary
