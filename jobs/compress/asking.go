package compress

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/author"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// Artifacts of a step that asks: the answer that passed, and what it took to get it;
// of each time it was asked the answer, what the check said about it, and what is
// known of the asking.
const (
	answerName  = "answer"
	attemptName = "attempt-%d"
	checkName   = "check-%d"
	factsName   = "facts-%d"
	accountName = "account"
)

//go:embed instructions.md
var instructions string

// asking is the step that asks for the summary of a pack; the number is that of a
// part, "" for the one that goes into the session.
func (f *fold) asking(number string) step.Step {
	a := f.job.Author
	return step.Step{
		Name: "author" + number, Version: 1, Needs: []string{"pack"}, Asks: true,
		Params: authorParams{authorWho{a.By, a.Model, a.Command, a.BaseURL}, hash([]byte(instructions))},
		Run: func(ctx context.Context, in step.Input) (step.Output, error) {
			q, err := f.question(in, number)
			if err != nil {
				return step.Output{}, err
			}
			return q.ask(ctx)
		},
	}
}

// question is a pack, who is asked about it, and what was answered so far.
type question struct {
	f      *fold
	in     step.Input
	pack   []byte
	expect expect
	asked  int // how often
	facts  []author.Facts
	texts  []string // the answers
	number []int    // of the asking that gave each
	people []string // texts that a person brought: no part of a conversation
}

func (f *fold) question(in step.Input, number string) (*question, error) {
	from := "pack/"
	if number == "" {
		from = lastPack(in)
	}
	q := &question{f: f, in: in}
	var err error
	if q.pack, err = in.Open(in.Artifacts[from+packName+number]); err != nil {
		return nil, err
	}
	if q.expect, err = get[expect](in, from+expectName+number); err != nil {
		return nil, err
	}
	return q, q.remember()
}

// remember reads what the run has kept of earlier askings.
func (q *question) remember() error {
	for {
		kept, ok := q.in.Kept[fmt.Sprintf(factsName, q.asked+1)]
		if !ok {
			return nil
		}
		q.asked++
		var facts author.Facts
		data, err := q.in.Open(kept)
		if err == nil {
			err = json.Unmarshal(data, &facts)
		}
		if err != nil {
			return err
		}
		q.facts = append(q.facts, facts)
		if a, ok := q.in.Kept[fmt.Sprintf(attemptName, q.asked)]; ok {
			if data, err = q.in.Open(a); err != nil {
				return err
			}
			q.add(string(data), facts)
		}
	}
}

// add takes in a text. One that nobody was called for was brought by a person.
func (q *question) add(text string, facts author.Facts) {
	if facts.Calls == 0 {
		q.people = append(q.people, text)
		return
	}
	q.texts, q.number = append(q.texts, text), append(q.number, q.asked)
}

// ask asks until an answer passes its check, or went back to the author as often as
// the job allows.
func (q *question) ask(ctx context.Context) (step.Output, error) {
	if text, ok := q.f.env.Brought(q.mine); ok {
		return q.brought(string(text))
	}
	for _, text := range q.people { // on record, and not looked at
		if _, problems := q.expect.check([]byte(text)); len(problems) == 0 {
			return q.output(text, byPerson)
		}
	}
	earlier, good, err := q.round()
	for good == "" && err == nil {
		if len(earlier) > q.f.job.Author.Attempts {
			return step.Output{}, q.refused(earlier)
		}
		if err = q.once(ctx, earlier); err == nil {
			earlier, good, err = q.checked(earlier)
		}
	}
	if err != nil {
		return step.Output{}, err
	}
	return q.output(good, q.f.job.Author.By)
}

// byPerson is who wrote a summary that was brought.
const byPerson = "file"

// mine tells whether a text was written for this pack: its comment names the records.
func (q *question) mine(text []byte) bool { return modelsummary.Names(text, q.expect.Header) }

