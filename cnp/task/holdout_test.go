package task

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHoldout: the parts are disjoint, make up the whole, and depend on the seed alone.
func TestHoldout(t *testing.T) {
	set := &ImageSet{Name: "photos", N: 20, C: 1, H: 1, W: 2, Mask: make([]bool, 40)}
	curves := &CurveSet{Name: "x.csv", Dx: 1, Dy: 1}
	for i := range set.N {
		set.Pix = append(set.Pix, float32(i), float32(i))
		curves.Curves = append(curves.Curves, Curve{Points: Points{X: []float64{float64(i)}, Y: []float64{0}}})
	}
	train, test, err := set.Holdout(0.1, 7)
	require.NoError(t, err)
	require.Equal(t, []int{18, 2}, []int{train.N, test.N})
	require.Len(t, train.Mask, 36)
	all := slices.Concat(train.Pix, test.Pix)
	slices.Sort(all)
	require.Equal(t, set.Pix, all)
	require.Equal(t, "the held out 2 of 20 drawn with seed 7, of photos", test.Name)
	require.Equal(t, "the others than 2 of 20 drawn with seed 7, of photos", train.Name)
	again, _, err := set.Holdout(0.1, 7)
	require.NoError(t, err)
	require.Equal(t, train, again)
	other, _, err := set.Holdout(0.1, 8)
	require.NoError(t, err)
	require.NotEqual(t, train.Pix, other.Pix)

	a, b, err := curves.Holdout(0.5, 7)
	require.NoError(t, err)
	require.Equal(t, []int{10, 10}, []int{len(a.Curves), len(b.Curves)})
	for _, share := range []float64{1e-9, 0.999} { // one at least is left on either side
		a, b, err := curves.Holdout(share, 7)
		require.NoError(t, err)
		require.NotEmpty(t, a.Curves)
		require.NotEmpty(t, b.Curves)
	}
	for _, share := range []float64{0, 1, -1} {
		_, _, err := curves.Holdout(share, 7)
		require.ErrorContains(t, err, "need more than 0 and less than 1")
	}
	_, _, err = (&CurveSet{Curves: make([]Curve, 1)}).Holdout(0.5, 7)
	require.ErrorIs(t, err, ErrData)
}
