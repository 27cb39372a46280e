package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChargesCoulomb: far away the field of a charge is q/r² and points away from it; a dipole's falls with the third
// power, 2p/r³ along it and p/r³ against it across it.
func TestChargesCoulomb(t *testing.T) {
	one := []charge{{3, [3]float64{1, 2, 3}}}
	for _, d := range [][3]float64{{1, 0, 0}, {0, -1, 0}, {0.6, 0, 0.8}} {
		const r = 1e4
		e := coulomb(one, [3]float64{1 + r*d[0], 2 + r*d[1], 3 + r*d[2]})
		for k := range e {
			require.InDelta(t, 3*d[k]/(r*r), e[k], 1e-6/(r*r))
		}
	}
	require.Equal(t, [3]float64{}, coulomb(one, one[0].at))
	dipole := []charge{{1, [3]float64{0, 0, 0.5}}, {-1, [3]float64{0, 0, -0.5}}}
	const r = 1e3
	along, across := coulomb(dipole, [3]float64{0, 0, r}), coulomb(dipole, [3]float64{r, 0, 0})
	require.InEpsilon(t, 2/(r*r*r), along[2], 1e-4)
	require.InEpsilon(t, -1/(r*r*r), across[2], 1e-4)
	require.InDelta(t, 0, across[0], 1e-4/(r*r*r))
}

// TestCharges: tasks are what they say they are, and turned ones are upright ones, turned as a whole.
func TestCharges(t *testing.T) {
	up, turned := ChargeSource[float64]{Kind: "charges"}, ChargeSource[float64]{Kind: "turned-charges"}
	require.Equal(t, "electric fields of upright dipoles in the ball of radius 2, 20 to 60 context points, 40 targets", up.String())
	require.NotEqual(t, up.String(), turned.String())
	sizes := map[int]bool{}
	for step := range 40 {
		a, err := up.Batch(3, 5, step)
		require.NoError(t, err)
		again, err := up.Batch(3, 5, step)
		require.NoError(t, err)
		require.Equal(t, a, again)
		b, err := turned.Batch(3, 5, step)
		require.NoError(t, err)
		sizes[a.Curves.Nc] = true
		require.GreaterOrEqual(t, a.Curves.Nc, 20)
		require.LessOrEqual(t, a.Curves.Nc, 60)
		require.Equal(t, a.Curves.Nc, b.Curves.Nc)
		require.Len(t, a.Y, 3*3*40)
		require.NotEqual(t, a.Curves.XContext, b.Curves.XContext)
		// Rotations keep lengths, angles and orientation: of places, of vectors, and between both.
		for task := range 3 {
			rows := func(s *Tasks[float64]) (v [][3]float64) {
				c := s.Curves
				for i := range 12 {
					v = append(v, [3]float64(c.XContext[(task*c.Nc+i)*3:]), [3]float64(c.YContext[(task*c.Nc+i)*3:]))
					v = append(v, [3]float64(c.XTarget[(task*c.Nt+i)*3:]), [3]float64(s.Y[(task*c.Nt+i)*3:]))
				}
				return v
			}
			p, q := rows(a), rows(b)
			for i := range p {
				require.LessOrEqual(t, math.Sqrt(dot3(p[2*(i/2)], p[2*(i/2)])), 2.0)
				for j := range i + 1 {
					require.InDelta(t, dot3(p[i], p[j]), dot3(q[i], q[j]), 1e-12)
					k := (i + j) % len(p)
					require.InDelta(t, dot3(cross3(p[i], p[j]), p[k]), dot3(cross3(q[i], q[j]), q[k]), 1e-11)
				}
			}
		}
	}
	require.Greater(t, len(sizes), 20)
	w := up.Work(7)
	require.Equal(t, []int{7, 60, 40}, []int{w.Batch, w.Context, w.Targets})
	few, err := ChargeSource[float32]{Kind: "charges", MinContext: 1, MaxContext: 2, Targets: 3}.Batch(2, 1, 1)
	require.NoError(t, err)
	require.Len(t, few.Y, 2*3*3)
	for want, s := range map[string]ChargeSource[float32]{
		`task: fields of "magnets", need one of charges, turned-charges`:   {Kind: "magnets"},
		"task: 3 to 2 context points, need 0 <= least <= most <= 1048576":  {Kind: "charges", MinContext: 3, MaxContext: 2},
		"task: -1 to 2 context points, need 0 <= least <= most <= 1048576": {Kind: "charges", MinContext: -1, MaxContext: 2},
		"task: -1 targets, need 1 to 1048576, or 0 for 40":                 {Kind: "charges", Targets: -1},
	} {
		_, err := s.Batch(1, 1, 1)
		require.EqualError(t, err, want)
	}
}

func dot3(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross3(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}
