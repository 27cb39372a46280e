package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

func normals[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(rng.NormFloat64())
	}
	return v
}

// TestConv1d compares with the definition, for every boundary case of length against width.
func TestConv1d(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ batch, n, in, out, width int }{
		{1, 1, 1, 1, 1}, {1, 1, 3, 2, 5}, {2, 2, 3, 4, 5}, {1, 7, 8, 16, 5}, {3, 40, 2, 3, 3}, {1, 9, 1, 1, 9}, {1, 0, 2, 2, 3},
		{0, 5, 2, 2, 3},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			l := NewConv1d[float64](c.in, c.out, c.width, rng)
			x := normals[float64](rng, c.batch*c.n*c.in)
			got, want := make([]float64, c.batch*c.n*c.out), make([]float64, c.batch*c.n*c.out)
			l.Forward(got, x, c.batch, c.n, simd.ActNone)
			for i := range want {
				b, p, o := i/(c.n*c.out), i/c.out%c.n, i%c.out
				want[i] = l.Bias[o]
				for k := range c.width {
					if q := p + k - c.width/2; q >= 0 && q < c.n {
						for ci := range c.in {
							want[i] += l.Weight[(o*c.in+ci)*c.width+k] * x[(b*c.n+q)*c.in+ci]
						}
					}
				}
			}
			testkit.Close(t, "conv1d", got, want, 1e-13)
		})
	}
}

// TestDepthwiseConv2d compares with the definition; images smaller than the kernel included.
func TestDepthwiseConv2d(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, c := range []struct {
		batch, h, w, c, width int
		positive, bias        bool
	}{{1, 1, 1, 1, 1, false, true}, {2, 3, 5, 4, 3, true, false}, {1, 4, 2, 3, 9, false, true}, {1, 8, 8, 2, 5, true, true},
		{2, 5, 6, 3, 4, false, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			l := NewDepthwiseConv2d[float64](c.c, c.width, c.positive, c.bias, rng)
			x := normals[float64](rng, c.batch*c.h*c.w*c.c)
			got, want := make([]float64, len(x)), make([]float64, len(x))
			l.Forward(got, x, c.batch, c.h, c.w)
			for i := range want {
				b, y, xx, ch := i/(c.h*c.w*c.c), i/(c.w*c.c)%c.h, i/c.c%c.w, i%c.c
				if c.bias {
					want[i] = l.Bias[ch]
				}
				for ky := range c.width {
					for kx := range c.width {
						yy, x2 := y+ky-c.width/2, xx+kx-c.width/2
						if yy >= 0 && yy < c.h && x2 >= 0 && x2 < c.w {
							w := l.Weight[(ch*c.width+ky)*c.width+kx]
							if c.positive {
								w = math.Abs(w)
							}
							want[i] += w * x[((b*c.h+yy)*c.w+x2)*c.c+ch]
						}
					}
				}
			}
			testkit.Close(t, "conv2d", got, want, 1e-13)
		})
	}
}

func TestRBF(t *testing.T) {
	k := NewRBF[float64](1.7, 0.4)
	require.InDelta(t, 1.7, k.Scale(), 1e-14)
	require.InDelta(t, 0.4, k.Length(), 1e-14)
	for _, y := range []float64{1e-12, 1e-3, 1, 40, 1e3} {
		require.InEpsilon(t, y, softplus(invSoftplus(y)), 1e-12)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	x, at, phi := normals[float64](rng, 14), normals[float64](rng, 6), normals[float64](rng, 21)
	want := make([]float64, 9)
	for i := range 3 {
		for j := range 7 {
			d2 := math.Pow(at[2*i]-x[2*j], 2) + math.Pow(at[2*i+1]-x[2*j+1], 2)
			for c := range 3 {
				want[3*i+c] += 1.7 * math.Exp(-d2/(2*0.4*0.4)) * phi[3*j+c]
			}
		}
	}
	got := make([]float64, 9)
	k.Forward(got, at, x, phi, 2, 3)
	testkit.Close(t, "rbf", got, want, 1e-13)

	// Under a translation group of alpha 1/2 the group distance is half the Euclidean one: the same kernel, twice as wide.
	g, err := group.Parse("T(2)", 0.5)
	require.NoError(t, err)
	half := NewRBF[float64](1.7, 0.2)
	half.ForwardGroup(got, group.LiftPoints(g, at, 1, 0), group.LiftPoints(g, x, 1, 0), phi, 3)
	testkit.Close(t, "rbf in the group's distance", got, want, 1e-13)
}

// TestRBFLattice: at the points of a lattice, products of exponentials along the axes are the exponentials of
// distances; a column's bits do not depend on how many there are.
func TestRBFLattice(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testRBFLattice[float64](t, 1e-13) })
	t.Run("F32", func(t *testing.T) { testRBFLattice[float32](t, 1e-5) })
}

