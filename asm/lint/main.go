// Command lint runs the checks of staticcheck over the packages of modules, tests included:
//
//	go run ./lint .. .
//
// The program staticcheck also analyses everything that they import, the standard library down to its bottom, to learn which functions are
// deprecated, have no effects, return no nil, or do not return. That is nine tenths of its time on an empty cache; `make lint-long` runs
// it, and finds uses of what is deprecated besides. Here what others wrote is read as the compiler exports it.
package main

import (
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/config"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	log.SetFlags(0)
	debug.SetGCPercent(400) // all that is read stays until the end of its module
	flag.Parse()
	findings := 0
	for _, dir := range flag.Args() {
		found, err := check(dir)
		if err != nil {
			log.Fatalf("lint: %v", err)
		}
		for _, f := range found {
			fmt.Println(f)
		}
		findings += len(found)
	}
	if findings > 0 || flag.NArg() == 0 {
		log.Fatalf("lint: %d findings in %d modules", findings, flag.NArg())
	}
}

// analyzers are all checks but those that a module's staticcheck.conf, or that of a folder above it, turns off.
func analyzers(dir string) (on []*analysis.Analyzer, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	conf, err := config.Load(dir)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]*lint.Analyzer{simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers, {unused.Analyzer}} {
		for _, a := range list {
			if !slices.Contains(conf.Checks, "-"+a.Analyzer.Name) {
				on = append(on, a.Analyzer)
			}
		}
	}
	return on, nil
}

// check returns what is found in the packages of a module, as file:line:column: message (check), in order.
func check(dir string) (found []string, err error) {
	all, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir, Tests: true}, "./...")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if n := packages.PrintErrors(all); n > 0 {
		return nil, fmt.Errorf("%s: %d errors", dir, n)
	}
	tested := map[string]bool{} // with the tests of their own package, which are all of it
	for _, p := range all {
		tested[p.PkgPath] = tested[p.PkgPath] || strings.HasSuffix(p.ID, "["+p.PkgPath+".test]")
	}
	var roots []*packages.Package
	for _, p := range all {
		for path, q := range p.Imports {
			if !slices.Contains(all, q) { // not of this module: without syntax
				delete(p.Imports, path)
			}
		}
		if !strings.HasSuffix(p.PkgPath, ".test") && (p.ID != p.PkgPath || !tested[p.PkgPath]) {
			roots = append(roots, p)
		}
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("%s: no packages", dir)
	}
	on, err := analyzers(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	graph, err := checker.Analyze(on, roots, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, a := range graph.Roots {
		if a.Err != nil {
			return nil, fmt.Errorf("%s: %w", dir, a.Err)
		}
		for _, d := range a.Diagnostics {
			found = append(found, fmt.Sprintf("%v: %s (%s)", a.Package.Fset.Position(d.Pos), d.Message, a.Analyzer.Name))
		}
		if a.Analyzer == unused.Analyzer.Analyzer {
			found = append(found, unusedObjects(a.Result.(unused.Result))...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// unusedObjects returns the findings of the check U1000, whose result they are: an object of a generic type can stand among used and
// unused.
func unusedObjects(r unused.Result) (found []string) {
	for _, o := range r.Unused {
		if !slices.ContainsFunc(r.Used, func(u unused.Object) bool { return u.Name == o.Name && u.Position == o.Position }) {
			found = append(found, fmt.Sprintf("%v: %s %s is unused (U1000)", o.DisplayPosition, o.Kind, o.Name))
		}
	}
	return found
}
