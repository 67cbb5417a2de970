// Package inuse tells whether a client may still write to a live session file,
// which is asked before the file is replaced. Its answers are a function of the
// files, the processes and the time it is given.
//
// The form of the client's registry is not published. This is what Claude Code
// 2.1.332 and 2.1.197 do on Linux, seen from outside:
//
//   - Each running client, interactive or in print mode (-p, also while it waits
//     for its next prompt), keeps .claude/sessions/<pid>.json: one object of about
//     500 bytes. Both versions have pid, sessionId, cwd, startedAt and updatedAt
//     (milliseconds), procStart, version, kind, entrypoint, name and status; kind
//     is "interactive" in print mode, too. 2.1.332 adds pidDomain (machine and
//     process namespace) and puts a <pid>.<hash>.key with a secret beside it.
//   - procStart is a string: the start in clock ticks since the boot, field 22 of
//     /proc/<pid>/stat. startedAt is when the client started, whichever session it
//     has open now.
//   - sessionId is the session that is written: after --resume the resumed one,
//     with --fork-session the new one from the start, and after /resume and /clear
//     the entry is rewritten. A session that was left is written once more while it
//     is left, not later.
//   - The entry comes up to a second after the start; 2.1.197 has shown its prompt
//     before. It was there before a resumed session was touched: resuming sets the
//     modification time anew, though nothing is written before the first prompt.
//   - The entry goes at /exit and at the end of a print mode, some milliseconds before
//     the client's last write: for that long nothing tells of it.
//   - SIGKILL leaves the entry; the next 2.1.197 removed such entries at its start,
//     2.1.332 did not at once.
//   - The client opens a session for each write only: it was never seen to have one
//     open. Who has is another program.
//   - A subagent's file is <session>/subagents/agent-<id>.jsonl beside the session's,
//     and has no entry of its own.
//
// Not seen from here is a client that shares the folder from another machine or
// process namespace (a container): its number means another process here, or
// none. Only the time of the last change tells of it.
package inuse
