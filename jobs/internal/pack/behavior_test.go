package pack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
)

// What the instructions name is what the format demands.
func TestBehavior(t *testing.T) {
	for _, s := range []string{
		modelsummary.Unknown, modelsummary.CoverageHeading, fmt.Sprint(modelsummary.MinChars, " characters"),
		fmt.Sprint(modelsummary.MinSupport, " characters"), `- L42 support_text_json="words of that record" disposition=covered`,
	} {
		if !strings.Contains(behavior, "`"+s+"`") && !strings.Contains(behavior, " "+s+" ") {
			t.Errorf("%q is not in the instructions", s)
		}
	}
}

// What the instructions say of a line is what becomes of it: the rule that it
// breaks, or none.
func TestBehaviorIsTrue(t *testing.T) {
	const current = "## Current State\n\n"
	r := request(3)
	r.Binding.Handoff = []byte("one")
	earlier := userWith(`"isCompactSummary":true,`, `"The port is 8080. [L77]"`)
	p := mustBuild(t, open(t, []byte(strings.Join([]string{user(`"Hi."`), answer(`{"type":"text","text":"Yes."}`), earlier}, "\n"))), r)
	text, err := mechanical.Write(p.Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ says, lines, rule string }{
		{"Every line but the headings cites", "- It works.", modelsummary.LineUncited},
		{"L with the number of a record shown here", "- It works. [L4]", modelsummary.AnchorRange},
		{"or H with that of a handoff line", "- It works. [H2]", modelsummary.AnchorRange},
		{"as [L12] or [L3, H1]", "- It works. [L2]\n- It did. [L3, H1]", ""},
		{"a range cites its two ends only", "- It works. [L1-L3]", ""},
		{"Do not wrap lines", "- It works\n  and did. [L2]", modelsummary.LineUncited},
		{"so does each row of a table", "| What | How |\n|---|---|\n| it | well [L1] |\n| that | so |", modelsummary.LineUncited},
		{"so does each row of a table", "| What | How |\n|---|---|\n| it | well [L1] |", ""},
		{"Fenced code needs a line with one right before or after it", "```\nls\n```\n" + modelsummary.Unknown, modelsummary.CodeUncited},
		{"Fenced code needs a line with one right before or after it", "- Run [L1]:\n```\nls\n```\n", ""},
		{"are not those of this pack", "- The port is 8080. [L77]", modelsummary.AnchorRange},
		{"cite the L number of that summary instead", "- The port is 8080. [L3]", ""},
		{"no other HTML comment", "- It works. [L1] <!-- so -->", modelsummary.Comment},
		{"no headings but the required ones", "### More", modelsummary.HeadingExtra},
		{"Do not speak of yourself or of what you cannot see", "- As an AI model I cannot say. [L1]", modelsummary.NoAccess},
		{"Do not speak of yourself or of what you cannot see", "- We have no access to the transcript. [L1]", modelsummary.NoAccess},
	} {
		changed := strings.Replace(string(text), current, current+tt.lines+"\n", 1)
		_, problems := modelsummary.Check([]byte(changed), p.Expect())
		wrong := slices.ContainsFunc(problems, func(p modelsummary.Problem) bool { return p.Rule != tt.rule })
		if !strings.Contains(behavior, tt.says) || wrong || (len(problems) > 0) != (tt.rule != "") {
			t.Errorf("%s: %q gives %v", tt.says, tt.lines, problems)
		}
	}
}
