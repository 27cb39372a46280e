package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp"
)

// greatCircle is the angle between two places in degrees, by the formula of Vincenty for a sphere.
func greatCircle(a, b []float64) float64 {
	sa, ca := math.Sincos(a[0] * degree)
	sb, cb := math.Sincos(b[0] * degree)
	s, c := math.Sincos((b[1] - a[1]) * degree)
	return math.Atan2(math.Hypot(cb*s, ca*sb-sa*cb*c), sa*sb+ca*cb*c) / degree
}

// alonePlainly is the mean log-density of targets, each alone, by solving with the covariance of the context.
func alonePlainly(t *testing.T, b *cnp.Batch[float64], y []float64, k int, target float64, kernel func(a, b []float64) float64) float64 {
	t.Helper()
	at := func(x []float64, n, i int) []float64 { return x[2*(k*n+i) : 2*(k*n+i)+2] }
	cov := mat.NewSymDense(b.Nc, nil)
	values := mat.NewVecDense(b.Nc, append([]float64(nil), b.YContext[k*b.Nc:(k+1)*b.Nc]...))
	for i := range b.Nc {
		for j := range i {
			cov.SetSym(i, j, kernel(at(b.XContext, b.Nc, i), at(b.XContext, b.Nc, j)))
		}
		cov.SetSym(i, i, 1.01)
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(cov))
	sum := 0.0
	for i := range b.Nt {
		cross, solved := mat.NewVecDense(b.Nc, nil), mat.NewVecDense(b.Nc, nil)
		for j := range b.Nc {
			cross.SetVec(j, kernel(at(b.XTarget, b.Nt, i), at(b.XContext, b.Nc, j)))
		}
		require.NoError(t, chol.SolveVecTo(solved, cross))
		variance := 1 + target - mat.Dot(cross, solved)
		e := y[k*b.Nt+i] - mat.Dot(values, solved)
		sum -= 0.5*e*e/variance + 0.5*math.Log(2*math.Pi*variance)
	}
	return sum / float64(b.Nt)
}

// TestGlobeTurned: a turned task has the same values at places that lie in the same way to each other, and the same exact density, which
// is that of the definition.
func TestGlobeTurned(t *testing.T) {
	s := GlobeSource[float64]{Process: "geodesic", Context: 20, Targets: 10}
	flat, exact, err := s.Known(2, 3, 4)
	require.NoError(t, err)
	for _, v := range flat.Curves.XContext {
		require.LessOrEqual(t, math.Abs(v), 10.0)
	}
	rng := StepRand(3, 4)
	rng.Uint64() // the number of context points is drawn first
	for k := range 2 {
		length := s.length(rng)
		require.InDelta(t, exact[k], alonePlainly(t, flat.Curves, flat.Y, k, globeJitter, func(a, b []float64) float64 {
			return math.Exp(-greatCircle(a, b) / length)
		}), 1e-7)
	}
	for _, place := range GlobePlaces["geodesic"][1:] {
		s.Place = place
		turned, again, err := s.Known(2, 3, 4)
		require.NoError(t, err)
		require.Equal(t, exact, again)
		require.Equal(t, flat.Y, turned.Y)
		require.Equal(t, flat.Curves.YContext, turned.Curves.YContext)
		a, b := flat.Curves.XContext, turned.Curves.XContext
		for i := 2; i < len(a); i += 2 {
			require.InDelta(t, greatCircle(a[:2], a[i:i+2]), greatCircle(b[:2], b[i:i+2]), 1e-9)
		}
	}
	for want, by := range map[[2]float64][3]float64{{30, 60}: {60, 30, 0}, {0, 0}: {0, 0, 77}} {
		lat, lon := cnp.LatLon(turned(cnp.UnitVector(0, 0), by))
		require.InDelta(t, want[0], lat, 1e-12)
		require.InDelta(t, want[1], lon, 1e-12)
	}
}

