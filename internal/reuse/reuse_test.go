package reuse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSized(t *testing.T) {
	x := Sized([]int(nil), 3)
	require.Equal(t, []int{0, 0, 0}, x)
	x[0] = 7
	same := Sized(x[:1], 2)
	require.Same(t, &x[0], &same[0])
	require.Len(t, same, 2)
	require.Len(t, Sized(x, 9), 9)
	roomy := Roomy(x, 4, 10)
	require.Len(t, roomy, 4)
	require.Equal(t, 10, cap(roomy))
	again := Roomy(roomy, 10, 20)
	require.Same(t, &roomy[0], &again[0])
	require.Zero(t, testing.AllocsPerRun(10, func() { x = Roomy(Sized(x, 2), 3, 99) }))
}
