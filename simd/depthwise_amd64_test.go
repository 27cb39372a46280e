//go:build !purego

package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDepthwiseTall wants the same bits from groups of every size, whichever of them this CPU would choose, with runs of rows that go on
// from one chunk to the next.
func TestDepthwiseTall(t *testing.T) {
	chosen, reach := depthwiseTall, depthwiseReach
	t.Cleanup(func() { depthwiseTall, depthwiseReach = chosen, reach })
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(44)
		for _, c := range []int{1, 16, 31, 32, 33, 63, 64, 65, 100, 128, 191, 300, 1000} {
			const points, poses = 9, 300
			offsets, index, pose := longRuns(rng, points, poses)
			rows := len(offsets) - 1
			f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c))
			w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, poses*c))
			ix, ps := testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose)
			for _, mean := range []bool{false, true} {
				want := rowByRow(f, w, offsets, ix, ps, c, mean)
				for _, depthwiseReach = range []int32{-1, points} { // no pairs are near, or all
					checked := NewDepthwiseRows(offsets, ix, ps, nil, points, poses)
					require.Equal(t, depthwiseReach > 0 && rows >= 64, checked.near)
					sorted := rowByRow(f, w, offsets, checked.index, checked.pose, c, mean)
					for _, depthwiseTall = range []bool{false, true} {
						name := fmt.Sprintf("c=%d tall=%v near=%v", c, depthwiseTall, checked.near)
						out := testkit.AtEnd[float32](t, rows*c)
						DepthwiseF32(out, f, w, offsets, ix, ps, c, mean)
						require.True(t, testkit.SameBits(out, want), name)
						clear(out)
						DepthwiseRowsF32(out, f, w, checked, c, mean)
						require.True(t, testkit.SameBits(out, sorted), "%s, checked", name)
					}
				}
			}
		}
	})
}

// rowByRow is DepthwiseF32 of every row by itself.
func rowByRow(f, w []float32, offsets []int, index, pose []int32, c int, mean bool) []float32 {
	out := make([]float32, (len(offsets)-1)*c)
	for i := range len(offsets) - 1 {
		a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		DepthwiseF32(out[i*c:i*c+c], f, w, offsets[i:i+2], index[a:b], pose[a:b], c, mean)
	}
	return out
}

// longRuns lists rows in runs of up to 40 with the same poses: of few pairs, of many, and of none.
func longRuns(rng *rand.Rand, points, poses int) (offsets []int, index, pose []int32) {
	offsets = []int{3}
	for _, n := range []int{1, 0, 7, 290, 16, 0, 100} {
		list := make([]int32, n)
		for k := range list {
			list[k] = int32(rng.IntN(poses))
		}
		for range 1 + rng.IntN(40) {
			for _, p := range list {
				index, pose = append(index, int32(rng.IntN(points))), append(pose, p)
			}
			offsets = append(offsets, offsets[len(offsets)-1]+n)
		}
	}
	return offsets, index, pose
}

