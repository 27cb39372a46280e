package image

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// cross is a patch of a pixel, one beside it on either side, and one above.
var cross = Patch{Above: 1, Lo: []int{0, -1, 1}, Hi: []int{0, 1, 0}}

// pixels returns which pixels a set holds, and empties it.
func pixels(s *Set, h, w int) []bool {
	all := NewSet(h, w)
	all.Fill()
	out := make([]bool, h*w)
	for _, r := range s.Take(nil, &all) {
		for i := r.Lo; i < r.Hi; i++ {
			out[i] = true
		}
	}
	return out
}

// around returns which pixels lie in the patch around one, by its definition.
func around(p Patch, h, w, pixel int) []bool {
	out := make([]bool, h*w)
	for i := range out {
		lo, hi := p.at(i/w - pixel/w)
		out[i] = i%w-pixel%w >= lo && i%w-pixel%w <= hi
	}
	return out
}

// TestSet: a set holds the patches that were added, cut off at the image's border, also where rows are longer than a word.
func TestSet(t *testing.T) {
	rng := testkit.Rand(4)
	for _, w := range []int{1, 5, 63, 64, 65, 130} {
		const h = 4
		wide := Patch{Above: 1, Lo: []int{-70, 0, -1}, Hi: []int{-60, 66, 90}}
		for _, p := range []Patch{Here, cross, wide, wide.Back()} {
			s, at := NewSet(h, w), rng.IntN(h*w)
			s.Add(at, p)
			require.Equal(t, around(p, h, w, at), pixels(&s, h, w), "width %d, pixel %d", w, at)
			require.Empty(t, s.Take(nil, &s))
		}
	}
}

// TestTake: what is needed is taken, as runs in the order of pixels, and the rest stays.
func TestTake(t *testing.T) {
	s, need := NewSet(2, 6), NewSet(2, 6)
	s.Fill()
	need.Add(8, cross)
	require.Equal(t, []layers.RowRun{{Lo: 2, Hi: 3}, {Lo: 7, Hi: 10}}, s.Take(nil, &need))
	left := pixels(&s, 2, 6)
	for i, got := range around(cross, 2, 6, 8) {
		require.Equal(t, !got, left[i], "pixel %d", i)
	}
	need.Clear()
	s.Fill()
	require.Empty(t, s.Take(nil, &need))
}

// TestThen: a step of one patch and one of the next lead to what their composition holds; back leads back.
func TestThen(t *testing.T) {
	const h, w, at = 9, 9, 40
	want := make([]bool, h*w)
	for i, ok := range around(cross, h, w, at) {
		if ok {
			for j, ok := range around(cross, h, w, i) {
				want[j] = want[j] || ok
			}
		}
	}
	got := around(cross.Then(cross), h, w, at)
	require.Equal(t, want, got)
	back := cross.Back()
	for i := range h * w {
		require.Equal(t, around(cross, h, w, at)[i], around(back, h, w, i)[at], "pixel %d", i)
	}
	require.Equal(t, Here, Patch{Above: 1, Lo: []int{9, 0, 9}, Hi: []int{-9, 0, -9}}.Trim())
}
