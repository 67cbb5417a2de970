// Package pack makes the evidence pack, schema 11: the one text that a model
// gets to write a summary from. What is mandatory (the words of the person and
// the assistant, earlier summaries) is in it whole; what is optional (calls,
// results, notes of the client) fills the room that the ceilings leave, the most
// important first. The header binds a summary to exactly this evidence. The form
// of a summary, and whether one fits its pack, is package modelsummary's affair.
//
// Lines and digests that other programs match are the format's; the prose, the
// ranking and the word lists are the project's own.
package pack
