package summary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// said are sentences of a made-up session. About one in six holds something
// worth a place on a shelf; %d makes them differ.
var said = []string{
	"The handler reads the header first and then hands the body to the parser of part %d.",
	"I want to look at how the queue drains when the worker %d stops early.",
	"That would explain the numbers, but the log of run %d says something else.",
	"There are three callers, and each of them passes its own buffer.",
	"We decided to use the cache `lru%d` instead of the plain map.",
	"The root cause is a race in `store%d.go`, because the lock is taken too late and the test fails.",
	"Let me check the configuration before I touch anything else.",
	"The second half of the file only formats the report for page %d.",
	"Nothing in the interface changes, so the other packages can stay as they are.",
	"It could also be the encoder; its buffer has %d bytes, which is plenty.",
	"The migration of table %d is not done yet and needs a decision.",
	"Every reader takes a snapshot, so a slow one does not hold up the writers.",
}

var asks = []string{
	"Please look at the importer, part %d drops rows again.",
	"Never change the schema of table %d.",
	"Now write the tests for step %d and run them.",
	"Use the small buffer rather than the large one in step %d.",
}

var outputLines = []string{
	"\tif err := f.flush(); err != nil {",
	"2025-03-02T10:11:12Z level=info msg=\"checkpoint written\" bytes=18432",
	"\t\treturn nil, fmt.Errorf(\"get %q: %w\", key, err)",
	"func (s *Store) Get(key string) ([]byte, error) {",
	"ok  \texample.org/store/internal/index\t0.412s",
	"    index_test.go:44: 12 rows",
}

// writer makes up text of a given length.
type writer struct{ random *rand.Rand }

func (w writer) text(lines []string, size int, join string) string {
	var b strings.Builder
	for b.Len() < size {
		line := lines[w.random.IntN(len(lines))]
		if strings.Contains(line, "%d") {
			line = fmt.Sprintf(line, w.random.IntN(100000))
		}
		b.WriteString(line + join)
	}
	return b.String()
}

// longSession is a session in the proportions of real ones: for every request
// four rounds of reasoning, a few words, a call and its result.
func longSession(turns int) []Entry {
	w := writer{rand.New(rand.NewPCG(1, 2))}
	var out []Entry
	add := func(e Entry) {
		e.N, e.Time = len(out)+1, fmt.Sprintf("2025-03-02T%02d:%02d:00.000Z", len(out)/60%24, len(out)%60)
		out = append(out, e)
	}
	for turn := range turns {
		add(Entry{Kind: Prompt, Text: w.text(asks, 160, " ")})
		for round := range 4 {
			id := fmt.Sprint(turn, "-", round)
			add(Entry{Kind: Thinking, Text: w.text(said, 450, " ")})
			if round == 2 {
				add(Entry{Kind: Answer, Text: w.text(said, 200, " ")})
			}
			add(toolCall(id, round, w.random.IntN(400)))
			add(Entry{Kind: Result, ToolID: id, Text: w.text(outputLines, 1800, "\n"), IsError: w.random.IntN(20) == 0})
		}
		add(Entry{Kind: Answer, Text: w.text(said, 350, " ") + "\n\n- " + w.text(said, 350, "\n- ")})
	}
	return out
}

func toolCall(id string, round, k int) Entry {
	e := Entry{Kind: Call, ToolID: id, Tool: "Read", Input: []Field{{Name: "file_path", Value: fmt.Sprintf("/home/ann/store/part%d.go", k)}}}
	switch round {
	case 1:
		e.Tool = "Edit"
		e.Input = append(e.Input, Field{Name: "old_string", Value: strings.Join(outputLines, "\n")}, Field{Name: "new_string", Value: strings.Join(outputLines, "\n")})
	case 2:
		e.Tool, e.Input = "Bash", []Field{{Name: "command", Value: fmt.Sprintf("grep -rn handler%d . | head", k)}}
	case 3:
		e.Tool, e.Input = "Bash", []Field{{Name: "command", Value: fmt.Sprintf("cd store && go test ./part%d/... 2>&1 | tail -40", k%50)}}
	}
	return e
}

// BenchmarkAdd tells the speed over all text, and over that of people and models
// alone, which is what costs.
func BenchmarkAdd(b *testing.B) {
	entries := longSession(600)
	all, spoken := 0, 0
	for _, e := range entries {
		all += len(e.Text)
		if e.Kind != Result {
			spoken += len(e.Text)
		}
		for _, f := range e.Input {
			all += len(f.Value)
		}
	}
	b.SetBytes(int64(all))
	b.ReportAllocs()
	for b.Loop() {
		build(60000, entries)
	}
	b.ReportMetric(float64(spoken)*float64(b.N)/1e6/b.Elapsed().Seconds(), "spoken-MB/s")
}

// BenchmarkText writes the largest summary there is: every section wants more
// room than it gets.
func BenchmarkText(b *testing.B) {
	s := build(60000, longSession(2000))
	b.ReportAllocs()
	for b.Loop() {
		s.Text(facts)
	}
}
