package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The environment variable's name for a level sets it, in every package that follows.
func TestSetLevelName(t *testing.T) {
	before := CurrentLevel()
	var followed Level
	Follow(&followed)
	defer func() { followers = followers[:len(followers)-1] }()
	require.Equal(t, before.Vectors(), followed)

	require.NoError(t, setLevelName(""))
	require.Equal(t, before, CurrentLevel())
	require.NoError(t, setLevelName("GENERIC"))
	require.Equal(t, Generic, CurrentLevel())
	require.Equal(t, Generic, followed)
	require.NoError(t, SetLevel(before))
	require.Equal(t, before.Vectors(), followed)
	require.ErrorContains(t, setLevelName("sse9"),
		`EQUIVCNP_SIMD=sse9: simd: unknown level "sse9", want one of generic, avx2, avx512, neon, amx, wasm128`)
	require.Equal(t, before, CurrentLevel())
	require.Equal(t, before.Vectors(), followed)
}
