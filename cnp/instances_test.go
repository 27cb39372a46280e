package cnp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInstances: exported generic functions only call their instances, whose type is theirs, so that programs which use this package
// compile no model of their own.
func TestInstances(t *testing.T) {
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	require.NoError(t, err)
	functions := 0
	for _, file := range packages["cnp"].Files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.TypeParams == nil {
				continue
			}
			functions++
			name := f.Name.Name
			require.Len(t, f.Body.List, 1, name)
			var call *ast.CallExpr
			switch s := f.Body.List[0].(type) {
			case *ast.ReturnStmt:
				call, _ = s.Results[0].(*ast.CallExpr)
			case *ast.ExprStmt:
				call, _ = s.X.(*ast.CallExpr)
			}
			require.NotNil(t, call, name)
			found, ok := call.Fun.(*ast.CallExpr)
			require.True(t, ok, name)
			index, ok := found.Fun.(*ast.IndexExpr)
			require.True(t, ok, name)
			require.Equal(t, "instance", index.X.(*ast.Ident).Name, name)
			require.Equal(t, signature(f.Type), signature(index.Index.(*ast.FuncType)), name)
		}
	}
	require.Greater(t, functions, 30)
	require.Panics(t, func() { instance[func(float32) float64](&instances{clampOf[float32], clampOf[float64]}) })
}

func clampOf[T Float](x T) T { return max(x, 0) }

// signature is the list of the types of a function's parameters and results.
func signature(f *ast.FuncType) (all []string) {
	for _, list := range []*ast.FieldList{f.Params, f.Results} {
		all = append(all, "|")
		if list == nil {
			continue
		}
		for _, field := range list.List {
			all = append(all, slices.Repeat([]string{types.ExprString(field.Type)}, max(1, len(field.Names)))...)
		}
	}
	return all
}
