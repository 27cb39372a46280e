package pyramid

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// normals returns n normal numbers.
func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// pyramidTask is a task for pyramids of d coordinates: features that differ from the background around some places.
type pyramidTask struct {
	lo, hi, from, to []float64
	x                []float64
}

func newPyramidTask(rng *rand.Rand, d, targets int) *pyramidTask {
	t := &pyramidTask{}
	for range d {
		t.lo, t.hi = append(t.lo, -0.9), append(t.hi, 1.1)
	}
	t.x = make([]float64, targets*d)
	for i := range t.x {
		t.x[i] = 2.5 * (rng.Float64() - 0.5)
	}
	t.from, t.to = bounds(t.x, d)
	return t
}

func bounds(x []float64, d int) (lo, hi []float64) {
	for a := range d {
		l, h := math.Inf(1), math.Inf(-1)
		for i := a; i < len(x); i += d {
			l, h = min(l, x[i]), max(h, x[i])
		}
		lo, hi = append(lo, l), append(hi, h)
	}
	return lo, hi
}

// features are smooth bumps, as an encoder's, moved by a vector.
func (t *pyramidTask) features(x []float64, d, c int, by float64) []float64 {
	out := make([]float64, len(x)/d*c)
	for i := range len(x) / d {
		for ch := range c {
			r := 0.0
			for _, v := range x[i*d : (i+1)*d] {
				r += math.Pow(v-by-0.2*float64(ch)+0.1, 2)
			}
			if v := 0.5 - r; v > 0 {
				out[i*c+ch] = 3 * v * v
			}
		}
	}
	return out
}

func testPyramids(rng *rand.Rand) map[string]*Pyramid[float64] {
	all := map[string]*Pyramid[float64]{}
	configs := map[string]Config{
		"one level":  {Axes: 1, In: 2, Channels: []int{3}, Reach: 2, Blocks: 1, Step: 0.2},
		"line":       {Axes: 1, In: 2, Channels: []int{3, 4, 5}, Reach: 3, Blocks: 1, Step: 0.1},
		"no blocks":  {Axes: 1, In: 2, Channels: []int{3, 2, 4, 3}, Reach: 2, Blocks: 0, Step: 0.1},
		"two blocks": {Axes: 1, In: 1, Channels: []int{3, 4}, Reach: 1, Blocks: 2, Step: 0.15},
		"plane":      {Axes: 2, In: 2, Channels: []int{3, 2}, Reach: 1, Blocks: 1, Step: 0.3},
		"turns":      {Axes: 2, In: 2, Channels: []int{2, 1}, Reach: 1, Blocks: 1, Step: 0.3, Lifts: 4},
		"half turns": {Axes: 2, In: 1, Channels: []int{2, 2}, Reach: 2, Blocks: 1, Step: 0.4, Lifts: 2},
	}
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		all[name] = livePyramid(configs[name], rng)
	}
	return all
}

func livePyramid(c Config, rng *rand.Rand) *Pyramid[float64] {
	p := New[float64](c, rng)
	for _, q := range p.Params("") {
		for i := range q.Data {
			q.Data[i] += 0.1 * rng.NormFloat64()
			if len(q.Shape) == 1 { // with a ReLU that is alive
				q.Data[i] += 0.5
			}
		}
	}
	return p
}

func (t *pyramidTask) run(p *Pyramid[float64], by float64) []float64 {
	var r Run[float64]
	add := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = v + by
		}
		return out
	}
	r.Lay(p, add(t.lo), add(t.hi), add(t.from), add(t.to))
	d := p.kernel.d
	return append([]float64(nil), p.Compile().Forward(&r, t.features(r.Layout.Points(nil), d, p.pre.In, by), add(t.x))...)
}

