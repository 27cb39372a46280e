package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/simd"
)

// live is an input whose gradient is checked: the array that the function reads and the gradient that it was given.
type live struct {
	name  string
	x, dx []float64
}

// requireDifferences compares gradients with central differences of loss in float64, for every parameter of ps and every
// input; of large arrays, every few elements. Buffers are put back before every evaluation.
func requireDifferences(t *testing.T, ps []Param[float64], g *Grads[float64], inputs []live, loss func() float64) {
	t.Helper()
	var buffers [][]float64
	for _, p := range ps {
		buffers = append(buffers, append([]float64(nil), p.Data...))
	}
	eval := func() float64 {
		for i, p := range ps {
			if p.Buffer {
				copy(p.Data, buffers[i])
			}
		}
		return loss()
	}
	for i, p := range ps {
		if !p.Buffer {
			inputs = append(inputs, live{p.Name, p.Data, g.Data[i]})
		}
	}
	scale := 0.0
	for _, in := range inputs {
		require.Equal(t, len(in.x), len(in.dx), in.name)
		scale = max(scale, largest(in.dx))
	}
	for _, in := range inputs {
		for i := 0; i < len(in.x); i += 1 + len(in.x)/50 {
			const h = 2e-5
			keep := in.x[i]
			in.x[i] = keep + h
			up := eval()
			in.x[i] = keep - h
			down := eval()
			in.x[i] = keep
			if want := (up - down) / (2 * h); !(math.Abs(in.dx[i]-want) <= 1e-6*(scale+math.Abs(want))+1e-9) {
				t.Errorf("gradient of %s[%d] is %v, the difference quotient %v", in.name, i, in.dx[i], want)
			}
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// spread moves all parameters away from symmetric values: biases, normalisation weights and running statistics.
func spread(ps []Param[float64], rng *rand.Rand) {
	for _, p := range ps {
		if len(p.Shape) == 1 {
			for i := range p.Data {
				p.Data[i] += 0.3 * rng.Float64()
			}
		}
	}
}

func TestLinearGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for _, rows := range []int{0, 1, 3, 600} { // 600 rows are several partial sums
		l := NewLinear[float64](3, 5, rng)
		x, dy, dx := normals[float64](rng, rows*3), normals[float64](rng, rows*5), make([]float64, rows*3)
		ps := l.Params("")
		g := NewGrads(ps)
		l.Backward(dx, dy, x, rows, g)
		requireDifferences(t, ps, g, []live{{"x", x, dx}}, func() float64 {
			y := make([]float64, rows*5)
			l.Forward(y, x, rows, simd.ActNone)
			return dot(y, dy)
		})
	}
}

func TestBatchNormGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	const rows, c = 30, 4
	count := make([]int32, rows)
	for i := range count {
		count[i] = int32(rng.IntN(4)) // rows of weight 0 are normalised, and change no statistic
	}
	for _, mode := range []Mode{Eval, Train} {
		for _, weight := range [][]int32{nil, count, make([]int32, rows)} {
			t.Run(fmt.Sprintf("mode=%d/weight=%v", mode, weight != nil), func(t *testing.T) {
				b := NewBatchNorm[float64](c)
				x, dy, dx := normals[float64](rng, rows*c), normals[float64](rng, rows*c), make([]float64, rows*c)
				for r := range rows {
					x[r*c+1] = x[r*c+1]*1e-4 + 3 // a variance that is clamped
					x[r*c+2] += 10
				}
				ps := b.Params("")
				spread(ps, rng)
				g := NewGrads(ps)
				y := make([]float64, len(x))
				b.Backward(dx, dy, x, b.ForwardTape(y, x, weight, 2, mode), g)
				requireDifferences(t, ps, g, []live{{"x", x, dx}}, func() float64 {
					b.ForwardTape(y, x, weight, 2, mode)
					return dot(y, dy)
				})
				b.ForwardTape(y, x, weight, 2, mode)
				z := append([]float64(nil), x...)
				b.ForwardTape(z, z, weight, 2, mode)
				if mode == Train { // in Eval mode the statistics have moved
					require.Equal(t, z, y, "in place")
				}
			})
		}
	}
}

// TestBatchNormMultiplicity: a row that stands for several has their gradients' sum.
func TestBatchNormMultiplicity(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	const rows, c = 12, 3
	x, dy := normals[float64](rng, rows*c), normals[float64](rng, rows*c)
	var long, dlong []float64
	count := make([]int32, rows)
	for r := range rows {
		count[r] = 1 + int32(rng.IntN(4))
		for range count[r] {
			long = append(long, x[r*c:(r+1)*c]...)
			for _, v := range dy[r*c : (r+1)*c] {
				dlong = append(dlong, v/float64(count[r]))
			}
		}
	}
	b := NewBatchNorm[float64](c)
	ga, gb := NewGrads(b.Params("")), NewGrads(b.Params(""))
	dx, y := make([]float64, len(x)), make([]float64, len(long))
	b.Backward(dx, dy, x, b.ForwardTape(y[:len(x)], x, count, 1, Train), ga)
	dxlong := make([]float64, len(long))
	b.Backward(dxlong, dlong, long, b.ForwardTape(y, long, nil, 1, Train), gb)
	at := 0
	for r := range rows {
		for i := range c {
			sum := 0.0
			for k := range int(count[r]) {
				sum += dxlong[at+k*c+i]
			}
			require.InDelta(t, sum, dx[r*c+i], 1e-12)
		}
		at += int(count[r]) * c
	}
	for i := range c {
		require.InDelta(t, gb.Data[0][i], ga.Data[0][i], 1e-12)
		require.InDelta(t, gb.Data[1][i], ga.Data[1][i], 1e-12)
	}
}

func TestWeightNetGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	const rows = 40
	count := make([]int32, rows)
	for i := range count {
		count[i] = 1 + int32(rng.IntN(5))
	}
	for _, norm := range []bool{false, true} {
		for _, mode := range []Mode{Eval, Train} {
			t.Run(fmt.Sprintf("norm=%v/mode=%d", norm, mode), func(t *testing.T) {
				net := NewWeightNet[float64](3, 6, 5, norm, rng)
				ps := net.Params("")
				spread(ps, rng)
				pose, dw, dpose := normals[float64](rng, rows*3), normals[float64](rng, rows*5), make([]float64, rows*3)
				g := NewGrads(ps)
				tape := net.ForwardTape(pose, rows, count, 2, mode)
				tape.Backward(dpose, append([]float64(nil), dw...), g)
				requireDifferences(t, ps, g, []live{{"pose", pose, dpose}}, func() float64 {
					return dot(net.ForwardTape(pose, rows, count, 2, mode).Weights(), dw)
				})

				// Activations that were dropped are computed again, to the same bits.
				again, other := NewGrads(ps), make([]float64, rows*3)
				tape.linear, tape.weights = [3][]float64{}, nil
				tape.Backward(other, append([]float64(nil), dw...), again)
				require.Equal(t, g.Data, again.Data)
				require.Equal(t, dpose, other)
				small := tape.linear
				tape.Release() // little is kept
				require.Equal(t, small, tape.linear)
			})
		}
	}
}

