// Command notices writes NOTICES.txt: the licences of the modules whose code a built program contains, which must go with every copy of it.
//
//	go run ./bench/notices            # compares NOTICES.txt with what is linked, fails if they differ
//	go run ./bench/notices -update    # writes it anew, after changes of go.mod
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// name is the file, at the root of the repository.
const name = "NOTICES.txt"

// programs are what is built for others, and the systems that link packages of their own.
var programs = []struct{ os, arch, dir string }{
	{"linux", "amd64", "./cmd/equivcnp"}, {"darwin", "arm64", "./cmd/equivcnp"}, {"windows", "amd64", "./cmd/equivcnp"},
	{"freebsd", "amd64", "./cmd/equivcnp"}, {"js", "wasm", "./cmd/page-wasm"},
}

// chosen are files that a module's licence refers to, the one of its alternatives that we take.
var chosen = map[string][]string{"github.com/golang/freetype": {"licenses/ftl.txt"}}

const preamble = `The program equivcnp, and the engine of its page as WebAssembly, contain code and fonts of others,
under the conditions below.
Those of this repository itself are in LICENSE; those of Go's runtime and standard library are the same text as of golang.org/x/sys.
"go run ./bench/notices -update" writes this file.
`

// licence matches names of files that say under which conditions code may be copied.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)([.-].*)?$`)

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write the file instead of comparing with it")
	flag.Parse()
	text, err := notices(".")
	if err != nil {
		log.Fatalf("notices: %v", err)
	}
	if *update {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			log.Fatalf("notices: %v", err)
		}
		return
	}
	if have, err := os.ReadFile(name); err != nil {
		log.Fatalf("notices: %v", err)
	} else if !bytes.Equal(have, text) {
		log.Fatalf("notices: %s is not what is linked: run go run ./bench/notices -update", name)
	}
}

// linked is a package as "go list" describes it.
type linked struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// module is one that is linked, with the files that state its conditions, relative to its folder.
type module struct {
	dir   string
	files []string
}

// notices returns the text of the file for the repository at root: one section for each module, sorted by path.
func notices(root string) ([]byte, error) {
	modules := map[string]*module{} // by path and version
	for _, p := range programs {
		packages, err := list(root, p.os, p.arch, p.dir)
		if err != nil {
			return nil, err
		}
		for _, l := range packages {
			if l.Standard || l.Module == nil || l.Module.Main {
				continue
			}
			key := l.Module.Path + " " + l.Module.Version
			if modules[key] == nil {
				modules[key] = &module{dir: l.Module.Dir, files: slices.Clone(chosen[l.Module.Path])}
			}
			if err := modules[key].add(l.Dir); err != nil {
				return nil, err
			}
		}
	}
	out := bytes.NewBufferString(preamble)
	seen := map[string]string{} // where a text stands already
	for _, key := range slices.Sorted(maps.Keys(modules)) {
		m := modules[key]
		if slices.Sort(m.files); len(m.files) == 0 {
			return nil, fmt.Errorf("%s: no file of a licence in %s", key, m.dir)
		}
		for _, file := range slices.Compact(m.files) {
			title := key + ": " + file
			text, err := os.ReadFile(filepath.Join(m.dir, file))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			body := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			if first := seen[body]; first != "" {
				body = "The same text as of " + first + "."
			} else {
				seen[body] = title
			}
			fmt.Fprintf(out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), title, body)
		}
	}
	return out.Bytes(), nil
}

// list returns the packages that a program links on a system.
func list(root, system, arch, program string) (packages []linked, err error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", program)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	out, err := cmd.Output()
	if err != nil {
		if exit := (&exec.ExitError{}); errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list -deps %s for %s/%s: %w", program, system, arch, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l linked
		if err := d.Decode(&l); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -deps %s: %w", program, err)
		}
		packages = append(packages, l)
	}
}

// add adds the files of licences in the folder of a package and those above it, up to the module's own.
func (m *module) add(dir string) error {
	for ; len(dir) >= len(m.dir); dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licence.MatchString(e.Name()) {
				continue
			}
			file, err := filepath.Rel(m.dir, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			m.files = append(m.files, filepath.ToSlash(file))
		}
	}
	return nil
}
