package realdata

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

var long = flag.Bool("long", false, "all sets, with the table")

// TestRobust spoils values of real tables: without the outliers predictions are about what they were. -long -v prints the table of
// bench/results/one-table.md.
func TestRobust(t *testing.T) {
	dir := testkit.Shared(t, "fields")
	opt := Options{Sets: []string{"airpassengers", "meuse_zinc"}, Kinds: []string{"dense"}, Most: 1}
	spoils := [][2]float64{{0.05, 10}}
	if *long {
		opt = Options{Kinds: []string{"dense"}, Most: 2}
		spoils = [][2]float64{{0.02, 5}, {0.02, 10}, {0.05, 10}, {0.05, 1e6}}
	}
	run := func(robust bool, spoil, size float64) []Row {
		o := opt
		o.Robust, o.Spoil, o.Size = robust, spoil, size
		rows, err := Run(t.Context(), dir, o)
		require.NoError(t, err)
		return rows
	}
	plain, robust := run(false, 0, 0), run(true, 0, 0)
	var spoiled [][2][]Row
	for _, s := range spoils {
		spoiled = append(spoiled, [2][]Row{run(false, s[0], s[1]), run(true, s[0], s[1])})
	}
	for i, r := range plain {
		line := fmt.Sprintf("| %s | %d | %.2f | %.2f |", r.Set, r.Context, r.Score.LPD, robust[i].Score.LPD)
		for _, s := range spoiled {
			line += fmt.Sprintf(" %.2f | %.2f |", s[0][i].Score.LPD, s[1][i].Score.LPD)
			if !*long {
				require.Less(t, s[0][i].Score.LPD, r.Score.LPD-0.4, r.Set)
				require.Greater(t, s[1][i].Score.LPD, r.Score.LPD-0.1, r.Set)
			}
		}
		t.Log(line)
		require.InDelta(t, r.Score.LPD, robust[i].Score.LPD, 2, r.Set)
	}
}
