package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReproduceReal scores one made set.
func TestReproduceReal(t *testing.T) {
	b := newBench(t)
	for _, dir := range []string{"data", "splits"} {
		require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "fields", dir), 0o777))
	}
	data := "x,y\n"
	for i := range 40 {
		data += fmt.Sprintf("%d,%v\n", i, math.Sin(float64(i)/5))
	}
	b.write("fields/data/wave.csv", data)
	b.write("fields/data/sets.json", `{"wave":{}}`)
	b.write("fields/splits/wave.json",
		`{"splits":[{"id":"a","kind":"dense","context":[0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30],"test":[5,7,9,11,21]}]}`)
	b.write("fields/scores.json",
		`{"wave":{"gp":{"a":{"kind":"dense","lpd":-1,"crps":0.5,"rmse":0.8}},"const":{"a":{"kind":"dense","lpd":-1.4}}}}`)
	got := decode[reproduceRealResult](t, b.ok("reproduce", "real", "--data", "@fields", "--out", "@new", "--json"))
	require.Equal(t, []int{1, 1}, []int{got.Summary.Rows, got.Summary.Better})
	report, err := os.ReadFile(b.path("new/real.md"))
	require.NoError(t, err)
	require.Contains(t, string(report), "| wave | 16 | 1 |")
	numbers, err := os.ReadFile(b.path("new/real.csv"))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(numbers), "\n"))
	b.fails(2, "--kinds thick", "reproduce", "real", "--data", "@fields", "--out", "@other", "--kinds", "thick")
	b.fails(1, "no set with such splits", "reproduce", "real", "--data", "@fields", "--out", "@other", "--kinds", "gap")
}