// gradGeometries are: a pixel grid, whose poses occur often; scattered points with padding, in two blocks; several lifts; and
// neighbourhoods of which some or all are empty.
func gradGeometries(t *testing.T) map[string]func() (*Geometry[float64], float64) {
	lifted := func(name string, x []float64, k int) *group.Lifted {
		g, err := group.Parse(name, 0)
		require.NoError(t, err)
		return group.LiftPoints(g, x, k, 1)
	}
	var grid []float64
	for i := range 12 {
		grid = append(grid, float64(i/4), float64(i%4))
	}
	mask := make([]bool, 14)
	for i := range mask {
		mask[i] = i%5 != 3
	}
	return map[string]func() (*Geometry[float64], float64){
		"grid": func() (*Geometry[float64], float64) {
			return NewGeometry[float64](lifted("T(2)", grid, 1), nil, nil, 0, 0), 0.3
		},
		"padded": func() (*Geometry[float64], float64) {
			return NewGeometry[float64](scattered(t, "R>0xSO(2)", 14, 1), mask, []int{0, 6, 14}, 0, 0), 0.9
		},
		"lifts": func() (*Geometry[float64], float64) {
			return NewGeometry[float64](scattered(t, "SE(2)", 6, 2), nil, nil, 0, 0), 1.1
		},
		"sparse": func() (*Geometry[float64], float64) {
			return NewGeometry[float64](scattered(t, "SO(2)", 9, 1), make([]bool, 9), nil, 0, 0), 0.5
		},
		"closed": func() (*Geometry[float64], float64) {
			return NewGeometry[float64](lifted("T(2)", grid, 1), nil, nil, 0, 0), 0
		},
	}
}

