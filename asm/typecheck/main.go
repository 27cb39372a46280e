// Command typecheck looks for errors in the packages of a module, tests included, as other systems and machines would build them:
//
//	go run ./typecheck -dir .. windows/amd64 linux/386
//
// That is what `go build` would say, but for errors in assembly, in a tenth of the time: what others wrote is read, not compiled.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	debug.SetGCPercent(400) // all that is read stays until the end of its platform
	dir := flag.String("dir", ".", "the module")
	flag.Parse()
	errors := 0
	for _, platform := range flag.Args() {
		log.Printf("check %s", platform)
		n, err := check(*dir, platform)
		if err != nil {
			log.Fatalf("typecheck: %v", err)
		}
		errors += n
	}
	if errors > 0 || flag.NArg() == 0 {
		log.Fatalf("typecheck: %d errors on %d platforms", errors, flag.NArg())
	}
}

// check prints the errors in the packages of a module for a system/machine, and returns how many there are.
func check(dir, platform string) (errors int, err error) {
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("%q is no system/machine", platform)
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
		Dir: dir, Env: append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0"), Tests: true,
	}, "./...")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", platform, err)
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("%s: no packages in %s", platform, dir)
	}
	return packages.PrintErrors(all), nil
}
