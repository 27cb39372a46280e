package bands

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// eachLevel runs f at level AMX, where the machine has it, and at the one that is without kernels.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := cpu.CurrentLevel()
	defer func() {
		if err := cpu.SetLevel(before); err != nil {
			t.Error(err)
		}
	}()
	for _, l := range cpu.Levels() {
		if l == cpu.Generic || l == cpu.AMX {
			if err := cpu.SetLevel(l); err != nil {
				t.Fatal(err)
			}
			t.Run(l.String(), f)
		}
	}
}

// ball returns the grid whose points see those within a radius, or those within a rectangle of steps.
func ball(h, w, up, down, left, right, radius int) *spectral.Grid {
	g := &spectral.Grid{H: h, W: w, Lifts: 1}
	for dy := -up; dy <= down; dy++ {
		for dx := -left; dx <= right; dx++ {
			if dx*dx+dy*dy <= radius*radius {
				g.Steps = append(g.Steps, spectral.Step{DY: dy, DX: dx, Pose: int32(len(g.Steps))})
			}
		}
	}
	return g
}

// shapes are grids whose sizes are no multiples of anything, whose windows are larger than they are, and not symmetric.
var shapes = []*spectral.Grid{
	ball(1, 1, 0, 0, 0, 0, 9), ball(3, 2, 2, 2, 1, 1, 9), ball(5, 17, 1, 1, 3, 3, 3), ball(8, 8, 7, 7, 7, 7, 5), ball(13, 9, 2, 0, 0, 3, 9),
	ball(9, 13, 0, 4, 5, 1, 9), ball(70, 5, 3, 3, 2, 2, 3), ball(6, 6, 0, 0, 2, 2, 9),
}

func randomNetwork(g *spectral.Grid, c, layers int, rng *rand.Rand) (all []Layer, scale, h []float32) {
	numbers := func(n int, size float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * size)
		}
		return x
	}
	for range layers {
		all = append(all, Layer{numbers(len(g.Steps)*c, 1), numbers(c*c, 1/math.Sqrt(float64(c))), numbers(c, 1)})
	}
	scale = make([]float32, g.H*g.W)
	for i := range scale {
		n := 0
		for _, s := range g.Steps {
			if y, x := i/g.W+s.DY, i%g.W+s.DX; y >= 0 && y < g.H && x >= 0 && x < g.W {
				n++
			}
		}
		scale[i] = 1 / float32(n)
	}
	return all, scale, numbers(g.H*g.W*c, 1)
}

// reference computes a network in float64 of float32 numbers that are rounded where the network rounds.
func reference(g *spectral.Grid, all []Layer, scale, h []float32, c int) []float64 {
	r := func(v float64) float64 { return float64(float(round(float32(v)))) }
	rounded := func(v []float32) []float64 {
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = r(float64(x))
		}
		return out
	}
	features := rounded(h)
	base := features
	for l, layer := range all {
		weights, dense := rounded(layer.Weights), rounded(layer.Dense)
		sums, result := make([]float64, len(h)), make([]float64, len(h))
		for i := range g.H * g.W {
			for _, s := range g.Steps {
				y, x := i/g.W+s.DY, i%g.W+s.DX
				if y < 0 || y >= g.H || x < 0 || x >= g.W {
					continue
				}
				sum, w := sums[i*c:(i+1)*c], weights[int(s.Pose)*c:]
				for ch, f := range features[(y*g.W+x)*c:][:c] {
					sum[ch] += w[ch] * f
				}
			}
			for ch := range c {
				sums[i*c+ch] = r(sums[i*c+ch] * float64(scale[i]))
			}
			for o := range c {
				v := float64(layer.Bias[o])
				for k, sum := range sums[i*c : (i+1)*c] {
					v += dense[o*c+k] * sum
				}
				if l%2 == 1 {
					v += base[i*c+o]
				}
				if v = max(0, v); l < len(all)-1 {
					v = r(v)
				}
				result[i*c+o] = v
			}
		}
		if features = result; l%2 == 1 {
			base = result
		}
	}
	return features
}

// TestNetwork: the network's results are those of the definition, but for numbers that fall on the other side of a rounding.
func TestNetwork(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, g := range shapes {
			t.Run(fmt.Sprintf("%dx%d", g.H, g.W), func(t *testing.T) {
				const c = 32
				rng := rand.New(rand.NewPCG(1, 2))
				layers := 4
				if race.Enabled {
					layers = 2 // start every kind of goroutine
				}
				all, scale, h := randomNetwork(g, c, layers, rng)
				n := New(g, scale, c, all)
				if n == nil {
					t.Fatal("no network")
				}
				want := reference(g, all, scale, h, c)
				if err := n.Forward(context.Background(), h, 1, &Workspace{}); err != nil {
					t.Fatal(err)
				}
				largest := 0.0
				for _, v := range want {
					largest = max(largest, math.Abs(v))
				}
				for i, v := range h {
					if !(math.Abs(float64(v)-want[i]) <= largest/100) {
						t.Fatalf("[%d] = %v, want %v", i, v, want[i])
					}
				}
			})
		}
	})
}

