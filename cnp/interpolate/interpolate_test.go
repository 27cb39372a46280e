package interpolate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// A period in days becomes one in the input's unit, and is an error where that is no time.
func TestPeriods(t *testing.T) {
	all, err := ParsePeriods([]string{"7d", "24", "12h"})
	require.NoError(t, err)
	require.Equal(t, []Period{{7, true}, {24, false}, {0.5, true}}, all)
	for _, bad := range []string{"", "d", "-1d", "0", "1q", "NaN", "Inf"} {
		_, err := ParsePeriods([]string{bad})
		require.Error(t, err, bad)
	}
	in := &Interpolation{Task: &tabletask.Task{Dx: 1, Dy: 1, Points: &table.Table{Name: "t.nc", Cols: 2, Header: []string{"time", "y"},
		Units: []string{"hours since 2000-01-01", ""}}}}
	in.Observed = &task.Rows{Columns: table.Columns{X: []int{0}, Y: []int{1}}}
	got, err := in.periods(all)
	require.NoError(t, err)
	require.Equal(t, []float64{168, 24, 12}, got)
	in.Points.Units[0] = ""
	_, err = in.periods(all)
	require.ErrorContains(t, err, "without a unit of time")
	got, err = in.periods(all[1:2])
	require.NoError(t, err)
	require.Equal(t, []float64{24}, got)
}

// Values that no amount can have are named by row.
func TestSupport(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte("x,y\n0,1\n1,2\n2,-3\n3,1\n"), 0o600))
	input := func() *tabletask.Options {
		return &tabletask.Options{CSV: csv, From: tabletask.Place{Value: 0}, To: tabletask.Place{Value: 3}, Points: 4}
	}
	for _, opt := range []Options{{Positive: true}, {Log: []string{"y"}}} {
		_, err := Run(t.Context(), input(), opt)
		require.ErrorIs(t, err, krige.ErrInput)
		require.ErrorContains(t, err, "t.csv:4:3: ")
	}
	_, err := Run(t.Context(), input(), Options{})
	require.NoError(t, err)
}
