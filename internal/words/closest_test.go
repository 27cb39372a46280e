package words_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/words"
)

// TestClosest: a name with few other letters is found, the nearest of several, and none where all are far.
func TestClosest(t *testing.T) {
	names := []string{"digits-T2", "digits-T2-small", "rbf-levels"}
	for typo, want := range map[string]string{"digits-T2-smal": "digits-T2-small", "digits-t2": "digits-T2", "rbf_levels": "rbf-levels",
		"model.safetensors": "", "": "", "fbr-levels": "rbf-levels"} {
		require.Equal(t, want, words.Closest(typo, names), typo)
	}
	require.Empty(t, words.Closest("x", nil))
}

// TestDistance: letters inserted, deleted, replaced and swapped count one each, whatever their bytes.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"steps", "stesp", 1}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"abc", "abc", 0}} {
		require.Equal(t, c.want, words.Distance(c.a, c.b), "%s, %s", c.a, c.b)
		require.Equal(t, c.want, words.Distance(c.b, c.a), "%s, %s", c.b, c.a)
	}
}
