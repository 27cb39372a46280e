// Package testkit holds what only tests need: the authors' recorded data, guard pages, ULP comparison and seeded data.
package testkit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Shared returns a path in the authors' recorded data, which lie in `shared` beside the checkout or in $EQUIVCNP_SHARED. Without them
// the test is skipped and says why; in CI (EQUIVCNP_REQUIRE_SHARED=1) it fails.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("EQUIVCNP_SHARED")
	if dir == "" {
		// The module's root is the nearest folder upwards with a go.mod.
		d, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
				break
			}
			up := filepath.Dir(d)
			if up == d {
				t.Fatal("testkit: no go.mod above the test's folder")
			}
			d = up
		}
		dir = filepath.Join(filepath.Dir(d), "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "golden", "manifest.json")); err != nil {
		if os.Getenv("EQUIVCNP_REQUIRE_SHARED") != "" {
			t.Fatalf("the authors' recorded data are required and missing: %v", err)
		}
		t.Skipf("skipped: the authors' recorded data are not beside this checkout (%v); set EQUIVCNP_SHARED to their folder", err)
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// Golden is one file of the authors' recorded inputs and outputs.
type Golden struct {
	t    testing.TB
	Name string
	File *safetensors.File
}

// OpenGolden reads shared/golden/<name>.safetensors.
func OpenGolden(t testing.TB, name string) *Golden {
	t.Helper()
	f, err := safetensors.Read(Shared(t, "golden", name+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return &Golden{t, name, f}
}

// Has reports whether the file holds that tensor.
func (g *Golden) Has(name string) bool { return g.File.Get(name) != nil }

// F64 returns the values of a tensor as float64, and its shape. The test fails if the tensor is absent.
func (g *Golden) F64(name string) ([]float64, []int) {
	g.t.Helper()
	x := g.File.Get(name)
	if x == nil {
		g.t.Fatalf("%s has no tensor %q", g.Name, name)
	}
	v, err := x.Float64s()
	if err != nil {
		g.t.Fatal(err)
	}
	return v, x.Shape
}

// F32 is F64 with the values rounded to float32.
func (g *Golden) F32(name string) ([]float32, []int) {
	g.t.Helper()
	w, shape := g.F64(name)
	v := make([]float32, len(w))
	for i := range w {
		v[i] = float32(w[i])
	}
	return v, shape
}

// Names lists the tensors that start with prefix, the prefix removed.
func (g *Golden) Names(prefix string) []string {
	var out []string
	for i := range g.File.Tensors {
		if n, ok := strings.CutPrefix(g.File.Tensors[i].Name, prefix); ok {
			out = append(out, n)
		}
	}
	return out
}

// Meta decodes one entry of the file's metadata into v: a *string takes it as it is, anything else as JSON.
func (g *Golden) Meta(key string, v any) {
	g.t.Helper()
	if s, ok := v.(*string); ok {
		*s = g.File.Metadata[key]
		return
	}
	if err := json.Unmarshal([]byte(g.File.Metadata[key]), v); err != nil {
		g.t.Fatalf("%s: metadata %q = %q: %v", g.Name, key, g.File.Metadata[key], err)
	}
}

// Tolerance decodes this file's "tolerance" object of the manifest into v.
func (g *Golden) Tolerance(v any) {
	g.t.Helper()
	tolerances, err := manifest(Shared(g.t, "golden", "manifest.json"))
	if err != nil {
		g.t.Fatal(err)
	}
	if err := json.Unmarshal(tolerances[g.Name+".safetensors"], v); err != nil {
		g.t.Fatalf("%s: tolerance: %v", g.Name, err)
	}
}

var manifests sync.Map // from a path to its tolerances

// manifest returns the tolerances of every file of a manifest. Manifests are long, so each is decoded once.
func manifest(path string) (map[string]json.RawMessage, error) {
	if tolerances, ok := manifests.Load(path); ok {
		return tolerances.(map[string]json.RawMessage), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m struct {
		Files map[string]struct {
			Tolerance json.RawMessage `json:"tolerance"`
		} `json:"files"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tolerances := make(map[string]json.RawMessage, len(m.Files))
	for name, f := range m.Files {
		tolerances[name] = f.Tolerance
	}
	manifests.Store(path, tolerances)
	return tolerances, nil
}
