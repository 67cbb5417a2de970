// Package compress folds the older part of a session into one compact summary
// pair and keeps the recent part raw, so that the client resumes it.
//
// An item runs through these steps, each of which reads what the ones before it
// found:
//
//	read     index and hash the file; refuse damage
//	select   the active records; refuse a chain or a tool exchange that is broken
//	fold     solve for the cut, write the summary
//	compose  build the candidate and verify it
//	publish  put it in place, all or nothing
//	report   say what was done
//
// The candidate's bytes are a function of the item digest alone: request, source
// and summary.
package compress
