package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/reproduce"
)

func TestReproduceUniversal(t *testing.T) {
	b := newBench(t)
	rows := decode[[]reproduce.UniversalRow](t, b.ok("reproduce", "universal", "--out", "@new", "--tasks", "3", "--json"))
	require.Len(t, rows, 3)
	for _, r := range rows {
		require.Less(t, float64(r.Behind), float64(r.Constant))
		require.Less(t, float64(r.Likely), float64(r.Constant))
	}
	report, err := os.ReadFile(b.path("new/universal.md"))
	require.NoError(t, err)
	require.Contains(t, string(report), "| 2 | 3 |")
	b.fails(2, "--tasks 1: need at least 2", "reproduce", "universal", "--out", "@other", "--tasks", "1")
}