// TestPyramidRange: the lattices have no end: how much of them is computed changes nothing, nor do other targets; and far away there is the
// background, exactly.
func TestPyramidRange(t *testing.T) {
	for name, p := range testPyramids(rand.New(rand.NewPCG(80, 1))) {
		t.Run(name, func(t *testing.T) {
			d, rng := p.kernel.d, rand.New(rand.NewPCG(81, 1))
			task := newPyramidTask(rng, d, 9)
			want := task.run(p, 0)
			wide := *task
			wide.lo, wide.hi, wide.from, wide.to = make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
			for a := range d {
				wide.lo[a], wide.hi[a], wide.from[a], wide.to[a] = -1.9, 2.3, -3.1, 2.9
			}
			testkit.Close(t, "wider", wide.run(p, 0), want, 1e-12)
			c := len(want) / 9
			for i := range 9 {
				one := *task
				one.x = task.x[i*d : (i+1)*d]
				one.from, one.to = bounds(one.x, d)
				require.Equal(t, want[i*c:(i+1)*c], one.run(p, 0), "target %d alone", i)
			}
			far := *task
			far.x = make([]float64, 3*d)
			for i := range far.x {
				far.x[i] = 40 + 1e300*float64(i/d)
			}
			far.from, far.to = bounds(far.x, d)
			none := *task
			none.x, none.from, none.to = far.x, far.from, far.to
			for a := range d {
				none.lo, none.hi = append([]float64(nil), none.lo...), append([]float64(nil), none.hi...)
				none.lo[a], none.hi[a] = math.Inf(1), math.Inf(-1)
			}
			got := far.run(p, 0)
			require.Equal(t, got[:c], got[c:2*c])
			require.Equal(t, got[:c], got[2*c:])
			require.Equal(t, none.run(p, 0), got, "as without data")
			require.NotEqual(t, slices.Repeat(got[:c], 9), want)
		})
	}
}

// TestPyramidShift: a shift by a step of the coarsest lattice changes nothing.
func TestPyramidShift(t *testing.T) {
	for name, p := range testPyramids(rand.New(rand.NewPCG(80, 2))) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(81, 2))
			task := newPyramidTask(rng, p.kernel.d, 9)
			by := 3 * p.Step * float64(int(1)<<(p.levels()-1))
			testkit.Close(t, "shifted", task.run(p, by), task.run(p, 0), 1e-11)
		})
	}
}

// TestPyramidTurns: with lifts, a turn of the data about a point of the coarsest lattice changes nothing at the
// targets; without them, or by another angle, it does.
func TestPyramidTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 6))
	for _, c := range []struct{ lifts, quarters int }{{4, 1}, {4, 2}, {4, 3}, {2, 2}} {
		task := newPyramidTask(rng, 2, 9)
		for a := range 2 {
			task.lo[a], task.hi[a], task.from[a], task.to[a] = -1.5, 1.5, -1.5, 1.5
		}
		turned := func(x []float64) []float64 {
			out := slices.Clone(x)
			for range c.quarters {
				for i := 0; i < len(out); i += 2 {
					out[i], out[i+1] = -out[i+1], out[i]
				}
			}
			return out
		}
		// bumps are features around places of their own, far from symmetric, that turn with the data.
		bumps := func(x []float64, places []float64) []float64 {
			var out []float64
			for i := 0; i < len(x); i += 2 {
				for k := 0; k < len(places); k += 2 {
					d := math.Hypot(x[i]-places[k], x[i+1]-places[k+1])
					out = append(out, 3*max(0, 0.6-d*d))
				}
			}
			return out
		}
		places := []float64{0.5, 0.1, -0.3, 0.6}
		for _, lifts := range []int{c.lifts, 1} {
			p := New[float64](Config{Axes: 2, In: 2, Channels: []int{3, 2, 2}, Reach: 2, Blocks: 1, Step: 0.25,
				Lifts: lifts}, rng)
			for _, q := range p.Params("") {
				for i := range q.Data {
					q.Data[i] += 0.1 * rng.NormFloat64()
				}
			}
			run := func(x, places []float64) []float64 {
				var r Run[float64]
				r.Lay(p, task.lo, task.hi, task.from, task.to)
				return slices.Clone(p.Compile().Forward(&r, bumps(r.Layout.Points(nil), places), x))
			}
			want, got := run(task.x, places), run(turned(task.x), turned(places))
			if lifts > 1 {
				testkit.Close(t, fmt.Sprintf("%d lifts, %d quarter turns", lifts, c.quarters), got, want, 1e-11)
			}
			differ := func(got []float64) (most float64) {
				for i, v := range got {
					most = max(most, math.Abs(v-want[i]))
				}
				return most
			}
			if lifts == 1 {
				require.Greater(t, differ(got), 1e-3)
			}
			require.Greater(t, differ(run(task.x, turned(places))), 1e-3, "the data alone")
		}
	}
	require.Panics(t, func() {
		New[float64](Config{Axes: 1, In: 2, Channels: []int{3}, Reach: 2, Blocks: 1, Step: 0.25, Lifts: 4}, rng)
	})
	require.Panics(t, func() {
		New[float64](Config{Axes: 2, In: 2, Channels: []int{3}, Reach: 2, Blocks: 1, Step: 0.25, Lifts: 3}, rng)
	})
}