func testRBFLattice[T Float](t *testing.T, tol float64) {
	rng := rand.New(rand.NewPCG(3, 2))
	k := NewRBF[T](1.7, 0.4)
	exact := &RBF[float64]{RawScale: []float64{float64(k.RawScale[0])}, RawLength: []float64{float64(k.RawLength[0])}}
	doubles := func(x []T) (y []float64) {
		for _, v := range x {
			y = append(y, float64(v))
		}
		return y
	}
	for _, sizes := range [][]int{{9}, {1, 5}, {6, 7}, {3, 1, 4}, {4, 5, 3}, {2, 2, 2, 3}, {0, 4}} {
		d := len(sizes)
		lattice, at := make(Lattice, d), []float64(nil)
		for a, n := range sizes {
			lattice[a] = normals[float64](rng, n)
		}
		for i := range lattice.Points() {
			point := make([]float64, d)
			for a, rest := d-1, i; a >= 0; a-- {
				point[a] = lattice[a][rest%sizes[a]]
				rest /= sizes[a]
			}
			at = append(at, point...)
		}
		for _, n := range []int{0, 1, 5, 300} {
			const c = 3
			x, phi := normals[float64](rng, n*d), normals[T](rng, n*c)
			if n == 5 {
				x[0] = 1e200 // its squared distance is infinite
			}
			want, got := make([]float64, lattice.Points()*c), make([]T, lattice.Points()*c)
			exact.Forward(want, at, x, doubles(phi), d, c)
			k.ForwardLattice(got, lattice, x, phi, c)
			asks := 0
			done := new(LatticeConv[T]).ForwardUntil(func() bool { asks++; return asks > 2 }, slices.Clone(got), lattice, x, phi, c, 1, 1)
			require.Equal(t, n <= 2*latticePoints || len(got) == 0, done, "%d points", n)
			testkit.Close(t, fmt.Sprint(sizes, n), got, want, tol*float64(n+1))

			one, channel := make([]T, lattice.Points()), make([]T, n)
			for i := range channel {
				channel[i] = phi[i*c+1]
			}
			k.ForwardLattice(one, lattice, x, channel, 1)
			for i, v := range one {
				require.Equal(t, got[i*c+1], v)
			}
			dh := normals[T](rng, len(got))
			g, ofAll := NewGrads(k.Params("")), NewGrads(exact.Params(""))
			k.BackwardLattice(dh, lattice, x, phi, c, g)
			exact.Backward(nil, doubles(dh), at, x, doubles(phi), d, c, ofAll)
			for i := range g.Data {
				testkit.Close(t, fmt.Sprint(sizes, n, g.Params[i].Name), g.Data[i], ofAll.Data[i], 10*tol*float64((n+1)*len(dh)+1))
			}
		}
	}
}

