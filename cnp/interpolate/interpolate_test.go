package interpolate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
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
	months, err := ParsePeriods([]string{"6mo", "1 year"})
	require.NoError(t, err)
	require.Equal(t, []Period{{182.62125, true}, {365.2425, true}}, months)
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
	require.NoError(t, os.WriteFile(csv, []byte("x,y\n0,1\n1,2\n2,0\n3,1\n"), 0o600))
	_, err = Run(t.Context(), input(), Options{Log: []string{"y"}})
	require.ErrorIs(t, err, krige.ErrInput)
	require.ErrorContains(t, err, "t.csv:4:3: krige: input: 0 has no logarithm: Positive takes amounts with zeros")
}

// TestRegressorOf: as a model, a table is interpolated as it is by Run, options included.
func TestRegressorOf(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte("x,y,z\n0,1,2\n1,2,1\n2,3,4\n3,1,2\n4,2,0.5\n5,4,1\n"), 0o600))
	columns := tabletask.Columns{X: []string{"x"}, Y: []string{"y", "z"}}
	for _, opt := range []Options{{}, {Log: []string{"z"}}, {Positive: true}, {Period: []Period{{Length: 2.5}}},
		{NoCheck: true}, {Positive: true, Log: []string{"y"}}} {
		in, err := Run(t.Context(), &tabletask.Options{CSV: csv, Columns: columns, From: tabletask.Place{Value: 0.5},
			To: tabletask.Place{Value: 2}, Points: 2}, opt)
		require.NoError(t, err)
		r, err := RegressorOf(&columns, in.Points, opt)
		require.NoError(t, err)
		b := &cnp.Batch[float32]{B: 1, Nc: 6, Nt: 2, XContext: in.X[0], XTarget: []float64{0.5, 2}}
		for i := range 6 {
			b.YContext = append(b.YContext, float32(in.Y[0][i]), float32(in.Y[1][i]))
		}
		p, err := r.Predict(t.Context(), b)
		require.NoError(t, err)
		for c := range 2 {
			for i := range 2 {
				require.InDelta(t, in.Predicted[c].Mean[i], p.Mean[2*i+c], 1e-4)
				require.InDelta(t, in.Predicted[c].Std[i], p.Std[2*i+c], 1e-4)
				require.InDelta(t, in.Predicted[c].Quantile(0.9)[i], p.QuantileAt(2*i+c, 0.9), 1e-3)
			}
		}
	}
	checked, err := Run(t.Context(), &tabletask.Options{CSV: csv, Columns: columns, Points: 2}, Options{})
	require.NoError(t, err)
	plain, err := Run(t.Context(), &tabletask.Options{CSV: csv, Columns: columns, Points: 2}, Options{NoCheck: true})
	require.NoError(t, err)
	require.NotEqual(t, checked.Predicted[0].Std, plain.Predicted[0].Std)
	points, err := (&tabletask.Options{}).ReadTable(csv, nil)
	require.NoError(t, err)
	_, err = RegressorOf(&columns, points, Options{Log: []string{"w"}})
	require.ErrorContains(t, err, "no output of this name: y, z")
	_, err = RegressorOf(&columns, points, Options{Period: []Period{{Length: 7, Time: true}}})
	require.ErrorContains(t, err, "without a unit of time")
	_, err = RegressorOf(&columns, points, Options{Log: []string{"z", "y"}, Positive: true})
	require.ErrorContains(t, err, "already names every output")
	r, err := RegressorFor(2, 0, 2, Options{Log: []string{"y2"}, DifferentUnits: true})
	require.NoError(t, err)
	require.Equal(t, 2, r.Config().DimY)
	require.Equal(t, "bent-normal", r.Config().Likelihood)
	_, err = RegressorFor(2, 0, 1, Options{Period: []Period{{Length: 7}}})
	require.ErrorContains(t, err, "one input")
}

// TestBeyond: targets in another unit than the context, or with columns that changed places, are said to be so; a forecast is not.
func TestBeyond(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte("time,y\n2020-01-01,1\n2020-01-02,2\n2020-01-03,-3\n2020-01-05,1\n"), 0o600))
	run := func(from, to tabletask.Place) string {
		in, err := Run(t.Context(), &tabletask.Options{CSV: csv, Columns: tabletask.Columns{X: []string{"time"}},
			From: from, To: to, Points: 4},
			Options{})
		require.NoError(t, err)
		return in.Beyond()
	}
	require.Contains(t, run(tabletask.Place{Value: 0}, tabletask.Place{Value: 1}),
		"time is 0 to 1 days since 1970-01-01 there, and 18262 to 18266")
	require.Empty(t, run(tabletask.Place{Value: 18267}, tabletask.Place{Value: 18268}))
	none := filepath.Join(t.TempDir(), "none.csv")
	require.NoError(t, os.WriteFile(none, []byte("time\n"), 0o600))
	in, err := Run(t.Context(), &tabletask.Options{CSV: csv, Columns: tabletask.Columns{X: []string{"time"}}, Targets: none}, Options{})
	require.NoError(t, err)
	require.Empty(t, in.Beyond(), "no targets")
	require.Empty(t, run(tabletask.Place{Value: 18260}, tabletask.Place{Value: 18290}))
}

