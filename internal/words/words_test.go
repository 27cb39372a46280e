package words_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/words"
)

// TestPlural: only exactly one thing has no s.
func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2: "2 rows", -1: "-1 rows"} {
		require.Equal(t, want, words.Plural(n, "row"))
	}
}
