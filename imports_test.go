package precis_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/precis-dev/precis"

// An importRule bans direct imports. Patterns are import paths; "./x" is in
// this module, "/..." includes what is below. Direct imports suffice: every
// package of the module is held to the rules, so no ban can be passed through
// another layer.
type importRule struct {
	from   []string
	to     []string
	except []string // packages of from that may
	reason string
}

// pure packages turn bytes into bytes. One that needs a new neighbour adds it
// here, and so holds it to the same rules.
var pure = []string{
	"./jobs/internal/agents", "./jobs/internal/pairing", "./jobs/internal/patch",
	"./jobs/internal/jsonspan", "./jobs/internal/transcript", "./jobs/internal/topology", "./jobs/internal/topology/client",
	"./jobs/internal/partition", "./jobs/internal/tokens", "./jobs/internal/summary",
	"./jobs/internal/compose", "./jobs/internal/verify", "./jobs/internal/evidence",
	"./jobs/internal/finding", "./jobs/internal/modelsummary", "./jobs/internal/pack",
}

var importRules = []importRule{
	{from: []string{"./schemas/..."}, to: []string{"./spec/...", "./engine/...", "./jobs/...", "./cmd/...", "./fsys/..."},
		reason: "schemas are data, published for programs that have none of the rest"},
	{from: []string{"./spec/..."}, to: []string{"./engine/...", "./jobs/...", "./cmd/..."},
		reason: "a job is checked before anything exists that could run it"},
	{from: []string{"./engine/..."}, to: []string{"./jobs/...", "./cmd/..."},
		reason: "the engine runs any kind; one that it knew could not be added or removed by Register alone"},
	{from: []string{"./jobs/..."}, to: []string{"./cmd/..."},
		reason: "jobs run without a command line"},
	{from: []string{"./fsys/..."}, to: []string{"./schemas/...", "./spec/...", "./engine/...", "./jobs/...", "./cmd/..."},
		reason: "the filesystem is below everything: what it guarantees must hold for any caller"},
	{from: []string{"./..."}, except: []string{"./jobs/..."}, to: []string{"./jobs/internal/..."},
		reason: "transcripts are the jobs' affair; others see items, steps and findings"},
	{from: []string{"./..."}, to: []string{"./jobs/internal/sessiontest", "./jobs/internal/clienttest", "./jobs/internal/modelsummary/mechanical"},
		reason: "test support has no place in the program"},
	{from: pure, to: []string{"os/...", "log/...", "math/rand/...", "crypto/rand", "github.com/hashicorp/go-hclog/...", "github.com/spf13/afero/..."},
		reason: "the domain is a function of its input: the same bytes on every machine, testable without one"},
	{from: pure, to: siblings(), reason: "a pure package rests on pure packages only"},
}

// siblings is everything in jobs/internal that is not pure.
func siblings() []string {
	patterns := []string{"./jobs/internal/..."}
	for _, p := range pure {
		patterns = append(patterns, "!"+p)
	}
	return patterns
}

func TestImports(t *testing.T) {
	imports, err := listImports()
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) == 0 {
		t.Fatal("go list found no package")
	}
	for _, v := range bannedImports(imports, importRules) {
		t.Error(v)
	}
}

// listImports maps every package of the module to what it imports, tests left
// out.
func listImports() (map[string][]string, error) {
	out, err := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go list: %w: %s", err, exit.Stderr)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		imports[f[0]] = f[1:]
	}
	return imports, err
}

func bannedImports(imports map[string][]string, rules []importRule) []string {
	var violations []string
	for from, list := range imports {
		for _, to := range list {
			for _, r := range rules {
				if matches(from, r.from...) && !matches(from, r.except...) && matches(to, r.to...) {
					violations = append(violations, fmt.Sprintf("%s imports %s: %s", from, to, r.reason))
				}
			}
		}
	}
	slices.Sort(violations)
	return violations
}

