package interpolate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/netcdf"
)

// TestUnits: predictions have the inputs' units and calendars, wherever the targets come from: hours of a file without leap days are read
// by others as other dates if the calendar is lost.
func TestUnits(t *testing.T) {
	const hours, calendar = "hours since 1999-01-01", "proleptic_gregorian"
	dir := t.TempDir()
	f := &netcdf.File{Dims: []netcdf.Dim{{Name: "time", Len: 4}}}
	require.NoError(t, f.Add("time", netcdf.Double, []int{0}, []float64{0, 6, 12, 18}, netcdf.Text("units", hours),
		netcdf.Text("calendar", calendar)))
	require.NoError(t, f.Add("t2m", netcdf.Double, []int{0}, []float64{1, 3, 2, 1}, netcdf.Text("units", "K")))
	points, places, days := filepath.Join(dir, "p.nc"), filepath.Join(dir, "places.csv"), filepath.Join(dir, "days.csv")
	w, err := os.Create(points)
	require.NoError(t, err)
	require.NoError(t, netcdf.Encode(w, f, 2))
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(places, []byte("time\n3\n9\n"), 0o600))
	require.NoError(t, os.WriteFile(days, []byte("time\n1999-01-01 03:00\n1999-01-01 09:00\n"), 0o600))
	columns := tabletask.Columns{X: []string{"time"}, Y: []string{"t2m"}}
	check := func(name string, out *table.Table) {
		t.Helper()
		require.Equal(t, []string{"time", "t2m_mean", "t2m_std"}, out.Header, name)
		require.Equal(t, []string{hours, "K", "K"}, out.Units, name)
		require.Equal(t, calendar, out.Calendars[0], name)
		require.Equal(t, 3., out.Values[0], name)
	}
	date := func(text string) tabletask.Place {
		p, err := tabletask.ParsePlace(text)
		require.NoError(t, err)
		return p
	}
	for name, o := range map[string]tabletask.Options{
		"from and to": {From: date("3"), To: date("9"), Points: 2},
		"dates":       {From: date("1999-01-01 03:00"), To: date("1999-01-01 09:00"), Points: 2},
		"a table":     {Targets: places},
		"of dates":    {Targets: days},
	} {
		o.CSV, o.Columns = points, columns
		in, err := Run(t.Context(), &o, Options{})
		require.NoError(t, err, name)
		check(name, in.Table(&o.Columns, nil))
	}
	in, err := columns.ReadTable(points, nil)
	require.NoError(t, err)
	model, err := RegressorOf(&columns, in, Options{})
	require.NoError(t, err)
	cfg := model.Config()
	for name, o := range map[string]tabletask.TasksOptions{"tasks, a table": {Targets: places}, "tasks, of dates": {Targets: days},
		"tasks, a grid": {Grid: []string{"time=3:9:6"}}} {
		o.Columns = columns
		tasks, err := tabletask.TasksOf(&o, &cfg, in)
		require.NoError(t, err, name)
		p, err := tasks.Predict(t.Context(), model, &tabletask.TasksRun{Name: points})
		require.NoError(t, err, name)
		check(name, p.Table)
	}
}
