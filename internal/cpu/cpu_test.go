package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMissing(t *testing.T) {
	require.Empty(t, Missing())
	require.Equal(t, []string{"none such"}, Missing("none such"))
}

func TestDataCaches(t *testing.T) {
	c := DataCaches()
	t.Logf("%+v", c)
	require.Greater(t, c.L1, 4<<10)
	require.Greater(t, c.L2, c.L1)
	require.Equal(t, 5, or(5, 7))
	require.Equal(t, 7, or(-1, 7))
}
