// Command api writes down what the public packages export, so that a review sees every change of a public name.
//
//	go run ./bench/api            # compares the core packages with api/*.txt, fails if they differ
//	go run ./bench/api -all       # compares every public package; refuses exported types of internal packages
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
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// core are the packages that most other code builds on. They are checked by default, all public ones with -all.
var core = []string{"simd", "linalg", "linalg/batch", "group", "neighbor", "layers", "layers/pyramid", "cnp"}

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write the lists instead of comparing with them")
	all := flag.Bool("all", false, "check every public package, and that no exported name has a type of an internal package")
	flag.Parse()
	packages := core
	if *all || *update {
		var err error
		if packages, err = public("."); err != nil {
			log.Fatalf("api: %v", err)
		}
	}
	failed := false
	for _, dir := range packages {
		names, err := read(dir)
		if err != nil {
			log.Fatalf("api: %v", err)
		}
		if *all && len(names.internal) > 0 {
			failed = true
			fmt.Printf("%s: exported names with types of internal packages: %s\n", dir, strings.Join(names.internal, ", "))
		}
		if bad, err := compare(dir, names.text, *update); err != nil {
			log.Fatalf("api: %v", err)
		} else if bad {
			failed = true
		}
	}
	if failed {
		log.Fatal("api: if that is intended, run make api-update")
	}
}

// compare compares the names of a package with its list, or writes the list. It prints the differences and reports whether
// there are any.
func compare(dir, text string, update bool) (differ bool, err error) {
	file := filepath.Join("api", dir+".txt")
	if update {
		return false, write(file, text)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	changes := diff(string(old), text)
	if len(changes) > 0 {
		fmt.Printf("%s has changed:\n%s\n", dir, strings.Join(changes, "\n"))
	}
	return len(changes) > 0, nil
}

// public returns the folders of the packages that other modules can import.
func public(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if path != root && (strings.ContainsAny(d.Name()[:1], "._") || slices.Contains(private, d.Name())) {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
			return fs.SkipDir
		}
		if p, err := build.ImportDir(path, 0); err == nil && p.Name != "main" && path != root {
			dirs = append(dirs, filepath.ToSlash(path))
		}
		return nil
	})
	return dirs, err
}

// private are the names of folders without public packages.
var private = []string{"internal", "testdata", "cmd", "bench", "fuzz", "examples", "asm", "docs", "deploy", "api"}

// exports are the exported declarations of a package.
type exports struct {
	text     string
	internal []string // names whose types are of internal packages
}

// read lists the exported declarations of the package in a folder, on this machine, without their comments.
func read(dir string) (*exports, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	out := &exports{}
	var decls []string
	fset := token.NewFileSet()
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.FileExports(f)
		hidden := internals(f)
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
			out.internal = append(out.internal, namesInternal(d, hidden)...)
			var b bytes.Buffer
			if err := printer.Fprint(&b, fset, d); err != nil {
				return nil, err
			}
			decls = append(decls, withoutEmptyLines(b.String()))
		}
	}
	slices.Sort(decls)
	slices.Sort(out.internal)
	out.text = strings.Join(decls, "\n") + "\n"
	return out, nil
}

// internals returns the names by which a file knows internal packages.
func internals(f *ast.File) (names []string) {
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if !strings.Contains(path, "/internal/") {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names = append(names, name)
	}
	return names
}

// namesInternal returns the names of a declaration whose types are of the hidden packages. An alias of such a type does not
// count: it makes the type public.
func namesInternal(d ast.Decl, hidden []string) (names []string) {
	uses := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				x, ok := s.X.(*ast.Ident)
				found = found || ok && slices.Contains(hidden, x.Name)
			}
			return !found
		})
		return found
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if uses(d.Type) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if !s.Assign.IsValid() && uses(s.Type) {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				if s.Type != nil && uses(s.Type) {
					names = append(names, s.Names[0].Name)
				}
			}
		}
	}
	return names
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
