package pyramid

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile: what makes no pyramid, and no layout of one, panics with a message of this package.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "layers", name, f, good...)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	plane := Config{Axes: 2, In: 2, Channels: []int{3, 4}, Reach: 2, Blocks: 1, Step: 0.5, Lifts: 1}
	named("New", New[float32], plane, rng)
	sphere := Config{Axes: 3, In: 2, Channels: []int{3, 4}, Reach: 1, Blocks: 1, Sphere: 64}
	named("New on the sphere", New[float32], sphere, rng)
	p := New[float32](plane, rng)
	named("LayoutFor", p.LayoutFor, []float64{0, 0}, []float64{1, 1}, []float64{0, 0}, []float64{1, 1})
}

// TestNewNames: New names the field that makes no pyramid, and itself, and not a layer that it is made of.
func TestNewNames(t *testing.T) {
	good := Config{Axes: 2, In: 2, Channels: []int{3}, Reach: 1, Step: 0.5}
	for want, change := range map[string]func(c *Config){
		"layers: pyramid.New: In = 0, need at least 1":            func(c *Config) { c.In = 0 },
		"layers: pyramid.New: Step = 0, need a positive number":   func(c *Config) { c.Step = 0 },
		"layers: pyramid.New: Step = NaN, need a positive number": func(c *Config) { c.Step = math.NaN() },
		"layers: pyramid.New: Reach = 0, need at least 1":         func(c *Config) { c.Reach = 0 },
	} {
		c := good
		change(&c)
		require.PanicsWithValue(t, want, func() { New[float32](c, rand.New(rand.NewPCG(1, 1))) })
	}
}
