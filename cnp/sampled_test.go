package cnp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers"
)

// The paper's Monte-Carlo sample has 121 neighbours in the embedding and 81 in the blocks: each layer's own cap holds in
// the passes of training and in plans, also where both have one radius.
func TestNeighborsOfLayers(t *testing.T) {
	for _, caps := range [][2]int{{7, 3}, {0, 3}, {7, 0}, {7, 7}, {0, 0}} {
		c := Default(EquivCNPImage, "SO(2)", 1)
		c.Channels, c.Blocks, c.Hidden, c.Mid = []int{6}, 1, 4, 3
		c.MaxNeighbors, c.BlockNeighbors = caps[0], caps[1]
		model, err := New[float64](c, 3)
		require.NoError(t, err)
		m := model.(*ImageEquivCNP[float64])
		conv := m.blocks[0].Conv
		for _, l := range []layers.Param[float64]{m.psi.Params("")[0], conv[0].Params("")[0], conv[1].Params("")[0]} {
			require.Equal(t, "r", l.Name[len(l.Name)-1:])
			l.Data[0] = 0.3
		}
		geo := m.grid(9, 8)
		most := func(g *layers.Geometry[float64]) (k int) {
			p, err := g.Pairs(0.3)
			require.NoError(t, err)
			for i := range p.Queries {
				k = max(k, p.Offsets[i+1]-p.Offsets[i])
			}
			return k
		}
		all := most(layers.NewGeometry[float64](geo.psi.Points, nil, nil, 0, 0))
		require.Greater(t, all, 7)
		blocks := caps[1]
		if blocks == 0 {
			blocks = caps[0]
		}
		for i, g := range []*layers.Geometry[float64]{geo.psi, geo.blocks} {
			want := []int{caps[0], blocks}[i]
			if want == 0 {
				want = all
			}
			require.Equal(t, want, most(g), "%v", caps)
		}
		im := randomImages[float64](rand.New(rand.NewPCG(2, 2)), 2, 1, 9, 8)
		pass, err := m.Differentiate(t.Context(), im, layers.Eval)
		require.NoError(t, err)
		got, err := m.Complete(t.Context(), im)
		require.NoError(t, err)
		require.InDeltaSlice(t, pass.Mean, got.Mean, 1e-12)
		require.InDeltaSlice(t, pass.Std, got.Std, 1e-12)
	}
}

// Each convolution but the last has half of the points that it sees as queries, all of them points of the one before, and
// the last reads at every target.
func TestSamplingFraction(t *testing.T) {
	for _, lattice := range []float64{0, 4} {
		c := Default(EquivCNPCurve, "T(1)", 1)
		c.Placement, c.PointsPerUnit, c.SamplingFraction, c.Channels = PlacementBatch, lattice, 0.5, []int{4, 4, 4, 4}
		c.Hidden, c.Mid, c.Fill, c.NeighborSeed = 4, 3, 0.5, 5
		model, err := New[float64](c, 1)
		require.NoError(t, err)
		m := model.(*EquivCNP[float64])
		e := m.engine.(*pointsEngine[float64])
		b := randomBatch[float64](rand.New(rand.NewPCG(3, 3)), 2, 13, 5, 1, 1)
		grids, err := e.lattices(b, layers.Eval)
		require.NoError(t, err)
		var x [][]float64
		geo, err := e.layouts(e, b, 0, 2, grids, func(_ int, at []float64, _ float64) { x = append(x, at) })
		require.NoError(t, err)
		require.Len(t, geo, 4)
		per := len(x[0])
		seen := make([]bool, 2*per)
		for i := range seen {
			seen[i] = true
		}
		n := per
		for i, g := range geo[1:] {
			p, err := g.Pairs(100) // everybody sees everybody
			require.NoError(t, err)
			rows := g.Rows() / 2
			queries := make([]bool, len(seen))
			count := 0
			for row := range p.Queries {
				index, _ := p.Row(row)
				if len(index) == 0 {
					continue
				}
				task, at := row/rows, row%rows
				count++
				want := 0
				for j := range per {
					if seen[task*per+j] {
						want++
					}
				}
				require.Len(t, index, want)
				for _, j := range index {
					require.Equal(t, task, int(j)/rows)
					require.True(t, seen[task*per+int(j)%rows], "layer %d, row %d sees %d", i, row, j)
				}
				if i < 2 {
					queries[task*per+at] = true
					require.True(t, seen[task*per+at])
				} else {
					require.GreaterOrEqual(t, at, per, "a target")
				}
			}
			if i == 2 {
				require.Equal(t, 2*5, count)
				break
			}
			n = int(math.Ceil(0.5 * float64(n)))
			require.Equal(t, 2*n, count, "layer %d", i)
			seen = queries
		}

		// The same seed has the same answer; another one takes other points. One task alone has its answer in the batch.
		first, err := m.Predict(t.Context(), b)
		require.NoError(t, err)
		again, err := m.Predict(t.Context(), b)
		require.NoError(t, err)
		require.Equal(t, first.Mean, again.Mean)
		c.NeighborSeed = 6
		model, err = New[float64](c, 1)
		require.NoError(t, err)
		other, err := model.(*EquivCNP[float64]).Predict(t.Context(), b)
		require.NoError(t, err)
		require.NotEqual(t, first.Mean, other.Mean)
		if lattice == 0 {
			alone, err := m.Predict(t.Context(), &Batch[float64]{B: 1, Nc: 13, Nt: 5, XContext: b.XContext[13:], YContext: b.YContext[13:],
				XTarget: b.XTarget[5:]})
			require.NoError(t, err)
			require.Equal(t, first.Mean[5:], alone.Mean)
		}
		_, err = m.Plan(t.Context(), Interval(0, 1), PlanOptions{})
		require.ErrorIs(t, err, ErrNoPlan)
	}
	// 1 is the same as 0: the line's own way.
	c := Default(EquivCNPCurve, "T(1)", 1)
	c.SamplingFraction = 1
	model, err := New[float64](c, 1)
	require.NoError(t, err)
	require.IsType(t, &lineEngine[float64]{}, model.(*EquivCNP[float64]).engine)
}
