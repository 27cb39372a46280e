// Package equivcnp_test holds what is true of the repository as a whole: which rooms import which, and that the code in
// README.md compiles.
package equivcnp_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/equivcnp/equivcnp"

// rooms are the top-level folders in the order of the stack: a room imports only what stands before it. Packages under
// internal have no place of their own: each stands below its lowest user.
var rooms = []string{"asm", "simd", "linalg", "group", "neighbor", "layers", "cnp", "bench", "fuzz", "cmd", "beam", "examples"}

// ownModules are folders with a go.mod of their own. Nothing imports them, and they import nothing; beam, which is one, too, imports rooms.
var ownModules = []string{"asm"} // and cnp/serve/tools, which is within a room and imports none

// imports are what the packages of a node import: a node is a room, or one package under internal.
type imports struct{ code, tests map[string]bool }

// readImports reads the imports of every Go file, whatever platform or tag it is for, and returns them by node.
func readImports(t *testing.T) map[string]imports {
	t.Helper()
	nodes := map[string]imports{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != "." && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return fs.SkipDir
		}
		dir := path.Dir(filepath.ToSlash(file))
		if d.IsDir() || dir == "." || !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		node := nodeOf(dir)
		if nodes[node].code == nil {
			nodes[node] = imports{map[string]bool{}, map[string]bool{}}
		}
		set := nodes[node].code
		if strings.HasSuffix(name, "_test.go") {
			set = nodes[node].tests
		}
		for _, spec := range parsed.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rest, ours := strings.CutPrefix(p, module+"/"); ours && nodeOf(rest) != node {
				set[nodeOf(rest)] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return nodes
}

// nodeOf returns the node of a package, given its folder: internal/cpu for internal/cpu, linalg for linalg/internal/kernels.
func nodeOf(dir string) string {
	parts := strings.Split(dir, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// TestNoArrowUpwards holds code and tests to the order of the rooms.
func TestNoArrowUpwards(t *testing.T) {
	nodes := readImports(t)
	require.Contains(t, nodes, "simd", "the test runs in the repository's root")
	for node, use := range nodes {
		if slices.Contains(ownModules, node) {
			require.Empty(t, use.code, "%s is a module of its own", node)
		}
		for other := range use.code {
			require.NotContains(t, ownModules, other, "%s imports %s, a module of its own", node, other)
			require.NotEqual(t, "internal/testkit", other, "%s: internal/testkit is for tests only", node)
		}
		if !strings.HasPrefix(node, "internal/") {
			require.Contains(t, rooms, node, "a new room: give it a place in rooms and in ARCHITECTURE.md")
		}
	}

	// lowest[n] is the place of the lowest room that uses n, directly or through packages under internal. Rooms use themselves.
	lowest := map[string]int{}
	for i, room := range rooms {
		var visit func(node string)
		visit = func(node string) {
			if _, seen := lowest[node]; seen {
				return
			}
			lowest[node] = i
			for _, set := range []map[string]bool{nodes[node].code, nodes[node].tests} {
				for other := range set {
					if strings.HasPrefix(other, "internal/") {
						visit(other)
					}
				}
			}
		}
		visit(room)
	}
	for node, use := range nodes {
		place, used := lowest[node]
		if !used {
			t.Errorf("%s: nobody uses it", node)
			continue
		}
		for _, set := range []map[string]bool{use.code, use.tests} {
			for other := range set {
				if at := slices.Index(rooms, other); at >= place {
					t.Errorf("%s imports %s, but stands at or below %s: the arrow points upwards", node, other, rooms[place])
				}
			}
		}
	}
}

// TestPictureOfImports compares ARCHITECTURE.md with the code. Rooms that consist of tests show what those import.
func TestPictureOfImports(t *testing.T) {
	var want []string
	nodes := readImports(t)
	for node, use := range nodes {
		set := use.code
		if node == "fuzz" {
			set = use.tests
		}
		var list []string
		for other := range set {
			list = append(list, other)
		}
		slices.Sort(list)
		want = append(want, strings.Join(append([]string{node + ":"}, list...), " "))
	}
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "\n```imports\n")
	require.True(t, ok, "ARCHITECTURE.md has a block ```imports")
	block, _, ok := strings.Cut(rest, "\n```\n")
	require.True(t, ok, "the block ends")
	var got []string
	for line := range strings.Lines(block) {
		fields := strings.Fields(line)
		slices.Sort(fields[min(1, len(fields)):])
		got = append(got, strings.Join(fields, " "))
	}
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "ARCHITECTURE.md's block of imports differs from the code")
}

// TestBackendDependencies keeps the rooms that other programs import as a backend free of other people's code: the standard
// library, two packages that ask the CPU what it can do, and nothing else; but for linalg/blas, which is written for gonum.
func TestBackendDependencies(t *testing.T) {
	backend := []string{"./simd/...", "./linalg", "./linalg/batch", "./group/...", "./neighbor/...", "./layers/..."}
	allowed := []string{module, "golang.org/x/sys", "github.com/klauspost/cpuid/v2"}
	checkDependencies(t, backend, allowed, "layers")
	// linalg/blas implements gonum's interfaces, and is the only one that knows them. It needs none of gonum beside them.
	checkDependencies(t, []string{"./linalg/blas"}, append(allowed, "gonum.org/v1/gonum/blas", "gonum.org/v1/gonum/internal"),
		"linalg/blas")
}

func checkDependencies(t *testing.T, packages, allowed []string, some string) {
	t.Helper()
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64", "js/wasm"} {
		goos, goarch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)...)
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		require.NoError(t, err, "%s: %v", platform, stderr(err))
		deps := strings.Fields(string(out))
		require.Contains(t, deps, module+"/"+some)
		for _, dep := range deps {
			require.True(t, slices.ContainsFunc(allowed, func(a string) bool { return dep == a || strings.HasPrefix(dep, a+"/") }),
				"%s: %v depends on %s", platform, packages, dep)
		}
	}
}

// TestMatrixKernelsApart: who builds a model, or imports a group, does not assemble the kernels of linalg/batch, which
// are two fifths of all assembly.
func TestMatrixKernelsApart(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/equivcnp", "./cnp/...", "./group").Output()
	require.NoError(t, err, stderr(err))
	require.NotContains(t, strings.Fields(string(out)), module+"/linalg/batch")
}

// TestServerApart: who builds a model gets nothing of what the server needs; only programs import it.
func TestServerApart(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./simd", "./linalg",
		"./neighbor", "./group",
		"./layers", "./cnp", "./cnp/weights", "./cnp/pretrained", "./cnp/task", "./cnp/taskfile", "./cnp/train", "./cnp/eval",
		"./cnp/serve/client").Output()
	require.NoError(t, err, stderr(err))
	for _, dep := range strings.Fields(string(out)) {
		for _, part := range []string{"connectrpc.com", "google.golang.org", "prometheus", "parquet", "klauspost/compress"} {
			require.NotContains(t, dep, part)
		}
		require.NotEqual(t, module+"/cnp/serve", dep)
	}
}

// stderr is what a failed command wrote there.
func stderr(err error) string {
	if e, ok := err.(*exec.ExitError); ok {
		return string(e.Stderr)
	}
	return fmt.Sprint(err)
}
