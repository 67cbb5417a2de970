package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// plan prints a block for each item, a table of many, and of more still how many
// have the same reason.
func (p *page) plan(items []engine.PlannedItem, quiet bool) {
	counts := map[step.Status]int{}
	for _, i := range items {
		counts[i.Status]++
		if len(items) <= manyItems && !(quiet && i.Status == step.UpToDate) {
			p.planItem(i)
		}
	}
	switch {
	case len(items) > tableItems:
		p.planGroups(items, quiet)
	case len(items) > manyItems:
		p.planTable(items, quiet)
	}
	if len(items) > manyItems {
		p.planRefused(items)
	}
	if !quiet {
		p.text(tally(counts))
	}
}

// planRefused prints the first of many items that would be refused.
func (p *page) planRefused(items []engine.PlannedItem) {
	blocks := 0
	for _, i := range items {
		if i.Class != "" && blocks < attention {
			p.planItem(i)
			blocks++
		}
	}
}

func (p *page) planItem(i engine.PlannedItem) {
	p.title(p.near(i.Session), string(i.Status))
	if i.Class != "" {
		p.row("reason", i.Class+": "+joined(i.Message))
	}
	if i.Next != "" {
		p.row("next", i.Next)
	}
	if i.Same != "" {
		p.row("done by", "run "+i.Same)
	}
	if fresh(i.Steps) {
		p.row("reason", notBefore)
	} else {
		p.planSteps(i.Steps)
	}
	p.blank()
}

const notBefore = "not done before"

// fresh tells whether there is no earlier run to compare with.
func fresh(steps []engine.PlannedStep) bool {
	return len(steps) > 0 && steps[0].Reason != nil && steps[0].Reason.Component == engine.NoRecord
}

// planSteps says why steps would be done; those that would be because of them are
// only named.
func (p *page) planSteps(steps []engine.PlannedStep) {
	var then []string
	for _, s := range steps {
		switch {
		case s.Status != step.WouldRun:
		case follows(s, steps):
			then = append(then, s.Step)
		default:
			p.row(s.Step, p.why(s.Reason))
		}
	}
	if len(then) > 0 {
		p.row("then", strings.Join(then, ", "))
	}
}

// follows tells whether a step would be done because one before it would.
func follows(s engine.PlannedStep, steps []engine.PlannedStep) bool {
	input, ok := strings.CutPrefix(s.Reason.Component, "inputs.")
	need, _, _ := strings.Cut(input, "/")
	return ok && slices.ContainsFunc(steps, func(o engine.PlannedStep) bool { return o.Step == need })
}

// why says what is different, in words where there are some.
func (p *page) why(d *plan.Difference) string {
	part, name, _ := strings.Cut(d.Component, ".")
	if part == "published" || part == "artifacts" {
		return p.missing(part, name, d)
	}
	if part == engine.NoRecord {
		return notBefore
	}
	return strings.TrimSuffix(subject(part, name)+": "+brief(d.Old)+" → "+brief(d.New), ": ")
}

// texts are what parameters that are digests stand for.
var texts = map[string]string{
	"terms":        "the word lists were changed",
	"template":     "what a pack asks for was changed",
	"instructions": "what authors are told was changed",
}

// subject is what a component is called among people.
func subject(part, name string) string {
	switch {
	case part == "params" && texts[name] != "":
		return texts[name]
	case part == "params" && name != "":
		return name
	case part == "inputs" && name == "source":
		return "the session was changed"
	case part == "inputs" && name != "":
		return name + " was changed"
	case part == "version":
		return "this precis does the step otherwise, version"
	}
	return strings.TrimSuffix(part+"."+name, ".")
}

// missing says what became of something that an earlier run left.
func (p *page) missing(part, name string, d *plan.Difference) string {
	if part == "artifacts" {
		return "the record no longer has the " + name + " of the earlier run: " + d.New
	}
	if strings.HasPrefix(d.New, "(") {
		return p.near(name) + " is " + strings.Trim(d.New, "()")
	}
	return p.near(name) + " was changed: " + brief(d.Old) + " → " + brief(d.New)
}

// brief is the beginning of a digest, which nobody compares by eye; other values
// stay as they are.
func brief(value string) string {
	const prefix, digits = "sha256:", 12
	if isDigest(value) {
		return value[len(prefix):][:digits]
	}
	if quotedDigest.MatchString(value) {
		return value[1:][:digits]
	}
	return value
}

// quotedDigest is a digest among parameters.
var quotedDigest = regexp.MustCompile(`^"[0-9a-f]{64}"$`)

func isDigest(value string) bool {
	return len(value) == len("sha256:")+64 && strings.HasPrefix(value, "sha256:")
}

// firstStep is the step at which an item begins, and why; of digests, which are
// each item's own, only when they are wanted.
func (p *page) firstStep(i engine.PlannedItem, digests bool) (name, why string) {
	for _, s := range i.Steps {
		if s.Status != step.WouldRun {
			continue
		}
		why = p.why(s.Reason)
		if !digests && isDigest(s.Reason.Old) {
			why, _, _ = strings.Cut(why, ": ")
		}
		return s.Step, why
	}
	return "", i.Class
}

// planTable is a row for each item.
func (p *page) planTable(items []engine.PlannedItem, quiet bool) {
	var rows [][]string
	for _, i := range items {
		name, why := p.firstStep(i, true)
		if !quiet || i.Status != step.UpToDate {
			rows = append(rows, []string{filepath.Base(i.Session), string(i.Status), name, why})
		}
	}
	if len(rows) > 0 {
		p.table(0, []column{{head: "session", stretch: true}, {head: "status"}, {head: "from step"}, {head: "why", stretch: true}}, rows)
		p.blank()
	}
}

// planGroups counts the items that have the same fate for the same reason.
func (p *page) planGroups(items []engine.PlannedItem, quiet bool) {
	var order [][3]string
	groups := map[[3]string]int{}
	for _, i := range items {
		name, why := p.firstStep(i, false)
		key := [3]string{string(i.Status), name, why}
		if groups[key] == 0 {
			order = append(order, key)
		}
		groups[key]++
	}
	var rows [][]string
	for _, key := range order {
		if !quiet || key[0] != string(step.UpToDate) {
			rows = append(rows, []string{count(groups[key]), key[0], key[1], key[2]})
		}
	}
	if len(rows) > attention {
		rest := len(rows) - attention
		rows = append(rows[:attention], []string{"", "", "", "and " + counted(rest, "reason more", "reasons more") + "; --json has all"})
	}
	if len(rows) > 0 {
		p.table(0, []column{{head: "sessions", right: true}, {head: "status"}, {head: "from step"}, {head: "why", stretch: true}}, rows)
		p.blank()
	}
}
