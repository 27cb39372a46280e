//go:build !js

// Page-wasm writes the page of "equivcnp serve" as static files that any web server can hand out, with the engine as WebAssembly and some
// of the shipped models beside it:
//
//	go run ./cmd/page-wasm -out out/page
//
// Built for js/wasm, this package is that engine; see engine_js.go.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/serve/page"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "out/page", "folder to write")
	models := flag.String("models",
		"rbf-levels,rbf-equivcnp,matern-equivcnp,periodic-equivcnp,digits-T2-small,digits-T2,digits-SO2,digits-RxSO2,globe,"+
			"universal-1,universal-2", "shipped models, and interpolations without training, with commas")
	flag.Parse()
	if err := write(*out, strings.Split(*models, ",")); err != nil {
		log.Fatal("page-wasm: ", err)
	}
}

// write writes the page, the engine and models to a folder, and prints how large they are.
func write(out string, models []string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.CopyFS(out, page.Files()); err != nil {
		return err
	}
	index := filepath.Join(out, "index.html")
	text, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	changed := bytes.Replace(text, []byte(`data-engine="http"`), []byte(`data-engine="wasm"`), 1)
	if bytes.Equal(changed, text) {
		return fmt.Errorf("%s does not name its engine", index)
	}
	if err := os.WriteFile(index, changed, 0o666); err != nil {
		return err
	}
	for _, file := range []string{"LICENSE", "NOTICES.txt"} { // of the engine, which contains what they name
		if err := copyFile(filepath.Join(out, file), file); err != nil {
			return err
		}
	}
	if err := buildEngine(filepath.Join(out, "page")); err != nil {
		return fmt.Errorf("the engine: %w", err)
	}
	if err := os.Mkdir(filepath.Join(out, "page", "models"), 0o777); err != nil {
		return err
	}
	type entry struct {
		Name      string     `json:"name"`
		Config    cnp.Config `json:"config"`
		TrainedOn string     `json:"trainedOn,omitempty"`
		Untrained bool       `json:"untrained,omitempty"` // it has no file
	}
	var entries []entry
	for _, name := range models {
		if r := krige.Named(name); r != nil {
			entries = append(entries, entry{Name: name, Config: r.Config(), Untrained: true})
			continue
		}
		about, err := pretrained.About(name)
		if err != nil {
			return err
		}
		entries = append(entries, entry{Name: name, Config: about.Config, TrainedOn: about.Tasks})
		file := name + ".safetensors"
		if err := copyFile(filepath.Join(out, "page", "models", file), filepath.Join("cnp", "pretrained", "models", file)); err != nil {
			return err
		}
	}
	list, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "page", "models.json"), list, 0o666); err != nil {
		return err
	}
	return report(out)
}

// vectors is the version of Go whose package simd/archsimd has WebAssembly's vectors, which kernels of level wasm128 are written for.
const vectors = "go1.27.0"

// buildEngine writes engine.wasm and wasm_exec.js to a folder. The go command fetches the toolchain that has vectors; where it
// cannot, buildEngine says so and builds an engine with portable kernels.
func buildEngine(dir string) error {
	withVectors := append(os.Environ(), "GOTOOLCHAIN="+vectors+"+auto", "GOEXPERIMENT=simd")
	env, version := withVectors, exec.Command("go", "version")
	version.Env = withVectors
	if answer, err := version.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "page-wasm: no %s, so the engine has portable kernels: %s\n", vectors, bytes.TrimSpace(answer))
		env = os.Environ()
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "engine.wasm"),
		"github.com/equivcnp/equivcnp/cmd/page-wasm")
	build.Env = append(env, "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	root := exec.Command("go", "env", "GOROOT")
	root.Env = env
	goroot, err := root.Output()
	if err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, "wasm_exec.js"), filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}

// report prints the sizes of what browsers load, as it is and compressed.
func report(out string) error {
	sizes, compressed := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		kind := "page"
		switch filepath.Ext(path) {
		case ".wasm":
			kind = "engine"
		case ".safetensors":
			kind = "models"
		}
		var z bytes.Buffer
		w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return err
		}
		w.Write(b)
		w.Close()
		sizes[kind] += len(b)
		compressed[kind] += z.Len()
		return nil
	})
	for _, kind := range []string{"page", "engine", "models"} {
		fmt.Printf("%-7s%8.1f kB, %8.1f kB compressed\n", kind, float64(sizes[kind])/1e3, float64(compressed[kind])/1e3)
	}
	return err
}
