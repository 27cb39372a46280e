package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

func sphereTasks(t *testing.T, s SphereSource[float64], n int, step int) *Tasks[float64] {
	b, err := s.Batch(n, 7, step)
	require.NoError(t, err)
	return b
}

func units(x []float64, dx int) (out [][3]float64) {
	for i := 0; i < len(x); i += dx {
		if dx == 2 {
			out = append(out, cnp.UnitVector(x[i], x[i+1]))
		} else {
			out = append(out, [3]float64(x[i:i+3]))
		}
	}
	return out
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// TestSphereSource: tasks are the same again, and the same at every place but where they lie; points are where the place says.
func TestSphereSource(t *testing.T) {
	for _, process := range SphereProcesses {
		for step := range 6 {
			mid := sphereTasks(t, SphereSource[float64]{Process: process, Dx: 2}, 5, step)
			require.Equal(t, mid, sphereTasks(t, SphereSource[float64]{Process: process, Place: "mid", Dx: 2}, 5, step))
			from := append(units(mid.Curves.XContext, 2), units(mid.Curves.XTarget, 2)...)
			for i, p := range from {
				lat, lon := cnp.LatLon(p)
				require.True(t, lat > -1 && lat < 81 && math.Abs(lon) < 170, "point %d at %g, %g", i, lat, lon)
			}
			joint, diagonal, err := SphereSource[float64]{Process: process, Dx: 2}.Exact(mid)
			require.NoError(t, err)
			for _, place := range SpherePlaces[1:4] {
				s := SphereSource[float64]{Process: process, Place: place, Dx: 3}
				b := sphereTasks(t, s, 5, step)
				require.Equal(t, mid.Curves.YContext, b.Curves.YContext)
				require.Equal(t, mid.Y, b.Y)
				to := append(units(b.Curves.XContext, 3), units(b.Curves.XTarget, 3)...)
				require.Len(t, to, len(from))
				across := 0
				nc, nt := b.Curves.Nc, b.Curves.Nt
				for task := range 5 {
					for i := range nt { // distances within the task
						at := 5*nc + task*nt
						require.InDelta(t, dot(from[at], from[at+i]), dot(to[at], to[at+i]), 1e-12)
						if nc > 0 {
							require.InDelta(t, dot(from[task*nc], from[at+i]), dot(to[task*nc], to[at+i]), 1e-12)
						}
						if _, lon := cnp.LatLon(to[at+i]); lon < 0 {
							across++
						}
					}
				}
				if place == "dateline" {
					require.True(t, across > 0 && across < 5*nt)
				}
				other, alone, err := s.Exact(b)
				require.NoError(t, err)
				for i := range joint {
					require.InDelta(t, joint[i], other[i], 1e-9)
					require.InDelta(t, diagonal[i], alone[i], 1e-9)
				}
			}
			globe := sphereTasks(t, SphereSource[float64]{Process: process, Place: "globe", Dx: 3}, 3, step)
			south := 0
			for _, p := range units(globe.Curves.XTarget, 3) {
				require.InDelta(t, 1, dot(p, p), 1e-12)
				if p[2] < 0 {
					south++
				}
			}
			require.True(t, south > 0 && south < 3*globe.Curves.Nt)
		}
	}
	for _, bad := range []SphereSource[float64]{{Process: "rbf", Dx: 2}, {Process: "eq", Place: "moon", Dx: 2}, {Process: "eq", Dx: 4}} {
		require.Error(t, bad.Validate())
		_, err := bad.Batch(1, 1, 1)
		require.Error(t, err)
		_, _, err = bad.Exact(&Tasks[float64]{})
		require.Error(t, err)
	}
	_, _, err := SphereSource[float64]{Process: "eq", Dx: 2}.Exact(&Tasks[float64]{})
	require.Error(t, err)
}

// TestSphereProcess: values have the process's covariance.
func TestSphereProcess(t *testing.T) {
	x := []float64{0, 0, 1, math.Sin(0.3), 0, math.Cos(0.3), 0, -1, 0}
	for _, process := range SphereProcesses {
		l, err := SphereSource[float64]{Process: process, Dx: 3}.factor(x)
		require.NoError(t, err)
		for i := range 3 {
			for j := range i + 1 {
				got := 0.0
				for k := range j + 1 {
					got += l.Data[i*l.Stride+k] * l.Data[j*l.Stride+k]
				}
				d2 := 0.0
				for a := range 3 {
					d2 += (x[3*i+a] - x[3*j+a]) * (x[3*i+a] - x[3*j+a])
				}
				want := math.Exp(-d2 / (2 * SphereLength * SphereLength))
				if process == "matern" {
					s := math.Sqrt(5*d2) / SphereLength
					want = (1 + s + s*s/3) * math.Exp(-s)
				}
				if i == j {
					want += benchmarkNoise
				}
				require.InDelta(t, want, got, 1e-12)
			}
		}
	}
}
