//go:build !purego

package simd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// atNEON runs the rest of a test at level NEON.
func atNEON(t *testing.T) {
	before := CurrentLevel()
	t.Cleanup(func() { require.NoError(t, SetLevel(before)) })
	require.NoError(t, SetLevel(NEON))
}

func TestLevelNEON(t *testing.T) {
	require.Equal(t, []Level{Generic, NEON}, Levels())
}
