package summary

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// filesSection lists what was changed, then what was only read.
func (b *Builder) filesSection(f Facts) func(room int) string {
	changed, read := shelf{}, shelf{}
	for i, p := range b.files.changed() {
		changed.items = append(changed.items, item{seq: i, n: p.at, weight: p.weight(f.Cwd), text: short(p.path, f.Cwd) + " " + p.told()})
	}
	for i, p := range b.files.read() {
		read.items = append(read.items, item{seq: i, n: p.readAt, weight: 2 + min(p.reads, 20), text: strings.Trim(short(p.path, f.Cwd), "`")})
	}
	return func(room int) string {
		return compose([]section{
			{"", 70, func(room int) string { return drawItems(changed, room) }},
			{"", 30, func(room int) string { return drawRead(read, room) }},
		}, room, "")
	}
}

// drawRead lists paths by folder.
func drawRead(s shelf, room int) string {
	return fit(s, room, func(kept []item, lost span) string {
		var folders []string
		names := map[string][]string{}
		for _, it := range kept {
			at := strings.LastIndexAny(it.text, `/\`) + 1
			folder := it.text[:at]
			if names[folder] == nil {
				folders = append(folders, folder)
			}
			names[folder] = append(names[folder], it.text[at:]+" "+anchor(it.n, it.n))
		}
		slices.Sort(folders)
		var lines []string
		for _, folder := range folders {
			lines = append(lines, "read `"+cmp.Or(folder, "./")+"`: "+strings.Join(names[folder], ", "))
		}
		return bullet(lines) + leftOut(lost)
	})
}

// drawChecks lists commits, then every other command with a class, each
// with how it went.
func (b *Builder) drawChecks(room int) string {
	checks := shelf{}
	newest := b.checks.newest()
	for i, d := range b.checks.runs.sorted() {
		if newest[d.value.class] == d && d.value.class != "land" {
			continue // told among the last checks
		}
		weight := map[string]int{"test": 4, "build": 3, "land": 4, "lint": 2}[d.value.class]
		line := ticked(safe(d.key)) + ": " + d.value.told()
		checks.items = append(checks.items, item{seq: i, n: d.value.n, weight: weight * min(d.value.ok+d.value.bad, 5), text: line})
	}
	commits := b.commits
	commits.items = slices.Clone(commits.items)
	for i := range commits.items {
		commits.items[i].text = "commit: " + commits.items[i].text
	}
	return compose([]section{
		{"", 60, func(room int) string { return drawItems(commits, room) }},
		{"", 40, func(room int) string { return drawItems(checks, room) }},
	}, room, "")
}

// faultItems lists the failures of a kind, in the order of their last time.
func (b *Builder) faultItems(of func(fault) bool) shelf {
	s := shelf{}
	for i, d := range b.faults.sorted() {
		v := d.value
		if !of(v) {
			continue
		}
		text := ticked(safe(v.what)) + ": " + v.detail
		if v.times > 1 {
			text += ", " + strconv.Itoa(v.times) + " times from " + anchor(v.first, v.first)
		}
		if v.cured > 0 {
			text += "; worked later " + anchor(v.cured, v.cured)
		}
		s.items = append(s.items, item{seq: i, n: v.last, weight: 2 + min(v.times, 8), text: text})
	}
	return s
}

// drawFaults lists failures that were overcome or are past, and trouble of
// the service.
func (b *Builder) drawFaults(room int) string {
	s := b.faultItems(func(v fault) bool { return !b.pressing(v) })
	note := ""
	if b.trouble.count > 0 {
		note = "- API or client trouble: " + plural(b.trouble.count, "record") + " " + b.trouble.cite() + "\n"
	}
	if runes(note) > room {
		return ""
	}
	return drawItems(s, room-runes(note)) + note
}
