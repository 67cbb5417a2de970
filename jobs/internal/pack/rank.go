package pack

import (
	"strings"
	"unicode/utf8"
)

// kind tells why a record must be shown; 0 for optional evidence.
type kind uint8

const (
	human kind = 1 << iota
	assistant
	prior
)

// class is a label of evidence; a record may have several.
type class uint8

const (
	humanUser class = 1 << iota
	humanConstraint
	assistantSemantic
	assistantResearch
	sourceTool
	priorSummary
	sourceWarning
	systemError
)

var classNames = [...]string{
	"human-user", "human-constraint", "assistant-semantic", "assistant-research",
	"source-tool", "prior-summary", "source-text-warning", "system-error",
}

func (c class) String() string {
	var names []string
	for i, name := range classNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "general"
	}
	return strings.Join(names, ",")
}

// Ranks. Mandatory evidence stands above all optional evidence, so that a group
// is covered by a text that is shown anyway, where there is one. Among optional
// records the person's words come first, then what failed, then rules, then the
// topics in their order, then what names a file; what has none of these is left
// out.
const (
	rankHuman     = 400
	rankPrior     = 300
	rankResearch  = 200
	rankAssistant = 100

	rankSpoken = 50
	rankFailed = 24
	rankRules  = 16
	rankTopic  = 12 // less 2 for each topic before it
	rankPath   = 2
)

// rankTold is the weight of what a text is about, below rankSpoken.
func rankTold(told cues) int {
	rank := 0
	if told&aboutRules != 0 {
		rank = rankRules
	}
	if i, ok := told.topic(); ok {
		rank += max(rankPath, rankTopic-2*i)
	}
	return rank
}

// mandatoryRank labels and ranks what must be shown.
func mandatoryRank(k kind, told cues, text string) (class, int) {
	var c class
	rank := 0
	if k&assistant != 0 {
		c, rank = assistantSemantic, rankAssistant
		if _, about := told.topic(); about || told&aboutRules != 0 || structured(text) {
			c, rank = c|assistantResearch, rankResearch
		}
	}
	if k&prior != 0 {
		c, rank = c|priorSummary, max(rank, rankPrior)
	}
	if k&human != 0 {
		c, rank = c|humanUser, rankHuman
		if told&aboutRules != 0 {
			c |= humanConstraint
		}
	}
	return c, rank + rankTold(told)
}

// optionalRank is 0 for what is not worth a line.
func optionalRank(c class, failed bool, told cues, path bool) int {
	rank := rankTold(told)
	if c&humanUser != 0 {
		rank += rankSpoken
	}
	if failed {
		rank += rankFailed
	}
	if path {
		rank += rankPath
	}
	return rank
}

// Sizes from which a text in any language is taken for reasoning.
const (
	reasonedChars = 180
	reasonedMarks = 2
)

// structured reports a text of some length in sentences or paragraphs.
func structured(text string) bool {
	if len(text) < reasonedChars || utf8.RuneCountInString(text) < reasonedChars {
		return false
	}
	marks := 0
	for _, mark := range [...]string{". ", ".\n", "! ", "? ", "。", "！", "？", "।", "؟", "\n"} {
		if marks += strings.Count(text, mark); marks >= reasonedMarks {
			return true
		}
	}
	return false
}
