// Package engine runs jobs. It knows no transcript: a job kind (package step)
// resolves a job to items and an item to steps; the engine opens a run, orders
// and keys the steps, works through the items, records everything in the run's
// journal and tells what happened.
//
// What it promises, each by the same few decisions (decide.go):
//
//	Run      an item that an earlier run finished, and of which nothing has changed
//	         since, is up to date; of another only what changed is done again
//	Plan     what Run would do, and the first thing that is different
//	DryRun   the same run, in memory above the real filesystem
//	Resume   a run that was cut short goes on to the end that it would have had
//	Replay   a run done again from its record gives the same digests
//	Restore  what a run replaced is put back
//
// The state directory, made for the owner only and only when a run opens:
//
//	.gitignore                  keeps it out of version control
//	ledger.jsonl                what the last run of each item left (package ledger)
//	runs/RUN/journal.jsonl      the record (package journal)
//	runs/RUN/job.json           the canonical job
//	runs/RUN/artifacts.pack     artifacts by digest, and the sources (package cas)
//	runs/RUN/receipts/ITEM.json what was done to a file that was replaced
//
// Invariants: a step is recorded as started before it runs and as finished after
// its artifacts and files are durable and verified, so a run that dies claims
// less than it did, never more. An effect begins when its intent is durable. A
// failure is never taken for a result. A journal that cannot be written, and a
// full disk, halt the run. Interrupted items, and the run that has them, are left
// open. Results do not depend on the number of workers.
//
// Memory grows with the items at work and a little with the number of items.
// Nothing the engine writes but the artifacts holds the text of a transcript.
// Clock, ids and the process come from [Env] alone.
package engine
