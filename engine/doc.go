// Package engine runs jobs. It knows no transcript: a job kind (package step)
// resolves a job to items and an item to steps; the engine opens a run, orders
// and keys the steps, works through the items, records everything in the run's
// journal and tells what happened.
//
// The state directory, made for the owner only and only when a run opens:
//
//	.gitignore                       keeps it out of version control
//	runs/RUN/journal.jsonl           the record (package journal)
//	runs/RUN/job.json                the canonical job
//	runs/RUN/items/ITEM/             what the item's steps keep for people
//	cas/                             artifacts by digest (package cas)
//	published/SHA256-OF-PATH.json    what was last published at a path
//
// Invariants: a step is recorded as started before it runs and as finished after
// its artifacts and files are durable and verified, so a run that dies claims
// less than it did, never more. A failure is never taken for a result. A journal
// that cannot be written ends the run. Interrupted items, and the run that has
// them, are left open. Results do not depend on the number of workers.
//
// Nothing the engine writes holds the text of a transcript. Clock, ids and the
// process come from [Env] alone.
package engine
