package layers

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// gridOf returns the neighbourhood of an h x w grid of points.
func gridOf(t *testing.T, name string, h, w, lifts int, radius float64) *Pairs[float32] {
	t.Helper()
	g, err := group.Parse(name, 0)
	require.NoError(t, err)
	var points []float64
	for i := range h * w {
		points = append(points, float64(i/w)-float64(h)/2, float64(i%w)-float64(w)/2)
	}
	lifted := group.LiftPoints(g, points, lifts, 0)
	lifted.Across = w
	p, err := NewGeometry[float32](lifted, nil, nil, 0, 0).Pairs(radius)
	require.NoError(t, err)
	return p
}

// withoutGrid returns the same pairs, which do not know that they are a grid's.
func withoutGrid(p *Pairs[float32]) *Pairs[float32] {
	q := &Pairs[float32]{Neighborhood: p.Neighborhood, Radius: p.Radius, Table: p.Table, lifts: p.lifts, place: p.place}
	q.sorted.gridOnce.Do(func() {})
	return q
}

// TestPairsTransforms: in training, transforms compute what sums over pairs do, and both their gradients, for points in
// one and several lifts and under a window; the bits are the same for any number of goroutines. What is not finite
// reaches what it reaches in sums over pairs.
func TestPairsTransforms(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, level := range simd.Levels() {
		if level == simd.Generic {
			continue // never chooses transforms
		}
		for _, tt := range []struct {
			group          string
			h, w, lifts, c int
			radius         float64
			window         Window
			batch          int
		}{
			{"T(2)", 20, 19, 1, 33, 5.2, WindowBox, 3},
			{"T(2)", 12, 90, 1, 16, 6.3, WindowSmooth, 1},
			{"SE(2)", 20, 23, 4, 18, 6.2, WindowSmooth, 2},
		} {
			t.Run(fmt.Sprintf("%v/%s/%d/%s", level, tt.group, tt.lifts, tt.window), func(t *testing.T) {
				require.NoError(t, simd.SetLevel(level))
				p := gridOf(t, tt.group, tt.h, tt.w, tt.lifts, tt.radius)
				require.NotNil(t, p.transforms(), "%d pairs", p.Pairs())
				plain := withoutGrid(p)
				require.Nil(t, plain.transforms())
				rng, n := testkit.Rand(4), p.Queries*tt.c*tt.batch
				f, d := testkit.Normal[float32](rng, n), testkit.Normal[float32](rng, n)
				table := &tableSource[float32]{w: testkit.Normal[float32](rng, p.NumPoses()*tt.c), c: tt.c}
				var win *windowed[float32]
				if tt.window != WindowBox {
					win = windowsOf[float32](p.Neighborhood, tt.window, 2*tt.radius, make([]float64, p.NumPoses()))
					for i := range win.row {
						win.row[i] *= float32(1 + i%3)
					}
				}
				all := func(p *Pairs[float32], f []float32) (out, df, dw []float32) {
					out, df = make([]float32, n), make([]float32, n)
					p.convolveBack(df, d, f, p.convolve(out, f, table, win, tt.batch, tt.c), table, win, tt.batch, tt.c, nil)
					return out, df, table.dw
				}
				want, wantF, wantW := all(plain, f)
				got, gotF, gotW := all(p, f)
				testkit.Close(t, "sums", got, asFloat64(want), 2e-6)
				testkit.Close(t, "gradient to the features", gotF, asFloat64(wantF), 2e-6)
				testkit.Close(t, "gradient to the weights", gotW, asFloat64(wantW), 2e-6)
				for _, threads := range []int{1, 3} {
					runtime.GOMAXPROCS(threads)
					again, againF, againW := all(p, f)
					require.True(t, testkit.SameBits(got, again) && testkit.SameBits(gotF, againF) &&
						testkit.SameBits(gotW, againW), "%d threads", threads)
				}
				bad := slices.Clone(f)
				bad[n/2] = float32(math.NaN())
				want, _, wantW = all(plain, bad)
				got, _, gotW = all(p, bad)
				require.True(t, testkit.SameBits(want, got))
				require.True(t, testkit.SameBits(wantW, gotW))
				d[n/2] = float32(math.Inf(-1))
				_, wantF, wantW = all(plain, f)
				_, gotF, gotW = all(p, f)
				require.True(t, testkit.SameBits(wantF, gotF))
				require.True(t, testkit.SameBits(wantW, gotW))
			})
		}
	}
}

// TestLieConvTransforms: in training, sums of outer products and their gradient to the weights are the same by
// transforms as over pairs, where there are enough products for a slab, and what is not finite reaches what it reaches
// over pairs.
func TestLieConvTransforms(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	for _, level := range simd.Levels() {
		if level == simd.Generic {
			continue // never chooses transforms
		}
		for _, tt := range []struct {
			group                      string
			h, w, lifts, in, mid, many int
		}{{"T(2)", 20, 19, 1, 2, 16, 3}, {"T(2)", 12, 90, 1, 3, 7, 1}, {"SE(2)", 20, 23, 4, 2, 9, 2}, {"T(2)", 20, 19, 1, 1, 15, 1}} {
			t.Run(fmt.Sprintf("%v/%sx%d/%dx%d", level, tt.group, tt.lifts, tt.in, tt.mid), func(t *testing.T) {
				require.NoError(t, simd.SetLevel(level))
				p, rng := gridOf(t, tt.group, tt.h, tt.w, tt.lifts, 6.2), testkit.Rand(14)
				l := NewLieConv[float32](tt.in, 8, LieConvConfig{PoseDim: p.PoseDim, Hidden: 8, Mid: tt.mid, Radius: 6.2}, rng)
				f, douter := testkit.Normal[float32](rng, tt.many*p.Queries*tt.in),
					testkit.Normal[float32](rng, tt.many*p.Queries*tt.in*tt.mid)
				tape := func(p *Pairs[float32]) *LieConvTape[float32] {
					t := &LieConvTape[float32]{layer: l, pairs: p, batch: tt.many, f: f}
					t.net = l.WeightNet.ForwardTape(p.Table, p.NumPoses(), p.Count, tt.many, Train)
					t.multiply()
					return t
				}
				byTransforms, byPairs := tape(p), tape(withoutGrid(p))
				require.Nil(t, byPairs.byTransforms())
				require.Nil(t, byPairs.transformedGradient(douter))
				require.Equal(t, tt.in*tt.mid >= slabWidth, byTransforms.byTransforms() != nil)
				testkit.Close(t, "sums", byTransforms.outer, asFloat64(byPairs.outer), 2e-6*largest(asFloat64(byPairs.outer)))
				over := func() []float32 {
					c, rows := tt.in*tt.mid, p.Queries
					return p.poseGradient(tt.many, tt.mid, func(dw []float32, b int, offsets []int, query, point []int32) {
						simd.PointConvGradW(dw, douter[b*rows*c:(b+1)*rows*c], f[b*rows*tt.in:(b+1)*rows*tt.in], offsets, query,
							point, tt.in, tt.mid)
					})
				}
				if byTransforms.byTransforms() == nil {
					require.Nil(t, byTransforms.transformedGradient(douter))
				} else {
					want := asFloat64(over())
					testkit.Close(t, "gradient to the weights", byTransforms.transformedGradient(douter), want, 4e-6*largest(want))
				}
				f[len(f)/2] = float32(math.NaN())
				require.True(t, testkit.SameBits(tape(p).outer, tape(withoutGrid(p)).outer))
				require.Nil(t, byTransforms.transformedGradient(douter))
			})
		}
	}
}
