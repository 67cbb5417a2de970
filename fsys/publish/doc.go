// Package publish puts a complete, verified file at its name, all or nothing.
//
// A candidate goes through these states; what stands at the target in each is
// either what stood there before or the complete new file:
//
//	stage   written beside the target as .NAME.stage-TOKEN, exclusively, for the
//	        owner only; synced; read again and compared; verified by the caller
//	claim   target absent: a hard link, which cannot clobber
//	        target has these bytes: nothing is written
//	        target is what was published before, or forced: checked again, then
//	        renamed over
//	        anything else: a [Refusal], the target is not touched
//	settle  stage removed, folder synced, target read again and compared
//
// A failure or a cancelled context before the claim leaves the target as it was
// and no stage. A failure after a claim by link takes the new name away again. A
// rename cannot be taken back: then the new file stands, and the result says so
// beside the error. After a kill or a power cut the target is old or new, and a
// stage may be left; the next publication with its token removes it, and [Sweep]
// does, which tells it from a stage at work by the lock that dies with its process.
//
// On a filesystem without hard links the name is claimed by creating it, empty
// and exclusively, and renaming the stage over it; a power cut between the two
// leaves the empty file, the only state that is neither old nor new.
//
// The package looks at bytes only and knows nothing of what they mean. It does
// not guard against a foreign program that opens the target and writes into it
// in the instant between the last check and the rename.
package publish
