package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "It works. It is fast! Is it? Yes.", []string{"It works.", "It is fast!", "Is it?", "Yes."}},
		{"version", "Use go 1.2.3 here. Then stop.", []string{"Use go 1.2.3 here.", "Then stop."}},
		{"file name", "Edit main.go first. See cmd/x.go. Done.", []string{"Edit main.go first.", "See cmd/x.go.", "Done."}},
		{"address", "See https://a.example/x.html?a=1. It helps.", []string{"See https://a.example/x.html?a=1.", "It helps."}},
		{"address in cjk", "参考https://a.example/x.html?b=c。完成。", []string{"参考https://a.example/x.html?b=c。", "完成。"}},
		{"code span", "Run `a. B! C?` now. Then go.", []string{"Run `a. B! C?` now.", "Then go."}},
		{"brackets", "Keep it (e.g. A. Or B.) as is. Good.", []string{"Keep it (e.g. A. Or B.) as is.", "Good."}},
		{"abbreviation", "We met Dr. Who, i.e. Him. He left.", []string{"We met Dr. Who, i.e. Him.", "He left."}},
		{"initial", "Ask J. Doe. Now.", []string{"Ask J. Doe.", "Now."}},
		{"german ordinal", "Am 3. Mai geht es los. Danach z. B. Pause.", []string{"Am 3. Mai geht es los.", "Danach z. B. Pause."}},
		{"lower case goes on", "It took 3 sec. and then. some", []string{"It took 3 sec. and then. some"}},
		{"ellipsis", "Well... it depends. Hm… Maybe.", []string{"Well... it depends.", "Hm…", "Maybe."}},
		{"quotation", "He said “Stop. Now!” and left. Bye.", []string{"He said “Stop. Now!” and left.", "Bye."}},
		{"quotation ends", "He said “Stop.” Then he left.", []string{"He said “Stop.”", "Then he left."}},
		{"bold", "**Done.** Next one.", []string{"**Done.**", "Next one."}},
		{"numbered lead", "**1. The parser is slow** and old.", []string{"**1. The parser is slow** and old."}},
		{"french", "Ça marche ! Vraiment ? Oui.", []string{"Ça marche !", "Vraiment ?", "Oui."}},
		{"spanish", "¿Funciona? ¡Sí! Bien.", []string{"¿Funciona?", "¡Sí!", "Bien."}},
		{"russian", "Работает. См. рис. 2 и т.д. Готово!", []string{"Работает.", "См. рис. 2 и т.д. Готово!"}},
		{"chinese", "先做这个。版本1.2.3可以吗？好！", []string{"先做这个。", "版本1.2.3可以吗？", "好！"}},
		{"japanese", "「はい。」と言った。次へ進む。", []string{"「はい。」", "と言った。", "次へ進む。"}},
		{"korean", "끝났습니다. 다음은 무엇입니까? 좋아요.", []string{"끝났습니다.", "다음은 무엇입니까?", "좋아요."}},
		{"arabic", "هل يعمل؟ نعم. انتهى.", []string{"هل يعمل؟", "نعم.", "انتهى."}},
		{"hindi", "यह चलता है। क्या यह ठीक है? हाँ।", []string{"यह चलता है।", "क्या यह ठीक है?", "हाँ।"}},
		{"wrapped line", "This is a line that was wrapped somewhere in the\nmiddle of it. Next.", []string{"This is a line that was wrapped somewhere in the middle of it.", "Next."}},
		{"own lines", "fix the parser\nRun the tests", []string{"fix the parser", "Run the tests"}},
		{"comma goes on", "first this,\nThen that", []string{"first this, Then that"}},
		{"cjk lines", "第一行\n第二行", []string{"第一行", "第二行"}},
		{"blank", " \n ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, sentences(tt.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSentencesThai(t *testing.T) {
	first := "ระบบนี้ทำงานได้ดีมากและเราจะใช้มันต่อไปในโครงการถัดไป"
	second := "แต่ต้องแก้ไขข้อผิดพลาดในส่วนของการเข้าสู่ระบบก่อนวันศุกร์หน้า"
	if d := cmp.Diff([]string{first, second}, sentences(first+" "+second)); d != "" {
		t.Error(d)
	}
}

func TestBlocks(t *testing.T) {
	text := "# Head\nfirst line\nsecond line\n\n- item one\n  goes on\n  - inner\n1. number\n| a | b |\n|---|---|\n| 1 | 2 |\n**Bold head**\n\n```go\n# no head\n- no item\n```\nend"
	want := []block{
		{heading, "Head", "# ", 0},
		{paragraph, "first line\nsecond line", "", 0},
		{listItem, "item one\ngoes on", "- ", 0},
		{listItem, "inner", "- ", 2},
		{listItem, "number", "1. ", 0},
		{row, "| a | b |", "", 0},
		{row, "| 1 | 2 |", "", 0},
		{heading, "**Bold head**", "", 0},
		{code, "# no head\n- no item", "", 0},
		{paragraph, "end", "", 0},
	}
	if d := cmp.Diff(want, blocks(text), cmp.AllowUnexported(block{})); d != "" {
		t.Error(d)
	}
}

func TestReduce(t *testing.T) {
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"one two three four five", 16, "one two […]"},
		{"keep this clause, but not this one", 28, "keep this clause […]"},
		{"只保留这一部分内容，其余的可以去掉不要", 16, "只保留这一部分内容 […]"},
	}
	for _, tt := range tests {
		if got := reduce(tt.text, tt.limit); got != tt.want || runes(got) > tt.limit {
			t.Errorf("reduce(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}
