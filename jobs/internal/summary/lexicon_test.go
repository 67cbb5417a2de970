package summary

import (
	"regexp"
	"strings"
	"testing"
)

func TestCues(t *testing.T) {
	l := newLexicon()
	tests := []struct {
		text string
		want cue
	}{
		{"We decided to use SQLite", decides},
		{"Never push to main", obliges},
		{"Use a file instead of a database", replaces},
		{"the build crashes", fails},
		{"This is not done", leavesOpen},
		{"It fails because the port is taken", explains},
		{"Don’t touch it", obliges},
		{"Wir haben uns für SQLite entschieden", decides},
		{"Bitte nicht pushen", obliges},
		{"das ist noch nicht fertig", leavesOpen},
		{"Nous avons décidé de garder SQLite", decides},
		{"Il ne faut pas toucher la base", obliges},
		{"usamos un archivo en lugar de una base", replaces},
		{"nunca borres la tabla", obliges},
		{"o teste falhou", fails},
		{"nunca apague a tabela", obliges},
		{"abbiamo deciso di usare SQLite", decides},
		{"non toccare il database", obliges},
		{"Мы решили использовать SQLite", decides},
		{"никогда не трогай базу", obliges},
		{"我们决定使用数据库", decides},
		{"不要修改配置文件", obliges},
		{"設定を変更しないでください", obliges},
		{"テストが失敗しました", fails},
		{"이 파일은 절대 수정하지 마세요", obliges},
		{"빌드가 실패했습니다", fails},
		{"قررنا استخدام قاعدة البيانات", decides},
		{"لا تستخدم هذا الملف", obliges},
		{"हमने तय किया है", decides},
		{"इसे कभी नहीं बदलना", obliges},
	}
	for _, tt := range tests {
		if got := l.cues(tt.text); got&tt.want == 0 {
			t.Errorf("cues(%q) = %b, want %b in it", tt.text, got, tt.want)
		}
	}
	for _, text := range []string{"", "The knowledge of nothing", "forevermore", "ein Haus", "今日は天気"} {
		if got := l.cues(text); got != 0 {
			t.Errorf("cues(%q) = %b, want none", text, got)
		}
	}
}

func TestOpens(t *testing.T) {
	l := newLexicon()
	for _, text := range []string{"no, not that one", "Nein, so nicht.", "non, pas ça", "нет, не так", "不是这个", "いいえ、違います", "لا، ليس هكذا", "नहीं, ऐसे नहीं"} {
		if l.read(text).opens&denies == 0 {
			t.Errorf("%q does not open with a denial", text)
		}
	}
	for _, text := range []string{"nobody knows", "yes, no problem", "novel idea"} {
		if l.read(text).opens&denies != 0 {
			t.Errorf("%q opens with a denial", text)
		}
	}
}

// TestEveryTermIsFound: no term is lost to the shapes, which most words are
// turned down by.
func TestEveryTermIsFound(t *testing.T) {
	l := newLexicon()
	for name, content := range termTexts() {
		if name == "terms/commands.txt" {
			continue
		}
		for line := range strings.Lines(content) {
			class, list, _ := strings.Cut(strings.TrimSpace(line), " = ")
			for term := range strings.SplitSeq(list, " | ") {
				term, stem := strings.CutSuffix(term, "*")
				if stem {
					term += "xyz"
				}
				for _, text := range []string{term, "(" + strings.ToUpper(term) + ")", "1 " + term + ", 2"} {
					if l.cues(text)&cueNames[class] == 0 {
						t.Errorf("%s: %q is not found in %q as %s", name, term, text, class)
					}
				}
			}
		}
	}
}

func TestTermsDigest(t *testing.T) {
	if d := TermsDigest(); !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(d) || d != TermsDigest() {
		t.Errorf("TermsDigest() = %q", d)
	}
}
