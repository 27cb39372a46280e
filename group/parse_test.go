package group

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in    string
		alpha float64
		name  string
		want  float64
	}{
		{"T(2)", 0, "T(2)", 0.2}, {"t2", 0.5, "T(2)", 0.5}, {" T ( 1 ) ", 0, "T(1)", 0.2}, {"T(64)", 0, "T(64)", 0.2},
		{"SO2", 0, "SO(2)", 0.3}, {"so(2)", 0.2, "SO(2)", 0.2}, {"SO_2", 0, "SO(2)", 0.3},
		{"RxSO2", 0, "R>0xSO(2)", 0.3}, {"R>0xSO(2)", 0, "R>0xSO(2)", 0.3}, {"R>0 x SO(2)", 0, "R>0xSO(2)", 0.3},
		{"R>0×SO(2)", 0.2, "R>0xSO(2)", 0.2}, {"r+ * so2", 0, "R>0xSO(2)", 0.3}, {"rxso(2)", 0, "R>0xSO(2)", 0.3},
		{"SE2", 0, "SE(2)", 0.2}, {"Sim2", 0, "Sim(2)", 0.2}, {"sim(2) at 3 scales", 0.3, "Sim(2) at 3 scales", 0.3},
		{"Sim(2) at 1 scale", 0, "Sim(2)", 0.2}, {"se(2)", 0.9, "SE(2)", 0.9},
		{"trivial(2)", 0, "trivial(2)", 0.2}, {"Trivial 3", 0, "trivial(3)", 0.2},
		{"Rx2", 0, "R>0(2)", 0.2}, {"R>0(2)", 0.3, "R>0(2)", 0.3}, {"R>0 (1)", 0, "R>0(1)", 0.2}, {"Rx", 0, "R>0(2)", 0.2},
		{"RxSQ", 0, "R>0xSqueeze", 0.2}, {"R>0 x squeeze", 0, "R>0xSqueeze", 0.2},
		{"SO3", 0, "SO(3)", 0.2}, {"se(3)", 0, "SE(3)", 0.2},
		{"squeeze", 0, "Squeeze", 0.2}, {"Sq", 0.4, "Squeeze", 0.4}, {"T(2) along 1", 0, "T(2) along 1", 0.2},
		{"t3along0", 0.5, "T(3) along 0", 0.5},
		{"(T1) x (so2)", 0, "(T(1), alpha 0.2) x (SO(2), alpha 0.3)", 0.5},
		{"(T1)×(so2)", 0, "(T(1), alpha 0.2) x (SO(2), alpha 0.3)", 0.5},
		{" ( SE(2), alpha 0.9 ) * (T(1) , ALPHA .5)", 0.1, "(SE(2), alpha 0.9) x (T(1), alpha 0.5)", 0.1},
	} {
		g, err := Parse(c.in, c.alpha)
		require.NoError(t, err, c.in)
		require.Equal(t, c.name, g.Name(), c.in)
		require.Equal(t, c.want, g.Alpha(), c.in)
	}
	for _, c := range []struct{ in, says string }{
		{"", "the choices are T(n), SO(2)"}, {"SO(4)", "trivial(n)"}, {"T", "choices"}, {"T(0)", "need 1 to 64"},
		{"T(65)", "need 1 to 64"}, {"T(-2)", "choices"}, {"trivial(99999999999999999999999)", "need 1 to 64"}, {"T(2.5)", "choices"},
		{strings.Repeat("é", 1000), "…"}, {"R>0", "choices"}, {"\x00", "choices"},
		{"T(2) along 2", "n-1"}, {"T(1) along 0", "n from 2"}, {"T(2) along 99999999999999999999", "n-1"}, {"T(2) along", "choices"},
		{"(T(2)) x (E(8))", "unknown group"}, {"(T(2), alpha 2) x (T(1))", "alpha"}, {"(T(2), alpha nan) x (T(1))", "alpha"},
		{"(T(2)) x SO(2)", "choices"}, {"(T(2)) x (SO(2)", "choices"}, {"(T(2))(SO(2))", "choices"}, {"() x ()", "choices"},
		{"(T(40)) x (T(40))", "at most 64"}, {strings.Repeat("(", 499) + ")", "choices"}, {strings.Repeat("(", 100000), "choices"},
	} {
		g, err := Parse(c.in, 0)
		require.Nil(t, g, c.in)
		require.ErrorContains(t, err, c.says, c.in)
		require.Less(t, len(err.Error()), 300)
	}
	for _, alpha := range []float64{-0.1, 1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Parse("T(2)", alpha)
		require.ErrorContains(t, err, "alpha", "%v", alpha)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range Names() {
		g, err := Parse(name, 0)
		require.NoError(t, err)
		require.Equal(t, name, g.Name())
		require.False(t, seen[name])
		seen[name] = true
		if name != "Squeeze" && name != "Sim(2)" { // newer than the checkpoints that do not say their group
			require.Contains(t, Candidates(PoseDim(g), g.PointDim()), name)
		}
	}
	require.Len(t, seen, 17)
}

// Parse knows the name of every group of this package but the user's own.
func TestParseKnowsEveryName(t *testing.T) {
	groups := allGroups()
	for _, g := range allGroups() {
		groups = append(groups, NewProduct(g, NewSE2(0.25), 0), NewProduct(NewProduct(NewSO2(0), NewAxis(2, 1, 0), 0.7), g, 0))
	}
	for _, g := range groups {
		h, err := Parse(g.Name(), g.Alpha())
		require.NoError(t, err)
		require.Equal(t, g, h)
	}
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		pose, point int
		want        []string
	}{
		{2, 2, []string{"T(2)", "R>0xSO(2)", "R>0xSqueeze"}},
		{3, 2, []string{"SO(2)", "SE(2)", "R>0(2)"}},
		{4, 2, []string{"trivial(2)"}},
		{1, 1, []string{"T(1)"}},
		{2, 1, []string{"trivial(1)"}},
		{3, 1, []string{"R>0(1)"}},
		{3, 3, []string{"T(3)"}},
		{5, 3, []string{"SO(3)"}},
		{6, 3, []string{"SE(3)", "trivial(3)"}},
		{7, 3, []string{"R>0(3)"}},
		{5, 2, nil}, {2, 0, nil}, {2, 65, nil}, {0, 1, nil},
	} {
		require.Equal(t, c.want, Candidates(c.pose, c.point), "pose %d, point %d", c.pose, c.point)
	}
}
