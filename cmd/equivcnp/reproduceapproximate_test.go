package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReproduceApproximate: the table has a row for every amount and seed, exact models are equivariant and approximate ones are not, and
// models that an earlier command has trained alike are read.
func TestReproduceApproximate(t *testing.T) {
	b := newBench(t)
	args := []string{"reproduce", "approximate", "--steps", "2", "--tasks", "17", "--out", b.path("out"), "--json"}
	report, tables, _ := made(t, decode[reproduceResult](t, b.ok(args...)))
	rows := tables["approximate.csv"]
	require.Len(t, rows, 1+3*2*4)
	best := map[string]bool{}
	for line := range strings.Lines(report) {
		if f := strings.Split(line, " | "); len(f) == 7 && strings.Contains(f[2], "±") {
			best[f[2]] = true
		}
	}
	require.Len(t, best, 1, "who knows the curve loses nothing by it")
	for _, row := range rows[1:] {
		moved, err := strconv.ParseFloat(row[7], 64)
		require.NoError(t, err)
		switch row[2] {
		case "exact":
			require.Less(t, moved, 1e-5)
		case "approximate":
			require.Greater(t, moved, 1e-3)
			require.Equal(t, "0", row[5])
		}
	}
	again, _, _ := made(t, decode[reproduceResult](t, b.ok(args...)))
	require.Equal(t, report, again)
	b.fails(2, "--steps 0", "reproduce", "approximate", "--steps", "0", "--out", b.path("none"))
}
