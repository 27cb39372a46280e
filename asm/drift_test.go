package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// simdDir is the package that is written.
const simdDir = "../simd"

// rendered is what renderAll returns.
var rendered struct {
	once      sync.Once
	files     []output
	functions []function
	err       error
}

// renderAll renders every file of the registry, once for all tests.
func renderAll() ([]output, []function, error) {
	r := &rendered
	r.once.Do(func() { r.files, r.functions, r.err = renderAMD64() })
	return r.files, r.functions, r.err
}

// TestDrift renders everything again in memory and compares with the files in the tree. After a change of a generator:
// go generate ./simd.
func TestDrift(t *testing.T) {
	files, functions, err := renderAll()
	if err != nil {
		t.Fatal(err)
	}
	dispatch := append(renderDispatch(functions), matrixDispatch()[0], treeDispatch()[0], renderMaps()[0])
	checkDrift(t, slices.Concat([]output{renderLevels()}, dispatch, files), "z*_amd64.*")
	checkDrift(t, []output{renderAdapters()}, "zadapter.go")
}

// checkDrift compares the files of an architecture with those in the tree. A file of that pattern, in a folder that is written to, must
// be among them.
func checkDrift(t *testing.T, want []output, pattern string) {
	known, folders := map[string]bool{}, map[string]bool{}
	for _, w := range want {
		name := filepath.Join(simdDir, w.name)
		known[name], folders[filepath.Dir(name)] = true, true
		have, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(have, w.text) {
			t.Errorf("%s differs from what its generator writes; run go generate ./simd", w.name)
		}
	}
	for dir := range folders {
		have, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range have {
			if !known[name] {
				t.Errorf("%s is written by no generator", name)
			}
		}
	}
}

// TestFeatures holds every function to the instruction set extensions of its level.
func TestFeatures(t *testing.T) {
	_, functions, err := renderAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range functions {
		// Every amd64 machine has conditional moves, SSE2, and the prefetches that avo files under "MMX+".
		allowed := append(fn.level.Features(), "CMOV", "MMX+", "SSE", "SSE2")
		for _, isa := range fn.ISA {
			if !slices.Contains(allowed, isa) {
				t.Errorf("%s uses %s, which %v does not include", fn.Name, isa, fn.level)
			}
		}
	}
}
