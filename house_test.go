package equivcnp_test

import (
	"bufio"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A knot is a set of files of a package each of which uses, directly or through others, what every other one declares:
// whoever wants to understand one of them must read all. knots are the sizes of the largest one that a package may
// have, where that is more than leastKnot. They are those of today, and only fall.
var knots = map[string]int{"cnp/serve": 10}

const leastKnot = 6

// sourceOf is a package as it is compiled here.
type sourceOf struct {
	path, dir, export string
	files             []string
}

// packagesOf lists packages and all that they import.
func packagesOf(t *testing.T, patterns ...string) (own []sourceOf, export map[string]string) {
	t.Helper()
	export = map[string]string{}
	args := append([]string{"list", "-export", "-deps", "-f",
		`{{.ImportPath}}|{{.Dir}}|{{.Export}}|{{.DepOnly}}|{{join .GoFiles ","}}`}, patterns...)
	out, err := exec.Command("go", args...).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		export[f[0]] = f[2]
		if f[3] == "false" && f[4] != "" {
			own = append(own, sourceOf{f[0], f[1], f[2], strings.Split(f[4], ",")})
		}
	}
	return own, export
}

// check parses the package and finds out what its names mean.
func (s *sourceOf) check(t *testing.T, export map[string]string) (fset *token.FileSet, files []*ast.File, info *types.Info,
	pkg *types.Package) {
	t.Helper()
	fset, info = token.NewFileSet(), &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	for _, name := range s.files {
		f, err := parser.ParseFile(fset, filepath.Join(s.dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(export[path]) }
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	pkg, err := config.Check(s.path, fset, files, info)
	require.NoError(t, err)
	return fset, files, info, pkg
}

// uses are, for each file, the others that declare what it uses.
func uses(fset *token.FileSet, files []*ast.File, info *types.Info, pkg *types.Package) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range files {
		all[filepath.Base(fset.Position(f.Package).Filename)] = map[string]bool{}
	}
	for id, obj := range info.Uses {
		if obj.Pkg() != pkg || !obj.Pos().IsValid() {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(obj.Pos()).Filename)
		if from != to && all[to] != nil {
			all[from][to] = true
		}
	}
	return all
}

// largestKnot returns the largest strongly connected part of a graph.
func largestKnot(graph map[string]map[string]bool) (largest []string) {
	reach := func(from string) map[string]bool {
		seen, open := map[string]bool{}, []string{from}
		for len(open) > 0 {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			for next := range graph[at] {
				if !seen[next] {
					seen[next] = true
					open = append(open, next)
				}
			}
		}
		return seen
	}
	all := map[string]map[string]bool{}
	for f := range graph {
		all[f] = reach(f)
	}
	for f := range graph {
		knot := []string{f}
		for g := range graph {
			if g != f && all[f][g] && all[g][f] {
				knot = append(knot, g)
			}
		}
		if len(knot) > len(largest) {
			largest = knot
		}
	}
	slices.Sort(largest)
	return largest
}

// TestKnots: the files of a package do not depend on each other more than they do today. It compiles what it measures,
// so that it runs where it is asked for: `make house`.
func TestKnots(t *testing.T) {
	if os.Getenv("EQUIVCNP_HOUSE") == "" {
		t.Skip("skipped: type-checking every package takes minutes; make house runs it")
	}
	own, export := packagesOf(t, "./cnp/...", "./layers/...", "./neighbor/internal/posetable")
	for _, s := range own {
		name := strings.TrimPrefix(s.path, module+"/")
		knot := largestKnot(uses(s.check(t, export)))
		t.Logf("%-32s %3d files, %3d in the largest knot", name, len(s.files), len(knot))
		if most := max(leastKnot, knots[name]); len(knot) > most {
			t.Errorf("%s: %d files depend on each other, need at most %d: %s", name, len(knot), most, strings.Join(knot, " "))
		}
	}
}

// house counts what makes code harder to read.
type house struct {
	questions, forks, buried, long, wide, lines, generated, assembly int
	program, longProgram                                             int // lines and long functions of cmd/equivcnp, without tests
	exported                                                         map[string]int
}

var (
	typeQuestion   = regexp.MustCompile(`\.\(\*cnp\.|case \*cnp\.`)
	likelihoodFork = regexp.MustCompile(`\.(L|l)ikelihood [!=]= nil`)
	buriedList     = regexp.MustCompile(`(?m)^//\t+ *- [A-Z]\w*: `) // gofmt takes a list right behind a formula for a part of it
)

// count adds a file.
func (h *house) count(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(b)
	made := strings.HasPrefix(filepath.Base(file), "z") || strings.Contains(text[:min(len(text), 400)], "Code generated")
	n := strings.Count(text, "\n")
	switch {
	case strings.HasSuffix(file, ".s"):
		h.assembly += n
		return
	case made:
		h.generated += n
		return
	}
	h.lines += n
	scan := bufio.NewScanner(strings.NewReader(text))
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		if utf8.RuneCountInString(strings.ReplaceAll(scan.Text(), "\t", "    ")) > 140 {
			h.wide++
		}
	}
	if strings.HasSuffix(file, "_test.go") {
		return
	}
	if filepath.ToSlash(filepath.Dir(file)) != "cnp" {
		h.questions += len(typeQuestion.FindAllString(text, -1))
	}
	h.forks += len(likelihoodFork.FindAllString(text, -1))
	h.buried += len(buriedList.FindAllString(text, -1))
	program := filepath.ToSlash(filepath.Dir(file)) == "cmd/equivcnp"
	if program {
		h.program += n
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	dir := filepath.ToSlash(filepath.Dir(file))
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if fset.Position(d.End()).Line-fset.Position(d.Pos()).Line+1 > 80 {
				h.long++
				if program {
					h.longProgram++
				}
			}
			if d.Name.IsExported() && d.Recv == nil && parsed.Name.Name != "main" {
				h.exported[dir]++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						h.exported[dir]++
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							h.exported[dir]++
						}
					}
				}
			}
		}
	}
}

