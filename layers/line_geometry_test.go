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
	"github.com/equivcnp/equivcnp/layers/internal/lines"
	"github.com/equivcnp/equivcnp/neighbor"
)

// lineTestPoints are tasks on a line: a lattice of n points, then own points of each task, some on the lattice and some equal,
// and padding.
func lineTestPoints(rng *rand.Rand, tasks, n, own, padding int) (*group.Lifted, []bool, []int) {
	var x []float64
	var mask []bool
	blocks := []int{0}
	for range tasks {
		for i := range n {
			x = append(x, -1+float64(i)/7)
		}
		own := own - len(blocks)%2 // not as many everywhere
		points := make([]float64, own)
		for i := range points {
			if points[i] = 3*rng.Float64() - 1.5; i%4 == 1 {
				points[i] = -1 + float64(rng.IntN(10))/7
			}
			if i%5 == 2 {
				points[i] = points[i-1]
			}
		}
		slices.Sort(points)
		x = append(x, points...)
		for range n + own {
			mask = append(mask, true)
		}
		for len(x) < len(blocks)*(n+padding) {
			x, mask = append(x, 0), append(mask, false)
		}
		blocks = append(blocks, len(x))
	}
	return group.LiftPoints(group.NewT(1, 0.2), x, 1, 0), mask, blocks
}

// TestLineGeometry: the neighbourhoods are those of a search, pair by pair, with poses that agree to rounding.
func TestLineGeometry(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	for _, s := range []struct{ tasks, lattice, own, padding int }{{3, 40, 12, 14}, {1, 0, 9, 9}, {2, 25, 1, 3}, {2, 1, 4, 4}} {
		points, mask, blocks := lineTestPoints(rng, s.tasks, s.lattice, s.own, s.padding)
		g := NewLineGeometry[float64](points, mask, blocks, s.lattice, 0)
		require.NotNil(t, g.line)
		for _, r := range []float64{1e-9, 0.2 / 7, 0.2 * 3 / 7, 0.11, 5} { // 1/7 is the lattice's step, and α is 0.2
			t.Run(fmt.Sprintf("tasks=%d/lattice=%d/r=%g", s.tasks, s.lattice, r), func(t *testing.T) {
				p, err := g.Pairs(r)
				require.NoError(t, err)
				require.NotNil(t, p.line)
				want, err := neighbor.Ball(points, points, neighbor.Options{Radius: r, QueryMask: mask, PointMask: mask,
					QueryBlocks: blocks, PointBlocks: blocks})
				require.NoError(t, err)
				require.Equal(t, want.Offsets, p.Offsets)
				require.Equal(t, want.Index, p.Index)
				count := make([]int32, p.NumPoses())
				for k, q := range p.Pose {
					count[q]++
					require.InDelta(t, want.Poses[want.Pose[k]], p.Poses[q], 1e-14)
				}
				require.Equal(t, count, p.Count)
				require.NotContains(t, count, int32(0))
			})
		}
		_, err := g.Pairs(-1)
		_, same := NewGeometry[float64](points, mask, blocks, 0, 0).Pairs(-1)
		require.Equal(t, same, err, "a radius for neighbor.Ball to judge")
	}
}

// TestReading: the first rows of a block are seen by the others and by nobody else, on a line and elsewhere.
func TestReading(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 1))
	points, mask, blocks := lineTestPoints(rng, 3, 40, 12, 14)
	for _, n := range []int{40, 33, 0} { // 40 is the lattice
		queries, seen := make([]bool, len(mask)), make([]bool, len(mask))
		for i := range mask {
			queries[i], seen[i] = mask[i] && i%54 >= n, mask[i] && i%54 < n
		}
		g := NewLineGeometry[float64](points, mask, blocks, 40, 0).Reading(n)
		require.Equal(t, n == 40, g.line != nil)
		require.Equal(t, (*lines.Tasks)(nil), NewGeometry[float64](points, mask, blocks, 0, 0).Reading(n).line)
		for _, r := range []float64{1e-9, 0.2 / 7, 0.11, 5} {
			p, err := g.Pairs(r)
			require.NoError(t, err)
			want, err := neighbor.Ball(points, points, neighbor.Options{Radius: r, QueryMask: queries, PointMask: seen,
				QueryBlocks: blocks, PointBlocks: blocks})
			require.NoError(t, err)
			require.Equal(t, want.Offsets, p.Offsets)
			require.Equal(t, want.Index, p.Index)
			for k, q := range p.Pose {
				require.InDelta(t, want.Poses[want.Pose[k]], p.Poses[q], 1e-14)
			}
		}
	}
	one := NewGeometry[float64](points, nil, nil, 0, 0).Reading(5)
	p, err := one.Pairs(1e9)
	require.NoError(t, err)
	require.Equal(t, 5*(points.Rows()-5), p.Pairs())
}