// TestBeyondOnGlobe: places beside the context are not far beyond it across the date line, or around a pole; others are.
func TestBeyondOnGlobe(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "t.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	line := "lat,lon,y\n-15,178,1\n-16,179.5,2\n-14,178.5,-3\n-15.5,179,1\n"
	pole := "lat,lon,y\n85,0,1\n88,10,2\n86,20,-3\n87,5,1\n"
	for _, c := range []struct {
		context, targets string
		far              bool
	}{
		{line, "-15,-179.9\n", false}, {line, "-15,540\n", false}, {line, "-15,0\n", true}, {line, "-15,0\n-15,-180\n", false},
		{line, "60,178\n", true}, {pole, "89,180\n", false}, {pole, "90,-90\n", false}, {pole, "50,0\n", true}, {pole, "", false},
	} {
		in, err := Run(t.Context(), &tabletask.Options{CSV: file(c.context), Targets: file("lat,lon\n" + c.targets)}, Options{Sphere: true})
		require.NoError(t, err)
		require.Equal(t, c.far, in.Beyond() != "", "%q: %s", c.targets, in.Beyond())
	}
	in, err := Run(t.Context(), &tabletask.Options{CSV: file(line), Targets: file("lat,lon\n60,-178\n")}, Options{Sphere: true})
	require.NoError(t, err)
	require.Equal(t, "all targets lie far beyond the context: lat is 60 to 60 there, and -16 to -14 in the context; "+
		"lon is -178 to -178 there, and 178 to 179.5 in the context", in.Beyond())
}

// Outputs say what the table has, in their order, and what there is not is refused.
func TestOutputs(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte("x,y\n0,1\n1,2\n2,3\n3,1\n"), 0o600))
	input := &tabletask.Options{CSV: csv, To: tabletask.Place{Value: 3}, Points: 4}
	for _, c := range []struct {
		outputs []string
		samples int
		header  string
		err     string
	}{
		{nil, 1, "x mean std q0.5 sample1", ""},
		{[]string{"quantiles", "mean"}, 0, "x q0.5 mean", ""},
		{[]string{"samples"}, 2, "x sample1 sample2", ""},
		{[]string{"mean", "cov_target"}, 0, "", "Outputs \"cov_target\": without a model there are mean, std, quantiles, samples"},
		{[]string{"samples"}, 0, "", "Samples says how many"},
	} {
		in, err := Run(t.Context(), input, Options{Outputs: c.outputs, Samples: c.samples})
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.header, strings.Join(in.Table(&input.Columns, []float64{0.5}).Header, " "))
	}
}

// TestCalendar: a year, a week and a day are tried as seasons of dates, in days, and of no other inputs.
func TestCalendar(t *testing.T) {
	for text, want := range map[string][]float64{
		"t,y\n2024-01-01,1\n2024-01-02,2\n2024-01-03,1\n": {365.2425, 7, 1},
		"t,y\n1,1\n2,2\n3,1\n":                            nil,
	} {
		csv := filepath.Join(t.TempDir(), "t.csv")
		require.NoError(t, os.WriteFile(csv, []byte(text), 0o600))
		in, err := Run(t.Context(), &tabletask.Options{CSV: csv, Columns: tabletask.Columns{X: []string{"t"}, Y: []string{"y"}}, Next: 2},
			Options{})
		require.NoError(t, err)
		own, _, err := in.options(Options{})
		require.NoError(t, err)
		require.Equal(t, want, own.Calendar)
	}
}

// TestOtherCalendars: times of a calendar that is not read are numbers, and have no seasons of ours.
func TestOtherCalendars(t *testing.T) {
	in, err := table.Read(strings.NewReader("t,y\n0,1\n5,2\n10,1\n15,3\n"), "t.csv")
	require.NoError(t, err)
	for calendar, want := range map[string][]float64{"standard": {365.2425, 7, 1}, "noleap": nil, "360_day": nil} {
		in.Units, in.Calendars = []string{"days since 2000-01-01", ""}, []string{calendar, ""}
		r, err := RegressorOf(&tabletask.Columns{X: []string{"t"}, Y: []string{"y"}}, in, Options{})
		require.NoError(t, err)
		require.Equal(t, want, r.Options().Calendar)
	}
}