// TestBatchNorm: rows with a multiplicity are worth that many equal rows, also when their mean is far from zero.
func TestBatchNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, offset := range []float64{0, 1e4} {
		rows, c := 40, 3
		x := normals[float32](rng, rows*c)
		count := make([]int32, rows)
		var long []float32
		for r := range rows {
			count[r] = int32(rng.IntN(4))
			for i := range c {
				x[r*c+i] += float32(offset)
			}
			for range count[r] {
				long = append(long, x[r*c:(r+1)*c]...)
			}
		}
		a, b := NewBatchNorm[float32](c), NewBatchNorm[float32](c)
		for i := range c {
			a.Weight[i], a.Bias[i] = float32(i)+0.5, -float32(i)
		}
		copy(b.Weight, a.Weight)
		copy(b.Bias, a.Bias)
		a.ForwardTape(x, x, count, 1, Train)
		b.ForwardTape(long, long, nil, 1, Train)
		at := 0
		for r := range rows {
			for range count[r] {
				for i := range c {
					require.InDelta(t, long[at], x[r*c+i], 1e-5)
					at++
				}
			}
		}
		for i := range c {
			require.InEpsilon(t, b.RunningMean[i]+1, a.RunningMean[i]+1, 1e-6)
			require.InEpsilon(t, b.RunningVar[i], a.RunningVar[i], 1e-6)
		}
		// The normalised rows have mean bias and deviation weight.
		for i := range c {
			sum, sq, n := 0.0, 0.0, float64(len(long)/c)
			for r := range len(long) / c {
				v := float64(long[r*c+i])
				sum, sq = sum+v, sq+v*v
			}
			require.InDelta(t, float64(b.Bias[i]), sum/n, 1e-4)
			require.InDelta(t, float64(b.Weight[i]*b.Weight[i]), sq/n-sum/n*sum/n, 1e-3)
		}
	}
	// No pair anywhere: nothing changes and nothing is divided by zero.
	b := NewBatchNorm[float32](2)
	x := []float32{1, 2}
	b.ForwardTape(x, x, []int32{0}, 1, Train)
	require.Equal(t, []float32{1, 1}, b.RunningVar)
	require.Equal(t, []float32{1, 2}, x)
}

func scattered(t *testing.T, name string, n, k int) *group.Lifted {
	t.Helper()
	g, err := group.Parse(name, 0)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(5, 1))
	return group.LiftPoints(g, normals[float64](rng, n*g.PointDim()), k, 1)
}

// TestWithWeights: storing the weights of all poses and evaluating them in tiles are the same computation, and the number of
// goroutines changes no bit of either.
func TestWithWeights(t *testing.T) {
	l := scattered(t, "SE(2)", 70, 2)
	g := NewGeometry[float32](l, nil, nil, 0, 0)
	p, err := g.Pairs(1.2)
	require.NoError(t, err)
	require.Greater(t, p.Pairs(), 1000)
	rng := rand.New(rand.NewPCG(6, 1))
	net := NewWeightNet[float32](p.PoseDim, 8, 5, true, rng).fold()
	f := normals[float32](rng, l.Rows()*5)
	run := func(each func(consume func(int, *weightedRows[float32]))) []float32 {
		out := make([]float32, len(f))
		var mu sync.Mutex
		seen := make([]int, l.Rows())
		each(func(_ int, ti *weightedRows[float32]) {
			y := make([]float32, ti.n*5)
			simd.Depthwise(y, f, ti.weights, ti.offsets, ti.index, ti.pose, 5, true)
			mu.Lock()
			defer mu.Unlock()
			for i := range ti.n {
				copy(out[ti.row(i)*5:], y[i*5:(i+1)*5])
				seen[ti.row(i)]++
			}
		})
		for i, n := range seen {
			require.Equal(t, 1, n, "row %d", i)
		}
		return out
	}
	w := make([]float32, p.NumPoses()*5)
	net.forwardAll(w, p.Table, p.NumPoses())
	var all [][]float32
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		all = append(all,
			run(func(c func(int, *weightedRows[float32])) { withTable(p, w, c) }),
			run(func(c func(int, *weightedRows[float32])) { withEvaluated(p, net, nil, c) }))
		runtime.GOMAXPROCS(old)
	}
	for _, v := range all[1:] {
		require.Equal(t, all[0], v)
	}
}

