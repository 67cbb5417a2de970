// Package author asks those who write the summary for an evidence pack: a person,
// a program, or a model service.
//
// A prompt leaves for the one address or program that the job names and for no
// other: redirects are refused, since whoever follows one hands the pack and the
// key to somebody new. An address is spoken to as it is written: the usual ones
// are https, and http is spoken only where the job writes http://, as one does for
// a server on this machine. Nothing falls back from the one to the other.
//
// Every failure is a *[step.Refusal] of a class of its own, and leaves the run as
// it can be resumed. No text of the pack, of an answer, of a service's messages or
// of a key is in it: services quote what they were sent, so their words are looked
// at to tell the class, and are dropped.
//
// # Services
//
// anthropic speaks the Messages API, openai the Chat Completions API, both
// streaming; servers that resemble them will do. An answer counts when the service
// said that it had ended, whether or not the stream's own end mark or the token
// counts came. Such servers may cut a prompt that is too long for them without a
// word (Ollama does, by default at a few thousand tokens); only the input tokens
// in the facts and the checker tell.
//
// Overload, a failing service, a broken connection, a stream that was cut or fell
// silent: the call is made again from the start, at most [MaxCalls] times and within
// the author's timeout, which is for all calls and the waits between them. Before a
// stream begins nothing else bounds the wait: a model on this machine may read a long
// pack for minutes. What a service has counted for a call that failed is in the facts.
//
// # Commands
//
// A command reads the whole conversation on standard input and writes the summary
// on standard output. Its standard error is counted and thrown away. It has no
// terminal, and of the environment only what a program needs to find itself, its
// files, its login and its way to the network, see [passed], and what author.env
// names. A key is passed on if the job names it, and not otherwise: claude -p prefers a key it finds to
// the login the person chose. Marks of a client around us (CLAUDECODE and the like)
// stay behind, since a client that finds them refuses to start. It runs in the
// folder it is given; a program with a slash in its name is looked for from there.
//
// Commands that do, each with its prompt on standard input:
//
//	[claude, -p, --tools, "", --no-session-persistence]
//	[codex, exec, --skip-git-repo-check, --ephemeral, --sandbox, read-only, "-"]
//	[ollama, run, --hidethinking, MODEL]
//
// The pack is text that others wrote, so a client with tools is started with none; and
// one that keeps sessions is told not to, or its own would be among those to fold.
package author
