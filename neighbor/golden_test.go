package neighbor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// recorded maps the names of the authors' recordings to the groups, and says how many pairs and distinct poses the
// 64 × 64 grid has at the residual blocks' radius: the poses that differ by more than 1e-4, which a tolerance of 1e-12
// must find as well. A machine whose atan2 rounds differently may split a few of the polar ones.
var recorded = []struct {
	file, name          string
	pairs, poses, spare int
}{
	{"T2", "T(2)", 1130320, 317, 0},
	{"SE2", "SE(2)", 1051116, 293, 0},
	{"SO2", "SO(2)", 1118472, 268676, 300},
	{"RxSO2", "R>0xSO(2)", 1118480, 246899, 300},
}

// grid is every pair of coordinates, the first index first.
func grid(coords []float64) []float64 {
	var x []float64
	for _, a := range coords {
		for _, b := range coords {
			x = append(x, a, b)
		}
	}
	return x
}

// linspace is n numbers from lo to hi, computed from whichever end is nearer, as PyTorch does.
func linspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	step := (hi - lo) / float64(n-1)
	for i := range x {
		if x[i] = lo + float64(step*float64(i)); i >= n/2 {
			x[i] = hi - float64(step*float64(n-1-i))
		}
	}
	return x
}

// embeddingTolerance is the manifest's tolerance of embeddings computed in float64.
const embeddingTolerance = 1e-11

func near(t *testing.T, name string, want, got []float64, tol float64) {
	t.Helper()
	require.Equal(t, len(want), len(got), name)
	for i := range want {
		if !(math.Abs(want[i]-got[i]) <= tol) {
			t.Fatalf("%s[%d] = %v, recorded %v", name, i, got[i], want[i])
		}
	}
}

func TestGoldenGrids(t *testing.T) {
	for _, c := range recorded {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			gold := testkit.OpenGolden(t, "2d_neighbourhood_"+c.file)
			var alpha float64
			gold.Meta("alpha", &alpha)
			g := parse(t, c.name, alpha)

			coords, _ := gold.F64("coords_1d_f64")
			near(t, "coords", coords, linspace(-32, 32, 64), 0)
			l := group.LiftPoints(g, grid(coords), 1, 0)
			a, _ := gold.F64("lifted_a_f64")
			near(t, "lifted a", a, l.A, embeddingTolerance)
			if gold.Has("lifted_q_f64") {
				q, _ := gold.F64("lifted_q_f64")
				near(t, "lifted q", q, l.Q, embeddingTolerance)
			}
			goldenSamples(t, gold, l)
			for _, layer := range []string{"theta", "res"} {
				goldenBall(t, gold, l, layer)
			}
			var r float64
			gold.Meta("r_res", &r)
			nb := ball(t, l, l, Options{Radius: r})
			t.Logf("%d pairs, %d distinct poses", nb.Pairs(), nb.NumPoses())
			require.Equal(t, c.pairs, nb.Pairs())
			require.InDelta(t, c.poses, nb.NumPoses(), float64(c.spare))
		})
	}
}

// goldenSamples compares the recorded random pairs' poses and distances.
func goldenSamples(t *testing.T, gold *testkit.Golden, l *group.Lifted) {
	t.Helper()
	ij, _ := gold.F64("sample_ij")
	pose, shape := gold.F64("sample_embedding_f64")
	dist, _ := gold.F64("sample_distance_f64")
	p, err := newProblem("test", l, l, Options{})
	require.NoError(t, err)
	e := group.PoseDim(l.Group)
	require.Equal(t, e, shape[1])
	own := make([]float64, e)
	for k := range dist {
		p.relativePose(own, int(ij[2*k]), int(ij[2*k+1]))
		near(t, "pose", pose[k*e:(k+1)*e], own, embeddingTolerance)
		near(t, "distance", dist[k:k+1], []float64{l.Group.Distance(own)}, embeddingTolerance)
	}
}

