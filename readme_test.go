package equivcnp_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmePackages are those that README.md's code may use, readmeValues the variables that it does not declare itself.
var readmePackages = map[string]string{
	"math": "math", "context": "context", "cnp": module + "/cnp", "eval": module + "/cnp/eval", "pretrained": module + "/cnp/pretrained",
	"predict": module + "/cnp/predict",
	"task":    module + "/cnp/task", "weights": module + "/cnp/weights", "neighbor": module + "/neighbor", "simd": module + "/simd",
	"blas": module + "/linalg/blas", "blas64": "gonum.org/v1/gonum/blas/blas64",
	"blas32": "gonum.org/v1/gonum/blas/blas32", "mat": "gonum.org/v1/gonum/mat",
}

const readmeValues = `
var (
	ctx       context.Context
	m         cnp.Model[float32]
	dst       *cnp.Prediction[float32]
	images    *cnp.Images[float32]
	x, points []float32
	a, b, c   *mat.Dense
)
`

// TestReadmeCode compiles every block of Go code in README.md, as the body of a function that returns an error. Variables
// that a block declares need not be used.
func TestReadmeCode(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := strings.Split(string(text), "\n```go\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		code, _, ok := strings.Cut(block, "\n```\n")
		require.True(t, ok, "a block does not end: %s", block)
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() error {\n"+code+"\n}", 0)
		require.NoError(t, err, code)
		used := map[string]bool{"context": true, "cnp": true, "mat": true}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && readmePackages[x.Name] != "" {
					used[x.Name] = true
				}
			case *ast.AssignStmt:
				for _, name := range n.Lhs {
					if x, ok := name.(*ast.Ident); ok && n.Tok == token.DEFINE {
						code += fmt.Sprintf("\n_ = %s", x.Name)
					}
				}
			}
			return true
		})
		source := "package main\n\nimport (\n"
		for _, name := range slices.Sorted(maps.Keys(used)) {
			source += fmt.Sprintf("\t%q\n", readmePackages[name])
		}
		source += ")\n" + readmeValues + "\nfunc main() {}\n\nfunc block() error {\n" + code + "\nreturn nil\n}\n"
		path := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(path, []byte(source), 0o600))
		out, err := exec.Command("go", "vet", path).CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, source)
	}
}
