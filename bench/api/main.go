// Command api writes down what the public packages export, so that a review sees every change of a public name.
//
//	go run ./bench/api            # compares with api/*.txt, fails if they differ
//	go run ./bench/api -update    # writes them anew
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packages are those that others build on.
var packages = []string{"simd", "linalg", "linalg/batch", "group", "neighbor", "layers", "layers/pyramid", "cnp"}

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write the lists instead of comparing with them")
	flag.Parse()
	failed := false
	for _, dir := range packages {
		text, err := exported(dir)
		if err != nil {
			log.Fatalf("api: %v", err)
		}
		file := filepath.Join("api", dir+".txt")
		if *update {
			if err := write(file, text); err != nil {
				log.Fatalf("api: %v", err)
			}
			continue
		}
		old, err := os.ReadFile(file)
		if err != nil {
			log.Fatalf("api: %v", err)
		}
		if changes := diff(string(old), text); len(changes) > 0 {
			failed = true
			fmt.Printf("%s has changed:\n%s\n", dir, strings.Join(changes, "\n"))
		}
	}
	if failed {
		log.Fatal("api: if that is intended, run make api-update")
	}
}

// exported lists the exported declarations of the package in a folder, on this machine, without their comments.
func exported(dir string) (string, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return "", err
	}
	var decls []string
	fset := token.NewFileSet()
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		ast.FileExports(f)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if fn.Recv != nil && !receiverExported(fn.Recv.List[0].Type) {
					continue
				}
				fn.Body = nil
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			var b bytes.Buffer
			if err := printer.Fprint(&b, fset, d); err != nil {
				return "", err
			}
			decls = append(decls, withoutEmptyLines(b.String()))
		}
	}
	slices.Sort(decls)
	return strings.Join(decls, "\n") + "\n", nil
}

func withoutEmptyLines(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines, "\n")
}

// receiverExported reports whether a method belongs to an exported type.
func receiverExported(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiverExported(t.X)
	case *ast.IndexExpr:
		return receiverExported(t.X)
	case *ast.IndexListExpr:
		return receiverExported(t.X)
	case *ast.Ident:
		return t.IsExported()
	}
	return false
}

// diff returns the lines that only one of the texts has.
func diff(old, now string) []string {
	was, is := strings.Split(old, "\n"), strings.Split(now, "\n")
	var changes []string
	for _, l := range was {
		if !slices.Contains(is, l) {
			changes = append(changes, "-"+l)
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			changes = append(changes, "+"+l)
		}
	}
	if len(changes) == 0 && old != now {
		changes = append(changes, " the same lines in another order")
	}
	return changes
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
