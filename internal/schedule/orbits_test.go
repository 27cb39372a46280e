package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawTurns returns the rows of a square of pixels. A row takes the pixels near its own, with the poses that its copies under quarter turns
// have for the copies of these; the pixel in the middle, if there is one, has only itself as a copy. twice gives some poses to two fours.
func drawTurns(rng *rand.Rand, size int, twice bool) *Rows {
	n := size * size
	turn := func(i int) int { return i%size*size + size - 1 - i/size }
	r := &Rows{Offsets: []int{0}, Class: make([]int32, n)}
	index, pose := make([][]int32, n), make([][]int32, n)
	done := make([]bool, n)
	for i := range n {
		if done[i] {
			continue
		}
		c := int32(len(r.Lead))
		r.Lead = append(r.Lead, int32(i))
		copies := 4
		if turn(i) == i {
			copies = 1
		}
		for j := range n {
			if dy, dx := i/size-j/size, i%size-j%size; dy*dy+dx*dx > 8 {
				continue
			}
			q := int32(r.Poses)
			r.Poses++
			if twice && q > 100 && rng.IntN(20) == 0 {
				q -= 100
			}
			for k, a, b := 0, i, j; k < copies; k, a, b = k+1, turn(a), turn(b) {
				done[a], r.Class[a] = true, c
				index[a], pose[a] = append(index[a], int32(b)), append(pose[a], q)
			}
		}
	}
	for i := range n {
		for _, k := range rng.Perm(len(index[i])) { // rows of a class need not list their pairs alike
			r.Index, r.Pose = append(r.Index, index[i][k]), append(r.Pose, pose[i][k])
		}
		r.Offsets = append(r.Offsets, len(r.Index))
	}
	return r
}

// TestOrbits: rows keep their pairs, the groups of a tile have its fours and their pairs with poses by use, and most
// steps serve several fours.
func TestOrbits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for _, size := range []int{2, 5, 12, 17} {
		for _, poses := range []int{20, 300, 1 << 20} {
			for _, twice := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%d/%v", size, poses, twice), func(t *testing.T) {
					r := drawTurns(rng, size, twice)
					require.True(t, r.Quarters())
					x := make([]float64, 0, 2*r.Len())
					for i := range r.Len() {
						x = append(x, float64(i/size), float64(i%size))
					}
					order := r.Order(x)
					opt := Options{Poses: poses, Orbits: true, Number: Inverse(order)}
					s := r.Tile(order, opt)
					checkTiles(t, r, opt, s)
					steps, uses := 0, 0
					for _, tile := range s.Tiles {
						a, b := checkOrbits(t, s, &tile)
						steps, uses = steps+a, uses+b
					}
					require.Positive(t, steps)
					if size > 10 && poses > 20 {
						require.Greater(t, uses, 2*steps)
					}
				})
			}
		}
	}
	require.False(t, drawRows(rng, 40, 40, 50, false).Quarters())
	list := drawTurns(rng, 12, false)
	for k := range list.Pose {
		list.Pose[k] %= 40 // most poses have many uses
	}
	s := list.Tile(list.Order(make([]float64, 2*144)), Options{Poses: 1 << 20, Orbits: true})
	require.Nil(t, s.Tiles[0].Orbits)
}

// checkOrbits compares the groups of a tile with its rows, and returns how many steps they have, and how many poses these use.
func checkOrbits(t *testing.T, s *Tiles, tile *Tile) (steps, uses int) {
	t.Helper()
	offsets, index, pose, _ := s.Of(tile)
	code, seen := tile.Orbits, map[int32]bool{}
	for len(code) > 0 {
		n, rows := int(code[0]), code[OrbitHead:][:OrbitCopies*code[1]]
		code = code[OrbitHead+len(rows):]
		next := make([]int, len(rows)) // pairs of each row so far
		for _, row := range rows {
			require.False(t, seen[row])
			seen[row] = true
		}
		for ; n > 0; n, code = n-1, code[OrbitStep:] {
			require.NotZero(t, code[0])
			require.Zero(t, code[0]>>(len(rows)/OrbitCopies))
			for k, row := range rows {
				if code[0]>>(k/OrbitCopies)&1 == 0 {
					continue
				}
				at := offsets[row] - offsets[0] + next[k]
				require.Equal(t, [2]int32{code[1+k%OrbitCopies], int32(uses)}, [2]int32{index[at], pose[at]})
				if next[k]++; k%OrbitCopies == OrbitCopies-1 {
					uses++
				}
			}
			steps++
		}
		for k, row := range rows {
			require.Equal(t, offsets[row+1]-offsets[row], next[k])
		}
	}
	return steps, uses
}
