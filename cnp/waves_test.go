package cnp

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// wavesModel is a small model with waves.
func wavesModel[T Float](t *testing.T, c Config) *EquivCNP[T] {
	t.Helper()
	m, err := New[T](c, 3)
	require.NoError(t, err)
	return m.(*EquivCNP[T])
}

// TestWavesFrequencies: of each frequency and its opposite there is one, all lie within the ball, and 0 comes first.
func TestWavesFrequencies(t *testing.T) {
	for _, c := range []struct{ n, count, want int }{{1, 2, 2}, {1, 32, 32}, {2, 2, 3}, {2, 3, 7}, {3, 2, 4}, {64, 2, 65}} {
		all, ok := curve.Frequencies(c.n, c.count, c.want)
		require.True(t, ok)
		require.Len(t, all, c.want)
		require.Equal(t, make([]int, c.n), all[0])
		seen := map[string]bool{}
		for _, k := range all {
			square, opposite := 0, make([]int, c.n)
			for d, v := range k {
				square, opposite[d] = square+v*v, -v
			}
			require.LessOrEqual(t, square, (c.count-1)*(c.count-1))
			require.False(t, seen[fmt.Sprint(k)])
			seen[fmt.Sprint(k)], seen[fmt.Sprint(opposite)] = true, true
		}
		_, ok = curve.Frequencies(c.n, c.count, c.want-1)
		require.False(t, ok)
	}
	_, ok := curve.Frequencies(64, 1000, 512)
	require.False(t, ok)
}

// TestWavesPrior: where the network says nothing, the covariance is the exponentiated quadratic one of length
// 3/Fastest, in one coordinate and in two; channels have next to nothing in common.
func TestWavesPrior(t *testing.T) {
	for dx, w := range map[int]Waves{1: {16, 6}, 2: {9, 6}} {
		c := DefaultLevels(2, dx, 2)
		grid, _ := curve.Frequencies(dx, w.Count, 512)
		c.Channels, c.PointsPerUnit, c.Likelihood, c.Waves = []int{4, 4}, 4, fmt.Sprintf("lowrank:%d", 2*len(grid)), &w
		m := wavesModel[float64](t, c)
		clear(m.head.raw().Weight)
		const n = 6
		b := &Batch[float64]{B: 1, Nt: n, XTarget: make([]float64, n*dx)}
		for i := range n {
			b.XTarget[i*dx] = 100 + 0.25*float64(i)
			b.XTarget[i*dx+dx-1] += 0.1 * float64(i)
		}
		p, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		cov := p.Covariance()
		for i := range 2 * n {
			for j := range 2 * n {
				want, d2 := 0.0, 0.0
				for d := range dx {
					u := b.XTarget[i/2*dx+d] - b.XTarget[j/2*dx+d]
					d2 += u * u
				}
				if got := cov[i*2*n+j]; i%2 != j%2 {
					require.InDelta(t, 0, got, 0.35, "%d coordinates, %d and %d", dx, i, j)
				} else if i != j { // on the diagonal there is noise, too
					want = math.Exp(-0.5 * d2 / 0.25)
					require.InDelta(t, want, got, 0.02, "%d coordinates, %d and %d", dx, i, j)
				}
			}
		}
	}
}

// TestWavesEquivariance: the covariance moves with the task, as far as coordinates are the same, with and without a
// context and however far.
func TestWavesEquivariance(t *testing.T) {
	ctx := context.Background()
	points := Default(EquivCNPCurve, "T(3)", 1)
	points.PointsPerUnit, points.Margin, points.Fill, points.Channels, points.Hidden, points.Mid = 0, 0, 0.4, []int{6, 8, 6}, 12, 5
	plane, line, lattice := DefaultLevels(2, 2, 2), DefaultLevels(2, 1, 1), Default(EquivCNPCurve, "T(1)", 1)
	plane.Channels, plane.PointsPerUnit, line.Channels, line.PointsPerUnit = []int{4, 4}, 4, []int{4, 4}, 4
	lattice.Channels, lattice.Hidden, lattice.Mid = []int{4, 5, 6}, 6, 4
	for name, c := range map[string]Config{"points": points, "plane": plane, "line": line, "lattice": lattice} {
		c.Likelihood, c.Waves = "lowrank:21", &Waves{2, 4}
		m := wavesModel[float64](t, c)
		perturb(m.State(), 5)
		for _, nc := range []int{7, 0} {
			b := randomBatch[float64](testkit.Rand(uint64(nc)), 2, nc, 5, c.DimX, c.DimY)
			was, err := m.Predict(ctx, b)
			require.NoError(t, err)
			n := 5 * c.DimY
			for _, by := range []float64{0.625, -3, 1 << 20} {
				moved := *b
				moved.XContext, moved.XTarget = append([]float64(nil), b.XContext...), append([]float64(nil), b.XTarget...)
				for _, x := range [][]float64{moved.XContext, moved.XTarget} {
					for i := range x {
						x[i] += by * float64(1+i%c.DimX)
					}
				}
				is, err := m.Predict(ctx, &moved)
				require.NoError(t, err)
				bound := 1e-8 * max(1, math.Abs(by))
				for k := range b.B {
					one, two := was.Slice(k*n, (k+1)*n), is.Slice(k*n, (k+1)*n)
					cov := one.Covariance()
					require.InDeltaSlice(t, one.Mean, two.Mean, bound, "%s, %d, %g", name, nc, by)
					require.InDeltaSlice(t, cov, two.Covariance(), bound*maxAbs(cov), "%s, %d, %g", name, nc, by)
					// Even without a context two targets have less in common than one with itself.
					last := n - c.DimY
					require.Greater(t, math.Abs(one.Covariance()[0]-one.Covariance()[last]), 1e-3)
				}
			}
		}
	}
}

// TestWavesConfig: what has no use for waves says so.
func TestWavesConfig(t *testing.T) {
	ok := Default(EquivCNPCurve, "T(1)", 1)
	ok.Likelihood, ok.Waves = "lowrank:8", &Waves{4, 10}
	require.NoError(t, ok.Validate())
	for want, change := range map[string]func(c *Config){
		"waves are for likelihood lowrank, this is normal": func(c *Config) { c.Likelihood = "" },
		"count = 1":    func(c *Config) { c.Waves = &Waves{1, 10} },
		"count = 5":    func(c *Config) { c.Waves = &Waves{5, 10} },
		"count = 1025": func(c *Config) { c.Waves = &Waves{1025, 10} },
		"fastest = 0":  func(c *Config) { c.Waves = &Waves{4, 0} },
		"fastest = NaN": func(c *Config) {
			c.Waves = &Waves{4, math.NaN()}
		},
		"which group SE(2) would turn": func(c *Config) { c.Group, c.DimX, c.PointsPerUnit, c.Placement = "SE(2)", 2, 0, PlacementBatch },
		`this is convcnp`: func(c *Config) {
			*c = Default(ConvCNPCurve, "", 1)
			c.Likelihood, c.Waves = "lowrank:8", &Waves{4, 10}
		},
		`this is equivcnp-image`: func(c *Config) {
			*c = Default(EquivCNPImage, "T(2)", 1)
			c.Likelihood, c.Waves = "lowrank:8", &Waves{4, 10}
		},
		"than the 0 pairs": func(c *Config) { c.Likelihood = "lowrank:1" },
	} {
		c := ok
		change(&c)
		err := c.Validate()
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
}