// TestDepthwiseSlices wants the same bits from slices of the channels, of any width, as from rows by themselves, which are too few to be
// sliced; whatever the poses are, with indices that were checked before and without, and no allocation.
func TestDepthwiseSlices(t *testing.T) {
	row, repeats, long, reach := depthwiseSliceRow, depthwiseSliceRepeats, depthwiseLongRow, depthwiseReach
	placeWhole, part, pairs, most := placeLong, placePart, placePairs, maxPlace
	t.Cleanup(func() {
		depthwiseSliceRow, depthwiseSliceRepeats, depthwiseLongRow, depthwiseReach = row, repeats, long, reach
		placeLong, placePart, placePairs, maxPlace = placeWhole, part, pairs, most
	})
	depthwiseSliceRow, depthwiseSliceRepeats, depthwiseLongRow = 0, 3, 1
	points := cpu.DataCaches().L1/100 + 1
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(45)
		for k, c := range []int{25, 31, 32, 49, 63, 64, 65, 128, 128, 191, 200, 300} {
			depthwiseReach = int32(k % 2 * points) // no pairs are near each other, or all; for 128 channels either
			maxPlace = lastPlace * (1 - k%4/2)     // at AVX-512; for 65 channels and more, slices of two vectors, too
			placeLong, placePart, placePairs = placeWhole, part, pairs
			if k/2%2 > 0 { // some pairs of all rows at a time, and some rows; for 128 channels either
				placeLong, placePart, placePairs = 50, 16, 2000
			}
			for name, draw := range map[string]func() ([]int, []int32, []int32){
				"runs":  func() ([]int, []int32, []int32) { return longRuns(rng, points, 90) },
				"mixed": func() ([]int, []int32, []int32) { return samePoses(rng, 150, points, 90) },
			} {
				offsets, index, pose := draw()
				for len(index) < 3*(points+90) { // as many again
					o, i, p := draw()
					for k, end := 1, offsets[len(offsets)-1]; k < len(o); k++ {
						offsets = append(offsets, end+o[k]-o[0])
					}
					index, pose = append(index, i...), append(pose, p...)
				}
				rows := len(offsets) - 1
				f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c))
				w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, 90*c))
				ix, ps := testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose)
				if level != Generic && c > 3*depthwiseLanes() && points*c*4 > cpu.DataCaches().L1 {
					require.True(t, depthwiseSlices(points, 90, rows, len(ix), c, k%2 > 0, false), "%d pairs in %d rows", len(ix), rows)
				}
				checked := NewDepthwiseRows(offsets, ix, ps, nil, points, 90)
				for _, mean := range []bool{false, true} {
					want := rowByRow(f, w, offsets, ix, ps, c, mean)
					sorted := rowByRow(f, w, offsets, checked.index, checked.pose, c, mean)
					out := testkit.AtEnd[float32](t, rows*c)
					for i := range out {
						out[i] = float32(math.NaN())
					}
					DepthwiseF32(out, f, w, offsets, ix, ps, c, mean)
					require.True(t, testkit.SameBits(out, want), "%s c=%d", name, c)
					clear(out)
					DepthwiseRowsF32(out, f, w, checked, c, mean)
					require.True(t, testkit.SameBits(out, sorted), "%s c=%d, checked", name, c)
					if !race.Enabled {
						require.Zero(t, testing.AllocsPerRun(10, func() { DepthwiseF32(out, f, w, offsets, ix, ps, c, mean) }))
						require.Zero(t, testing.AllocsPerRun(10, func() { DepthwiseRowsF32(out, f, w, checked, c, mean) }))
					}
				}
				for _, bad := range []int32{-1, int32(points)} {
					evil := slices.Clone(ix)
					evil[rng.IntN(len(evil))] = bad
					require.Panics(t, func() { DepthwiseF32(make([]float32, rows*c), f, w, offsets, evil, ps, c, false) })
				}
			}
		}
	})
}

// TestDepthwiseListsAtOnce: calls that find no lists yet, at the same time, and calls with other channels after them compute the same bits.
func TestDepthwiseListsAtOnce(t *testing.T) {
	row, repeats := depthwiseSliceRow, depthwiseSliceRepeats
	t.Cleanup(func() { depthwiseSliceRow, depthwiseSliceRepeats = row, repeats })
	depthwiseSliceRow, depthwiseSliceRepeats = 0, 1
	const points, poses = 700, 40
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(46)
		offsets, index, pose := longRuns(rng, points, poses)
		for _, c := range []int{64, 100} {
			f, w := testkit.Normal[float32](rng, points*c), testkit.Normal[float32](rng, poses*c)
			checked := NewDepthwiseRows(offsets, index, pose, nil, points, poses)
			outs := make([][]float32, 4)
			var group sync.WaitGroup
			for i := range outs {
				outs[i] = make([]float32, (len(offsets)-1)*c)
				group.Go(func() { DepthwiseRowsF32(outs[i], f, w, checked, c, false) })
			}
			group.Wait()
			if level == AVX2 || level == AVX512 {
				require.NotNil(t, checked.lists.Load())
			}
			for _, wide := range []int{c, c + 32} {
				f, w := testkit.Normal[float32](rng, points*wide), testkit.Normal[float32](rng, poses*wide)
				out := make([]float32, (len(offsets)-1)*wide)
				DepthwiseRowsF32(out, f, w, checked, wide, true)
				require.True(t, testkit.SameBits(out, rowByRow(f, w, offsets, checked.index, checked.pose, wide, true)))
			}
			want := rowByRow(f, w, offsets, checked.index, checked.pose, c, false)
			for _, out := range outs {
				require.True(t, testkit.SameBits(out, want))
			}
		}
	})
}