// TestGlobeRBF: moved tasks are the same ones ten units on, wide ones lie on a square of twice the side, and densities are exact.
func TestGlobeRBF(t *testing.T) {
	s := GlobeSource[float64]{Process: "rbf", Context: 20, Targets: 10}
	here, exact, err := s.Known(2, 5, 6)
	require.NoError(t, err)
	rng := StepRand(5, 6)
	rng.Uint64() // the number of context points is drawn first
	for k := range 2 {
		length := s.length(rng)
		require.InDelta(t, exact[k], alonePlainly(t, here.Curves, here.Y, k, globeJitter, func(a, b []float64) float64 {
			return math.Exp(-((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1])) / (2 * length * length))
		}), 1e-6)
	}
	s.Place = GlobePlaces["rbf"][1]
	moved, again, err := s.Known(2, 5, 6)
	require.NoError(t, err)
	require.Equal(t, exact, again)
	require.Equal(t, here.Y, moved.Y)
	require.InDelta(t, here.Curves.XTarget[3]+10, moved.Curves.XTarget[3], 1e-12)
	s.Place = GlobePlaces["rbf"][2]
	wide, _, err := s.Known(2, 5, 6)
	require.NoError(t, err)
	require.InDelta(t, 2*here.Curves.XTarget[3], wide.Curves.XTarget[3], 1e-12)

	for want, bad := range map[string]GlobeSource[float64]{"not one of geodesic, rbf": {Process: "eq"},
		"place": {Process: "rbf", Place: "mars"}, "-1 context": {Process: "rbf", Context: -1}} {
		_, err := bad.Batch(1, 1, 1)
		require.ErrorContains(t, err, want)
	}
}

// TestGlobeLengths: lengths have the moments of their distributions: the mean of an inverse gamma of (3, 3) is 3/2, that of a beta of
// (3, 7) is 3/10.
func TestGlobeLengths(t *testing.T) {
	rng := StepRand(1, 1)
	for process, want := range map[string]float64{"geodesic": 1.5, "rbf": 0.3} {
		var m tally
		for range 20000 {
			m.add(GlobeSource[float64]{Process: process}.length(rng))
		}
		require.InDelta(t, want, m.mean(), 5*m.error(), process)
	}
}

// TestGridded: exact densities are those of the definition, the tasks of a batch share their places, and the small square has as many
// points per area as the whole one.
func TestGridded(t *testing.T) {
	s := GriddedSource[float64]{Length: 0.5, Side: 1, Context: 30, Targets: 10}
	tasks, exact, err := s.Known(2, 7, 8)
	require.NoError(t, err)
	b := tasks.Curves
	require.Equal(t, b.XContext[:60], b.XContext[60:])
	rbf := func(a, b []float64) float64 {
		return math.Exp(-((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1])) / 0.5)
	}
	mean, std, err := s.Predictive(tasks)
	require.NoError(t, err)
	for k := range 2 {
		require.InDelta(t, exact[k], alonePlainly(t, b, tasks.Y, k, 0.01, rbf), 1e-9)
		sum := 0.0
		for i := k * 10; i < k*10+10; i++ {
			e := (tasks.Y[i] - mean[i]) / std[i]
			sum -= 0.5*e*e + math.Log(std[i]) + 0.5*math.Log(2*math.Pi)
		}
		require.InDelta(t, exact[k], sum/10, 1e-9)
	}
	for _, l := range GriddedLengths {
		small := GriddedSource[float32]{Length: l}.Small()
		require.InDelta(t, 10000.0/144, float64(small.Context)/(4*small.Side*small.Side), 0.2)
	}
	for want, bad := range map[string]GriddedSource[float64]{"length 0": {}, "20000 context": {Length: 1, Context: 20000}} {
		_, err := bad.Batch(1, 1, 1)
		require.ErrorContains(t, err, want)
	}
	for _, name := range []string{"globe-geodesic", "globe-rbf", "gridded-0.1", "gridded-0.5"} {
		src, dx, dy, err := NewBenchmark[float32](name, BenchmarkOptions{Dx: 2})
		require.NoError(t, err)
		require.Equal(t, [2]int{2, 1}, [2]int{dx, dy})
		require.Contains(t, BenchmarkNames, name)
		require.Positive(t, src.Work(1).Targets)
		_, _, _, err = NewBenchmark[float32](name, BenchmarkOptions{Dx: 3})
		require.ErrorContains(t, err, "two coordinates")
	}
}

// TestCholeskyLarge: the factor of a matrix of several blocks is its factor.
func TestCholeskyLarge(t *testing.T) {
	for _, n := range []int{1, 128, 300} {
		rng, x := StepRand(1, n), make([]float64, 2*n)
		for i := range x {
			x[i] = rng.Float64()
		}
		l, err := covariance(x, 2, n/2, 0.5, func(row []float64) { exponential(row, 0.3) })
		require.NoError(t, err)
		for i := range n {
			for j := range i + 1 {
				want := math.Exp(-((x[2*i]-x[2*j])*(x[2*i]-x[2*j]) + (x[2*i+1]-x[2*j+1])*(x[2*i+1]-x[2*j+1])) / 0.18)
				if i == j && i < n/2 {
					want += globeNoise
				} else if i == j {
					want += 0.5
				}
				got := 0.0
				for k := range j + 1 {
					got += l.Data[i*n+k] * l.Data[j*n+k]
				}
				require.InDelta(t, want, got, 1e-12)
			}
		}
	}
	require.False(t, choleskyLarge([]float64{-1}, 1))
}
