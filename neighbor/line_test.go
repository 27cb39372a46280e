package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// TestLine: the rows of a line are those of Ball, whoever sees whom, also at distances that equal the radius and among equal points.
func TestLine(t *testing.T) {
	const alpha = 0.2
	rng := rand.New(rand.NewPCG(71, 1))
	points := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			if x[i] = float64(rng.IntN(64)) / 16; i%3 == 0 {
				x[i] = 4 * rng.Float64()
			}
		}
		slices.Sort(x)
		return x
	}
	for _, n := range [][2]int{{40, 30}, {1, 1}, {0, 12}, {25, 0}, {0, 0}} {
		even := make([]float64, n[0])
		for i := range even {
			even[i] = float64(i) / 7
		}
		for name, lattice := range map[string][]float64{"even": even, "any": points(n[0])} {
			for _, r := range []float64{-1, 0, 1e-300, alpha / 4, alpha * 3 / 7, alpha * 0.75, 3, math.Inf(1)} {
				own := points(n[1])
				line := NewLine(lattice, alpha, r)
				for _, see := range []LineSight{{true, true}, {true, false}, {false, false}, {false, true}} {
					t.Run(fmt.Sprintf("n=%v/%s/r=%g/%v", n, name, r, see), func(t *testing.T) {
						all := append(slices.Clone(lattice), own...)
						x := group.LiftPoints(group.NewT(1, alpha), all, 1, 0)
						opt := Options{Radius: r, QueryMask: make([]bool, len(all)), PointMask: make([]bool, len(all))}
						for i := range all {
							opt.QueryMask[i], opt.PointMask[i] = i >= n[0] || see.Lattice, i < n[0] || see.Own
						}
						want, err := Ball(x, x, opt)
						require.NoError(t, err)

						rows, pairs, poses := line.Rows(nil, own, see)
						require.Len(t, rows, len(all))
						require.Equal(t, want.Pairs(), pairs)
						next := int32(0)
						for i, row := range rows {
							var index []int32
							for side, first := range [2]int{0, n[0]} {
								run := row[side]
								for k := range run.N {
									j := int32(first) + run.Point + k
									index = append(index, j)
									if side == 0 && i < n[0] && name == "even" {
										require.InDelta(t, all[i]-all[j], line.Poses[run.Pose+k], 1e-14)
									}
								}
								if side == 1 || i >= n[0] {
									require.Equal(t, next, run.Pose)
									next += run.N
								}
							}
							got, _ := want.Row(i)
							require.Equal(t, append([]int32{}, got...), append([]int32{}, index...))
						}
						require.Equal(t, poses, int(next))
					})
				}
			}
		}
	}
}

// TestNumberedLine: wherever its parts lie, a numbered lattice has one neighbourhood, that of Ball, and poses that are equal bit by bit.
func TestNumberedLine(t *testing.T) {
	const alpha, density = 0.2, 7.0
	_, err := NewNumberedLine(density, alpha, math.NaN())
	require.ErrorIs(t, err, ErrValue)
	_, err = NewNumberedLine(density, alpha, math.Inf(1))
	require.ErrorIs(t, err, ErrTooManyPairs)
	var line Line
	for _, r := range []float64{-1, 0, 1e-300, 2.5 / density * alpha, 3.5 / density * alpha, 5} {
		all, err := NewNumberedLine(density, alpha, r)
		require.NoError(t, err)
		if r > 1e-9 && r < 1 {
			require.Equal(t, int(math.Round(r*density/alpha-0.5)), all.Reach)
		}
		require.Zero(t, all.Pairs)
		spans := [][2]int{{-9, 4}, {1000, 1001}, {123456, 123480}}
		line.Lay(all, spans...)
		require.Equal(t, all.Poses, line.Poses)
		require.Len(t, line.Points(), 13+1+24)
		own := []float64{-1.2, 0, 1000 / density, 123461.5 / density}
		rows, pairs, _ := line.Rows(nil, own, LineSight{Lattice: true})
		at, sum := 0, 0
		for _, s := range spans {
			for k := s[0]; k < s[1]; k++ {
				var index []int32
				for j := range line.Points() {
					if y := line.Points()[j]; j >= at && j < at+s[1]-s[0] && alpha*math.Abs(float64(k)/density-y) < r {
						index = append(index, int32(j))
					}
				}
				run := rows[at+k-s[0]][0]
				require.EqualValues(t, len(index), run.N)
				sum += len(index)
				for n, j := range index {
					require.Equal(t, j, run.Point+int32(n))
					require.InDelta(t, float64(k)/density-line.Points()[j], all.Poses[run.Pose+int32(n)], 1e-9)
				}
			}
			at += s[1] - s[0]
		}
		require.Equal(t, line.Pairs, sum)
		for i, x := range own {
			run := rows[at+i][0]
			for j, y := range line.Points() {
				require.Equal(t, alpha*math.Abs(x-y) < r, j >= int(run.Point) && j < int(run.Point+run.N))
			}
			sum += int(run.N)
		}
		require.Equal(t, pairs, sum)
	}
}

// TestLineRefuses: what is no lattice is refused, instead of giving wrong neighbours.
func TestLineRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range [][]float64{{2, 1}, {0, 1, 3, 2}, {nan}, {0, nan}, {nan, 0}} {
		at := descent(x)
		require.PanicsWithValue(t, fmt.Sprintf("neighbor: NewLine: points do not ascend at %d: %v", at, x[max(0, at-1):at+1]),
			func() { NewLine(x, 0.2, 1) })
		line := NewLine([]float64{0, 1, 2}, 0.2, 1)
		require.Panics(t, func() { line.Rows(nil, x, LineSight{Lattice: true}) })
	}
	for _, bad := range []float64{0, -1, nan, inf} {
		_, err := NewNumberedLine(bad, 0.2, 1)
		require.ErrorIs(t, err, ErrOption, "density %g", bad)
		_, err = NewNumberedLine(4, bad, 1)
		require.ErrorIs(t, err, ErrOption, "alpha %g", bad)
	}
}

// TestLayRefuses: a lattice without numbers and spans that do not ascend are refused.
func TestLayRefuses(t *testing.T) {
	all, err := NewNumberedLine(4, 0.2, 1)
	require.NoError(t, err)
	require.PanicsWithValue(t, "neighbor: Line.Lay: the points of all have no numbers, need a Line of NewNumberedLine",
		func() { new(Line).Lay(NewLine([]float64{0, 1}, 0.2, 1), [2]int{0, 4}) })
	require.PanicsWithValue(t, "neighbor: Line.Lay: spans do not ascend at 1: [[0 4] [3 8]]",
		func() { new(Line).Lay(all, [2]int{0, 4}, [2]int{3, 8}) })
	require.Panics(t, func() { new(Line).Lay(all, [2]int{4, 0}) })
	require.NotPanics(t, func() { new(Line).Lay(all, [2]int{0, 4}, [2]int{4, 4}, [2]int{4, 8}) })
}

// descent is the first place at which x does not ascend.
func descent(x []float64) int {
	for i, v := range x {
		if v != v || i > 0 && !(x[i-1] <= v) {
			return i
		}
	}
	return -1
}