// TestConvolutionGradients takes every convolution on every geometry in every mode.
func TestConvolutionGradients(t *testing.T) {
	type run func(dst, f []float64) (back func(df, dout []float64, g *Grads[float64]))
	for name, geometry := range gradGeometries(t) {
		for _, mode := range []Mode{Eval, Train} {
			for i, norm := range []bool{false, true, false, true} {
				window := Windows[i/2]
				for _, kind := range []string{"lieconv", "depthwise", "separable", "separable-relu", "separable-sigmoid",
					"separable-softplus", "resblock"} {
					t.Run(fmt.Sprintf("%s/mode=%d/norm=%v/%s/%s", name, mode, norm, window, kind), func(t *testing.T) {
						const batch, ci = 2, 5
						rng := rand.New(rand.NewPCG(24, 1))
						geo, r := geometry()
						cfg := LieConvConfig{PoseDim: group.PoseDim(geo.Points.Group), Hidden: 4, Mid: 3, BatchNorm: norm,
							Radius: r, Fill: 0.4, Rate: 0.5, Window: window}
						co := ci
						var ps []Param[float64]
						var forward run
						var eval func(dst, f []float64) error // the forward pass without a tape
						switch kind {
						case "lieconv":
							co = 4
							l := NewLieConv[float64](ci, co, cfg, rng)
							ps = l.Params("")
							forward = func(dst, f []float64) func(df, dout []float64, g *Grads[float64]) {
								tape, err := l.ForwardTape(dst, f, geo, batch, mode)
								require.NoError(t, err)
								return tape.Backward
							}
							eval = func(dst, f []float64) error { return l.Forward(dst, f, geo, batch) }
						case "depthwise":
							l := NewDepthwiseLieConv[float64](ci, cfg, rng)
							ps = l.Params("")
							forward = func(dst, f []float64) func(df, dout []float64, g *Grads[float64]) {
								tape, err := l.ForwardTape(dst, f, geo, batch, mode)
								require.NoError(t, err)
								return tape.Backward
							}
							eval = func(dst, f []float64) error { return l.Forward(dst, f, geo, batch) }
						case "resblock":
							l := NewResidualBlock[float64](ci, cfg, rng)
							ps = l.Params("")
							forward = func(dst, f []float64) func(df, dout []float64, g *Grads[float64]) {
								tape, err := l.ForwardTape(dst, f, geo, batch, mode)
								require.NoError(t, err)
								return tape.Backward
							}
							eval = func(dst, f []float64) error {
								copy(dst, f)
								return l.Forward(dst, geo, batch)
							}
						default:
							co = 4
							act := map[string]simd.Activation{"separable-relu": simd.ActReLU, "separable-sigmoid": simd.ActSigmoid,
								"separable-softplus": simd.ActSoftplus}[kind]
							l := NewSeparableLieConv[float64](ci, co, cfg, rng)
							ps = l.Params("")
							forward = func(dst, f []float64) func(df, dout []float64, g *Grads[float64]) {
								tape, err := l.ForwardTape(dst, f, geo, batch, mode, act)
								require.NoError(t, err)
								return tape.Backward
							}
							eval = func(dst, f []float64) error { return l.Forward(dst, f, geo, batch, act) }
						}
						spread(ps, rng)
						for _, p := range ps {
							if len(p.Shape) == 0 {
								p.Data[0] = r
							}
						}
						var before [][]float64
						for _, p := range ps {
							before = append(before, append([]float64(nil), p.Data...))
						}
						restore := func() {
							for i, p := range ps {
								copy(p.Data, before[i])
							}
						}
						f, dout := normals[float64](rng, batch*geo.Rows()*ci), normals[float64](rng, batch*geo.Rows()*co)
						df, out := make([]float64, len(f)), make([]float64, len(dout))
						g := NewGrads(ps)
						forward(out, f)(df, dout, g)
						restore()
						if mode == Eval {
							want := make([]float64, len(out))
							require.NoError(t, eval(want, f))
							require.InDeltaSlice(t, want, out, 1e-12, "the tape's forward pass is the other one")
						}
						requireDifferences(t, ps, g, []live{{"f", f, df}}, func() float64 {
							y := make([]float64, len(dout))
							forward(y, f)
							return dot(y, dout)
						})
					})
				}
			}
		}
	}
}

func TestRBFGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	k := NewRBF[float64](1.7, 0.6)
	ps := k.Params("")
	for _, n := range []int{0, 7, 300} {
		const m, d, c = 5, 2, 3
		at, x := normals[float64](rng, m*d), normals[float64](rng, n*d)
		phi, dh := normals[float64](rng, n*c), normals[float64](rng, m*c)
		h, dphi := make([]float64, m*c), make([]float64, n*c)
		g := NewGrads(ps)
		k.Backward(dphi, dh, at, x, phi, d, c, g)
		requireDifferences(t, ps, g, []live{{"phi", phi, dphi}}, func() float64 {
			k.Forward(h, at, x, phi, d, c)
			return dot(h, dh)
		})
	}
	for _, lattice := range []Lattice{{{-1, 0, 0.4, 2}}, {{-0.3, 0.5}, {-1, 0, 1}}, {{0, 1}, {-0.5, 0.5}, {0.2, 1, 2}}} {
		const n, c = 7, 3
		x, phi, dh := normals[float64](rng, n*len(lattice)), normals[float64](rng, n*c), normals[float64](rng, lattice.Points()*c)
		h, g := make([]float64, len(dh)), NewGrads(ps)
		k.BackwardLattice(dh, lattice, x, phi, c, g)
		requireDifferences(t, ps, g, nil, func() float64 {
			k.ForwardLattice(h, lattice, x, phi, c)
			return dot(h, dh)
		})
	}
	for _, name := range []string{"T(2)", "R>0xSO(2)"} {
		const n, c = 7, 3
		a, b := scattered(t, name, 5, 1), scattered(t, name, n, 1)
		phi, dh := normals[float64](rng, n*c), normals[float64](rng, 5*c)
		h, dphi := make([]float64, 5*c), make([]float64, n*c)
		g := NewGrads(ps)
		k.BackwardGroup(dphi, dh, a, b, phi, c, g)
		requireDifferences(t, ps, g, []live{{"phi", phi, dphi}}, func() float64 {
			k.ForwardGroup(h, a, b, phi, c)
			return dot(h, dh)
		})
	}
}

func TestConv1dGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for _, c := range []struct {
		batch, n, in, out, width int
		act                      simd.Activation
	}{
		{1, 1, 1, 1, 1, simd.ActNone}, {1, 1, 3, 2, 5, simd.ActReLU}, {2, 3, 3, 4, 5, simd.ActSigmoid}, {1, 9, 4, 3, 5, simd.ActReLU},
		{3, 7, 2, 3, 3, simd.ActSoftplus}, {1, 2, 1, 2, 9, simd.ActNone}, {1, 0, 2, 2, 3, simd.ActNone},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			l := NewConv1d[float64](c.in, c.out, c.width, rng)
			x, dy := normals[float64](rng, c.batch*c.n*c.in), normals[float64](rng, c.batch*c.n*c.out)
			dx, y := make([]float64, len(x)), make([]float64, len(dy))
			l.Forward(y, x, c.batch, c.n, c.act)
			ps := l.Params("")
			g := NewGrads(ps)
			l.Backward(dx, dy, x, y, c.batch, c.n, c.act, g)
			requireDifferences(t, ps, g, []live{{"x", x, dx}}, func() float64 {
				l.Forward(y, x, c.batch, c.n, c.act)
				return dot(y, dy)
			})
		})
	}
}

