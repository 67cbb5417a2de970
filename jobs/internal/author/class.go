package author

import (
	"fmt"

	"github.com/precis-dev/precis/engine/step"
)

// The classes of what keeps an author from an answer.
const (
	Waiting = "waiting" // nothing failed: somebody must bring the summary

	NoKey         = "author-no-key"
	KeyRefused    = "author-key-refused"
	NoCredit      = "author-no-credit"
	UnknownModel  = "author-unknown-model"
	PromptTooLong = "author-prompt-too-long"
	BadRequest    = "author-bad-request"
	Redirected    = "author-redirected"
	BadAddress    = "author-bad-address"

	Unreachable   = "author-unreachable"
	Untrusted     = "author-untrusted"
	Overloaded    = "author-overloaded"
	ServiceFailed = "author-service-failed"
	StreamCut     = "author-stream-cut"
	Silent        = "author-silent"
	Garbled       = "author-garbled"

	Declined      = "author-declined"
	AnswerCut     = "author-answer-cut"
	AnswerTooLong = "author-answer-too-long"
	NoAnswer      = "author-no-answer"
	TimedOut      = "author-timeout"

	NoCommand     = "author-no-command"
	CommandFailed = "author-command-failed"
	CommandKilled = "author-command-killed"
	CommandNoText = "author-command-no-text"
	OutputHeld    = "author-output-held"
)

// next is the next step for each class.
var next = map[string]string{
	Waiting:       "write the summary to a file, and resume the run with it",
	NoKey:         "put the key into a variable, name it in author.keyEnv, and resume the run",
	KeyRefused:    "check the key in the variable that author.keyEnv names and what it may use, and resume the run",
	NoCredit:      "add credit at the service, and resume the run",
	UnknownModel:  "check author.model and author.baseURL",
	PromptTooLong: "lower budgets.packTokens and budgets.packChars, or choose a model with a larger window",
	BadRequest:    "check author.model and author.baseURL: the model must take text and write as long an answer as budgets.summaryChars",
	Redirected:    "set author.baseURL to the address the service has now; the pack and the key are sent nowhere else",
	BadAddress:    "write author.baseURL as https://host/path",
	Unreachable:   "check the network and author.baseURL, and resume the run",
	Untrusted:     "check author.baseURL and the certificates this machine trusts, and resume the run",
	Overloaded:    "wait a while, and resume the run",
	ServiceFailed: "wait a while, and resume the run",
	StreamCut:     "check the network, and resume the run",
	Silent:        "check the service, and resume the run",
	Garbled:       "check that author.baseURL and author.by name the same kind of service",
	Declined:      "read the pack for what the model may object to; run the job anew with another author, or ask again",
	AnswerCut:     "run the job anew with smaller packs (budgets.packTokens, author.fold: staged), with less to write (budgets.summaryChars) or with a model that writes more; or ask again",
	AnswerTooLong: "run the job anew with more in budgets.summaryChars or with another author, or ask again",
	NoAnswer:      "try the author by hand with the pack; run the job anew with another one, or ask again",
	TimedOut:      "raise author.timeout, and resume the run",
	NoCommand:     "check author.command and PATH; a program with a slash in its name is looked for from the job's folder",
	CommandFailed: "run the command by hand with the pack on its standard input to see what it says",
	CommandKilled: "find out what ended the command (memory, a limit), and resume the run",
	CommandNoText: "make the program write UTF-8 text, and resume the run",
	OutputHeld:    "let the command end only after all that it started, or close their standard output",
}

// byJob are the classes that only another job can do something about: to resume the
// run would end the same way.
var byJob = map[string]bool{
	UnknownModel: true, PromptTooLong: true, BadRequest: true, Redirected: true, BadAddress: true, Garbled: true,
}

// Passing tells whether a class may not come again when the author is asked anew by
// the same job.
func Passing(class string) bool { return !byJob[class] }

// refuse makes a refusal of a class. What is formatted into it is ours: numbers,
// names of the job's fields and of variables.
func refuse(class, format string, args ...any) *step.Refusal {
	return &step.Refusal{Class: class, Message: fmt.Sprintf(format, args...), Next: next[class]}
}
