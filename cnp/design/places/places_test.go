package places_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/design"
	"github.com/equivcnp/equivcnp/cnp/design/places"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// TestChoose: where nothing was measured tells most; and more places than there are candidates are an error that names the
// field.
func TestChoose(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, x []float64, y bool) string {
		var b strings.Builder
		b.WriteString("x" + map[bool]string{true: ",y"}[y] + "\n")
		for i, v := range x {
			fmt.Fprintf(&b, "%g", v)
			if y {
				fmt.Fprintf(&b, ",%g", float64(i*7%5))
			}
			b.WriteString("\n")
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
		return path
	}
	data := write("data.csv", []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4}, true)
	sites := write("sites.csv", []float64{0.1, 0.5, 8, 1.1}, false)
	d, err := places.Read(tabletask.Options{CSV: data}, sites, false)
	require.NoError(t, err)
	require.NoError(t, d.Fit(t.Context(), interpolate.Options{}))
	opt := places.Options{Number: 1, Goal: design.Error, Samples: 200, Seed: 1}
	require.NoError(t, d.Choose(t.Context(), opt))
	require.Equal(t, 2, d.Chosen[0].Candidate)
	out := d.Table()
	require.Equal(t, []string{"x", "order", "row", "gain", "total_gain"}, out.Header)
	require.Equal(t, []float64{8, 1, 3, d.Chosen[0].Gain, d.Chosen[0].Gain}, out.Values)
	dates := filepath.Join(dir, "dates.csv")
	require.NoError(t, os.WriteFile(dates, []byte("day,y\n2024-01-01,1\n2024-01-02,2\n2024-01-03,1\n2024-02-03,1.5\n"), 0o600))
	dated, err := places.Read(tabletask.Options{CSV: dates, Columns: tabletask.Columns{X: []string{"day"}}}, dates, false)
	require.NoError(t, err)
	dated.Chosen = []design.Choice{{Candidate: 3}, {Candidate: 0}}
	chosen := dated.Table()
	require.Equal(t, []string{"2024-02-03", "2024-01-01"}, []string{chosen.Text(0, 0), chosen.Text(1, 0)})
	require.Equal(t, []float64{1, 4}, chosen.Take(1, 2)[:2])
	total := func(noise float64) float64 {
		opt := opt
		opt.Goal, opt.Noise = design.Entropy, noise
		require.NoError(t, d.Choose(t.Context(), opt))
		return d.Chosen[0].Gain
	}
	// A measurement that is a fifth as uncertain tells more: of a candidate that is a target, up to the noise that targets are known by.
	require.Greater(t, total(2e-3), total(1e-2)+0.1)
	none := write("none.csv", nil, false)
	for _, tables := range [][2]string{{none, ""}, {none, sites}, {sites, none}} {
		_, err := places.Read(tabletask.Options{CSV: data, Targets: tables[1]}, tables[0], false)
		require.ErrorContains(t, err, "none.csv has no rows")
	}
	opt.Number = 5
	require.ErrorContains(t, d.Choose(t.Context(), opt), "Number: ")
}