func TestDepthwiseConv2dGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 1))
	for _, c := range []struct {
		batch, h, w, c, width int
		positive, bias        bool
	}{{1, 1, 1, 1, 1, false, true}, {2, 3, 5, 4, 3, true, false}, {1, 4, 2, 3, 9, false, true}, {1, 8, 8, 2, 5, true, true},
		{2, 5, 6, 3, 4, false, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			l := NewDepthwiseConv2d[float64](c.c, c.width, c.positive, c.bias, rng)
			x, dy := normals[float64](rng, c.batch*c.h*c.w*c.c), normals[float64](rng, c.batch*c.h*c.w*c.c)
			dx, y := make([]float64, len(x)), make([]float64, len(x))
			ps := l.Params("")
			g := NewGrads(ps)
			l.Backward(dx, dy, x, c.batch, c.h, c.w, g)
			requireDifferences(t, ps, g, []live{{"x", x, dx}}, func() float64 {
				l.Forward(y, x, c.batch, c.h, c.w)
				return dot(y, dy)
			})
		})
	}
}

// TestGradientBits: any number of goroutines gives the same bits, and padding that holds NaN changes nothing.
func TestGradientBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 1))
	const n, c = 900, 6
	mask := make([]bool, n)
	for i := range mask {
		mask[i] = i%7 != 0
	}
	cfg := LieConvConfig{PoseDim: 2, Hidden: 8, Mid: 4, BatchNorm: true, Radius: 0.02}
	conv, block := NewLieConv[float32](c, c, cfg, rng), NewResidualBlock[float32](c, cfg, rng)
	ps := append(conv.Params("conv."), block.Params("block.")...)
	f, dout := normals[float32](rng, 2*n*c), normals[float32](rng, 2*n*c)
	for r := range 2 * n {
		if !mask[r%n] {
			clear(dout[r*c : (r+1)*c])
		}
	}
	run := func() [][]float32 {
		geo := NewGeometry[float32](scattered(t, "T(2)", n, 1), mask, nil, 0, 0)
		h, y, df := make([]float32, len(f)), make([]float32, len(f)), make([]float32, len(f))
		g := NewGrads(ps)
		a, err := conv.ForwardTape(h, f, geo, 2, Train)
		require.NoError(t, err)
		b, err := block.ForwardTape(y, h, geo, 2, Train)
		require.NoError(t, err)
		b.Backward(df, dout, g)
		a.Backward(df, df, g)
		return append(g.Data, df)
	}
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	want := run()
	runtime.GOMAXPROCS(4)
	require.Equal(t, want, run())
	for r := range 2 * n {
		if !mask[r%n] {
			f[r*c+1] = float32(math.NaN())
		}
	}
	got := run()
	require.Equal(t, want[:len(want)-1], got[:len(got)-1])
}