// TestDepthwiseListsOfLevels: a neighbourhood whose lists were made for one level is summed at another one.
func TestDepthwiseListsOfLevels(t *testing.T) {
	row, repeats, old := depthwiseSliceRow, depthwiseSliceRepeats, level
	t.Cleanup(func() {
		depthwiseSliceRow, depthwiseSliceRepeats = row, repeats
		require.NoError(t, SetLevel(old))
	})
	depthwiseSliceRow, depthwiseSliceRepeats = 0, 1
	const points, poses, c = 700, 40, 128
	rng := testkit.Rand(48)
	offsets, index, pose := longRuns(rng, points, poses)
	f, w, out := testkit.Normal[float32](rng, points*c), testkit.Normal[float32](rng, poses*c), make([]float32, (len(offsets)-1)*c)
	checked := NewDepthwiseRows(offsets, index, pose, nil, points, poses)
	for range 2 {
		for _, l := range Levels() {
			require.NoError(t, SetLevel(l))
			DepthwiseRowsF32(out, f, w, checked, c, false)
			require.True(t, testkit.SameBits(out, rowByRow(f, w, offsets, checked.index, checked.pose, c, false)), l)
		}
	}
}

// TestDepthwiseGuess: rows of weights that are guessed to follow each other are those that the list names, with jumps in it and without.
func TestDepthwiseGuess(t *testing.T) {
	far, guess := depthwiseFar, depthwiseGuess
	t.Cleanup(func() { depthwiseFar, depthwiseGuess = far, guess })
	const rows, pairs, points = 40, 35, 50
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(47)
		for _, c := range []int{121, 128, 250} {
			for _, jumps := range []int{0, 40} {
				offsets, index, pose := []int{2}, []int32{}, []int32{}
				for k := range rows * pairs {
					pose, index = append(pose, int32(k)), append(index, int32(rng.IntN(points)))
					if jumps > 0 && rng.IntN(jumps) == 0 {
						pose[k] = int32(rng.IntN(rows * pairs))
					}
					if k%pairs == pairs-1 {
						offsets = append(offsets, 2+len(pose))
					}
				}
				w, f := testkit.Normal[float32](rng, cpu.DataCaches().L2/4+rows*pairs*c), testkit.Normal[float32](rng, points*c)
				w = w[:len(w)/c*c]
				half := make([]BF16, len(w))
				BF16FromF32(half, w)
				var outs [2][2][]float32
				for i := range outs {
					depthwiseFar, depthwiseGuess = 1-2*i, i > 0
					if i > 0 {
						require.Equal(t, -2, depthwiseFetch(offsets, pose))
					}
					outs[i] = [2][]float32{make([]float32, rows*c), make([]float32, rows*c)}
					DepthwiseF32(outs[i][0], f, w, offsets, index, pose, c, false)
					DepthwiseBF16F32(outs[i][1], f, half, offsets, index, pose, c, true)
				}
				require.True(t, testkit.SameBits(outs[0][0], outs[1][0]), "c=%d", c)
				require.True(t, testkit.SameBits(outs[0][1], outs[1][1]), "c=%d, bfloat16", c)
			}
		}
		depthwiseFar = -1
		require.Equal(t, -1, depthwiseFetch([]int{0, 8}, []int32{0, 1, 2, 4, 6, 7, 8, 9})) // 5 of 8 follow
	})
}
