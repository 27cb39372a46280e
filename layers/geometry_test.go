package layers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// TestPairsRemembered: neighbourhoods from memory, for radii on all sides of the distances, are those that a search finds; and
// on a grid under translations a small move of the radius needs none.
func TestPairsRemembered(t *testing.T) {
	const side = 14
	var x []float64
	for i := range side * side {
		x = append(x, float64(i/side)*64/63, float64(i%side)*64/63)
	}
	rng := testkit.Rand(60)
	for _, name := range []string{"T(2)", "SE(2)", "SO(2)"} {
		g, err := group.Parse(name, 0)
		require.NoError(t, err)
		l := group.LiftPoints(g, x, 1, 0)
		geo := NewGeometry[float32](l, nil, nil, 0, 0)
		first, err := geo.Pairs(0.61)
		require.NoError(t, err)
		second, err := geo.Pairs(0.6101)
		require.NoError(t, err)
		require.Equal(t, name != "SO(2)", first == second, name)
		far := 0.0
		for e := 0; e < len(first.Poses); e += first.PoseDim {
			far = max(far, g.Distance(first.Poses[e:e+first.PoseDim]))
		}
		radii := []float64{first.least, first.most, far, far * (1 + 1e-12), far * (1 + 1e-10), far * (1 + 1e-8),
			first.most * (1 + 1e-12), 0, -1}
		for range 20 {
			radii = append(radii, 0.5+0.3*rng.Float64())
		}
		for _, r := range radii {
			got, err := geo.Pairs(r)
			require.NoError(t, err)
			want, err := neighbor.Ball(l, l, neighbor.Options{Radius: r})
			require.NoError(t, err)
			require.Equal(t, want, got.Neighborhood, "%s, radius %v", name, r)
		}
		require.LessOrEqual(t, len(geo.all), keepPairs)
	}
}

// TestPoseGradient compares the sums over the pairs of each pose with a loop over all pairs, with and without segments.
func TestPoseGradient(t *testing.T) {
	const side, c, batch = 32, 3, 2
	var x []float64
	for i := range side * side {
		x = append(x, float64(i/side)-(side-1)/2.0, float64(i%side)-(side-1)/2.0) // turned by 90 degrees it is itself
	}
	rng := testkit.Rand(61)
	for name, radius := range map[string]float64{"T(2)": 0.5, "SO(2)": 0.04} {
		g, err := group.Parse(name, 0)
		require.NoError(t, err)
		geo := NewGeometry[float64](group.LiftPoints(g, x, 1, 0), nil, nil, 0, 0)
		p, err := geo.Pairs(radius)
		require.NoError(t, err)
		n := side * side
		d, f := testkit.Normal[float64](rng, batch*n*c), testkit.Normal[float64](rng, batch*n*c)
		got := p.poseGradient(batch, c, func(dw []float64, b int, offsets []int, query, point []int32) {
			simd.Depthwise(dw, d[b*n*c:(b+1)*n*c], f[b*n*c:(b+1)*n*c], offsets, query, point, c, false)
		})
		require.Equal(t, name == "T(2)", len(p.byPose().Lists) > p.NumPoses(), name)
		want := make([]float64, p.NumPoses()*c)
		for b := range batch {
			for i := range n {
				index, pose := p.Row(i)
				for k, j := range index {
					for ch := range c {
						want[int(pose[k])*c+ch] += d[(b*n+i)*c+ch] * f[(b*n+int(j))*c+ch]
					}
				}
			}
		}
		testkit.Close(t, name, got, want, 1e-10)
	}
}