// TestGradientOrders: the same bits for any number of goroutines, and whether activations are kept or computed again, in every order
// that a convolution may go in: by a plan, by a plan lift by lift, by tiles whose weights come from kept results or from the poses.
func TestGradientOrders(t *testing.T) {
	const side, c, batch = 12, 20, 2
	var grid []float64
	for i := range side * side {
		grid = append(grid, float64(i/side)-5.5, float64(i%side)-5.5)
	}
	defer func(n int64) { keepBytes = n }(keepBytes)
	for _, tt := range []struct {
		group  string
		lifts  int
		radius float64
		flat   bool
		norm   bool
	}{{"T(2)", 1, 0.8, true, true}, {"SE(2)", 4, 1.9, true, true}, {"RxSO(2)", 1, 0.3, false, true}, {"RxSO(2)", 1, 0.3, false, false}} {
		t.Run(fmt.Sprintf("%sx%d/norm=%v", tt.group, tt.lifts, tt.norm), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(31, 1))
			g, err := group.Parse(tt.group, 0)
			require.NoError(t, err)
			points := group.LiftPoints(g, grid, tt.lifts, 0)
			points.Across = side
			cfg := LieConvConfig{PoseDim: group.PoseDim(g), Hidden: 8, BatchNorm: tt.norm, Radius: tt.radius}
			block := NewResidualBlock[float32](c, cfg, rng)
			f, dout := normals[float32](rng, batch*points.Rows()*c), normals[float32](rng, batch*points.Rows()*c)
			run := func(procs int, keep int64) [][]float32 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				keepBytes = keep
				geo := NewGeometry[float32](points, nil, nil, 0, 0)
				p, err := geo.Pairs(block.Conv[0].Depthwise.Radius())
				require.NoError(t, err)
				require.Equal(t, tt.flat, Flat(p.Neighborhood), "%d pairs, %d poses", p.Pairs(), p.NumPoses())
				y, df, g := make([]float32, len(f)), make([]float32, len(f)), NewGrads(block.Params(""))
				tape, err := block.ForwardTape(y, f, geo, batch, Train)
				require.NoError(t, err)
				net := tape.conv[0].depthwise.net
				require.Equal(t, keep > 0 && tt.norm, net.kept > 0 && net.linear[1] != nil)
				tape.Backward(df, dout, g)
				require.Zero(t, net.kept)
				require.Nil(t, net.linear[1])
				// Another Backward computes again what this one gave back.
				again, twice := make([]float32, len(f)), NewGrads(block.Params(""))
				tape.Backward(again, dout, twice)
				require.Equal(t, df, again)
				require.Equal(t, g.Data, twice.Data)
				return append(g.Data, y, df)
			}
			want := run(1, 1<<30)
			require.Equal(t, want, run(4, 1<<30))
			require.Equal(t, want, run(4, 0))
		})
	}
}

// TestBlocksBackward: blocks go back together as one after another, to the bit.
func TestBlocksBackward(t *testing.T) {
	const rows, c, batch = 20, 5, 2
	rng := rand.New(rand.NewPCG(37, 1))
	geo := NewGeometry[float32](group.LiftPoints(group.NewT(2, 0), normals[float64](rng, 2*rows), 1, 0), nil, nil, 0, 0)
	h, params := normals[float32](rng, batch*rows*c), []Param[float32](nil)
	var tapes []*ResidualBlockTape[float32]
	for range 3 {
		block := NewResidualBlock[float32](c, LieConvConfig{PoseDim: 2, Hidden: 4, Radius: 1}, rng)
		y := make([]float32, len(h))
		tape, err := block.ForwardTape(y, h, geo, batch, Train)
		require.NoError(t, err)
		tapes, h, params = append(tapes, tape), y, append(params, block.Params("")...)
	}
	dout := normals[float32](rng, len(h))
	want, got, one, all := slices.Clone(dout), slices.Clone(dout), NewGrads(params), NewGrads(params)
	for _, tape := range slices.Backward(tapes) {
		tape.Backward(want, want, one)
	}
	BlocksBackward(tapes, got, all)
	require.Equal(t, want, got)
	require.Equal(t, one.Data, all.Data)
	require.NotEqual(t, dout, got)
	BlocksBackward(nil, got, all)
	require.Equal(t, want, got)
	require.PanicsWithValue(t, "layers: ResidualBlock.Backward: len(d) = 199, need 200", func() { BlocksBackward(tapes, got[1:], all) })
}

