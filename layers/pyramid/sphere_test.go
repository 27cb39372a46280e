package pyramid

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

func square(v float64) float64 { return v * v }

// ontoSphere brings points [n, 3] to length 1.
func ontoSphere(x []float64) {
	for i := 0; i < len(x); i += 3 {
		l := math.Sqrt(x[i]*x[i] + x[i+1]*x[i+1] + x[i+2]*x[i+2])
		for a := range 3 {
			x[i+a] /= l
		}
	}
}

// TestSpherePairs compares with a look at all pairs: who is near whom, and what the weights of a convolution are that
// is 1, 10, 100 .. at its taps.
func TestSpherePairs(t *testing.T) {
	const k, taps = 2, 4
	rng := rand.New(rand.NewPCG(82, 1))
	targets := normals(rng, 3*40)
	ontoSphere(targets)
	copy(targets, []float64{0, 0, 1, 0, 0, -1, 1, 0, 0}) // poles
	poses, shares := spherePoseTaps(taps), sphereShares(taps)
	apart := func(x, y []float64) float64 {
		return 2 * math.Asin(min(1, math.Sqrt(square(x[0]-y[0])+square(x[1]-y[1])+square(x[2]-y[2]))/2))
	}
	for _, n := range []int{12, 50, 700} {
		points := newSphereLattice(n)
		copy(targets[9:12], points.x[3*(n/2):]) // on a point
		angle := sphereReach(n, k)
		// wanted is the weight of every point, for each tap, seen from x; distances are rounded if they are in the pairs.
		wanted := func(x []float64, rounded bool) (w [taps][]float64, window []float64) {
			window = make([]float64, n)
			total, sums := 0.0, [taps]float64{}
			for tap := range w {
				w[tap] = make([]float64, n)
			}
			for j := range n {
				u := apart(x, points.x[3*j:3*j+3]) / angle
				if u >= 1 {
					continue
				}
				if rounded {
					u = (math.Floor(u*spherePoses) + 0.5) / spherePoses
				}
				window[j] = layers.WindowSmooth.At(u)
				total += window[j]
				tap, share := sphereTaps(taps, u)
				for side := range 2 {
					w[tap[side]][j] += share[side] * window[j]
					sums[tap[side]] += share[side] * window[j]
				}
			}
			for j := range n {
				window[j] /= total
				for tap := range w {
					if sums[tap] > 0 {
						w[tap][j] *= shares[tap] / sums[tap]
					}
				}
			}
			return w, window
		}
		var p, means latticePairs
		p.layTaps(taps, points, angle)
		other := newSphereLattice(2*n + 1)
		means.layMeans(other, points, angle)
		var q targetPairs[float64]
		q.laySphere(taps, targets, points, angle, nil)
		for i := range n {
			w, _ := wanted(points.x[3*i:3*i+3], true)
			for tap := range taps {
				got, row := make([]float64, n), i*taps+tap
				for at := p.offsets[row]; at < p.offsets[row+1]; at++ {
					require.Equal(t, tap, poses[p.pose[at]].tap)
					got[p.index[at]] += poses[p.pose[at]].factor * p.scale[row]
				}
				testkit.Close(t, "taps", got, w[tap], 1e-12)
			}
		}
		for i := range 2*n + 1 {
			_, window := wanted(other.x[3*i:3*i+3], true)
			got := make([]float64, n)
			for at := means.offsets[i]; at < means.offsets[i+1]; at++ {
				got[means.index[at]] += poses[means.pose[at]].factor * means.scale[i]
			}
			testkit.Close(t, "means", got, window, 1e-12)
		}
		for i := range len(targets) / 3 {
			w, _ := wanted(targets[3*i:3*i+3], false)
			for tap := range taps {
				got := make([]float64, n)
				for at := q.offsets[i]; at < q.offsets[i+1]; at++ {
					got[q.index[at]] += q.basis[int(q.pose[at])*taps+tap]
				}
				testkit.Close(t, "targets", got, w[tap], 1e-12)
			}
		}
	}
	sum := 0.0
	for _, v := range shares {
		sum += v
	}
	require.InDelta(t, 1, sum, 1e-12)
	require.PanicsWithValue(t, "layers: pyramid.New: Sphere = 10 with Axes = 2, need at least 0, and three Axes", func() {
		New[float64](Config{Axes: 2, In: 1, Channels: []int{1}, Reach: 1, Sphere: 10}, rng)
	})
	require.Equal(t, 5.0, neighbor.Chord2(math.Pi))
}
