package posetable

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

func parse(t testing.TB, name string) group.Group {
	t.Helper()
	g, err := group.Parse(name, 0)
	require.NoError(t, err)
	return g
}

// ball lists the pairs of rows whose distance is below a radius, but for every drop-th of them, if that is not 0. blocks and mask may be
// nil and are, if the points are not the queries, those of the points.
func ball(queries, points *group.Lifted, radius, tol float64, mask []bool, blocks []int, drop int) *Pairs {
	p := &Pairs{
		Group: points.Group, Queries: queries, Points: points, PointMask: mask, QueryBlocks: blocks, PointBlocks: blocks,
		Offsets: []int{0}, Radius: radius, Sampled: drop > 0, Tolerance: tol, e: group.PoseDim(points.Group),
	}
	if queries == points {
		p.QueryMask = mask
	}
	if blocks == nil {
		p.QueryBlocks, p.PointBlocks = []int{0, queries.Rows()}, []int{0, points.Rows()}
	}
	pose, n := make([]float64, p.e), 0
	for b := 1; b < len(p.QueryBlocks); b++ {
		for i := p.QueryBlocks[b-1]; i < p.QueryBlocks[b]; i++ {
			for j := p.PointBlocks[b-1]; j < p.PointBlocks[b]; j++ {
				if p.pose(pose, i, j); counts(p.QueryMask, i) && counts(p.PointMask, j) && p.Group.Distance(pose) < radius {
					if n++; drop == 0 || n%drop != 0 {
						p.Index = append(p.Index, int32(j))
					}
				}
			}
			p.Offsets = append(p.Offsets, len(p.Index))
		}
	}
	p.Pose = make([]int32, len(p.Index))
	return p
}

// again is the same pairs with no poses yet.
func (p *Pairs) again() *Pairs {
	q := *p
	q.Pose = make([]int32, len(p.Index))
	return &q
}

// requireTable compares the tables of pairs, bit for bit.
func requireTable(t *testing.T, want *Pairs, wantTable *Table, got *Pairs, table *Table, msg ...any) {
	t.Helper()
	require.True(t, slices.Equal(want.Pose, got.Pose), msg...)
	require.Equal(t, wantTable.Count, table.Count, msg...)
	require.Equal(t, len(wantTable.Poses), len(table.Poses), msg...)
	for k, v := range wantTable.Poses {
		require.Equal(t, math.Float64bits(v), math.Float64bits(table.Poses[k]), msg...)
	}
}

// requireBuilt compares what Build and each strategy that applies find with what one hash table does, and returns the names of
// those strategies.
func requireBuilt(t *testing.T, p *Pairs, msg ...any) (applied []string) {
	t.Helper()
	want, ok := hash(p, nil, 1, nil)
	require.True(t, ok, msg...)
	got := p.again()
	table, err := Build(got)
	require.NoError(t, err, msg...)
	requireTable(t, p, want, got, table, msg...)
	for _, s := range merging {
		got := p.again()
		table, ok := s.try(got, &survey{})
		if !ok {
			require.Equal(t, make([]int32, len(p.Index)), got.Pose, "given up, and not left as it was")
			continue
		}
		requireTable(t, p, want, got, table, append(msg, s.name)...)
		applied = append(applied, s.name)
	}
	return applied
}

// Every strategy needs memory; where there is not enough for any, Build says so and leaves no trace.
func TestMaxBytes(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)", "SE(2)"} {
		l := group.LiftPoints(parse(t, name), pixels(13), 1, 0)
		p := ball(l, l, math.Inf(1), 0x1p-30, nil, nil, 0)
		table, err := Build(p)
		require.NoError(t, err)
		small := Bytes(len(p.Offsets), len(p.Index), 0, len(table.Count), p.e)
		large := Bytes(len(p.Offsets), len(p.Index), len(p.Index), len(table.Count), p.e)
		for _, most := range []int64{1, small - 1, large} {
			q := p.again()
			q.MaxBytes = most
			got, err := Build(q)
			if most == large {
				require.NoError(t, err)
				requireTable(t, p, table, q, got)
				continue
			}
			require.ErrorContains(t, err, "bytes, more than the limit of")
			require.Equal(t, make([]int32, len(q.Pose)), q.Pose)
			require.Greater(t, q.need, most)
		}
		none := p.again()
		none.Tolerance, none.MaxBytes = -1, small
		_, err = Build(none)
		require.Error(t, err)
	}
}
