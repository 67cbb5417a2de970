package sessiontest

import (
	"io"
	"math"
	"math/rand/v2"
	"time"
)

// Stats says what [Generate] wrote.
type Stats struct {
	Bytes     int64
	Records   int // lines
	Turns     int // on the chain; abandoned ones are not counted
	Rewinds   int // abandoned branches of one or two turns
	Chain     int // records from the root to the final pointer's leaf
	SessionID string
	Leaf      string // uuid the final pointer names
}

// How a generated session is made up. Sizes are medians in bytes of a
// log-normal distribution, rates are per turn or per step.
const (
	promptSize   = 160
	thinkingSize = 450
	resultSize   = 1800
	answerSize   = 700
	minSteps     = 3
	maxSteps     = 9
	pointerEvery = 5 // turns

	rewindRate   = 0.06
	thinkingRate = 0.75
	sayRate      = 0.4
	hookRate     = 0.25
	submitRate   = 0.3
	durationRate = 0.5
	queueRate    = 0.15

	flushSize = 256 << 10
)

// Generate writes a valid session of at least size bytes; it stops at the end
// of the turn that reaches it. Turns are a prompt with its file history, tool
// steps (thinking, text and call as fragments of one message, then the result)
// and an answer; some are rewound and left behind as branches; a pointer
// stands after every fifth turn and at the end. The memory used does not
// depend on size. The same size and seed give the same bytes.
func Generate(w io.Writer, size int64, seed uint64) (Stats, error) {
	g := newGenerator(w, seed)
	g.row(`{"type":"mode","mode":"normal"`)
	g.row(`{"type":"permission-mode","permissionMode":"default"`)
	for g.written() < size && g.err == nil {
		g.rewind()
		g.turn()
		g.stats.Turns++
		if g.stats.Turns == 1 {
			g.row(`{"type":"ai-title","aiTitle":"Synthetic session"`)
		}
		if g.stats.Turns%pointerEvery == 0 {
			g.pointer()
		}
	}
	g.pointer()
	g.flush()
	g.stats.Bytes, g.stats.Leaf = g.done, g.leaf
	return g.stats, g.err
}

// generator is a session being written. Leaf and stats.Chain are the state of
// the current branch.
type generator struct {
	writer
	rng   *rand.Rand
	words vocabulary
	clock time.Duration
	leaf  string
	body  []byte // the tool output of the current step, JSON escaped
	stats Stats
}

func newGenerator(w io.Writer, seed uint64) *generator {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0))}
	g.w = w
	g.words = newVocabulary(g.rng)
	g.stats.SessionID = g.id()
	return g
}

// rewind now and then leaves a branch of one or two turns behind.
func (g *generator) rewind() {
	if g.stats.Turns == 0 || !g.chance(rewindRate) {
		return
	}
	leaf, chain := g.leaf, g.stats.Chain
	for range 1 + g.rng.IntN(2) {
		g.turn()
	}
	g.leaf, g.stats.Chain = leaf, chain
	g.stats.Rewinds++
}

func (g *generator) turn() {
	prompt := g.prompt()
	if g.chance(submitRate) {
		g.hook("UserPromptSubmit", "")
	}
	for range minSteps + g.rng.IntN(maxSteps-minSteps+1) {
		g.step(prompt)
	}
	g.answer()
	if g.chance(durationRate) {
		g.begin(`"type":"system","subtype":"turn_duration","isMeta":false,"durationMs":`)
		g.num(2000 + g.rng.IntN(398000))
		g.end()
	}
	if g.chance(queueRate) {
		g.str(`{"type":"queue-operation","operation":"enqueue","timestamp":"`, g.stamp(), `","content":"`)
		g.prose(1)
		g.row(`"`)
	}
	if len(g.buf) >= flushSize {
		g.flush()
	}
}

// step is one tool call: up to three fragments of one message, the result, and
// sometimes the row of a hook that ran after it.
func (g *generator) step(prompt string) {
	msg := g.label("msg_01")
	if g.chance(thinkingRate) {
		g.fragment(msg)
		g.str(`"thinking","thinking":"`)
		g.prose(g.lengthOf(thinkingSize, 0.7, 9000))
		g.str(`","signature":"Er`)
		g.letters(320)
		g.endFragment(`"`, "null")
	}
	if g.chance(sayRate) {
		g.fragment(msg)
		g.str(`"text","text":"`)
		g.prose(g.lengthOf(140, 0.7, 2500))
		g.endFragment(`"`, "null")
	}
	tool := g.label("toolu_01")
	g.call(msg, tool, prompt)
	if g.chance(hookRate) {
		g.hook("PostToolUse", tool)
	}
}

func (g *generator) answer() {
	g.fragment(g.label("msg_01"))
	g.str(`"text","text":"`)
	g.prose(g.lengthOf(answerSize, 0.6, 5000))
	g.endFragment(`"`, `"end_turn"`)
}

func (g *generator) chance(rate float64) bool { return g.rng.Float64() < rate }

// lengthOf draws a size around a median, between 40 and limit.
func (g *generator) lengthOf(median, sigma, limit float64) int {
	return int(min(limit, max(40, median*math.Exp(sigma*g.rng.NormFloat64()))))
}
