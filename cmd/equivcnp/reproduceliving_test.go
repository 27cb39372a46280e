package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReproduceLiving: the tables of the public benchmarks have bounds without any model, and the cells of models that say what they were
// trained on.
func TestReproduceLiving(t *testing.T) {
	b := newBench(t)
	small := []string{"--levels", "2", "--channels", "4", "--steps", "1", "--batch", "2", "--eval-every", "0"}
	b.ok("train", "regression", "--benchmark", "rcnp-eq", "--dx", "2", "--model", "cnp", "--steps", "1", "--batch", "2",
		"--eval-every", "0", "--out", "@eq.safetensors")
	b.ok(append([]string{"train", "regression", "--benchmark", "predprey", "--likelihood", "gamma",
		"--points-per-unit", "0.5", "--out", "@prey.safetensors"}, small...)...)
	b.ok(append([]string{"train", "regression", "--benchmark", "joint-sawtooth", "--points-per-unit", "4",
		"--out", "@saw.safetensors"}, small...)...)
	reproduced := func(part string, more ...string) (string, [][]string) {
		args := append([]string{"reproduce", part, "--models", b.dir, "--out", b.path(part), "--tasks", "2",
			"--chain", "1", "--json"}, more...)
		if !slices.Contains(more, "--learn") {
			args = append(args, "--learn", "0") // TestPopulationRows learns
		}
		report, tables, _ := made(t, decode[reproduceResult](t, b.ok(args...)))
		return report, tables[part+".csv"]
	}
	report, rows := reproduced("rcnp")
	require.Contains(t, report, "| published: best independent model | 0.22 | 0.26 | 0.20 | 3.66 | 0.31 |")
	require.Contains(t, report, "| here: cnp, independent | ")
	require.Equal(t, 2*11, strings.Count(report, "not trained yet"), "of two methods")
	require.Len(t, rows, 1+9+2)
	require.NotEmpty(t, rows[1][5], "a bound")
	again, _ := reproduced("rcnp")
	require.Equal(t, report, again, "known numbers are kept")
	again, _ = reproduced("rcnp", "--columns", "matern, d = 3")
	require.Equal(t, strings.ReplaceAll(report, "not trained yet", "-"), strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(again,
		"not trained yet", "-"), "not measured", "-"), ` --columns "matern, d = 3"`, ""), "numbers of other columns are kept")
	require.Equal(t, 2, strings.Count(again, "not trained yet"), "of two methods")
	b.fails(1, `no column has "cosine"`, "reproduce", "rcnp", "--models", b.dir, "--out", b.path("rcnp"), "--columns", "cosine")

	report, rows = reproduced("predprey")
	require.Contains(t, report, "| published: ConvCNP | -3.47 | -4.85 | -4.06 |\n")
	require.NotContains(t, report, "(R)")
	require.Len(t, rows, 1+3*2)
	var series strings.Builder
	series.WriteString("x,y1,y2\n")
	for i := range 90 {
		fmt.Fprintf(&series, "%d,%d,%d\n", 1845+i, 20+i%13*5, 10+i%11*4)
	}
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "own.csv"), []byte(series.String()), 0o644))
	report, rows = reproduced("predprey", "--data", b.path("own.csv"))
	require.Contains(t, report, "forecasting (R)")
	require.Len(t, rows, 1+6*2)
	report, rows = reproduced("predprey", "--data", b.path("own.csv"), "--learn", "8", "--columns", "interpolation (R)")
	require.Contains(t, report, "| here: interpolation without training, independent | not measured | not measured | not measured | ")
	require.Contains(t, report, "| here: population of 8 tasks, joint | not measured |")
	require.Len(t, rows, 1+6*2+3, "with the known numbers of the models")
	require.Contains(t, report, ` --learn 8 --chain 1 --columns "interpolation (R)" --models `)
	require.Contains(t, report, " --data own.csv\n")
	other := strings.ReplaceAll(series.String(), "\n1850,", "\n1850,9") // a population of 945 instead of 45
	require.NotEqual(t, series.String(), other)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "own.csv"), []byte(other), 0o644))
	before := rows
	report, rows = reproduced("predprey", "--data", b.path("own.csv"), "--columns", "interpolation (R)")
	require.Contains(t, report, " --learn 0 --chain 1 ")
	at := func(rows [][]string) string {
		k := slices.IndexFunc(rows, func(r []string) bool { return r[1] == "interpolation (R)" && r[3] == "independent" })
		return rows[k][5]
	}
	require.NotEqual(t, at(before), at(rows), "a changed table of the same name")
	b.fails(1, "own.csv", "reproduce", "predprey", "--models", b.dir, "--out", b.path("bad"), "--tasks", "1",
		"--data", b.path("out/own.csv"))

	report, rows = reproduced("joint")
	require.Contains(t, report, "| published: TNP-D by the chain rule | 2.57 | 3.29 | 1.05 | 1.14 |")
	require.Len(t, rows, 1+2+4*2+5*2)
	require.Contains(t, report, "| here: best that knows how tasks are drawn, joint | ")
	require.Equal(t, 5*2, strings.Count(report, "not trained yet"))
	require.Contains(t, report, "T(1), blocks of 0.25 times the known points, autoregressive | not trained yet |")
	require.Contains(t, report, "](joint.png)")
	b.fails(2, "--learn 3: need 0, or 8 to", "reproduce", "joint", "--out", b.path("joint"), "--learn", "3")
}
