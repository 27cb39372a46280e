package depthwise

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// orbitHood is groups of so many fours each, and so many rows in none before, between and after them.
type orbitHood struct {
	testkit.Hood
	code []int32
	same []bool
}

func newOrbitHood(fours []int, alone int) *orbitHood {
	rng := testkit.Rand(91)
	h := &orbitHood{Hood: testkit.Hood{Name: fmt.Sprint(fours, alone), Offsets: []int{3}, Points: 23}}
	add := func(index, pose []int32, same bool) {
		h.Index, h.Pose = append(h.Index, index...), append(h.Pose, pose...)
		h.Offsets, h.same = append(h.Offsets, 3+len(h.Index)), append(h.same, same)
	}
	single := func() {
		for range alone {
			var index, pose []int32
			for range rng.IntN(4) {
				index, pose = append(index, int32(rng.IntN(h.Points))), append(pose, int32(rng.IntN(7)))
			}
			add(index, pose, false)
		}
	}
	for _, n := range fours {
		single()
		steps := 1 + rng.IntN(100) // AVX2 takes them by blocks
		index, pose := make([][4][]int32, n), make([][]int32, n)
		var masks []int32
		for s := range steps {
			mask := int32(1 + rng.IntN(1<<n-1))
			if s == 0 {
				mask = 1<<n - 1 // no row is without pairs
			}
			masks = append(masks, mask)
		}
		slices.Sort(masks)
		first := int32(len(h.same))
		h.code = append(h.code, int32(steps), int32(n))
		for r := range n {
			for c := range 4 {
				h.code = append(h.code, first+int32(4*r+(c+r)%4)) // copies stand in any order
			}
		}
		for _, mask := range masks {
			h.code = append(h.code, mask)
			for c := range 4 {
				x := int32(rng.IntN(h.Points))
				h.code = append(h.code, x)
				for r := range n {
					if mask>>r&1 == 1 {
						index[r][c] = append(index[r][c], x)
					}
				}
			}
			for r := range n {
				if mask>>r&1 == 1 {
					pose[r] = append(pose[r], int32(h.Poses))
					h.Poses++
				}
			}
		}
		for r := range n {
			for c := range 4 {
				add(index[r][(c+4-r%4)%4], pose[r], c > 0)
			}
		}
	}
	single()
	h.Poses += 7
	return h
}

// TestOrbits compares with float64 sums, with points and weights that end at unreadable memory.
func TestOrbits(t *testing.T) {
	const n = OrbitChannels
	var hoods []*orbitHood
	for _, fours := range [][]int{nil, {1}, {6}, {2, 3, 4, 5, 6, 1}} {
		for _, alone := range []int{0, 2} {
			hoods = append(hoods, newOrbitHood(fours, alone))
		}
	}
	testkit.EachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(92)
		for _, h := range hoods {
			for _, mean := range []bool{false, true} {
				p := NewOrbits(h.code, h.Offsets, h.Index, h.Pose, h.same, h.Points, h.Poses, mean)
				f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, h.Points*n))
				w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, h.Poses*n))
				out := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, len(h.same)*n))
				OrbitsF32(out, f, w, p)
				again := testkit.CopyAtStart(t, testkit.Awkward[float32](rng, len(h.same)*n))
				OrbitsF32(again, f, w, p)
				require.True(t, testkit.SameBits(out, again))
				for _, images := range []int{0, 1, 3, 9} { // AVX2 takes eight at a time
					stride := h.Points*n + 16*rng.IntN(3)
					all := testkit.Normal[float32](rng, max(0, images-1)*stride+h.Points*n)
					last := max(0, images-1)
					copy(all[last*stride:], f)
					some := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, images*len(out)))
					OrbitsBatchF32(some, testkit.CopyAtEnd(t, all), w, p, stride, images)
					for b := range images {
						OrbitsF32(again, all[b*stride:][:len(f)], w, p)
						require.True(t, testkit.SameBits(again, some[b*len(out):][:len(out)]), "image %d of %d", b, images)
					}
				}
				for i := range h.same {
					lo, hi := h.Offsets[i]-3, h.Offsets[i+1]-3
					for j := range n {
						sum, size := testkit.GatherSum(f, w, h.Index, h.Pose, lo, hi, n, j)
						if k := float64(max(1, hi-lo)); mean {
							sum, size = sum/k, size/k
						}
						if d := math.Abs(float64(out[i*n+j]) - sum); !(d <= float64(hi-lo+8)*0x1p-23*size) {
							t.Fatalf("%s mean=%v: out[%d,%d] = %g, want %g", h.Name, mean, i, j, out[i*n+j], sum)
						}
					}
				}
			}
		}
	})
}

// TestOrbitsPanics: code that a kernel must not follow is refused.
func TestOrbitsPanics(t *testing.T) {
	good := []int32{1, 1, 0, 1, 2, 3, 1, 0, 1, 2, 3}
	index, pose := []int32{0, 1, 2, 3}, make([]int32, 4)
	make1 := func(code []int32, poses int) *Orbits {
		return NewOrbits(code, []int{0, 1, 2, 3, 4}, index, pose, make([]bool, 4), 4, poses, true)
	}
	p := make1(good, 1)
	for want, at := range map[string][2]int32{
		"steps 0": {0, 0}, "steps 2": {0, 2}, "steps -1": {0, -1}, "fours 0": {1, 0}, "fours 7": {1, 7}, "row 4": {2, 4},
		"row -1": {3, -1}, "row 1": {2, 1},
		"mask 0": {6, 0}, "mask 2": {6, 2}, "point 4": {8, 4}, "point -1": {10, -1},
	} {
		bad := slices.Clone(good)
		bad[at[0]] = at[1]
		require.PanicsWithValue(t, "depthwise: NewOrbits: code[0:], group 0: "+want, func() { make1(bad, 1) })
	}
	require.PanicsWithValue(t, "depthwise: NewOrbits: code[0:], group 0: poses up to 1", func() { make1(good, 0) })
	require.PanicsWithValue(t, "depthwise: NewOrbits: code[11:], group 1: ends after 1",
		func() { make1(append(slices.Clone(good), 5), 1) })
	x := make([]float32, 4*OrbitChannels)
	require.PanicsWithValue(t, "depthwise: OrbitsF32: len(out) = 1, need 64",
		func() { OrbitsF32(x[:1], x, x[:OrbitChannels], p) })
	require.PanicsWithValue(t, "depthwise: OrbitsF32: len(f) = 63, need 64",
		func() { OrbitsF32(x, x[:63], x[:OrbitChannels], p) })
	require.PanicsWithValue(t, "depthwise: OrbitsF32: len(w) = 64, need 16", func() { OrbitsF32(x, x, x, p) })
	for want, call := range map[string]func(){
		"images = -1, need at least 0": func() { OrbitsBatchF32(nil, x, x[:OrbitChannels], p, 64, -1) },
		"len(out) = 64, need 128":      func() { OrbitsBatchF32(x, x, x[:OrbitChannels], p, 64, 2) },
		"len(w) = 64, need 16":         func() { OrbitsBatchF32(x, x, x, p, 64, 1) },
		"ldf = 63, need at least 64":   func() { OrbitsBatchF32(x, x, x[:OrbitChannels], p, 63, 1) },
		"len(f) = 64, need 129":        func() { OrbitsBatchF32(append(x, x...), x, x[:OrbitChannels], p, 65, 2) },
	} {
		require.PanicsWithValue(t, "depthwise: OrbitsBatchF32: "+want, call)
	}
}
