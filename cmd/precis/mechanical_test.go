package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mechanical is an author without a model, as a program: it reads a pack on
// standard input, with what may stand before and behind it, and writes a summary
// that passes its check. Its flags make it an author of another kind.
func mechanical() {
	var (
		log     = flag.String("log", "", "append a line to this `FILE` for each asking")
		sleep   = flag.Duration("sleep", 0, "wait before writing")
		unless  = flag.String("unless", "", "behave as the other flags say only where this `FILE` is not")
		only    = flag.String("only", "", "behave as the other flags say only where the prompt has this `TEXT`")
		fail    = flag.Int("fail", 0, "end with this status")
		silent  = flag.Bool("silent", false, "write nothing")
		babble  = flag.Bool("babble", false, "write something that is no summary")
		learn   = flag.Bool("learn", false, "write something that is no summary, until the checker has spoken")
		forever = flag.Bool("forever", false, "write without end")
	)
	flag.Parse()
	prompt, err := io.ReadAll(os.Stdin)
	exitOn(err)
	if *log != "" {
		exitOn(appendLine(*log, "asked"))
	}
	told := strings.Contains(string(prompt), "\n# What the checker says\n")
	if _, err := os.Stat(*unless); *unless != "" && err == nil || !strings.Contains(string(prompt), *only) {
		*fail, *silent, *babble, *learn, *forever = 0, false, false, false, false
	}
	time.Sleep(*sleep)
	switch {
	case *fail != 0:
		fmt.Fprintln(os.Stderr, "the words of an author that fails")
		os.Exit(*fail)
	case *silent:
		return
	case *forever:
		for err == nil {
			_, err = os.Stdout.WriteString(strings.Repeat("on and on. ", 1000))
		}
		return
	case *babble, *learn && !told:
		fmt.Println("I would rather talk about the weather.")
		return
	}
	text, err := writeSummary(string(prompt))
	exitOn(err)
	_, err = os.Stdout.WriteString(text)
	exitOn(err)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mechanical:", err)
		os.Exit(70)
	}
}

func appendLine(name, line string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Close())
}

// writeSummary writes the summary that a pack asks for: the comment, every heading,
// each required anchor, and an excerpt of each record that wants one.
func writeSummary(prompt string) (string, error) {
	_, pack, found := strings.Cut(prompt, "\n## Required Output Metadata\n")
	_, comment, marked := strings.Cut(pack, "<!--")
	comment, _, closed := strings.Cut(comment, "-->")
	if !found || !marked || !closed {
		return "", errors.New("no pack on standard input")
	}
	anchors, claims := required(pack)
	if len(anchors) == 0 {
		return "", errors.New("the pack shows nothing to cite")
	}
	var b strings.Builder
	b.WriteString("<!--" + comment + "-->\n\n")
	headings, _, _ := strings.Cut(section(pack, "## Required Final Summary Shape"), "\n## Required ")
	for line := range strings.Lines(headings) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "### "):
			b.WriteString(line + "\n\n" + strings.Join(claims, "\n") + "\n\n")
		case strings.HasPrefix(line, "## "):
			cited := anchors[:1]
			if strings.HasPrefix(line, "## Evidence") {
				cited = anchors
			}
			b.WriteString(line + "\n\n- What this section is about stands there [" + strings.Join(cited, ", ") + "]\n\n")
		case strings.HasPrefix(line, "# "):
			b.WriteString(line + "\n\n")
		}
	}
	return b.String(), nil
}

// section is what follows a heading.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, "\n"+heading+"\n")
	return rest
}

// required are the anchors that a pack wants cited, or some of those that it
// shows, and the coverage lines that it wants.
func required(pack string) (anchors, claims []string) {
	place, wants := "", map[string]bool{}
	texts := map[string]string{}
	for line := range strings.SplitSeq(pack, "\n") {
		item, isItem := strings.CutPrefix(line, "- ")
		anchor, rest, _ := strings.Cut(item, " ")
		switch {
		case strings.HasPrefix(line, "## "), strings.HasPrefix(line, "# "):
			place = strings.TrimLeft(line, "# ")
		case !isItem:
		case place == "Required Anchor Coverage", place == "Required Handoff Anchor Coverage":
			if _, anchor, found := strings.Cut(item, "`: "); found {
				anchors = append(anchors, anchor)
			}
		case place == "Required Claim Support" && isAnchor(item):
			wants[item] = true
		case place == "Evidence Records" && isAnchor(anchor):
			if len(anchors) < 8 {
				anchors = append(anchors, anchor)
			}
			if _, quoted, found := strings.Cut(rest, "full_text_json="); found {
				texts[anchor] = quoted
			}
		}
	}
	for anchor := range wants {
		claims = append(claims, "- "+anchor+" support_text_json="+excerpt(texts[anchor])+" disposition=covered")
	}
	slices.Sort(anchors)
	slices.Sort(claims)
	return slices.Compact(anchors), claims
}

func isAnchor(word string) bool {
	if word == "" || word[0] != 'L' && word[0] != 'H' {
		return false
	}
	_, err := strconv.ParseUint(word[1:], 10, 32)
	return err == nil
}

// excerpt is the beginning of a quoted text, quoted.
func excerpt(quoted string) string {
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return quoted
	}
	r := []rune(strings.TrimSpace(text))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(string(r[:min(len(r), 60)]))
	return strings.TrimSpace(b.String())
}
