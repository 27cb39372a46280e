package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// TestShrink: a smaller ball cut out of a larger one is the smaller ball, also for points at exactly its radius.
func TestShrink(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)", "R>0xSO(2)", "SE(2)"} {
		for _, kind := range []string{"grid", "scattered"} {
			points := group.LiftPoints(parse(t, name, 0), grid(linspace(-6.5, 6.5, 14)), 1, 0)
			if kind == "scattered" {
				rng := rand.New(rand.NewPCG(1, 6))
				x := make([]float64, 2*150)
				for i := range x {
					x[i] = 4 * rng.NormFloat64()
				}
				points = group.LiftPoints(points.Group, x, 1, 0)
			}
			large, err := RadiusForFill(points, 0.3, Options{})
			require.NoError(t, err)
			n, err := Ball(points, points, Options{Radius: large})
			require.NoError(t, err)
			at := points.Group.Distance(n.Poses[3*n.PoseDim : 4*n.PoseDim])
			for _, r := range []float64{large, large / 2, at, math.Nextafter(at, 9), large / 20, 1e-300, 0, -1} {
				if r > large {
					continue // the last representable step above a pair's distance may lie above the larger radius
				}
				t.Run(fmt.Sprintf("%s/%s/r=%g", name, kind, r), func(t *testing.T) {
					want, err := Ball(points, points, Options{Radius: r})
					require.NoError(t, err)
					got := n.Shrink(points, points, r)
					require.Equal(t, want.Offsets, got.Offsets)
					require.Equal(t, len(want.Index), len(got.Index))
					if len(want.Index) == 0 {
						return
					}
					require.Equal(t, want.Index, got.Index)
					require.Equal(t, want.Pose, got.Pose)
					require.Equal(t, want.Count, got.Count)
					requireClasses(t, got, got.Classes())
					require.Equal(t, len(want.Poses), len(got.Poses))
					for i, v := range want.Poses { // the representative may be another of those that were merged
						if !(math.Abs(v-got.Poses[i]) <= 1e-11) {
							t.Fatalf("Poses[%d] = %v, want %v", i, got.Poses[i], v)
						}
					}
				})
			}
		}
	}
}

// TestShrinkBorderline: pairs of one pose that lie on both sides of the radius, in any order, are told apart, and poses keep the order of
// first use. Merging never takes poses so far together; here they are, to make it happen often.
func TestShrinkBorderline(t *testing.T) {
	x := []float64{0, 0, 1, 0, 2 + 3e-9, 0, 3, 0, 4 - 5e-9, 0, 5, 0, 6 + 1e-9, 0}
	g := group.NewT(2, 0.2)
	points := group.LiftPoints(g, x, 1, 0)
	n, err := Ball(points, points, Options{Radius: 1e3, MergeTolerance: 1e-7})
	require.NoError(t, err)
	for d := 1; d < 7; d++ {
		radius := g.Distance([]float64{float64(d), 0})
		got, at, seen := n.Shrink(points, points, radius), 0, map[int32]int32{}
		for i := range n.Queries {
			index, pose := n.Row(i)
			for k, j := range index {
				rel := []float64{x[2*i] - x[2*j], 0}
				if !(g.Distance(rel) < radius) {
					continue
				}
				if _, ok := seen[pose[k]]; !ok {
					seen[pose[k]] = int32(len(seen))
				}
				require.Equal(t, j, got.Index[at])
				require.Equal(t, seen[pose[k]], got.Pose[at])
				at++
			}
			require.Equal(t, at, got.Offsets[i+1])
		}
		require.Len(t, got.Index, at)
		require.Equal(t, len(seen), got.NumPoses())
		count := make([]int32, len(seen))
		for _, p := range got.Pose {
			count[p]++
		}
		require.Equal(t, count, got.Count)
	}
}

// TestShrinkFarAway: where poses merge within much, because coordinates are large or because the caller asks for it, pairs of one pose lie
// far on both sides of the radius.
func TestShrinkFarAway(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, name := range []string{"T(1)", "T(2)", "SE(2)"} {
		for _, at := range []float64{0, 1.7e9, 1e15} { // seconds since 1970, for example
			for _, tolerance := range []float64{0, 1e-3} {
				for _, apart := range []bool{false, true} {
					g := parse(t, name, 0)
					x := make([]float64, 60*g.PointDim())
					for i := range x {
						x[i] = at + rng.Float64()*0.01*max(1, at/1e9)
					}
					points := group.LiftPoints(g, x, 1, 0)
					opt := Options{Radius: math.Inf(1), MergeTolerance: tolerance, Apart: apart,
						QueryBlocks: []int{0, 20, 60}, PointBlocks: []int{0, 20, 60}}
					n, err := Ball(points, points, opt)
					require.NoError(t, err)
					for _, r := range []float64{1e-5, 1e-3, 1e-2, 1} {
						opt.Radius = r * max(1, at/1e9)
						want, err := Ball(points, points, opt)
						require.NoError(t, err)
						got := n.Shrink(points, points, opt.Radius)
						require.Equal(t, want.Offsets, got.Offsets, "%s at %g, radius %g", name, at, r)
						require.Equal(t, want.Index, append([]int32{}, got.Index...))
						again := n.Shrink(points, points, 2*opt.Radius).Shrink(points, points, opt.Radius)
						require.Equal(t, want.Offsets, again.Offsets)
					}
				}
			}
		}
	}
}

// TestShrinkAndClassesStop: wherever they are stopped, there is no result, and nothing of it stays behind.
func TestShrinkAndClassesStop(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)", "R>0xSO(2)"} {
		points := group.LiftPoints(parse(t, name, 0), grid(linspace(-6.5, 6.5, 14)), 1, 0)
		large, err := RadiusForFill(points, 0.3, Options{})
		require.NoError(t, err)
		n, err := Ball(points, points, Options{Radius: large})
		require.NoError(t, err)
		at := points.Group.Distance(n.Poses[3*n.PoseDim : 4*n.PoseDim]) // some pairs are borderline
		// after returns a stop that says true when it has been asked that often.
		after := func(times int) func() bool {
			var asked atomic.Int64
			return func() bool { return asked.Add(1) > int64(times) }
		}
		times, want := 0, n.Shrink(points, points, at)
		for got := (*Neighborhood)(nil); got == nil; times++ {
			if got = n.ShrinkUntil(after(times), points, points, at); got != nil {
				require.Equal(t, want.Pose, got.Pose)
			}
		}
		require.Greater(t, times, 8, name)
		times = 0
		for ; n.ClassesUntil(after(times)) == nil; times++ {
			require.Nil(t, n.classes.found.Load())
		}
		require.Greater(t, times, 4, name)
		requireClasses(t, n, n.Classes())
	}
}