// brought takes an answer that a person brings, whoever was to be asked.
func (q *question) brought(text string) (step.Output, error) {
	if err := noPack([]byte(text)); err != nil {
		var r *step.Refusal
		if errors.As(err, &r) {
			r.Open, r.Resume = step.Waiting, withFile
		}
		return step.Output{}, err
	}
	if err := q.keep(text, author.Facts{}); err != nil {
		return step.Output{}, err
	}
	_, problems := q.expect.check([]byte(text))
	if len(problems) == 0 {
		return q.output(text, byPerson)
	}
	report := map[string][]byte{fmt.Sprintf(checkName, q.asked): []byte(modelsummary.Report(problems))}
	if err := q.in.Keep(report); err != nil {
		return step.Output{}, err
	}
	first := problems[0]
	return step.Output{}, &step.Refusal{
		Class:   "summary-refused",
		Message: fmt.Sprintf("the summary has %s, the first in line %d: %s: %s", counted(len(problems), "problem"), first.Line, first.Rule, first.Message),
		Next:    "mend what precis check-summary lists, and resume the run with the file", Open: step.Waiting, Resume: withFile,
	}
}

// round is the conversation that an earlier process left: its answers go back to the
// author, unless one passes. A conversation that was given up is not gone on with; the
// process may have ended before it looked at the last answer.
func (q *question) round() (earlier []author.Attempt, good string, err error) {
	turns := 1 + q.f.job.Author.Attempts
	texts := q.texts
	whole := max(0, len(texts)-1) / turns * turns
	q.texts = texts[:whole]
	for _, text := range texts[whole:] {
		q.texts = append(q.texts, text)
		if earlier, good, err = q.checked(earlier); err != nil || good != "" {
			return nil, good, err
		}
	}
	if len(earlier) == turns {
		earlier = nil
	}
	return earlier, "", nil
}

// once asks the author once, and keeps what comes.
func (q *question) once(ctx context.Context, earlier []author.Attempt) error {
	limit := q.limit()
	world := q.f.authors
	world.Progress = func(p author.Progress) { q.f.env.Progress(int64(min(p.Chars, limit)), int64(limit)) }
	by := author.New(q.f.job.Author, q.f.job.Dir, world)
	answer, err := by.Write(ctx, author.Prompt{
		Instructions: fmt.Sprintf(instructions, "It has "+q.length()), Pack: string(q.pack), Earlier: earlier, MaxChars: limit,
	})
	if answer.Facts != (author.Facts{}) || err == nil {
		if kept := q.keep(answer.Text, answer.Facts); kept != nil {
			return kept
		}
	}
	return q.resumable(err)
}

// limit is how long an answer may be: the prose, and the lines that the pack demands.
func (q *question) limit() int {
	const comment, line = 1000, 120
	return q.expect.MaxChars + comment + line*len(q.expect.Claims)
}

// length is how long a summary may be, in words.
func (q *question) length() string {
	counted := "comment and coverage lines not counted"
	if q.expect.Whole {
		counted = "comment and coverage lines too"
	}
	return fmt.Sprintf("at most %d characters, %s", q.expect.MaxChars, counted)
}

// withFile is how a resume is given a summary.
var withFile = []string{"--summary", "FILE"}

// resumable leaves the item open when an author gave no answer.
func (q *question) resumable(err error) error {
	var r *step.Refusal
	if !errors.As(err, &r) {
		return err
	}
	open := *r
	open.Open = step.Failed
	switch {
	case r.Class == author.Waiting:
		open.Open, open.Resume = step.Waiting, withFile
		open.Message += "; it has " + q.length()
	case author.Passing(r.Class):
		open.Resume = []string{}
	}
	return &open
}

// keep puts an asking on record.
func (q *question) keep(text string, facts author.Facts) error {
	data, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	q.asked++
	parts := map[string][]byte{fmt.Sprintf(factsName, q.asked): data}
	if text != "" {
		parts[fmt.Sprintf(attemptName, q.asked)] = []byte(text)
		q.add(text, facts)
	}
	q.facts = append(q.facts, facts)
	return q.in.Keep(parts)
}

