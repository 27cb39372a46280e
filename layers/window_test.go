package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

func TestWindow(t *testing.T) {
	for u, want := range map[float64]float64{0: 1, 0.5: 0.5625, 1: 0, 1.5: 0} {
		require.InDelta(t, want, WindowSmooth.At(u), 1e-15)
		require.Equal(t, 1.0, WindowBox.At(u))
		require.Equal(t, 1.0, Window("").At(u))
	}
	const h = 1e-7
	require.Less(t, WindowSmooth.At(1-h)/h, 1e-6, "the slope at the border is 0")
	require.Panics(t, func() {
		NewLieConv[float32](1, 1, LieConvConfig{PoseDim: 1, Hidden: 1, Mid: 1, Window: "round"}, rand.New(rand.NewPCG(1, 1)))
	})
}

// TestWindowedConvolutions compares with the definition, on few poses and on many, in both precisions.
func TestWindowedConvolutions(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testWindowed[float64](t, 1e-12) })
	t.Run("F32", func(t *testing.T) { testWindowed[float32](t, 2e-5) })
}

func testWindowed[T Float](t *testing.T, tol float64) {
	var grid []float64
	for i := range 144 {
		grid = append(grid, float64(i%12), float64(i/12))
	}
	pixels := group.LiftPoints(group.NewT(2, 0), grid, 1, 1)
	pixels.Across = 12
	for name, c := range map[string]struct {
		points *group.Lifted
		r      float64
	}{"grid": {pixels, 0.71}, "scattered": {scattered(t, "SE(2)", 40, 2), 0.6}} {
		t.Run(name, func(t *testing.T) {
			const batch, in, out = 2, 33, 4
			rng := rand.New(rand.NewPCG(71, 1))
			g := NewGeometry[T](c.points, nil, nil, 0, 0)
			cfg := LieConvConfig{PoseDim: group.PoseDim(c.points.Group), Hidden: 4, Mid: 3, Radius: c.r, Window: WindowSmooth}
			conv, depthwise := NewLieConv[T](in, out, cfg, rng), NewDepthwiseLieConv[T](in, cfg, rng)
			p, err := g.Pairs(conv.Radius())
			require.NoError(t, err)
			rows := p.Queries
			f := normals[T](rng, batch*rows*in)
			w, wd := make([]T, p.NumPoses()*3), make([]T, p.NumPoses()*in)
			conv.WeightNet.Forward(w, p.Table, p.NumPoses())
			depthwise.WeightNet.Forward(wd, p.Table, p.NumPoses())
			want, wantDepthwise := make([]float64, batch*rows*out), make([]float64, batch*rows*in)
			for r := range batch * rows {
				b, n, sum := r/rows, 0.0, make([]float64, in*3)
				index, pose := p.Row(r % rows)
				for k, j := range index {
					v := WindowSmooth.At(c.points.Group.Distance(p.Poses[int(pose[k])*p.PoseDim:][:p.PoseDim]) / conv.Radius())
					n += v
					for ch := range in {
						x := v * float64(f[(b*rows+int(j))*in+ch])
						wantDepthwise[r*in+ch] += x * float64(wd[int(pose[k])*in+ch])
						for m := range 3 {
							sum[ch*3+m] += x * float64(w[int(pose[k])*3+m])
						}
					}
				}
				n = max(n, 1)
				for ch := range in {
					wantDepthwise[r*in+ch] /= n
				}
				for o := range out {
					v := float64(conv.Linear.Bias[o])
					for i, s := range sum {
						v += s * float64(conv.Linear.Weight[o*in*3+i])
					}
					want[r*out+o] = v / n
				}
			}
			got, gotDepthwise := make([]T, len(want)), make([]T, len(wantDepthwise))
			require.NoError(t, conv.Forward(got, f, g, batch))
			testkit.Close(t, "lieconv", got, want, tol)
			_, err = conv.ForwardTape(got, f, g, batch, Train)
			require.NoError(t, err)
			testkit.Close(t, "lieconv with its tape", got, want, tol)
			require.NoError(t, depthwise.Forward(gotDepthwise, f, g, batch))
			testkit.Close(t, "depthwise", gotDepthwise, wantDepthwise, tol)
		})
	}
}

