package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole way from a table to predictions, in seconds.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, "", 4))
	require.Contains(t, out.String(), "chosen: ")
	require.Equal(t, 2, strings.Count(out.String(), "rain at "))
	require.NotContains(t, out.String(), "NaN")
	require.Error(t, run(t.Context(), &out, "missing.csv", 4))
}