// matches reports whether an import path fits one of the patterns and none of
// those with a "!".
func matches(importPath string, patterns ...string) bool {
	fits := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		if rest, ok := strings.CutPrefix(p, "./"); ok {
			p = module + "/" + rest
		}
		root, tree := strings.CutSuffix(p, "/...")
		if importPath == root || tree && strings.HasPrefix(importPath, root+"/") {
			if not {
				return false
			}
			fits = true
		}
	}
	return fits
}

func TestBannedImportsFindsPlanted(t *testing.T) {
	tests := []struct {
		from, to string
		banned   bool
	}{
		{"./schemas", "./spec", true},
		{"./schemas", "embed", false},
		{"./spec", "./engine/step", true},
		{"./spec", "./schemas", false},
		{"./spec", "./fsys", false},
		{"./engine/local", "./jobs", true},
		{"./engine", "./jobs/compress", true},
		{"./engine/step", "./spec", false},
		{"./engine", "os/signal", false},
		{"./jobs/compress", "./cmd/precis", true},
		{"./jobs/compress", "./engine/step", false},
		{"./jobs/compress", "./jobs/internal/verify", false},
		{"./jobs", "./jobs/internal/sessiontest", true},
		{"./jobs/compress", "./jobs/internal/modelsummary/mechanical", true},
		{"./fsys/publish", "./engine/step", true},
		{"./fsys/publish", "./fsys", false},
		{"./fsys", "./spec", true},
		{"./cmd/precis", "./jobs/internal/transcript", true},
		{"./cmd/precis", "./jobs", false},
		{"./engine/enginetest", "./jobs/internal/finding", true},
		{"./jobs/internal/tokens", "os", true},
		{"./jobs/internal/tokens", "os/exec", true},
		{"./jobs/internal/tokens", "log/slog", true},
		{"./jobs/internal/tokens", "math/rand/v2", true},
		{"./jobs/internal/tokens", "crypto/rand", true},
		{"./jobs/internal/tokens", "github.com/spf13/afero", true},
		{"./jobs/internal/tokens", "github.com/hashicorp/go-hclog", true},
		{"./jobs/internal/tokens", "time", false},
		{"./jobs/internal/tokens", "math", false},
		{"./jobs/internal/tokens", "./jobs/internal/sessions", true},
		{"./jobs/internal/tokens", "./jobs/internal/transcript", false},
		{"./jobs/internal/sessions", "./jobs/internal/transcript", false},
	}
	full := func(p string) string { return strings.Replace(p, "./", module+"/", 1) }
	for _, test := range tests {
		got := bannedImports(map[string][]string{full(test.from): {full(test.to)}}, importRules)
		if (len(got) > 0) != test.banned {
			t.Errorf("%s -> %s: found %q, banned is %t", test.from, test.to, got, test.banned)
		}
	}
}

// A sourceRule keeps an import, or some names of it, to a few files. Unlike an
// importRule it is held over the source of every platform.
type sourceRule struct {
	path    string
	names   []string // empty: the import itself
	allowed []string // files, or folders with a slash at the end
	reason  string
}

// world is where the outside is let in.
var world = []string{"fsys/", "cmd/", "engine/env.go"}

// drivers start the real client, which has files, processes and a clock of its
// own; only tests use them.
var drivers = append([]string{"jobs/internal/clienttest/"}, world...)

// generators may draw random numbers: they are seeded and only tests use them.
var generators = append([]string{"jobs/internal/sessiontest/"}, world...)

var sourceRules = []sourceRule{
	{"os", nil, drivers, "files and environment come in through fsys and Env, where tests can replace them"},
	{"time", []string{"Now", "Since", "Until"}, drivers, "a clock that tests cannot set makes runs that cannot be replayed"},
	{"math/rand", nil, generators, "output is a function of the input"},
	{"math/rand/v2", nil, generators, "output is a function of the input"},
	{"crypto/rand", nil, world, "output is a function of the input"},
	{"github.com/google/uuid", []string{"New", "NewString", "NewRandom", "NewRandomFromReader", "NewUUID", "NewV6", "NewV7"}, world,
		"ids are derived (NewSHA1) or come from Env"},
}

