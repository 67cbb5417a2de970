package compress

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/tokens"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// The text that stands for the folded records: earlier summaries word for word,
// if the job says so, then the new one. A model's summary stands between a few
// words about it and an appendix that no model wrote.
const (
	maxAppendix   = 18000 // characters, of the format
	leastAppendix = 800
	lead          = "# Summary of the older part of this session\n\n"
	appendixHead  = "\n\n# Appendix, made without a model\n\n"
	clipped       = "\n[…]\n"
)

// asksModel tells whether a model, or a person, writes the summary.
func (f *fold) asksModel() bool { return f.job.Mode.Summary == "model" }

// ownRoom is how many characters the deterministic text may have.
func (f *fold) ownRoom() int {
	if f.asksModel() {
		return min(maxAppendix, f.room())
	}
	return f.room()
}

// about says what a model's summary is and how to read it.
func (f *fold) about() string {
	text := "Written by " + f.writer() + " from the records themselves. precis checked that each of its lines names what it rests on: [L…] is the number of a record in the original session file (SHA-256 " + f.session.SHA256()[:16] + "…)"
	if f.texts.handoff() != nil {
		text += ", [H…] of a line of the handoff"
	}
	return lead + text + ".\n\n"
}

func (f *fold) writer() string {
	if f.job.Author.By == "file" {
		return "somebody with the evidence"
	}
	return "a model"
}

// withAppendix is the text of a summary and an appendix, as it goes into the session.
func (f *fold) withAppendix(text, appendix string) string {
	return f.layered(f.about() + strings.TrimSpace(text) + appendixHead + strings.TrimSpace(appendix) + "\n")
}

// proseRoom is how many characters a model's summary may have beside the least of
// an appendix.
func (f *fold) proseRoom(appendix string) int {
	return f.room() - runes(f.about()) - runes(appendixHead) - min(leastAppendix, runes(appendix)) - 1
}

// appendixRoom is how many are left for the appendix of a summary.
func (f *fold) appendixRoom(text string) int {
	return min(maxAppendix, f.room()-runes(f.about())-runes(strings.TrimSpace(text))-runes(appendixHead)-1)
}

// reserve is a stand-in for a summary that is yet to be written: as long as one may
// be, of the density of the deterministic text, but no heavier than what it stands
// for, so that the cut leaves room for it.
func (f *fold) reserve(text string, folded int64) string {
	chars, weight := runes(text), tokens.Text(text)
	room := min(f.room(), max(summary.MinBudget, int(folded)*chars/max(1, weight)))
	return f.layered(clip(strings.Repeat(text, 1+room/max(1, chars)), room))
}

// clip shortens a text to some characters, at the end of a line if there is one.
func clip(text string, room int) string {
	text = strings.TrimSpace(text)
	if runes(text) <= room {
		return text
	}
	cut := []rune(text)[:max(0, room-runes(clipped))]
	if i := strings.LastIndexByte(string(cut), '\n'); i > len(string(cut))/2 {
		return string(cut)[:i] + clipped
	}
	return string(cut) + clipped
}

func runes(text string) int { return utf8.RuneCountInString(text) }

// What became of earlier summaries, as a report says it.
const (
	priorsNotAsked = "not-requested"
	priorsNone     = "requested-no-prior-summaries"
	priorsKept     = "verbatim-preserved"
	priorsFolded   = "fallback-folded"
)

// priors are the earlier summaries of the conversation.
type priors struct {
	read     bool
	count    int
	chars    int
	block    string // of all, word for word
	verbatim bool   // it goes into the new file
	reason   string // why not, though the job asks for it
}

// readPriors reads the earlier summaries and decides whether they are kept word for
// word: one and a half times the budget must hold them and a new summary.
func (f *fold) readPriors() error {
	if f.priors.read {
		return nil
	}
	p := priors{read: true}
	var texts []string
	for _, r := range f.sel.Active {
		text, err := f.priorText(r)
		if err != nil {
			return err
		}
		if text != "" {
			texts = append(texts, fmt.Sprintf("## Record L%d\n\n%s\n\n", r+1, text))
			p.count++
			p.chars += runes(text)
		}
	}
	if p.count > 0 {
		p.block = "# Earlier summaries, word for word\n\nTheir numbers are those of the files that they were made from.\n\n" + strings.Join(texts, "") + "# What followed\n\n"
	}
	left := f.expanded() - runes(p.block)
	if p.verbatim = f.keepsPriors() && p.count > 0 && left >= summary.MinBudget; !p.verbatim && f.keepsPriors() && p.count > 0 {
		p.reason = fmt.Sprintf("they have %d characters; one and a half times budgets.summaryChars is %d, and %d are to be left for what followed", p.chars, f.expanded(), summary.MinBudget)
	}
	f.priors = p
	return nil
}

func (f *fold) keepsPriors() bool { return f.job.Mode.PriorSummaries == "verbatim" }

// expanded is the budget with earlier summaries in it.
func (f *fold) expanded() int { return f.job.Budgets.SummaryChars * 3 / 2 }

// room is how many characters the new summary may have.
func (f *fold) room() int {
	if f.priors.verbatim {
		return min(f.job.Budgets.SummaryChars, f.expanded()-runes(f.priors.block))
	}
	return f.job.Budgets.SummaryChars
}

// layered puts the earlier summaries in front.
func (f *fold) layered(text string) string {
	if f.priors.verbatim {
		return f.priors.block + text
	}
	return text
}

// policy is what became of the earlier summaries.
func (p *priors) policy(asked bool) string {
	switch {
	case !asked:
		return priorsNotAsked
	case p.count == 0:
		return priorsNone
	case p.verbatim:
		return priorsKept
	}
	return priorsFolded
}

// priorText is an earlier summary, "" for another record.
func (f *fold) priorText(r int) (string, error) {
	rec := &f.session.Records[r]
	if !rec.Has(transcript.CompactMark) {
		return "", nil
	}
	line, err := f.session.Record(r)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(evidence.Semantic(rec, line)), nil
}