// TestBatch: images that share a geometry are independent.
func TestBatch(t *testing.T) {
	g := NewGeometry[float32](scattered(t, "R>0xSO(2)", 50, 1), nil, nil, 0, 0)
	rng := rand.New(rand.NewPCG(7, 1))
	cfg := LieConvConfig{PoseDim: 2, Hidden: 8, Mid: 4, BatchNorm: true, Radius: 0.4}
	conv, block := NewLieConv[float32](3, 6, cfg, rng), NewResidualBlock[float32](6, cfg, rng)
	f := normals[float32](rng, 4*50*3)
	forward := func(f []float32, b int) []float32 {
		h := make([]float32, b*50*6)
		require.NoError(t, conv.Forward(h, f, g, b))
		require.NoError(t, block.Forward(h, g, b))
		return h
	}
	all := forward(f, 4)
	for b := range 4 {
		require.Equal(t, all[b*50*6:(b+1)*50*6], forward(f[b*50*3:(b+1)*50*3], 1))
	}
}

// TestGeometryShares: one neighbourhood per radius, whoever asks and however many at once.
func TestGeometryShares(t *testing.T) {
	g := NewGeometry[float32](scattered(t, "T(2)", 40, 1), nil, nil, 0, 0)
	var wg sync.WaitGroup
	got := make([]*Pairs[float32], 8)
	for i := range got {
		wg.Add(1)
		go func() {
			defer wg.Done()
			got[i], _ = g.Pairs(0.3)
		}()
	}
	wg.Wait()
	for _, p := range got {
		require.Same(t, got[0], p)
	}
	other, err := g.Pairs(0.2)
	require.NoError(t, err)
	require.NotSame(t, got[0], other)
	for i := range 2 * keepPairs { // the memory is bounded
		_, err := g.Pairs(0.1 + 1e-3*float64(i))
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(g.all), keepPairs)
	_, err = g.Pairs(math.NaN())
	require.Error(t, err)
}

// The mean over seeds of convolutions of capped neighbourhoods is that of the whole ones, as far as the standard error of
// so many seeds allows; a training step moves the radius by whom the ball holds, not by whom the sample has.
func TestCapped(t *testing.T) {
	const rows, cap, seeds = 60, 5, 600
	whole := NewGeometry[float64](scattered(t, "T(2)", rows, 1), nil, nil, 0, 0)
	rng := rand.New(rand.NewPCG(3, 8))
	cfg := LieConvConfig{PoseDim: 2, Hidden: 4, Mid: 3, BatchNorm: true, Radius: 0.12, Fill: 0.9, Rate: 0.1}
	conv, deep := NewLieConv[float64](2, 3, cfg, rng), NewSeparableLieConv[float64](3, 3, cfg, rng)
	clear(conv.Linear.Bias) // which is divided by the number of neighbours, as the authors do, and so is not a mean over them
	f, h := normals[float64](rng, rows*2), normals[float64](rng, rows*3)
	both := func(g *Geometry[float64]) []float64 {
		out := make([]float64, 2*rows*3)
		require.NoError(t, conv.Forward(out[:rows*3], f, g, 1))
		require.NoError(t, deep.Depthwise.Forward(out[rows*3:], h, g, 1))
		return out
	}
	want := both(whole)
	sum, squares := make([]float64, len(want)), make([]float64, len(want))
	for seed := range uint64(seeds) {
		g := whole.Capped(cap, seed)
		p, err := g.Pairs(0.12)
		require.NoError(t, err)
		all, err := whole.Pairs(0.12)
		require.NoError(t, err)
		require.Equal(t, all.Pairs(), p.Pairs()+p.Left)
		require.Greater(t, p.Left, rows)
		for i := range rows {
			require.LessOrEqual(t, p.Offsets[i+1]-p.Offsets[i], cap)
		}
		for i, v := range both(g) {
			sum[i] += v
			squares[i] += v * v
		}
	}
	worst := 0.0
	for i, v := range want {
		mean := sum[i] / seeds
		deviation := math.Sqrt(max(squares[i]/seeds-mean*mean, 0) / seeds)
		if deviation > 1e-12 {
			worst = max(worst, math.Abs(mean-v)/deviation)
		} else {
			require.InDelta(t, v, mean, 1e-9) // balls of few points, which are whole
		}
	}
	require.Greater(t, worst, 0.5)
	require.Less(t, worst, 4.5, "deviations of %d means from the whole neighbourhoods'", len(want))

	for _, g := range []*Geometry[float64]{whole, whole.Capped(cap, 1)} {
		l := NewLieConv[float64](2, 3, cfg, rand.New(rand.NewPCG(1, 1)))
		_, err := l.ForwardTape(make([]float64, rows*3), f, g, 1, Train)
		require.NoError(t, err)
		all, err := whole.Pairs(0.12)
		require.NoError(t, err)
		require.InDelta(t, 0.12+0.1*(0.9-float64(all.Pairs())/rows/rows), l.Radius(), 1e-12)
	}
}

