package realdata

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder writes a folder with one set, a wave, and baselines that are as bad as a constant.
func folder(t *testing.T) string {
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	table := "x,y\n"
	var even, odd []int
	for i := range 60 {
		table += fmt.Sprintf("%d,%v\n", i, math.Sin(float64(i)/5))
		if i%2 == 0 {
			even = append(even, i)
		} else {
			odd = append(odd, i)
		}
	}
	put("data/wave.csv", table)
	put("data/sets.json", `{"wave":{},"kept_back":{}}`)
	splits, err := json.Marshal(map[string]any{"splits": []split{{"dense-0", "dense", even, odd}, {"dense-1", "dense", odd, even}}})
	require.NoError(t, err)
	put("splits/wave.json", string(splits))
	put("scores.json", `{"wave":{"gp":{"dense-0":{"kind":"dense","lpd":-1.4,"crps":0.6,"rmse":1},
		"dense-1":{"kind":"dense","lpd":-1.4,"crps":0.6,"rmse":1}},
		"const":{"dense-0":{"kind":"dense","lpd":-1.5},"dense-1":{"kind":"dense","lpd":-1.5}}}}`)
	return dir
}

func TestRun(t *testing.T) {
	rows, err := Run(t.Context(), folder(t), Options{})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	r := rows[0]
	require.Equal(t, "wave", r.Set)
	require.Equal(t, 2, r.Splits)
	require.Equal(t, "gp", r.Best["lpd"])
	require.Greater(t, r.Difference["lpd"][0], 3.)
	require.Less(t, r.Ratio["rmse"], 0.1)
	require.InDelta(t, -1.5, r.Constant, 1e-12)
}

func TestJudge(t *testing.T) {
	s := Judge([]float64{1, 2}, []float64{1, 4}, []float64{2, 2}, 2)
	require.InDelta(t, -0.5*math.Log(2*math.Pi)-0.25, s.LPD, 1e-12)
	require.InDelta(t, math.Sqrt(0.5), s.RMSE, 1e-12)
	require.InDelta(t, 0.5, s.C50, 1e-12)
	require.InDelta(t, 1, s.C95, 1e-12)
}
