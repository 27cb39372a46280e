package limits

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// TestLoops runs every loop at every level of this machine: what they must do is end, and read nothing beyond the slice.
func TestLoops(t *testing.T) {
	for _, l := range simd.Levels() {
		require.Positive(t, FMA(l.String(), 3))
		require.Zero(t, FMA(l.String(), 0))
		for _, n := range []int{0, 512, 1024, 4096} {
			Read(l.String(), testkit.AtEnd[byte](t, n))
		}
	}
	require.Panics(t, func() { Read("generic", make([]byte, 511)) })
}