func TestSources(t *testing.T) {
	root := os.DirFS(".")
	files := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name()[0] == '.' || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir(), path.Ext(name) != ".go", strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, v := range bannedSource(t, name, source, sourceRules) {
			t.Error(v)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d source files read: %v", files, err)
	}
}

func bannedSource(t *testing.T, name string, source []byte, rules []sourceRule) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("unreadable source: %v", err)
		return nil
	}
	var violations []string
	report := func(at token.Pos, what, reason string) {
		violations = append(violations, fmt.Sprintf("%s: %s: %s", set.Position(at), what, reason))
	}
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		for _, r := range rules {
			switch {
			case r.path != importPath || allowed(name, r.allowed):
			case len(r.names) == 0 || spec.Name != nil && spec.Name.Name == ".":
				report(spec.Pos(), "import of "+r.path, r.reason)
			default:
				eachUse(file, localName(spec, importPath), r.names, func(s *ast.SelectorExpr) {
					report(s.Pos(), "use of "+r.path+"."+s.Sel.Name, r.reason)
				})
			}
		}
	}
	return violations
}

func allowed(name string, places []string) bool {
	return slices.ContainsFunc(places, func(p string) bool {
		return name == p || strings.HasSuffix(p, "/") && strings.HasPrefix(name, p)
	})
}

func localName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath)
}

// eachUse visits every mention of pkg.name, called or not.
func eachUse(file *ast.File, pkg string, names []string, visit func(*ast.SelectorExpr)) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := s.X.(*ast.Ident); ok && id.Name == pkg && slices.Contains(names, s.Sel.Name) {
			visit(s)
		}
		return true
	})
}

func TestBannedSourceFindsPlanted(t *testing.T) {
	tests := []struct {
		file, imports, body string
		want                int
	}{
		{"spec/job.go", `"os"`, "_ = os.Args", 1},
		{"fsys/osfs/open.go", `"os"`, "_ = os.Args", 0},
		{"engine/env.go", `"os"`, "_ = os.Args", 0},
		{"engine/environ.go", `"os"`, "_ = os.Args", 1},
		{"cmd/precis/main.go", `"time"`, "_ = time.Now()", 0},
		{"engine/run.go", `"time"`, "_ = time.Now()", 1},
		{"engine/run.go", `clock "time"`, "_ = clock.Now", 1},
		{"engine/run.go", `. "time"`, "_ = Now()", 1},
		{"engine/run.go", `"time"`, "_, _ = time.Parse(time.RFC3339, time.Unix(0, 0).String())", 0},
		{"jobs/store/seal.go", `"time"`, "_, _ = time.Since(x), time.Until(x)", 2},
		{"jobs/compress/ids.go", `"github.com/google/uuid"`, "_ = uuid.NewSHA1(uuid.Nil, nil)", 0},
		{"jobs/compress/ids.go", `"github.com/google/uuid"`, "_, _ = uuid.New(), uuid.Must(uuid.NewV7())", 2},
		{"jobs/compress/pick.go", `"math/rand/v2"`, "_ = rand.Int()", 1},
		{"jobs/internal/sessiontest/generate.go", `"math/rand/v2"`, "_ = rand.Int()", 0},
		{"jobs/internal/sessiontest/generate.go", `"os"`, "_ = os.Args", 1},
		{"engine/retry.go", `"crypto/rand"`, "_ = rand.Text()", 1},
	}
	for _, test := range tests {
		source := "package p\nimport " + test.imports + "\nfunc f() { " + test.body + " }\n"
		if got := bannedSource(t, test.file, []byte(source), sourceRules); len(got) != test.want {
			t.Errorf("%s with %s: found %q, want %d", test.file, test.body, got, test.want)
		}
	}
}