// Among marks who is seen and who sees, within what the geometry has.
func TestAmong(t *testing.T) {
	const rows = 30
	l, rng := scattered(t, "T(2)", rows, 1), rand.New(rand.NewPCG(4, 4))
	marks := func() []bool {
		m := make([]bool, rows)
		for i := range m {
			m[i] = rng.IntN(3) > 0
		}
		return m
	}
	mask, queries, points := marks(), marks(), marks()
	g := NewGeometry[float64](l, mask, []int{0, 12, rows}, 0, 0).Among(queries, points)
	p, err := g.Pairs(0.2)
	require.NoError(t, err)
	pose := make([]float64, 2)
	for i := range rows {
		var want []int32
		for j := range rows {
			ai, qi := l.Row(i)
			aj, qj := l.Row(j)
			l.Group.RelativePose(pose, ai, qi, aj, qj)
			if mask[i] && mask[j] && queries[i] && points[j] && (i < 12) == (j < 12) && l.Group.Distance(pose) < 0.2 {
				want = append(want, int32(j))
			}
		}
		got, _ := p.Row(i)
		require.ElementsMatch(t, want, got)
		require.Equal(t, mask[i] && points[i], g.Valid(i))
	}
	require.Panics(t, func() { g.Among(make([]bool, 3), nil) })
}

// TestEmptyBall: a radius of zero leaves every neighbourhood empty; the layers answer with their biases.
func TestEmptyBall(t *testing.T) {
	g := NewGeometry[float32](scattered(t, "T(2)", 5, 1), nil, nil, 0, 0)
	rng := rand.New(rand.NewPCG(8, 1))
	cfg := LieConvConfig{PoseDim: 2, Hidden: 4, Mid: 3, BatchNorm: true, Radius: 0, Fill: 0.5, Rate: 0.5}
	for _, mode := range []Mode{Eval, Train} {
		l := NewLieConv[float32](2, 3, cfg, rng)
		out := make([]float32, 15)
		_, err := l.ForwardTape(out, normals[float32](rng, 10), g, 1, mode)
		require.NoError(t, err)
		if mode == Eval {
			require.NoError(t, l.Forward(out, normals[float32](rng, 10), g, 1))
		}
		for i, v := range out {
			require.Equal(t, l.Linear.Bias[i%3], v)
		}
		if mode == Train { // and training opens the ball
			require.InDelta(t, 0.25, l.Radius(), 1e-6)
		}
	}
}