// TestPyramidGradients compares with central differences, and the tape's results with those of the plan.
func TestPyramidGradients(t *testing.T) {
	all := testPyramids(rand.New(rand.NewPCG(80, 3)))
	all["sphere"] = livePyramid(Config{Axes: 3, In: 2, Channels: []int{3, 4}, Reach: 1, Blocks: 1, Sphere: 60},
		rand.New(rand.NewPCG(80, 7)))
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(81, 3))
			const tasks, targets = 3, 4
			d, in := p.kernel.d, p.pre.In
			all := make([]*pyramidTask, tasks)
			var x []float64
			for i := range all {
				all[i] = newPyramidTask(rng, d, targets)
				if p.kernel.sphere > 0 {
					ontoSphere(all[i].x)
				}
				x = append(x, all[i].x...)
			}
			from, to := bounds(x, d)
			y := p.LayoutFor(all[0].lo, all[0].hi, from, to)
			require.Same(t, y, p.LayoutFor(all[0].lo, all[0].hi, from, to))
			f := make([][]float64, tasks)
			for i := range f {
				f[i] = all[i].features(y.Points(nil), d, in, 0.1*float64(i))
			}
			c := p.read.linear.Out
			dout := make([][]float64, tasks)
			for i := range dout {
				dout[i] = normals(rng, targets*c)
			}
			out := make([][]float64, tasks)
			run := func() *Tape[float64] {
				return p.ForwardTape(tasks, func(i int) (*Layout[float64], []float64, []float64) { return y, f[i], all[i].x },
					func(i int, v []float64) { out[i] = append([]float64(nil), v...) })
			}
			loss := func() float64 {
				run()
				sum := 0.0
				for i := range out {
					for k, v := range out[i] {
						sum += v * dout[i][k]
					}
				}
				return sum
			}
			g := layers.NewGrads(p.Params(""))
			df := make([][]float64, tasks)
			tape := run()
			for range 2 {
				g.Zero()
				tape.Backward(func(i int) []float64 { return dout[i] }, g,
					func(i int, v []float64) { df[i] = append([]float64(nil), v...) })
			}
			for i, task := range all {
				one := *task
				testkit.Close(t, "alone", func() []float64 {
					var r Run[float64]
					r.Lay(p, one.lo, one.hi, one.from, one.to)
					at := one.features(r.Layout.Points(nil), d, in, 0.1*float64(i))
					return append([]float64(nil), p.Compile().Forward(&r, at, one.x)...)
				}(), out[i], 1e-12)
			}
			check := func(name string, v *float64, got float64) {
				const h = 1e-6
				was := *v
				*v = was + h
				up := loss()
				*v = was - h
				down := loss()
				*v = was
				if want := (up - down) / (2 * h); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
					t.Errorf("%s: gradient %v, difference quotient %v", name, got, want)
				}
			}
			used := 0
			for i, q := range g.Params {
				for k := 0; k < len(q.Data); k += 1 + len(q.Data)/4 {
					check(fmt.Sprintf("%s[%d]", q.Name, k), &q.Data[k], g.Data[i][k])
					if g.Data[i][k] != 0 {
						used++
					}
				}
			}
			require.Greater(t, used, 10)
			for i := range f {
				for k := 0; k < len(f[i]); k += 1 + len(f[i])/7 {
					check(fmt.Sprintf("f[%d][%d]", i, k), &f[i][k], df[i][k])
				}
			}
		})
	}
}

