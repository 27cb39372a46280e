package hugepage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMake: small and large arrays are zero, of the right size, and memory like any other.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, from / 4, from/4 + 12345} {
		x := Make[float32](n, n+n/2)
		require.Len(t, x, n)
		require.Equal(t, n+n/2, cap(x))
		for i := range x[:cap(x)] {
			if x[:cap(x)][i] != 0 {
				t.Fatalf("n = %d: element %d is %v", n, i, x[:cap(x)][i])
			}
			x[:cap(x)][i] = 1
		}
	}
}
