package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// nudged is a group whose every number is off by rounding, as another machine's may be.
type nudged struct{ Group }

func (g nudged) Lift(a, q, x []float64, k int, rng *rand.Rand) {
	g.Group.Lift(a, q, x, k, rng)
	g.nudge(a)
	g.nudge(q)
}

func (g nudged) RelativePose(pose, ai, qi, aj, qj []float64) {
	g.Group.RelativePose(pose, ai, qi, aj, qj)
	g.nudge(pose)
}

func (nudged) nudge(x []float64) {
	for i := range x {
		x[i] += 1e-15 * (1 + math.Abs(x[i]))
	}
}

// Groups have digests of their own, which rounding does not change and weights do.
func TestDigest(t *testing.T) {
	seen := map[string]string{}
	for _, g := range allGroups() {
		d := Digest(g)
		require.Len(t, d, 32)
		require.Equal(t, d, Digest(g), g.Name())
		require.Equal(t, d, Digest(nudged{g}), g.Name())
		if other := seen[d]; other != "" {
			require.Equal(t, other, g.Name())
		}
		seen[d] = g.Name()
	}
	for _, name := range Names() {
		a, err := Parse(name, 0.25)
		require.NoError(t, err)
		b, err := Parse(name, 0.35)
		require.NoError(t, err)
		require.NotEqual(t, Digest(a), Digest(b), name)
	}
}

// The digest of a group of one's own follows from its definition: basis, lift, orbit.
func TestDigestOfMatrixGroup(t *testing.T) {
	lift := func(a, q, x []float64) { a[0], q[0] = x[0]/x[1], x[1] }
	make1 := func(slope float64, lift func(a, q, x []float64)) *Matrix {
		return NewMatrix("shears", [][4]float64{{0, slope, 0, 0}}, 1, lift, 0)
	}
	d := Digest(make1(1, lift))
	require.Equal(t, d, Digest(make1(1, lift)))
	require.NotEqual(t, d, Digest(make1(2, lift)))
	require.NotEqual(t, d, Digest(make1(1, func(a, q, x []float64) { a[0], q[0] = x[0]/x[1], 2*x[1] })))
}

// Files with these digests exist: a change of them is a change of the groups.
func TestDigestsStay(t *testing.T) {
	for name, want := range map[string]string{
		"T(1)":             "347d8bf7779caadf635224e61578e78f",
		"T(2)":             "1174399355b56da61bf9b27350bb2751",
		"T(3)":             "66d4e3b6fb291fe9e886b3679ed9693d",
		"SO(2)":            "4e8309e89d5a2345f28263c96f4b0988",
		"R>0xSO(2)":        "0de572df4b958f8c87b697e57b7ec477",
		"SE(2)":            "337d5f90e2924791bf1c3db0178cda47",
		"R>0(1)":           "95b775069d275dc1eae354b43197ab36",
		"R>0(2)":           "731b58d687cf4bfa2b47ccfbcd815c9a",
		"R>0(3)":           "7cacc46dc6506173242517aef4f07e87",
		"R>0xSqueeze":      "4214a781033ebff530b78166e2ced06e",
		"SO(3)":            "a25aa0762e13063e95d7d53d306fadf4",
		"SE(3)":            "4571c5ae4f7b89943d0aa2c4ef16510f",
		"Squeeze":          "0ca0d162030becf56b8be9f4dd932214",
		"trivial(1)":       "d9f92f9686fab5d482884a029a4f9598",
		"trivial(2)":       "93a2db238d4060bb1b9d13eb87328205",
		"trivial(3)":       "b92362b7d1598a375abe9db2ef74afbd",
		"T(3) along 1":     "e1bc02320774fa85a77b2c12b427f052",
		"(T(1)) x (SO(2))": "e8557710d458a7845f1e0b23e0c56a6b",
	} {
		g, err := Parse(name, 0)
		require.NoError(t, err)
		require.Equal(t, want, Digest(g), name)
	}
}