// TestPyramidBits: any number of goroutines gives the same bits, and float32 is float64 rounded.
func TestPyramidBits(t *testing.T) {
	c := Config{Axes: 1, In: 2, Channels: []int{16, 20, 24}, Reach: 3, Blocks: 1, Step: 0.05}
	p, q := New[float32](c, rand.New(rand.NewPCG(80, 4))), New[float64](c, rand.New(rand.NewPCG(80, 4)))
	for i, from := range p.Params("") {
		for k, v := range from.Data {
			q.Params("")[i].Data[k] = float64(v)
		}
	}
	task := newPyramidTask(rand.New(rand.NewPCG(80, 5)), 1, 20)
	const tasks = 5
	run := func(procs int) (out [][]float32) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		y := p.LayoutFor(task.lo, task.hi, task.from, task.to)
		f := []float32(nil)
		for _, v := range task.features(y.Points(nil), 1, 2, 0) {
			f = append(f, float32(v))
		}
		g, result := layers.NewGrads(p.Params("")), make([][]float32, tasks)
		tape := p.ForwardTape(tasks, func(int) (*Layout[float32], []float32, []float64) { return y, f, task.x },
			func(i int, v []float32) { result[i] = append([]float32(nil), v...) })
		tape.Backward(func(int) []float32 { return make([]float32, len(result[0])) }, g, func(int, []float32) {})
		tape.Backward(func(i int) []float32 { return result[i] }, g,
			func(i int, v []float32) { out = append(out, append([]float32(nil), v...)) })
		return append(append(out, result...), g.Data...)
	}
	want := run(1)
	for _, procs := range []int{2, 3} {
		require.Equal(t, want, run(procs), "GOMAXPROCS=%d", procs)
	}
	testkit.Close(t, "float32", want[tasks], task.run(q, 0), 2e-5)
}

// TestPyramidThreads: goroutines that share the rows of a task give the bits of one, on lattices with and without plans, on both kinds of
// order, and on the sphere, whose queries have parts.
func TestPyramidThreads(t *testing.T) {
	for name, c := range map[string]Config{
		"plane":  {Axes: 2, In: 2, Channels: []int{16, 48}, Reach: 2, Blocks: 1, Step: 0.05},
		"turns":  {Axes: 2, In: 2, Channels: []int{16, 48}, Reach: 2, Blocks: 1, Step: 0.06, Lifts: 4},
		"sphere": {Axes: 3, Sphere: 1500, In: 2, Channels: []int{40, 40}, Reach: 2, Blocks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := New[float32](c, rand.New(rand.NewPCG(81, 4)))
			task := newPyramidTask(rand.New(rand.NewPCG(81, 5)), c.Axes, 300)
			if c.Sphere > 0 {
				ontoSphere(task.x)
			}
			net, prepared := p.Compile(), p.LayoutFor(task.lo, task.hi, task.from, task.to)
			run := func(threads int, y *Layout[float32]) []float32 {
				r := Run[float32]{Threads: threads}
				r.Lay(p, task.lo, task.hi, task.from, task.to)
				if y != nil {
					r.Layout = y
				}
				var f []float32
				for _, v := range task.features(r.Layout.Points(nil), c.Axes, 2, 0) {
					f = append(f, float32(v))
				}
				for range 2 { // memory is used again
					net.Forward(&r, f, task.x)
				}
				return slices.Clone(net.Forward(&r, f, task.x))
			}
			want, wantPrepared := run(0, nil), run(1, prepared)
			require.Positive(t, slices.Max(want))
			for _, threads := range []int{2, 7} {
				require.Equal(t, want, run(threads, nil), "%d threads", threads)
				require.Equal(t, wantPrepared, run(threads, prepared), "%d threads, with a plan", threads)
			}
		})
	}
}