// TestHouse counts, for `make house`, and holds to 0 what is 0: questions outside cnp for the type of a model, places that
// ask whether there is a likelihood, and lists that godoc shows as code.
func TestHouse(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go", "*.s").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	h := house{exported: map[string]int{}}
	for file := range strings.Lines(string(out)) {
		if file = strings.TrimSpace(file); !strings.Contains(file, "testdata/") {
			if _, err := os.Stat(file); err == nil {
				h.count(t, file)
			}
		}
	}
	t.Logf("questions for a model's type outside cnp: %d", h.questions)
	t.Logf("forks on a likelihood that is nil: %d", h.forks)
	t.Logf("functions over 80 lines: %d", h.long)
	t.Logf("lines over 140 columns: %d", h.wide)
	t.Logf("lines of Go by hand: %d, generated: %d, of assembly: %d", h.lines, h.generated, h.assembly)
	for _, dir := range slices.Sorted(maps.Keys(h.exported)) {
		t.Logf("exported names of %-28s %d", dir+":", h.exported[dir])
	}
	t.Logf("lines of the program: %d, functions over 80 lines in it: %d", h.program, h.longProgram)
	require.LessOrEqual(t, h.program, mostProgram, "lines of cmd/equivcnp without tests: what is worth importing goes to a package")
	require.Zero(t, h.longProgram, "functions of cmd/equivcnp over 80 lines")
	require.Zero(t, h.questions)
	require.Zero(t, h.forks)
	require.Zero(t, h.buried, "lists in doc comments that stand in a code block")
	if os.Getenv("EQUIVCNP_HOUSE") != "" { // make house, which CI runs
		require.LessOrEqual(t, h.long, mostLong, "functions over 80 lines")
		require.LessOrEqual(t, h.wide, mostWide, "lines over 140 columns")
	}
}

// mostLong and mostWide bound the functions over 80 lines and the lines over 140 columns. They are the counts of today, and
// only fall.
const mostLong, mostWide = 25, 0

// mostProgram bounds the lines of cmd/equivcnp without tests: a command parses flags, calls one function, prints.
const mostProgram = 6000
