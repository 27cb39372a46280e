package recipe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/recipe"
)

// TestTexts: what Show writes, Parse reads, and other texts are errors.
func TestTexts(t *testing.T) {
	v, err := recipe.ParseViews("0.25:1.5")
	require.NoError(t, err)
	require.Equal(t, "0.25:1.5", recipe.ShowViews(v))
	w, err := recipe.ParseWaves("32:12.5")
	require.NoError(t, err)
	require.Equal(t, "32:12.5", recipe.ShowWaves(w))
	l, err := recipe.ParseWindow("lon=2, lat=0.5")
	require.NoError(t, err)
	require.Equal(t, "lat=0.5,lon=2", recipe.ShowWindow(l))
	require.Empty(t, recipe.ShowViews(nil)+recipe.ShowWaves(nil)+recipe.ShowWindow(nil))
	for _, text := range []string{"", "1", "a:b", "1:2:3", "x=-1"} {
		_, errV := recipe.ParseViews(text)
		_, errW := recipe.ParseWaves(text)
		_, errL := recipe.ParseWindow(text)
		require.Error(t, errV, text)
		require.Error(t, errW, text)
		require.Error(t, errL, text)
	}
}
