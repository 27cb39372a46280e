package schedule

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawRows draws rows of several classes in any order: rows of a class list the same poses, shuffled, at points of
// their own. With twice, some poses occur twice in a row.
func drawRows(rng *rand.Rand, classes, poses, points int, twice bool) *Rows {
	lists := make([][]int32, classes)
	for c := range lists {
		list := []int32{}
		for q := range poses {
			for range 1 + rng.IntN(2) {
				if rng.IntN(3) == 0 {
					list = append(list, int32(q))
					if !twice {
						break
					}
				}
			}
		}
		lists[c] = list
	}
	r := &Rows{Offsets: []int{0}, Poses: poses}
	number := map[int]int32{}
	for i := range 5 * classes {
		c := rng.IntN(classes)
		if i < classes {
			c = i // all of them
		}
		if _, ok := number[c]; !ok {
			number[c] = int32(len(r.Lead))
			r.Lead = append(r.Lead, int32(i))
		}
		r.Class = append(r.Class, number[c])
		for _, e := range rng.Perm(len(lists[c])) {
			r.Index, r.Pose = append(r.Index, int32(rng.IntN(points))), append(r.Pose, lists[c][e])
		}
		r.Offsets = append(r.Offsets, len(r.Index))
	}
	return r
}

// TestTile: in whatever order and tiles, every row keeps its pairs; rows that are said to have the same poses do; no tile is larger than it
// should be; and the number of goroutines changes nothing.
func TestTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, twice := range []bool{false, true} {
		for _, opt := range []Options{{Poses: 1}, {Poses: 20}, {Poses: 20, Orbits: true}, {Poses: 1 << 20}, {Poses: 30, Rows: 4},
			{Poses: 20, AsListed: true}} {
			t.Run(fmt.Sprintf("%+v/twice=%v", opt, twice), func(t *testing.T) {
				r := drawRows(rng, 9, 40, 50, twice)
				x := make([]float64, 2*r.Len())
				for i := range x {
					x[i] = rng.Float64()
				}
				order := r.Order(x)
				opt.Number = Inverse(order[:r.Len()])
				for len(opt.Number) < 50 {
					opt.Number = append(opt.Number, int32(len(opt.Number)))
				}
				checkTiles(t, r, opt, r.Tile(order, opt))
				old := runtime.GOMAXPROCS(1)
				one := r.Tile(order, opt)
				runtime.GOMAXPROCS(4)
				four := r.Tile(order, opt)
				runtime.GOMAXPROCS(old)
				require.Equal(t, one, four)
			})
		}
	}
}

func checkTiles(t *testing.T, r *Rows, opt Options, s *Tiles) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(s.Order))
	for i, v := range sorted {
		require.Equal(t, int32(i), v, "a permutation")
	}
	k, siblings := 0, 0
	for _, tile := range s.Tiles {
		require.Equal(t, k, tile.Lo)
		require.Less(t, tile.Lo, tile.Hi)
		before := map[int32]bool{} // poses of all classes but the last
		for ; k < tile.Hi; k++ {
			i := int(s.Order[k])
			index, pose := r.Row(i)
			var got, want [][2]int32
			for e, x := range index {
				want = append(want, [2]int32{opt.Number[x], pose[e]})
			}
			for e := s.Offsets[k]; e < s.Offsets[k+1]; e++ {
				got = append(got, [2]int32{s.Index[e], tile.Poses[s.Pose[e]]})
			}
			if opt.AsListed {
				require.Equal(t, want, got)
				require.False(t, s.Same[k])
			} else {
				require.ElementsMatch(t, want, got)
				require.True(t, slices.IsSorted(s.Pose[s.Offsets[k]:s.Offsets[k+1]]))
			}
			if s.Same[k] {
				require.Greater(t, k, tile.Lo)
				require.Equal(t, s.Pose[s.Offsets[k-1]:s.Offsets[k]], s.Pose[s.Offsets[k]:s.Offsets[k+1]])
				siblings++
			}
			if r.Class[i] != r.Class[s.Order[tile.Hi-1]] {
				for _, q := range pose {
					before[q] = true
				}
			}
		}
		require.True(t, len(before) == 0 || len(before) < 4*opt.Poses+40)
		if !opt.Orbits {
			require.LessOrEqual(t, len(tile.Poses), r.Poses)
		}
	}
	require.Equal(t, r.Len(), k)
	if opt.Poses > 20 && !opt.AsListed {
		require.Positive(t, siblings)
	}
}

