package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// layered draws the values of a Matérn function of smoothness 3/2 in a cube of side 10, at random places or those of 20 boreholes, and
// what the covariance itself predicts of the last ones, each on its own. Lengths are 5 along layers, and stretch times less across. The
// noise is 0.1.
func layered(rng *rand.Rand, n, targets int, stretch, dip float64, boreholes bool) (x, y []float64, best float64) {
	all := n + targets
	for i := range all {
		at := [3]float64{10 * rng.Float64(), 10 * rng.Float64(), 10 * rng.Float64()}
		if h := i % 20; boreholes && i < n && i >= 20 {
			at[0], at[1] = x[3*h], x[3*h+1]
		}
		x = append(x, at[:]...)
	}
	azimuth := 2 * math.Pi * rng.Float64()
	across := [3]float64{math.Sin(dip) * math.Cos(azimuth), math.Sin(dip) * math.Sin(azimuth), math.Cos(dip)}
	cov := mat.NewSymDense(all, nil)
	for i := range all {
		for j := range i + 1 {
			var square, p float64
			for k, a := range across {
				d := (x[3*i+k] - x[3*j+k]) / 5
				square, p = square+d*d, p+a*d
			}
			r := math.Sqrt(3 * (square + (stretch*stretch-1)*p*p))
			cov.SetSym(i, j, (1+r)*math.Exp(-r))
		}
		cov.SetSym(i, i, 1.01)
	}
	var whole, known mat.Cholesky
	whole.Factorize(cov)
	var root mat.TriDense
	whole.LTo(&root)
	normal := mat.NewVecDense(all, nil)
	for i := range all {
		normal.SetVec(i, rng.NormFloat64())
	}
	var values mat.VecDense
	values.MulVec(&root, normal)
	y = values.RawVector().Data
	known.Factorize(cov.SliceSym(0, n))
	for t := n; t < all; t++ {
		c := mat.NewVecDense(n, nil)
		for i := range n {
			c.SetVec(i, cov.At(t, i))
		}
		var w mat.VecDense
		_ = known.SolveVecTo(&w, c)
		best += logNormal(y[t], mat.Dot(&w, mat.NewVecDense(n, y[:n])), 1.01-mat.Dot(&w, c)) / float64(targets)
	}
	return x, y, best
}

// TestLayers predicts layers nearly as well as their covariance does, however they lie. With -long it prints a table.
func TestLayers(t *testing.T) {
	type kind struct {
		n            int
		stretch, dip float64
		boreholes    bool
		most         float64 // nats a value
	}
	kinds, tables := []kind{{150, 5, 45, false, 0.12}}, 3
	if *long {
		tables = 20
		kinds = []kind{{40, 1, 0, false, 1}, {150, 1, 0, false, 1}, {150, 5, 0, false, 1}, {40, 5, 45, false, 1},
			{80, 3, 45, false, 1}, {150, 5, 20, false, 1}, {150, 5, 45, false, 1}, {300, 5, 45, false, 1}, {200, 10, 0, true, 1},
			{200, 10, 30, true, 1}, {500, 5, 30, true, 1}}
	}
	const targets = 60
	for _, c := range kinds {
		for _, different := range []bool{false, true} {
			var behind []float64
			for seed := range tables {
				x, y, best := layered(rand.New(rand.NewPCG(uint64(seed), 77)), c.n, targets, c.stretch, c.dip*math.Pi/180, c.boreholes)
				m, err := Fit(t.Context(), x[:3*c.n], y[:c.n], Options{Dim: 3, DifferentUnits: different})
				require.NoError(t, err)
				mean, std, err := m.Predict(t.Context(), x[3*c.n:])
				require.NoError(t, err)
				for i := range mean {
					best -= logNormal(y[c.n+i], mean[i], std[i]*std[i]) / targets
				}
				behind = append(behind, best)
			}
			mean, std := stat.MeanStdDev(behind, nil)
			t.Logf("%d values, boreholes %t, %g times as fast across, dip %g degrees, different units %t: %.3f ± %.3f nats behind",
				c.n, c.boreholes, c.stretch, c.dip, different, mean, std/math.Sqrt(float64(tables)))
			require.Less(t, mean, c.most, c)
		}
	}
}