// TestBits: tiles give the bits of their twins, for any batch and number of goroutines, with zeros around the grid and
// numbers that count as 0.
func TestBits(t *testing.T) {
	for _, g := range shapes {
		t.Run(fmt.Sprintf("%dx%d", g.H, g.W), func(t *testing.T) {
			c := Group
			if g.H*g.W < 40 {
				c *= 2 // for the twin a larger one takes long
			}
			const images = 2
			rng := rand.New(rand.NewPCG(3, 4))
			all, scale, h := randomNetwork(g, c, 2, rng)
			for range images - 1 {
				_, _, more := randomNetwork(g, c, 0, rng)
				h = append(h, more...)
			}
			for i := range h {
				if rng.IntN(8) == 0 {
					h[i] *= float32(math.Ldexp(1, -rng.IntN(150)))
				}
			}
			for i := range all[0].Weights {
				if rng.IntN(8) == 0 {
					all[0].Weights[i] *= float32(math.Ldexp(1, -rng.IntN(150)))
				}
			}
			n := New(g, scale, c, all)
			var want []float32
			eachLevel(t, func(t *testing.T) {
				var w Workspace
				got := slices.Clone(h)
				for range 2 { // the second time in a workspace that was used
					copy(got, h)
					if err := n.Forward(context.Background(), got, images, &w); err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want = slices.Clone(got)
					}
					for i, v := range got {
						if math.Float32bits(v) != math.Float32bits(want[i]) {
							t.Fatalf("[%d] = %v, want %v", i, v, want[i])
						}
					}
				}
				one := slices.Clone(h[:len(h)/images])
				if err := n.Forward(context.Background(), one, 1, &w); err != nil || !slices.Equal(one, want[:len(one)]) {
					t.Fatalf("an image alone is another: %v", err)
				}
			})
		})
	}
}

// TestGuard: kernels stay within their memory, between pages that cannot be read.
func TestGuard(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, g := range shapes {
			all, scale, h := randomNetwork(g, Group, 2, rand.New(rand.NewPCG(5, 6)))
			n := New(g, scale, Group, all)
			want := slices.Clone(h)
			if err := n.Forward(context.Background(), want, 1, &Workspace{}); err != nil {
				t.Fatal(err)
			}
			for at, place := range []func(x []uint16) []uint16{
				func(x []uint16) []uint16 { return testkit.CopyAtEnd(t, x) },
				func(x []uint16) []uint16 { return testkit.CopyAtStart(t, x) },
			} {
				floats := func(x []float32) []float32 {
					if at == 0 {
						return testkit.CopyAtEnd(t, x)
					}
					return testkit.CopyAtStart(t, x)
				}
				var w Workspace
				w.room(n, 1, 1)
				w.planes, w.pairs = [2][]uint16{place(w.planes[0]), place(w.planes[1])}, place(w.pairs)
				w.own[0] = own{tiles: place(w.own[0].tiles), sums: floats(w.own[0].sums), scratch: floats(w.own[0].scratch)}
				guarded := *n
				guarded.scale, guarded.layers = floats(n.scale), slices.Clone(n.layers)
				for i, l := range n.layers {
					guarded.layers[i] = layer{dense: place(l.dense), bias: floats(l.bias)}
					if i > 0 {
						guarded.layers[i].strips = place(l.strips)
					}
				}
				w.n = &guarded
				before := parallel.SetLimit(1)
				got := floats(h)
				err := guarded.Forward(context.Background(), got, 1, &w)
				parallel.SetLimit(before)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%d x %d: other results between guard pages: %v", g.H, g.W, err)
				}
			}
		}
	})
}

// TestRefused: what the network does not take.
func TestRefused(t *testing.T) {
	g := ball(4, 4, 1, 1, 1, 1, 1)
	all, scale, h := randomNetwork(g, 32, 2, rand.New(rand.NewPCG(1, 1)))
	lifted := *g
	lifted.Lifts = 2
	for name, n := range map[string]*Network{"lifts": New(&lifted, scale, 32, all), "channels": New(g, scale, 33, all),
		"one layer": New(g, scale, 32, all[:1])} {
		if n != nil {
			t.Errorf("%s: a network", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := New(g, scale, 32, all).Forward(ctx, h, 1, &Workspace{}); err == nil {
		t.Error("no error of a context that is done")
	}
}

// BenchmarkNetwork is the paper's network: 64 x 64 points, eight layers of 128 channels.
func BenchmarkNetwork(b *testing.B) {
	const c = 128
	g := ball(64, 64, 10, 10, 10, 10, 10)
	all, scale, h := randomNetwork(g, c, 8, rand.New(rand.NewPCG(1, 2)))
	n := New(g, scale, c, all)
	var w Workspace
	for b.Loop() {
		if err := n.Forward(context.Background(), h, 1, &w); err != nil {
			b.Fatal(err)
		}
	}
}
