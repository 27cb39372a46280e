package layers

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
)

func TestPairsDepthwiseF32(t *testing.T) { testPairsDepthwise[float32](t) }
func TestPairsDepthwiseF64(t *testing.T) { testPairsDepthwise[float64](t) }

// testPairsDepthwise compares the convolution over a whole neighbourhood and both its gradients with their definitions, in every
// order that they may go in: by a plan, by sets of rows with the same poses, by pose with and without segments.
func testPairsDepthwise[T Float](t *testing.T) {
	rng := testkit.Rand(91)
	const batch = 3
	for _, tt := range []struct {
		group  string
		side   int
		lifts  int
		radius float64
		flat   bool
	}{{"T(2)", 12, 1, 0.8, true}, {"RxSO(2)", 12, 1, 0.3, false}, {"SO(2)", 13, 1, 0.3, false}, {"SE(2)", 12, 4, 1.9, true}} {
		side := tt.side // odd: the pixel in the middle is in no four
		var grid []float64
		for i := range side * side {
			grid = append(grid, float64(i/side)-float64(side-1)/2, float64(i%side)-float64(side-1)/2)
		}
		g, err := group.Parse(tt.group, 0)
		require.NoError(t, err)
		points := group.LiftPoints(g, grid, tt.lifts, 0)
		points.Across = side
		p, err := NewGeometry[T](points, nil, nil, 0, 0).Pairs(tt.radius)
		require.NoError(t, err)
		require.Equal(t, tt.flat, Flat(p.Neighborhood), "the case is meant to test the other order: %d pairs, %d poses",
			p.Pairs(), p.NumPoses())
		for _, c := range []int{1, 33, 48} {
			t.Run(fmt.Sprintf("%s/%g/c=%d", tt.group, tt.radius, c), func(t *testing.T) {
				n := p.Queries
				require.Equal(t, buffers.SizeOf[T]() == 4 && !tt.flat && c == 48 && depthwise.HaveOrbitsGrad(), p.byFours(c))
				f, d := testkit.Normal[T](rng, batch*n*c), testkit.Normal[T](rng, batch*n*c)
				w := testkit.Normal[T](rng, p.NumPoses()*c)
				number := poseNumbers(t, p, c)
				table := &tableSource[T]{w: make([]T, len(number)*c), c: c, width: p.tileWidth(c)}
				for to, q := range number {
					copy(table.w[to*c:(to+1)*c], w[q*c:])
				}
				// The definitions, and the sums of magnitudes that errors are measured by.
				out, df, dw := newSums(len(f)), newSums(len(f)), newSums(len(w))
				for b := range batch {
					for i := range n {
						index, pose := p.Row(i)
						for k := range index {
							for j := range c {
								at, x, q := (b*n+i)*c+j, (b*n+int(index[k]))*c+j, int(pose[k])*c+j
								out.add(at, float64(w[q])*float64(f[x])/float64(len(index)))
								df.add(x, float64(w[q])*float64(d[at])/float64(len(index)))
								dw.add(q, float64(f[x])*float64(d[at])/float64(len(index)))
							}
						}
					}
				}
				got := make([]T, len(f))
				packed := p.convolve(got, f, table, nil, batch, c)
				checkSums(t, "convolve", got, out)
				p.convolveBack(got, d, f, packed, table, nil, batch, c, nil)
				checkSums(t, "convolveBack", got, df)
				got = make([]T, len(w))
				for from, q := range number {
					for j := range c {
						got[q*c+j] += table.dw[from*c+j]
					}
				}
				checkSums(t, "the gradient to the weights", got, dw)
			})
		}
	}
}

// poseNumbers returns the pose of every row of poseTable, whose rows must be those of Table, with their counts in all.
func poseNumbers[T Float](t *testing.T, p *Pairs[T], c int) (number []int) {
	table, count := p.poseTable(c)
	at, e := map[string]int{}, p.PoseDim
	for q := range p.NumPoses() {
		at[fmt.Sprint(p.Table[q*e:(q+1)*e])] = q
	}
	require.Len(t, at, p.NumPoses(), "two poses are the same")
	pairs := make([]int32, p.NumPoses())
	for to, n := range count {
		q, ok := at[fmt.Sprint(table[to*e:(to+1)*e])]
		require.True(t, ok)
		pairs[q] += n
		number = append(number, q)
	}
	require.Equal(t, p.Count, pairs)
	return number
}

// tableSource gives weights from a table, and keeps the gradient that it gets.
type tableSource[T Float] struct {
	w, dw    []T
	c, width int
}

func (s *tableSource[T]) Weights() []T { return s.w }

func (s *tableSource[T]) hidden(tile *tile[T]) []T {
	x := buffers.Rent[T](len(tile.poses) * s.c)
	for k, q := range tile.poses {
		copy(x[k*s.c:(k+1)*s.c], s.w[int(q)*s.c:])
	}
	return x
}

func (s *tableSource[T]) slice(dst, hidden []T, _ *tile[T], k int) {
	lo := k * s.width
	n := min(s.width, s.c-lo)
	for i := range len(dst) / n {
		copy(dst[i*n:(i+1)*n], hidden[i*s.c+lo:])
	}
}

func (s *tableSource[T]) Backward(_, dw []T, _ *Grads[T]) { s.dw = append([]T(nil), dw...) }

func (s *tableSource[T]) backwardFrom(from weightGradient[T], _ *Grads[T]) {
	s.dw = make([]T, len(s.w))
	at := 0
	for k := range from.parts() {
		lo, hi := from.part(k)
		if lo != at {
			panic("parts do not follow each other")
		}
		from.produce(s.dw[lo*s.c:hi*s.c], k, 0, s.c)
		at = hi
	}
	if at*s.c != len(s.w) {
		panic("poses without a part")
	}
}

// sums are sums in float64, of terms, of their magnitudes and of ones.
type sums struct{ sum, size, n []float64 }

func newSums(n int) *sums {
	return &sums{make([]float64, n), make([]float64, n), make([]float64, n)}
}

func (s *sums) add(at int, v float64) {
	s.sum[at] += v
	s.size[at] += math.Abs(v)
	s.n[at]++
}

func checkSums[T Float](t *testing.T, name string, got []T, want *sums) {
	t.Helper()
	require.Len(t, got, len(want.sum))
	eps := map[int]float64{4: 0x1p-23, 8: 0x1p-52}[buffers.SizeOf[T]()]
	for i, v := range got {
		diff, tol := math.Abs(float64(v)-want.sum[i]), (want.n[i]+8)*eps*want.size[i]
		if !(diff <= tol) {
			t.Fatalf("%s: element %d is %v, want %v within %v", name, i, v, want.sum[i], tol)
		}
	}
}
