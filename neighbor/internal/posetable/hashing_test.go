package posetable

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// pixels are the positions of n × n pixels.
func pixels(n int) []float64 { return testkit.Grid(-6, 6, n) }

// Poses in many tables are numbered as in one.
func TestShardsDoNotShow(t *testing.T) {
	for _, name := range []string{"T(2)", "SE(2)", "SO(2)", "R>0xSO(2)"} {
		l := group.LiftPoints(parse(t, name), pixels(13), 1, 0)
		p := ball(l, l, math.Inf(1), 0x1p-30, nil, nil, 0)
		require.Greater(t, len(p.Index), smallPairs)
		one, ok := hash(p, nil, 1, nil)
		require.True(t, ok)
		for _, shards := range []int{minShards, maxShards} {
			many := p.again()
			table, ok := hash(many, nil, shards, nil)
			require.True(t, ok)
			requireTable(t, p, one, many, table, name, shards)
		}
	}
}

// A pose on the border of two narrow regions makes regions wide, one on the border of two wide ones makes one table take all; and
// neither changes anything.
func TestPoseOnARegionsBorder(t *testing.T) {
	const n, tol = 150, 0x1p-20
	inv := newCellTable(1, 1, tol, nil).inv
	for _, edge := range []int{narrowRegion, wideRegion} {
		border := (1<<narrowRegion - regionOrigin) / inv
		x := []float64{0, border, border * (1 + 1e-9)}
		if edge == wideRegion {
			x = append(x, border*(1<<(wideRegion-narrowRegion)))
		}
		for i := range n {
			x = append(x, 3*border*float64(i))
		}
		l := group.LiftPoints(parse(t, "T(1)"), x, 1, 0)
		p := ball(l, l, math.Inf(1), tol, nil, nil, 0)
		require.Greater(t, len(p.Index), smallPairs)
		h := newHashing(p.again(), minShards, nil)
		require.Equal(t, edge == narrowRegion, h.enterAll())
		require.EqualValues(t, wideRegion, h.region)
		require.Contains(t, requireBuilt(t, p), "hashing")
	}
}