// TestLieConvInto: a LieConv that writes and reads rows which stand apart has the bits of one whose rows follow each
// other, and what lies between stays as it is.
func TestLieConvInto(t *testing.T) {
	const rows, in, out, stride, batch = 20, 2, 3, 7, 2
	rng := rand.New(rand.NewPCG(41, 1))
	geo := NewGeometry[float32](group.LiftPoints(group.NewT(2, 0), normals[float64](rng, 2*rows), 1, 0), nil, nil, 0, 0)
	l := NewLieConv[float32](in, out, LieConvConfig{PoseDim: 2, Hidden: 4, Mid: 4, Radius: 1}, rng)
	f := normals[float32](rng, batch*rows*in)
	y, df, g := make([]float32, batch*rows*out), make([]float32, len(f)), NewGrads(l.Params(""))
	dout := normals[float32](rng, len(y))
	tape, err := l.ForwardTape(y, f, geo, batch, Eval)
	require.NoError(t, err)
	tape.Backward(df, dout, g)

	apart, dapart := normals[float32](rng, batch*rows*stride), normals[float32](rng, batch*rows*stride)
	want, df2, g2 := slices.Clone(apart), make([]float32, len(f)), NewGrads(l.Params(""))
	for r := range batch * rows {
		copy(want[r*stride+1:], y[r*out:(r+1)*out])
		copy(dapart[r*stride+1:], dout[r*out:(r+1)*out])
	}
	tape, err = l.ForwardTapeInto(apart[1:], stride, f, geo, batch, Eval)
	require.NoError(t, err)
	tape.BackwardFrom(df2, dapart[1:], stride, g2)
	require.Equal(t, want, apart)
	require.Equal(t, df, df2)
	require.Equal(t, g.Data, g2.Data)
	require.PanicsWithValue(t, "layers: LieConv: len(dst) = 275, need 40 rows of 3 numbers, 7 apart", func() {
		_, _ = l.ForwardTapeInto(apart[5:], stride, f, geo, batch, Eval)
	})
}

func TestGrads(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 1))
	l := NewLinear[float64](2, 3, rng)
	x, dy := normals[float64](rng, 8), normals[float64](rng, 12)
	g, twice, none := NewGrads(l.Params("")), NewGrads(l.Params("")), NewGrads[float64](nil)
	l.Backward(nil, dy, x, 4, g)
	l.Backward(nil, dy, x, 4, twice)
	l.Backward(nil, dy, x, 4, none) // all parameters frozen
	twice.Add(g)
	twice.Add(g)
	for i := range g.Data {
		for k, v := range g.Data[i] {
			require.InDelta(t, 3*v, twice.Data[i][k], 1e-12)
		}
	}
	g.Zero()
	require.Zero(t, largest(g.Data[0]))
	require.Nil(t, g.Of(nil))
	require.PanicsWithValue(t, "layers: Grads.Add: 0 parameters, need 2", func() { g.Add(none) })
	require.PanicsWithValue(t, "layers: Linear.Backward: len(dy) = 11, need 12", func() { l.Backward(nil, dy[:11], x, 4, g) })
	require.Panics(t, func() { activationGrad(x, x, x, simd.ActSwish) })
}

// TestGradientOfNoImages: a batch of none adds nothing to the gradients, whatever the batch before it left in memory.
func TestGradientOfNoImages(t *testing.T) {
	t.Run("float32", testGradientOfNoImages[float32])
	t.Run("float64", testGradientOfNoImages[float64])
}

func testGradientOfNoImages[T Float](t *testing.T) {
	const side, c = 12, 16
	grid := make([]float64, 0, 2*side*side)
	for i := range side * side {
		grid = append(grid, float64(i/side), float64(i%side))
	}
	for _, g := range []group.Group{group.NewT(2, 0), group.NewSO2(0), group.NewSE2(0)} {
		for _, norm := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(1, 2))
			points := group.LiftPoints(g, grid, 1, 1)
			geometry := NewGeometry[T](points, nil, nil, 0, 0)
			config := LieConvConfig{PoseDim: group.PoseDim(g), Hidden: 8, Mid: 4, Radius: 0.6, BatchNorm: norm}
			lie, block := NewLieConv[T](c, c, config, rng), NewResidualBlock[T](c, config, rng)
			grads := NewGrads(append(lie.Params("lie."), block.Params("block.")...))
			for _, batch := range []int{2, 0} {
				grads.Zero()
				f := make([]T, batch*side*side*c)
				for i := range f {
					f[i] = T(rng.NormFloat64())
				}
				out := make([]T, len(f))
				tape, err := lie.ForwardTape(out, f, geometry, batch, Train)
				require.NoError(t, err)
				tape.Backward(make([]T, len(f)), f, grads)
				blocks, err := block.ForwardTape(out, f, geometry, batch, Train)
				require.NoError(t, err)
				blocks.Backward(make([]T, len(f)), f, grads)
			}
			for i, p := range grads.Params {
				for _, v := range grads.Data[i] {
					require.Zero(t, v, "%s: %s", g.Name(), p.Name)
				}
			}
		}
	}
}
