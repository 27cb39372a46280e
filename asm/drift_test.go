package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// simdDir is the package that is written.
const simdDir = "../simd"

// TestDrift renders everything again in memory and compares with the files in the tree. After a change of a generator:
// go generate ./simd.
func TestDrift(t *testing.T) {
	want := []output{renderLevels()}
	for _, g := range registry {
		files, _, err := render(g)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, files...)
	}
	known := map[string]bool{}
	for _, w := range want {
		known[w.name] = true
		have, err := os.ReadFile(filepath.Join(simdDir, w.name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(have, w.text) {
			t.Errorf("%s differs from what its generator writes; run go generate ./simd", w.name)
		}
	}
	have, err := filepath.Glob(filepath.Join(simdDir, "z*_amd64.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range have {
		if !known[filepath.Base(name)] {
			t.Errorf("%s is written by no generator", name)
		}
	}
}

// TestFeatures holds every function to the instruction set extensions of its level.
func TestFeatures(t *testing.T) {
	for _, g := range registry {
		_, functions, err := render(g)
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
}
