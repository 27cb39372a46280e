package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// TestDesign: places far from what was measured are chosen, apart from each other, and written with their gains.
func TestDesign(t *testing.T) {
	b := newBench(t)
	var data, sites strings.Builder
	data.WriteString("depth,x\n")
	sites.WriteString("name,x\n")
	for i := range 40 { // measured from 0 to 4 and from 8 to 10
		at := float64(i) * 0.25
		if at <= 4 || at >= 8 {
			fmt.Fprintf(&data, "%.4f,%g\n", float64(i*i*7%11)/40+at*(10-at)/5, at)
		}
		fmt.Fprintf(&sites, "s%d,%g\n", i, at+0.1)
	}
	b.write("data.csv", data.String())
	b.write("sites.csv", sites.String())
	for _, goal := range []string{"entropy", "error"} {
		out := b.ok("design", "--csv", "@data.csv", "--x", "x", "--y", "depth", "--candidates", "@sites.csv", "--number", "2",
			"--goal", goal, "--out", "@next.csv", "--plot", "@next.png", "--json")
		got := decode[designResult](t, out)
		require.Equal(t, []int{40, 40}, []int{got.Candidates, got.Targets})
		require.Len(t, got.Chosen, 2)
		require.Greater(t, float64(got.Gains[0]), 0.)
		next, err := tabular.ReadFile(b.path("next.csv"))
		require.NoError(t, err)
		require.Equal(t, []string{"x", "order", "row", "gain", "total_gain"}, next.Header)
		require.Equal(t, 2, next.Rows())
		first := next.Values[0]
		require.True(t, first > 4 && first < 8, first)
		require.InDelta(t, float64(got.Chosen[0])*0.25+0.1, first, 1e-9)
		require.Equal(t, float64(got.Chosen[0]+1), next.Values[2])
		_, err = raster.Read(b.path("next.png"))
		require.NoError(t, err)
	}
	common := []string{"design", "--csv", "@data.csv", "--x", "x", "--y", "depth", "--candidates", "@sites.csv", "--out", "@next.csv"}
	b.fails(2, `--goal "fun"`, append(common, "--goal", "fun")...)
	b.fails(1, "41 of 40 candidates", append(common, "--number", "41")...)
	b.fails(2, "--samples 1", append(common, "--samples", "1")...)
	b.fails(2, "--noise -1", append(common, "--noise", "-1")...)
}

// TestDesignPlane: a map of the plane shows the chosen places; a model chooses by the chain rule.
func TestDesignPlane(t *testing.T) {
	b := newBench(t)
	planeTable(b)
	b.ok("design", "--csv", "@zinc.csv", "--x", "east,north", "--y", "zinc", "--candidates", "@grid.csv", "--number", "3",
		"--samples", "50", "--out", "@next.csv", "--plot", "@next.png")
	next, err := tabular.ReadFile(b.path("next.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"east", "north", "order", "row", "gain", "total_gain"}, next.Header)
	require.Equal(t, 3, next.Rows())
	b.write("data.csv", "x,y\n-1,0.2\n0,0.5\n")
	b.write("sites.csv", "x\n-1\n0\n1.5\n")
	b.ok("design", "--model", "rbf-levels", "--csv", "@data.csv", "--candidates", "@sites.csv", "--goal", "error",
		"--samples", "40", "--out", "@chain.csv")
	next, err = tabular.ReadFile(b.path("chain.csv"))
	require.NoError(t, err)
	require.Equal(t, 1.5, next.Values[0])
	b.write("nothing.csv", "x,y\n")
	empty := []string{"design", "--csv", "@nothing.csv", "--candidates", "@sites.csv", "--goal", "error", "--samples", "40", "--out",
		"@prior.csv"}
	b.ok(append(empty, "--model", "rbf-levels")...)
	b.fails(1, "--plot: ", append(empty, "--model", "rbf-levels", "--plot", "@next.png")...)
	b.fails(1, "--model names one", empty...)
	b.fails(1, "models of one output", "design", "--model", "rbf-levels", "--csv", "@zinc.csv", "--x", "east,north", "--y", "zinc",
		"--candidates", "@grid.csv", "--out", "@next.csv")
}