// goldenBall compares the counts and index sums of every pixel, and the pairs nearest to the radius one by one.
func goldenBall(t *testing.T, gold *testkit.Golden, l *group.Lifted, layer string) {
	t.Helper()
	var r, fill float64
	gold.Meta("r_"+layer, &r)
	gold.Meta("fill_"+layer, &fill)
	nb := ball(t, l, l, Options{Radius: r, MergeTolerance: -1})
	count, _ := gold.F64("count_" + layer + "_f64")
	sum, _ := gold.F64("idxsum_" + layer + "_f64")
	for i := range l.Rows() {
		index, _ := nb.Row(i)
		total := 0.0
		for _, j := range index {
			total += float64(j)
		}
		require.Equal(t, count[i], float64(len(index)), "%s: count of pixel %d", layer, i)
		require.Equal(t, sum[i], total, "%s: index sum of pixel %d", layer, i)
	}
	n := float64(l.N)
	near(t, "fill", []float64{fill}, []float64{float64(nb.Pairs()) / n / n}, 1e-7) // recorded in float32

	ij, _ := gold.F64("border_" + layer + "_ij")
	dist, _ := gold.F64("border_" + layer + "_d64")
	in, _ := gold.F64("border_" + layer + "_in64")
	pose := make([]float64, group.PoseDim(l.Group))
	for k := range dist {
		i, j := int(ij[2*k]), int32(ij[2*k+1])
		ai, qi := l.Row(i)
		aj, qj := l.Row(int(j))
		l.Group.RelativePose(pose, ai, qi, aj, qj)
		near(t, "border distance", dist[k:k+1], []float64{l.Group.Distance(pose)}, embeddingTolerance)
		index, _ := nb.Row(i)
		found := 0.0
		for _, other := range index {
			if other == j {
				found = 1
			}
		}
		require.Equal(t, in[k], found, "%s: border pair %d, %d", layer, i, j)
	}
}

// The points that the layers were recorded on: a batch of two, eleven points of the first masked and full of junk.
func TestGoldenLayers(t *testing.T) {
	for _, c := range recorded {
		t.Run(c.name, func(t *testing.T) {
			gold := testkit.OpenGolden(t, "layer_geometry_"+c.file)
			var alpha, radius, fill, rate float64
			gold.Meta("alpha", &alpha)
			gold.Meta("r", &radius)
			gold.Meta("fill_target", &fill)
			gold.Meta("coeff", &rate)
			g := parse(t, c.name, alpha)
			e := group.PoseDim(g)

			x, shape := gold.F64("coords")
			batch, n := shape[0], shape[1]
			flags, _ := gold.F64("mask")
			mask := make([]bool, len(flags))
			unmasked := 0
			for i, f := range flags {
				if mask[i] = f == 1; mask[i] {
					unmasked++
				}
			}
			l := group.LiftPoints(g, x, 1, 0)
			opt := Options{
				QueryMask: mask, PointMask: mask,
				QueryBlocks: []int{0, n, 2 * n}, PointBlocks: []int{0, n, 2 * n},
			}
			require.Equal(t, 2, batch)

			pairs, _ := gold.F64("pairs_f64")
			dist, _ := gold.F64("distance_f64")
			p, err := newProblem("test", l, l, opt)
			require.NoError(t, err)
			pose := make([]float64, e)
			for b := range batch {
				for i := range n {
					for j := range n {
						k := (b*n+i)*n + j
						if mask[b*n+i] && mask[b*n+j] {
							p.relativePose(pose, b*n+i, b*n+j)
							near(t, "pairs_f64", pairs[k*e:(k+1)*e], pose, 1e-12)
							near(t, "distance_f64", dist[k:k+1], []float64{g.Distance(pose)}, 1e-12)
						}
					}
				}
			}

			want, _ := gold.F64("neighbours")
			for _, m := range []Method{Brute, Tree} {
				opt.Radius, opt.Method = radius, m
				nb := ball(t, l, l, opt)
				got := make([]float64, len(want))
				for i := range nb.Queries {
					index, id := nb.Row(i)
					for k, j := range index {
						got[i*n+int(j)%n] = 1
						require.Equal(t, i/n, int(j)/n, "a neighbour in another block")
						near(t, "pose table", pairs[(i*n+int(j)%n)*e:][:e], nb.Poses[int(id[k])*e:][:e], 2e-12)
					}
				}
				near(t, "neighbours", want, got, 0)

				// The radius after a training step, as the layers' recordings have it.
				for _, layer := range []string{"layer_depthwise_", "layer_lieconv_"} {
					after, _ := testkit.OpenGolden(t, layer+c.file).F64("train.f64.after.r")
					meanPoints := float64(unmasked) / float64(batch)
					near(t, layer, after, []float64{AdaptRadius(radius, rate, fill, nb.Pairs(), unmasked, meanPoints)}, 1e-12)
				}
			}
		})
	}
}