// TestByFirstUse: pairs keep their poses, and new numbers grow as rows meet them.
func TestByFirstUse(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	r := drawRows(rng, 12, 60, 50, true)
	order := r.Order(make([]float64, 2*r.Len()))
	pose, old := r.ByFirstUse(order)
	met := int32(-1)
	for k, q := range pose {
		require.Equal(t, r.Pose[k], old[q])
	}
	for _, i := range order {
		for k := r.Offsets[i]; k < r.Offsets[i+1]; k++ {
			require.LessOrEqual(t, pose[k], met+1)
			met = max(met, pose[k])
		}
	}
	require.Len(t, old, int(met)+1)
}

// TestReorder: rows and points move together.
func TestReorder(t *testing.T) {
	r := &Rows{Offsets: []int{0, 2, 3, 3}, Index: []int32{0, 1, 2}, Pose: []int32{5, 6, 7}}
	got := r.Reorder([]int32{2, 0, 1}, nil)
	require.Equal(t, &Rows{Offsets: []int{0, 0, 2, 3}, Index: []int32{1, 2, 0}, Pose: []int32{5, 6, 7}}, got)
}

// requireTogether: the lists of a group have the same rows, and are all the first of their poses, or none.
func requireTogether(t *testing.T, b *ByPose, list, n, end int) {
	require.LessOrEqual(t, list+n, end)
	for k := range n {
		l := list + k
		require.Equal(t, b.Row[b.Offsets[list]:b.Offsets[list+1]], b.Row[b.Offsets[l]:b.Offsets[l+1]])
		require.Equal(t, List{b.Lists[l].Pose, b.Lists[list].First, k == 0}, b.Lists[l])
	}
}

// TestByPose: every pair once, in lists of one pose that are ordered by row, and the first list of a pose marked; with few poses for many
// rows, in segments.
func TestByPose(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	few := &Rows{Offsets: []int{0}, Poses: 4}
	for range 3*segmentRows + 10 {
		for q := range int32(3) { // nobody has the last pose
			few.Index, few.Pose = append(few.Index, rng.Int32N(100)), append(few.Pose, q)
			few.Index, few.Pose = append(few.Index, rng.Int32N(100)), append(few.Pose, q)
		}
		few.Offsets = append(few.Offsets, len(few.Index))
	}
	many := drawRows(rng, 12, 60, 50, true)
	for name, r := range map[string]*Rows{"few": few, "many": many, "none": {Offsets: []int{0}}} {
		for _, limit := range [][3]int{{1, 1}, {200, 7}, {1 << 20, 1 << 20}, {1, 1, 2}, {1 << 20, 1 << 20, 2}, {1 << 20, 1 << 20, 3}} {
			b := r.ByPose(limit[0], limit[1], limit[2])
			groups := 0
			require.Equal(t, name == "few", len(b.Lists) > r.Poses, "segments")
			seen, first := map[[3]int32]int{}, make([]bool, r.Poses)
			pose, list := 0, 0
			for _, part := range b.Parts {
				require.Equal(t, [2]int{pose, list}, [2]int{part.Lo, part.From})
				require.LessOrEqual(t, part.Hi-part.Lo, limit[1])
				last := make([]int32, r.Poses)
				for ; list < part.To; list++ {
					q := b.Lists[list].Pose
					if b.Lists[list].Together {
						groups++
						requireTogether(t, b, list, limit[2], part.To)
					}
					require.True(t, int(q) >= part.Lo && int(q) < part.Hi)
					require.NotEqual(t, b.Lists[list].First, first[q])
					first[q] = true
					for k := b.Offsets[list]; k < b.Offsets[list+1]; k++ {
						require.LessOrEqual(t, last[q], b.Row[k])
						last[q] = b.Row[k]
						seen[[3]int32{q, b.Row[k], b.Point[k]}]++
					}
				}
				pose = part.Hi
			}
			require.Equal(t, [2]int{r.Poses, len(b.Lists)}, [2]int{pose, list})
			require.Equal(t, name == "few" && limit[1] > 1 && limit[2] > 1, groups > 0, "groups")
			require.NotContains(t, first, false)
			for i := range r.Len() {
				index, poses := r.Row(i)
				for k, x := range index {
					seen[[3]int32{poses[k], int32(i), x}]--
				}
			}
			for pair, n := range seen {
				require.Zero(t, n, "%v", pair)
			}
		}
	}
}