// TestNothing runs every convolution forwards, backwards and planned where there are no points, no images, or no pairs.
func TestNothing(t *testing.T) {
	for _, g := range []group.Group{group.NewT(1, 0), group.NewT(2, 0), group.NewSE2(0), group.NewSO2(0)} {
		for _, points := range []int{0, 1, 5} {
			for _, batch := range []int{0, 1, 2} {
				for _, radius := range []float64{0, 1} {
					name := fmt.Sprintf("%s/points=%d/batch=%d/radius=%g", g.Name(), points, batch, radius)
					t.Run(name+"/f32", func(t *testing.T) { testNothing[float32](t, g, points, batch, radius) })
					t.Run(name+"/f64", func(t *testing.T) { testNothing[float64](t, g, points, batch, radius) })
				}
			}
		}
	}
}

func testNothing[T Float](t *testing.T, g group.Group, points, batch int, radius float64) {
	const c = 32
	rng := rand.New(rand.NewPCG(4, 4))
	l := group.LiftPoints(g, make([]float64, points*g.PointDim()), 1, 1)
	geometry := NewGeometry[T](l, nil, nil, 0, 0)
	zeros := func() []T { return make([]T, batch*points*c) }
	for _, window := range Windows {
		config := LieConvConfig{PoseDim: group.PoseDim(g), Hidden: 4, Mid: 2, BatchNorm: true, Radius: radius, Fill: 0.5, Rate: 0.1,
			Window: window}
		for _, mode := range []Mode{Eval, Train} {
			conv := NewLieConv[T](c, c, config, rng)
			tape, err := conv.ForwardTape(zeros(), zeros(), geometry, batch, mode)
			require.NoError(t, err)
			tape.Backward(zeros(), zeros(), NewGrads(conv.Params("")))
			block := NewResidualBlock[T](c, config, rng)
			blockTape, err := block.ForwardTape(zeros(), zeros(), geometry, batch, mode)
			require.NoError(t, err)
			blockTape.Backward(zeros(), zeros(), NewGrads(block.Params("")))
			require.NoError(t, block.Forward(zeros(), geometry, batch))
			for _, p := range append(conv.Params(""), block.Params("")...) {
				for _, v := range p.Data {
					require.False(t, v != v, "%s is NaN", p.Name)
				}
			}
		}
		pairs, err := geometry.Pairs(radius)
		require.NoError(t, err)
		for _, flat := range []bool{false, true} {
			a := Arrange[T](pairs.Neighborhood, nil, flat, Auto, &Windowing{window, g, radius}, nil)
			plan := NewSeparableLieConv[T](c, c, config, rng).Plan(a, Storage{Share: 1})
			require.NoError(t, plan.Forward(t.Context(), zeros(), zeros(), batch, false, &Workspace[T]{}))
		}
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	l := NewLinear[float32](2, 3, rand.New(rand.NewPCG(1, 1)))
	require.PanicsWithValue(t, "layers: Linear: len(x) = 5, need 6",
		func() { l.Forward(make([]float32, 9), make([]float32, 5), 3, simd.ActNone) })
	require.PanicsWithValue(t, "layers: Linear: len(dst) = 8, need 9",
		func() { l.Forward(make([]float32, 8), make([]float32, 6), 3, simd.ActNone) })
}

// TestNoImages: a pass over no images changes no statistics.
func TestNoImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	points := group.LiftPoints(group.NewT(2, 0), []float64{0, 0, 1, 0, 0, 1}, 1, 0)
	conv := NewLieConv[float64](1, 1, LieConvConfig{PoseDim: 2, Hidden: 3, Mid: 2, BatchNorm: true, Radius: 1}, rng)
	var before, after []float64
	for _, p := range conv.Params("") {
		before = append(before, p.Data...)
	}
	_, err := conv.ForwardTape(nil, nil, NewGeometry[float64](points, nil, nil, 0, 0), 0, Train)
	require.NoError(t, err)
	for _, p := range conv.Params("") {
		after = append(after, p.Data...)
	}
	require.Equal(t, before, after)
}
