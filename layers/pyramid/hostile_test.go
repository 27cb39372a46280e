package pyramid

import (
	"math/rand/v2"
	"testing"

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
