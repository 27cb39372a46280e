package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestDriftWASM renders the files for WebAssembly again in memory and compares with those in the tree.
func TestDriftWASM(t *testing.T) {
	var want []output
	for _, g := range wasmRegistry {
		f, err := renderWASM(g)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, f)
	}
	checkDrift(t, want, "z*_wasm.go")
}

// TestWASMBody wants errors for bodies that cannot be translated, and parentheses and constants as Go reads them.
func TestWASMBody(t *testing.T) {
	for body, want := range map[string]string{
		"y := x + 2*expC2":       "y := x.Add(archsimd.BroadcastFloat32x4(2 * expC2))\n",
		"y := (x - 1) / (1 + x)": "y := x.Sub(archsimd.BroadcastFloat32x4(1)).Div(archsimd.BroadcastFloat32x4(1).Add(x))\n",
		"y := -x*x":              "y := x.Neg().Mul(x)\n",
		"y := bits(x) - 3":       "y := x.ToBits().BitsToInt32().Sub(archsimd.BroadcastInt32x4(3))\n",
		"y := pick(x > 0, x, 1)": "y := x.IfElse(x.Greater(archsimd.BroadcastFloat32x4(0)), archsimd.BroadcastFloat32x4(1))\n",
		"y := cosh(x)":           "",
		"y := half(x)":           "",
		"y := x % 2":             "",
		"y := x + bits(x)":       "",
		"if x {}":                "",
	} {
		b := wasmBody{wasmF32, map[string]wasmKind{"x": wasmFloat}}
		switch got, err := b.translate(body); {
		case want == "" && err == nil:
			t.Errorf("%s became %s, want an error", body, got)
		case want != "" && (err != nil || got != want):
			t.Errorf("%s became %s (%v), want %s", body, got, err, want)
		}
	}
}

// TestWASMReached wants every kernel for WebAssembly to be called: by a dispatcher, or by another kernel.
func TestWASMReached(t *testing.T) {
	folders := map[string]bool{}
	for _, g := range wasmRegistry {
		folders[filepath.Dir(filepath.Join(simdDir, g.file))] = true
	}
	for dir := range folders {
		files, err := filepath.Glob(filepath.Join(dir, "*_wasm.go"))
		if err != nil {
			t.Fatal(err)
		}
		kernels, called := map[string]bool{}, map[string]bool{}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if strings.HasSuffix(fn.Name.Name, "WASM128") {
					kernels[fn.Name.Name] = true
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if c, ok := n.(*ast.CallExpr); ok {
						if id, ok := c.Fun.(*ast.Ident); ok && id.Name != fn.Name.Name {
							called[id.Name] = true
						}
					}
					return true
				})
			}
		}
		for name := range kernels {
			if !called[name] {
				t.Errorf("%s: nothing calls %s", dir, name)
			}
		}
	}
}