// checked checks the last answer: it is good, or one more for the conversation.
func (q *question) checked(earlier []author.Attempt) ([]author.Attempt, string, error) {
	last := len(q.texts) - 1
	text := q.texts[last]
	_, problems := q.expect.check([]byte(text))
	if len(problems) == 0 {
		return earlier, text, nil
	}
	report := modelsummary.Report(problems)
	name := fmt.Sprintf(checkName, q.number[last])
	if _, ok := q.in.Kept[name]; !ok {
		if err := q.in.Keep(map[string][]byte{name: []byte(report)}); err != nil {
			return nil, "", err
		}
	}
	return append(earlier, author.Attempt{Answer: text, Report: report}), "", nil
}

// refused gives up a conversation.
func (q *question) refused(earlier []author.Attempt) error {
	_, problems := q.expect.check([]byte(earlier[len(earlier)-1].Answer))
	return &step.Refusal{
		Class:   "summary-refused",
		Message: fmt.Sprintf("%s, and none passed the check; the last has %s, the first in line %d: %s", counted(len(earlier), "answer"), counted(len(problems), "problem"), problems[0].Line, problems[0].Rule),
		Next:    "the answers and what the check said are artifacts of the run; mend the last one by hand and bring it with --summary, or resume the run to ask anew",
		Open:    step.Failed, Resume: []string{},
	}
}

// output is what is left of the asking.
func (q *question) output(good, by string) (step.Output, error) {
	account := q.account(by)
	out := step.Output{Artifacts: map[string]step.Artifact{}, Facts: account.facts()}
	for name, a := range q.in.Kept {
		out.Artifacts[name] = a
	}
	var err error
	if out.Artifacts[answerName], err = q.in.Put([]byte(good)); err == nil {
		out.Artifacts[accountName], err = put(q.in, account)
	}
	return out, err
}

// Account is who wrote a summary, and what it took.
type Account struct {
	By           string `json:"by"`
	Model        string `json:"model,omitempty"` // what the service calls it
	Asked        int    `json:"asked"`           // times
	InputTokens  int64  `json:"inputTokens,omitempty"`
	OutputTokens int64  `json:"outputTokens,omitempty"`
	Cost         string `json:"cost,omitempty"` // of the last answer, in the service's unit
}

func (q *question) account(by string) Account {
	a := Account{By: by, Asked: q.asked}
	for _, f := range q.facts {
		a.InputTokens, a.OutputTokens = a.InputTokens+f.InputTokens, a.OutputTokens+f.OutputTokens
		a.Model, a.Cost = cmp.Or(f.Model, a.Model), cmp.Or(f.Cost, a.Cost)
	}
	return a
}

// facts are the account as a journal and a receipt have it.
func (a Account) facts() map[string]any {
	facts := map[string]any{"by": a.By, "asked": a.Asked}
	for name, value := range map[string]string{"model": a.Model, "cost": a.Cost} {
		if value != "" {
			facts[name] = value
		}
	}
	if a.InputTokens+a.OutputTokens > 0 {
		facts["inputTokens"], facts["outputTokens"] = a.InputTokens, a.OutputTokens
	}
	return facts
}

// answered is the summary that a step was given.
func answered(in step.Input, name string, e expect) (*modelsummary.Summary, error) {
	text, err := in.Open(in.Artifacts[name+"/"+answerName])
	if err != nil {
		return nil, err
	}
	s, problems := e.check(text)
	if len(problems) > 0 {
		return nil, &step.Refusal{
			Class: "answer-changed", Message: "the answer on record does not pass its check any more: " + problems[0].Rule,
			Next: "run the job anew with another version of precis, or report this",
		}
	}
	return s, nil
}