// TestLineGeometryElsewhere: points that are laid out otherwise get an ordinary geometry.
func TestLineGeometryElsewhere(t *testing.T) {
	line := group.NewT(1, 0.2)
	for name, c := range map[string]struct {
		g       group.Group
		x       []float64
		mask    []bool
		blocks  []int
		lattice int
	}{
		"descending lattice":  {line, []float64{1, 0, 2, 1, 0, 2}, nil, []int{0, 3, 6}, 2},
		"descending points":   {line, []float64{0, 1, 2, 1, 0, 1, 1, 2}, nil, []int{0, 4, 8}, 2},
		"two lattices":        {line, []float64{0, 1, 0, 2}, nil, []int{0, 2, 4}, 2},
		"blocks of two sizes": {line, []float64{0, 1, 0, 1, 2}, nil, []int{0, 2, 5}, 2},
		"padding in front":    {line, []float64{0, 1, 2, 3}, []bool{true, true, false, true}, []int{0, 4}, 2},
		"padding in it":       {line, []float64{0, 1, 2, 3}, []bool{true, false, true, true}, []int{0, 4}, 2},
		"not a number":        {line, []float64{0, math.NaN(), 2}, nil, []int{0, 3}, 1},
		"short block":         {line, []float64{0, 1}, nil, []int{0, 2}, 3},
		"plane":               {group.NewT(2, 0.2), []float64{0, 0, 1, 1}, nil, []int{0, 2}, 1},
		"no blocks":           {line, []float64{0, 1}, nil, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Nil(t, NewLineGeometry[float32](group.LiftPoints(c.g, c.x, 1, 0), c.mask, c.blocks, c.lattice, 0).line)
		})
	}
}

// TestLineConv: results and gradients are those of the same layer over an ordinary geometry.
func TestLineConv(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 2))
	points, mask, blocks := lineTestPoints(rng, 3, 70, 20, 22)
	for _, s := range []struct{ in, mid, out int }{{8, 16, 16}, {32, 16, 5}, {3, 5, 2}} {
		for i, r := range []float64{0.06, 2, 0.06, 2} { // few neighbours, and all of a task
			window := Windows[i/2]
			t.Run(fmt.Sprintf("in=%d/mid=%d/r=%g/%s", s.in, s.mid, r, window), func(t *testing.T) {
				cfg := LieConvConfig{PoseDim: 1, Hidden: 6, Mid: s.mid, BatchNorm: true, Radius: r, Fill: 0.2, Window: window}
				l := NewLieConv[float64](s.in, s.out, cfg, rng)
				f, dout := normals[float64](rng, points.Rows()*s.in), normals[float64](rng, points.Rows()*s.out)
				run := func(g *Geometry[float64]) (out, df []float64, grads *Grads[float64]) {
					grads = NewGrads(l.Params(""))
					out, df = make([]float64, len(dout)), normals[float64](rng, len(f))
					tape, err := l.ForwardTape(out, f, g, 1, Train)
					require.NoError(t, err)
					other := NewGrads(l.Params(""))
					tape.Backward(nil, dout, other)
					tape.Backward(df, dout, grads)
					require.Equal(t, other.Data, grads.Data, "without the gradient to the features")
					return out, df, grads
				}
				out, df, grads := run(NewLineGeometry[float64](points, mask, blocks, 70, 0))
				wantOut, wantDf, want := run(NewGeometry[float64](points, mask, blocks, 0, 0))
				require.InDeltaSlice(t, wantOut, out, 1e-10)
				require.InDeltaSlice(t, wantDf, df, 1e-10)
				for i, p := range grads.Params {
					if !p.Buffer {
						require.InDeltaSlice(t, want.Data[i], grads.Data[i], 1e-9*max(1, largest(want.Data[i])), p.Name)
					}
				}
			})
		}
	}
}

// TestLineConvBits: on the line, too, any number of goroutines gives the same bits, and padding that holds NaN changes nothing.
func TestLineConvBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 3))
	points, mask, blocks := lineTestPoints(rng, 5, 70, 20, 22)
	cfg := LieConvConfig{PoseDim: 1, Hidden: 8, Mid: 16, BatchNorm: true, Radius: 0.1}
	const c = 8
	l := NewLieConv[float32](c, c, cfg, rng)
	f, dout := normals[float32](rng, points.Rows()*c), normals[float32](rng, points.Rows()*c)
	for i, ok := range mask {
		if !ok {
			clear(dout[i*c : (i+1)*c])
		}
	}
	run := func(procs int) [][]float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		g := NewLineGeometry[float32](points, mask, blocks, 70, 0)
		require.NotNil(t, g.line)
		out, df, grads := make([]float32, len(f)), normals[float32](rng, len(f)), NewGrads(l.Params(""))
		tape, err := l.ForwardTape(out, f, g, 1, Train)
		require.NoError(t, err)
		tape.Backward(df, dout, grads)
		return append(grads.Data, out, df)
	}
	want := run(1)
	for _, procs := range []int{2, 3} {
		require.Equal(t, want, run(procs), "GOMAXPROCS=%d", procs)
	}
	for i, ok := range mask {
		if !ok {
			f[i*c+3] = float32(math.NaN())
		}
	}
	require.Equal(t, want, run(2), "NaN in padding")
}