// TestPyramidRounded: the layouts of training contain what is needed, have few points that are not, and are few.
func TestPyramidRounded(t *testing.T) {
	rng := testkit.Rand(31)
	for _, side := range []float64{1, 5, 40, 700} {
		p := New[float32](Config{Axes: 1, In: 1, Channels: []int{2, 2, 2, 2, 2}, Reach: 2, Step: 0.25, Lifts: 1}, rng)
		made := map[*Layout[float32]]bool{}
		for range 100 {
			lo, hi := []float64{-side * (0.95 + 0.05*rng.Float64())}, []float64{side * (0.95 + 0.05*rng.Float64())}
			var exact Layout[float32]
			exact.Lay(p, lo, hi, lo, hi)
			rounded := p.LayoutFor(lo, hi, lo, hi)
			made[rounded] = true
			for _, boxes := range [][2][]latticeBox{{exact.enc, rounded.enc}, {exact.dec, rounded.dec}} {
				for l, b := range boxes[0] {
					require.Equal(t, b, b.within(boxes[1][l], 1), "level %d", l)
				}
			}
			most := float64(2*leastRounded) + 2*float64(exact.Rows())/roundedParts
			require.LessOrEqual(t, float64(rounded.Rows()-exact.Rows()), most)
		}
		require.LessOrEqual(t, len(made), 9)
	}
	var kept pyramidLayouts[float32]
	for i, pairs := range []int{layoutPairs / 2, layoutPairs / 3, layoutPairs / 4, 1, 2 * layoutPairs, 1} {
		kept.keep([4 * maxAxes]int{i}, &Layout[float32]{pairs: pairs})
		require.Equal(t, []int{1, 2, 2, 3, 1, 1}[i], len(kept.all), "the last ones that fit, and the last one in any case")
		require.Equal(t, []int{i}, kept.keys[len(kept.keys)-1][:1])
	}
	for i := range 2 * keepLayouts {
		kept.keep([4 * maxAxes]int{i}, &Layout[float32]{})
	}
	require.Len(t, kept.all, keepLayouts)
	require.Len(t, kept.keys, keepLayouts)

	p := New[float32](Config{Axes: 2, In: 1, Channels: []int{2, 2}, Reach: 2, Step: 0.25, Lifts: 1}, rng)
	for _, far := range []float64{1e300, math.Inf(1), 1 << 40} {
		require.PanicsWithValue(t, fmt.Sprintf(
			"layers: Layout: data from -2 to %g along coordinate 1, with 0.25 between points", far), func() {
			p.LayoutFor([]float64{0, -2}, []float64{1, far}, []float64{0, 0}, []float64{1, 1})
		})
	}
}

// TestPyramidStop: a run that is stopped, wherever it is, gives nothing, and does not take a layout that is not complete for one later.
func TestPyramidStop(t *testing.T) {
	c := Config{Axes: 2, In: 2, Channels: []int{16, 48}, Reach: 2, Blocks: 1, Step: 0.08}
	p := New[float32](c, rand.New(rand.NewPCG(82, 4)))
	task, net := newPyramidTask(rand.New(rand.NewPCG(82, 5)), c.Axes, 600), p.Compile()
	for _, threads := range []int{1, 3} {
		r := Run[float32]{Threads: threads}
		r.Lay(p, task.lo, task.hi, task.from, task.to)
		points := r.Layout.Points(nil)
		var f []float32
		for _, v := range task.features(points, c.Axes, 2, 0) {
			f = append(f, float32(v))
		}
		want := slices.Clone(net.Forward(&r, f, task.x))
		whole, asked := false, int64(0)
		for n := int64(0); !whole; n += 1 + n/4 {
			r = Run[float32]{Threads: threads}
			var left atomic.Int64
			left.Store(n)
			r.Stop = func() bool { return left.Add(-1) < 0 }
			r.Lay(p, task.lo, task.hi, task.from, task.to)
			if left.Load() >= 0 {
				out := net.Forward(&r, f, task.x)
				if whole = left.Load() >= 0; whole {
					require.Equal(t, want, out)
					asked = n
					continue
				}
				require.Nil(t, out)
			}
			r.Stop = nil
			r.Lay(p, task.lo, task.hi, task.from, task.to)
			require.True(t, slices.Equal(points, r.Layout.Points(nil)), "after a stop at %d", n)
			require.True(t, slices.Equal(want, net.Forward(&r, f, task.x)), "after a stop at %d", n)
		}
		require.Greater(t, asked, int64(30), "how often a run asks")
	}
}
