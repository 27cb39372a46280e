package bicubic

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// eachLevel runs f at every level of the machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := cpu.CurrentLevel()
	defer func() { require.NoError(t, cpu.SetLevel(before)) }()
	for _, l := range cpu.Levels() {
		require.NoError(t, cpu.SetLevel(l))
		t.Run(l.String(), f)
	}
}

// placesIn returns places in a grid, some on nodes and just below them.
func placesIn(n, rows, cols int) []float64 {
	rng, at := testkit.Rand(71), []float64{}
	for i := range n {
		x, y := 1+rng.Float64()*float64(rows-3), 1+rng.Float64()*float64(cols-3)
		switch i % 5 {
		case 0:
			x = math.Floor(x)
		case 1:
			y = math.Nextafter(math.Floor(y)+1, 0)
		}
		at = append(at, x, y)
	}
	return at
}

// exactFactors returns Lagrange's polynomials at u, and which node they begin at.
func exactFactors(x float64) (f [4]float64, first int) {
	whole := math.Floor(x)
	u := x - whole
	for a := range f {
		f[a] = 1
		for b := range f {
			if b != a {
				f[a] *= (u + 1 - float64(b)) / float64(a-b)
			}
		}
	}
	return f, int(whole) - 1
}

// TestBicubic compares both directions with float64 sums.
func TestBicubic(t *testing.T) {
	const rows, cols = 7, 9
	rng := testkit.Rand(72)
	eachLevel(t, func(t *testing.T) {
		for _, c := range []int{0, 1, 7, 16, 17, 31, 32, 33, 48, 64, 67} {
			for _, n := range []int{0, 1, 2, 300} {
				at := placesIn(n, rows, cols)
				plan := New(at, rows, cols)
				require.Equal(t, n, plan.Len())
				nodes := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, rows*cols*c))
				dst := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, n*c))
				Interpolate(dst, nodes, plan, c)
				d := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n*c))
				from := c / 3
				width := c - from
				before := testkit.Normal[float32](rng, rows*cols*width)
				back := testkit.CopyAtEnd(t, before)
				Gradient(back, d, plan, from, width, c)

				sum, size, terms := make([]float64, len(back)), make([]float64, len(back)), make([]int, rows*cols)
				for i := range n {
					fx, x := exactFactors(at[2*i])
					fy, y := exactFactors(at[2*i+1])
					for j := range c {
						want, all := 0.0, 0.0
						for a := range fx {
							for b := range fy {
								v := float64(nodes[((x+a)*cols+y+b)*c+j])
								want += fx[a] * fy[b] * v
								all += math.Abs(v)
								if j == 0 {
									terms[(x+a)*cols+y+b]++
								}
								if j >= from {
									k := ((x+a)*cols+y+b)*width + j - from
									sum[k] += fx[a] * fy[b] * float64(d[i*c+j])
									size[k] += math.Abs(float64(d[i*c+j]))
								}
							}
						}
						if e := math.Abs(float64(dst[i*c+j]) - want); !(e <= 8*0x1p-23*all) {
							t.Fatalf("c=%d n=%d: row %d channel %d: %g, want %g", c, n, i, j, dst[i*c+j], want)
						}
					}
				}
				for k, v := range back {
					bound := float64(terms[k/width]+8) * 0x1p-23 * (size[k] + math.Abs(float64(before[k])))
					if e := math.Abs(float64(v) - float64(before[k]) - sum[k]); !(e <= bound) {
						t.Fatalf("c=%d n=%d: node %d channel %d: %g more, want %g", c, n, k/width, from+k%width, v-before[k], sum[k])
					}
				}
			}
		}
	})
}

// TestBicubicPolynomials wants cubic polynomials back, and a node's own value on a node.
func TestBicubicPolynomials(t *testing.T) {
	const rows, cols, c = 12, 6, 32
	f := func(x, y float64, j int) float64 {
		k := 0.1 * float64(j%4+1)
		return 1 - k*x + k*x*y*y*0.1 - x*x*x*k*0.01 + y*y*y*0.02
	}
	nodes := make([]float32, rows*cols*c)
	for i := range nodes {
		nodes[i] = float32(f(float64(i/c/cols), float64(i/c%cols), i%c))
	}
	at := placesIn(500, rows, cols)
	plan := New(at, rows, cols)
	eachLevel(t, func(t *testing.T) {
		dst := make([]float32, plan.Len()*c)
		Interpolate(dst, nodes, plan, c)
		for i, v := range dst {
			require.InDelta(t, f(at[i/c*2], at[i/c*2+1], i%c), float64(v), 2e-5)
		}
		Interpolate(dst[:2*c], nodes, New([]float64{3, 2, 1, 3}, rows, cols), c)
		require.Equal(t, nodes[(3*cols+2)*c:][:c], dst[:c])
		require.Equal(t, nodes[(1*cols+3)*c:][:c], dst[c:2*c])
	})
}

func TestBicubicPanics(t *testing.T) {
	plan := New([]float64{1, 1.5}, 4, 4)
	x, odd := make([]float32, 40), placesIn(2, 9, 9)[1:]
	for want, f := range map[string]func(){
		"bicubic: New: len(at) = 3, need an even number":                       func() { New(odd, 4, 4) },
		"bicubic: New: place 0 at (2, 1), need 1 to (2, 2), which is too much": func() { New([]float64{2, 1}, 4, 4) },
		"bicubic: New: place 0 at (1, NaN), need 1 to (2, 2), which is too much": func() {
			New([]float64{1,
				math.NaN()}, 4, 4)
		},
		"bicubic: New: place 0 at (0.5, 1), need 1 to (2, 2), which is too much": func() {
			New([]float64{0.5,
				1}, 4, 4)
		},
		"bicubic: New: 0 places in 65536 by 65536 nodes, more than int32 counts": func() { New(nil, 1<<16, 1<<16) },
		"bicubic: Interpolate: len(dst) = 40, need 2":                            func() { Interpolate(x, x[:32], plan, 2) },
		"bicubic: Interpolate: len(nodes) = 40, need 32":                         func() { Interpolate(x[:2], x, plan, 2) },
		"bicubic: Gradient: len(dnodes) = 40, need 32": func() {
			Gradient(x, x[:2], plan,
				0, 2, 2)
		},
		"bicubic: Gradient: len(d) = 40, need 2": func() {
			Gradient(x[:32], x, plan,
				0, 2, 2)
		},
		"bicubic: Gradient: channels 1 to 3, need a part of 0 to 2": func() {
			Gradient(x[:32], x[:2],
				plan, 1, 2, 2)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// BenchmarkInterpolate counts two operations per multiply-add of the 16 nodes as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkInterpolate(b *testing.B) {
	const rows, cols, n, c = 66, 30, 1 << 12, 32
	plan := New(placesIn(n, rows, cols), rows, cols)
	nodes, dst := testkit.Normal[float32](testkit.Rand(1), rows*cols*c), testkit.Normal[float32](testkit.Rand(2), n*c)
	for name, f := range map[string]func(){
		"forward":  func() { Interpolate(dst, nodes, plan, c) },
		"gradient": func() { Gradient(nodes, dst, plan, 0, c, c) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(2 * 16 * n * c)
			for b.Loop() {
				f()
			}
		})
	}
}
