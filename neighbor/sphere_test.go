package neighbor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSphereLattice: points have length 1 and are nearly even: no two are nearer than three quarters of a step, and no
// place is farther than a step from all of them.
func TestSphereLattice(t *testing.T) {
	require.Empty(t, SphereLattice(0))
	require.Empty(t, SphereLattice(-1))
	for _, n := range []int{1, 2, 12, 100, 1810, 20000} {
		x := SphereLattice(n)
		require.Len(t, x, 3*n)
		for i := 0; i < len(x); i += 3 {
			require.InDelta(t, 1, x[i]*x[i]+x[i+1]*x[i+1]+x[i+2]*x[i+2], 1e-14)
		}
		if n < 12 {
			continue
		}
		tree, err := NewTree(x, 3, nil)
		require.NoError(t, err)
		for i := 0; i < len(x); i += 3 {
			_, d2 := tree.KNearest(x[i:i+3], 2)
			require.Greater(t, Angle(d2[1]), 0.75*SphereStep(n), "%d points, point %d", n, i/3)
		}
		places := SphereLattice(3*n + 7)
		for i := 0; i < len(places); i += 3 {
			_, d2 := tree.KNearest(places[i:i+3], 1)
			require.Less(t, Angle(d2[0]), SphereStep(n), "%d points, place %d", n, i/3)
		}
	}
}

// TestChord2: chords grow with angles, and Angle is their inverse.
func TestChord2(t *testing.T) {
	last := -1.0
	for i := range 1000 {
		angle := float64(i) * math.Pi / 1000
		c := Chord2(angle)
		require.Greater(t, c, last)
		require.InDelta(t, angle, Angle(c), 1e-12)
		last = c
	}
	require.Equal(t, 5.0, Chord2(math.Pi))
	require.Equal(t, 5.0, Chord2(math.NaN()))
	require.Equal(t, math.Pi, Angle(4.1))
}