// TestWindowKeepsConstants: under weights of 1, constant features stay what they are, wherever points lie.
func TestWindowKeepsConstants(t *testing.T) {
	points := scattered(t, "T(2)", 50, 1)
	p, err := NewGeometry[float64](points, nil, nil, 0, 0).Pairs(0.5)
	require.NoError(t, err)
	w := windowsOf[float64](p.Neighborhood, WindowSmooth, 0.5, distances(points.Group, p.Neighborhood))
	ones := make([]float64, 50)
	for i := range ones {
		ones[i] = 1
	}
	out := make([]float64, 50)
	simd.Depthwise(out, ones, w.pose, p.Offsets, p.Index, p.Pose, 1, true)
	scaleRows(out, w.row, 1)
	testkit.Close(t, "constant", out, ones, 1e-14)
}

// TestWindowNormaliser is why sums are divided by the sum of windows and not by the number of neighbours: constant features read from a
// lattice at places between its points vary by 0.4 percent where a ball has six of them, by 0.05 where it has twelve, and never jump;
// divided by their number they jump by 11 and by 5 percent.
func TestWindowNormaliser(t *testing.T) {
	for _, c := range []struct{ radius, ripple float64 }{{2, 2e-2}, {3, 5e-3}, {4, 2e-3}, {6, 6e-4}} {
		t.Run(fmt.Sprintf("radius=%g", c.radius), func(t *testing.T) {
			weight := func(u float64) float64 { return 1 + 0.5*math.Sin(2*u) } // as a WeightNet's
			lo, hi, jump, jumpCounts := math.Inf(1), math.Inf(-1), 0.0, 0.0
			last, lastCounts := math.NaN(), math.NaN()
			for k := range 2001 {
				x, sum, n, count := float64(k)/1000, 0.0, 0.0, 0
				for j := -10; j <= 12; j++ {
					if u := math.Abs(x-float64(j)) / c.radius; u < 1 {
						sum += WindowSmooth.At(u) * weight((x-float64(j))/c.radius)
						n += WindowSmooth.At(u)
						count++
					}
				}
				v, counts := sum/n, sum/float64(count)
				lo, hi = min(lo, v), max(hi, v)
				if k > 0 {
					jump, jumpCounts = max(jump, math.Abs(v-last)), max(jumpCounts, math.Abs(counts-lastCounts))
				}
				last, lastCounts = v, counts
			}
			t.Logf("ripple %.2g, greatest step %.2g; by counts %.2g", hi-lo, jump, jumpCounts)
			require.Less(t, hi-lo, c.ripple)
			require.Less(t, jump, 1e-4)
			require.Greater(t, jumpCounts, 0.03)
		})
	}
}

// TestWindowedPlan: what is planned under a window is what the layers compute.
func TestWindowedPlan(t *testing.T) {
	points := scattered(t, "SO(2)", 60, 1)
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: 0.5})
	require.NoError(t, err)
	w := &Windowing{Window: WindowSmooth, Group: points.Group, Radius: 0.5}
	order := rand.New(rand.NewPCG(71, 2)).Perm(60)
	at := make([]int32, 60)
	for i, v := range order {
		at[i] = int32(v)
	}
	a := Arrange[float64](n, at, false, Auto, w, nil)
	plain := windowsOf[float64](n, WindowSmooth, 0.5, distances(points.Group, n))
	for i, from := range order {
		require.InEpsilon(t, plain.row[from]/float64(max(1, n.Offsets[from+1]-n.Offsets[from])), a.inverse(i), 1e-14)
	}
	require.InDelta(t, 2*8*60+8*n.NumPoses(), float64(a.Bytes()-Arrange[float64](n, at, false, Auto, nil, nil).Bytes()), 8*60)
}
