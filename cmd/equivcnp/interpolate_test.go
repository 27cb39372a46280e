package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// planeTable is a table of amounts in the plane, with names of its own, and targets with values.
func planeTable(b *bench) {
	var data, targets strings.Builder
	data.WriteString("zinc,east,north,note\n")
	targets.WriteString("north,east,zinc\n")
	for i := range 80 {
		east, north := 180000+float64(i*37%101)*20, 330000+float64(i*53%97)*20
		zinc := math.Exp(5 + math.Sin(east/400) + math.Cos(north/500))
		fmt.Fprintf(&data, "%g,%g,%g,a\n", zinc, east, north)
		fmt.Fprintf(&targets, "%g,%g,%g\n", north+7, east-3, math.Exp(5+math.Sin((east-3)/400)+math.Cos((north+7)/500)))
	}
	data.WriteString(",180000,330000,missing\n")
	b.write("zinc.csv", data.String())
	b.write("grid.csv", targets.String())
}

// TestInterpolate is regress without a model, in the plane.
func TestInterpolate(t *testing.T) {
	b := newBench(t)
	planeTable(b)
	out := b.ok("regress", "--csv", "@zinc.csv", "--x", "east,north", "--y", "zinc", "--positive", "--targets", "@grid.csv",
		"--out", "@pred.csv",
		"--plot", "@map.png", "--quantiles", "0.05,0.95", "--samples", "3", "--json")
	got := decode[interpolateResult](t, out)
	require.Equal(t, []int{80, 80}, []int{got.ContextPoints, got.Targets})
	require.NotNil(t, got.LogLikelihood)
	require.Len(t, got.Samples, 3)
	require.Equal(t, 80, got.Check["zinc"].Values)
	require.Greater(t, got.Check["zinc"].LogDensity, got.Check["zinc"].Constant)
	require.NotEmpty(t, got.Notes)
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"east", "north", "zinc_mean", "zinc_std", "zinc_q0.05", "zinc_q0.95", "zinc_sample1",
		"zinc_sample2", "zinc_sample3"}, pred.Header)
	want, err := tabular.ReadFile(b.path("grid.csv"))
	require.NoError(t, err)
	for i := range 80 {
		truth, row := want.Values[3*i+2], pred.Values[9*i:9*i+9]
		require.Equal(t, want.Values[3*i+1], row[0], "the targets' order is kept")
		require.InDelta(t, truth, row[2], 0.3*truth+20)
		require.Greater(t, row[4], 0.)
		require.Greater(t, row[5], row[4])
	}
	im, err := raster.Read(b.path("map.png"))
	require.NoError(t, err)
	require.Equal(t, 3, im.C)
}

// TestInterpolateSeries is regress without a model on a series of dates.
func TestInterpolateSeries(t *testing.T) {
	b := newBench(t)
	var data strings.Builder
	data.WriteString("time,t2m\n")
	for i := range 60 {
		fmt.Fprintf(&data, "20%02d-%02d-01,%g\n", 10+i/12, 1+i%12, 1000+10*math.Sin(float64(i)*math.Pi/6)+0.1*float64(i*7%5))
	}
	b.write("data.csv", data.String())
	b.write("targets.csv", "time\n2012-06-15\n2015-07-01\n")
	for _, more := range [][]string{nil, {"--period", "1y"}, {"--no-check"}, {"--log", "t2m"}} {
		b.ok(append([]string{"regress", "--csv", "@data.csv", "--x", "time", "--y", "t2m", "--targets", "@targets.csv", "--out",
			"@pred.csv", "--plot", "@fig.svg"}, more...)...)
		pred, err := tabular.ReadFile(b.path("pred.csv"))
		require.NoError(t, err)
		require.Equal(t, []string{"time", "t2m_mean", "t2m_std"}, pred.Header)
		require.InDelta(t, 1000+10*math.Sin(5.5*math.Pi/6), pred.Values[1], 2)
		require.InDelta(t, 1000, pred.Values[4], 6)
	}
	series := []string{"--x", "time", "--y", "t2m", "--no-check", "--out", "@pred.csv"}
	for _, c := range []struct{ args, first, last string }{
		{"regress --csv @data.csv --grid time=2014-12-01:2015-06-01:1mo", "2014-12-01", "2015-06-01"},
		{"regress --csv @data.csv --grid time=2014-12-01:2014-12-02:6h", "2014-12-01 00:00:00", "2014-12-02 00:00:00"},
		{"regress --csv @data.csv --from 2014-12-01 --to 2014-12-07 --points 7", "2014-12-01", "2014-12-07"},
		{"predict --in @data.csv --grid time=2014-12-01:2014-12-07:1", "2014-12-01", "2014-12-07"},
	} {
		b.ok(append(strings.Fields(c.args), series...)...)
		pred, err := tabular.ReadFile(b.path("pred.csv"))
		require.NoError(t, err)
		require.Equal(t, []string{c.first, c.last}, []string{pred.Text(0, 0), pred.Text(pred.Rows()-1, 0)})
	}
}

// TestInterpolateSphere is regress without a model on the globe.
func TestInterpolateSphere(t *testing.T) {
	b := newBench(t)
	var data strings.Builder
	data.WriteString("lat,lon,y\n")
	for i := range 90 {
		lat, lon := float64(i*37%170-85), float64(i*101%360-180)
		fmt.Fprintf(&data, "%g,%g,%g\n", lat, lon, lat/30+math.Cos(lon*math.Pi/180))
	}
	b.write("data.csv", data.String())
	b.write("targets.csv", "lat,lon\n0,180\n0,-180\n")
	b.ok("regress", "--csv", "@data.csv", "--sphere", "--targets", "@targets.csv", "--out", "@pred.csv")
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	require.InDelta(t, pred.Values[2], pred.Values[6], 1e-6)
	sample := []string{"sample", "--csv", "@data.csv", "--sphere", "--samples", "1", "--out", "@sample.csv", "--targets", "@targets.csv"}
	b.ok(sample...)
	require.Equal(t, []string{"0,180", "0,-180"}, starts(b.files()["sample.csv"]))
	b.fails(2, "--sphere: with a model it is a grid of targets", append(sample, "--model", "universal-globe")...)
	b.ok("sample", "--csv", "@data.csv", "--sphere", "--samples", "1", "--out", "@sample.csv", "--grid", "lat=10,lon=5:6:1")
	require.Equal(t, []string{"10,5", "10,6"}, starts(b.files()["sample.csv"]))
	b.ok("regress", "--csv", "@data.csv", "--sphere=30", "--out", "@pred.csv", "--plot", "@globe.png")
	require.Equal(t, 73, strings.Count(b.files()["pred.csv"], "\n"))
	plane := []string{"regress", "--csv", "@data.csv", "--x", "lat,lon", "--targets", "@targets.csv", "--out", "@pred.csv", "--json"}
	got := decode[interpolateResult](t, b.ok(plane...))
	require.Contains(t, got.Notes, "lat and lon are taken for a plane, without poles and a date line: --sphere takes them for "+
		"places on the globe")
}

// notes are the notes of what a command prints with --json, one a line.
func notes(t *testing.T, out string) string {
	var said struct{ Notes []string }
	require.NoError(t, json.Unmarshal([]byte(out), &said), out)
	return strings.Join(said.Notes, "\n")
}

// starts are the first two cells of each row of a table of text with a header.
func starts(text string) (rows []string) {
	for line := range strings.Lines(text) {
		cells := strings.Split(line, ",")
		rows = append(rows, cells[0]+","+cells[1])
	}
	return rows[1:]
}

// TestInterpolateAuxiliary: auxiliary inputs without a model are a drift, and every command that predicts a table says the same.
func TestInterpolateAuxiliary(t *testing.T) {
	b := newBench(t)
	var context, targets strings.Builder
	context.WriteString("east,north,height,t\n")
	targets.WriteString("east,north,height\n")
	for i := range 60 {
		east, north, height := math.Mod(float64(i)*7.3, 10), math.Mod(float64(i)*3.1, 10), math.Mod(float64(i*i), 9)*100
		fmt.Fprintf(&context, "%g,%g,%g,%g\n", east, north, height, math.Sin(east/2)+north/10-height/150)
		fmt.Fprintf(&targets, "%g,%g,%g\n", east/2+1, north/2+1, 900-height)
	}
	context.WriteString("3,3,,1\n")
	b.write("context.csv", context.String())
	b.write("targets.csv", targets.String())
	with := []string{"--x", "east,north", "--y", "t", "--aux", "height", "--targets", "@targets.csv"}
	said := b.ok(append([]string{"regress", "--csv", "@context.csv", "--out", "@regress.csv"}, with...)...)
	require.Contains(t, said, "t grows by -0.006")
	const beyond = "auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: height, "
	for _, args := range [][]string{{"regress", "--csv", "@context.csv", "--out", "@o.csv"},
		{"predict", "--in", "@context.csv", "--out", "@predict.csv"},
		{"stations", "--csv", "@context.csv", "--out", "@stations.csv", "--rows", "16"},
		{"sample", "--csv", "@context.csv", "--samples", "2", "--out", "@sample.csv"}} {
		require.Contains(t, notes(t, b.ok(append(append(args, with...), "--json")...)), beyond+"33 targets outside 0 to 700", args[0])
	}
	want, err := tables.ReadFile(b.path("regress.csv"), nil)
	require.NoError(t, err)
	column := func(of *table.Table, name string) int { return slices.Index(of.Header, name) }
	at, err := tables.ReadFile(b.path("targets.csv"), nil)
	require.NoError(t, err)
	inputs := []string{"east", "north", "height"} // heights tell rows of one place apart
	require.Equal(t, append(inputs, "t_mean", "t_std"), want.Header)
	require.Equal(t, at.Take(0, 1, 2), want.Take(0, 1, 2))
	for _, name := range []string{"predict.csv", "stations.csv", "sample.csv"} {
		got, err := tables.ReadFile(b.path(name), nil)
		require.NoError(t, err)
		require.Equal(t, inputs, got.Header[:3], name)
		if name == "sample.csv" {
			continue
		}
		require.Equal(t, want.Rows(), got.Rows(), name)
		for _, of := range []string{"t_mean", "t_std"} {
			for row := range got.Rows() {
				w := want.Values[row*want.Cols+column(want, of)]
				require.InDelta(t, w, got.Values[row*got.Cols+column(got, of)], 1e-4, "%s: row %d", name, row)
			}
		}
	}
	b.fails(1, "nobody knows height at all places of the map",
		append([]string{"regress", "--csv", "@context.csv", "--out", "@o.csv", "--plot", "@o.png"}, with...)...)
	// Where the effect of height is not known yet, heights tell it.
	b.write("few.csv", "east,north,height,t\n1,1,400,3\n9,2,410,4\n2,9,405,3.5\n8,8,395,4.5\n5,5,400,4\n")
	b.write("sites.csv", "east,north,height\n4,4,400\n5,6,400\n6,5,2000\n3,7,410\n")
	chosen := decode[designResult](t, b.ok("design", "--csv", "@few.csv", "--x", "east,north", "--y", "t", "--aux", "height",
		"--candidates", "@sites.csv", "--targets", "@targets.csv", "--number", "1", "--out", "@o.csv", "--json"))
	require.Equal(t, []int{2}, chosen.Chosen)
	row, err := tables.ReadFile(b.path("o.csv"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"east", "north", "height", "order"}, row.Header[:4])
	require.Equal(t, []float64{6, 5, 2000, 1}, row.Values[:4])
	// Of a raster means are the first band, whatever else is known of its cells.
	b.write("cells.csv", "east,north,height\n1,1,400\n2,1,500\n1,2,410\n2,2,390\n")
	for command, in := range map[string]string{"regress": "--csv", "predict": "--in"} {
		b.ok(command, in, "@context.csv", "--x", "east,north", "--y", "t", "--aux", "height", "--targets", "@cells.csv", "--out", "@m.tif")
		raster, err := os.ReadFile(b.path("m.tif"))
		require.NoError(t, err)
		require.Contains(t, string(raster), `sample="0" role="description">t_mean<`, command)
		require.NotContains(t, string(raster), "height", command)
	}
	b.fails(1, "nobody knows height at all places", "design", "--csv", "@few.csv", "--x", "east,north", "--y", "t", "--aux", "height",
		"--candidates", "@sites.csv", "--number", "1", "--out", "@o.csv", "--plot", "@o.png")
	b.fails(1, "the cell is missing", "design", "--csv", "@few.csv", "--x", "east,north", "--y", "t", "--aux", "height", "--candidates",
		"@context.csv", "--targets", "@targets.csv", "--number", "1", "--out", "@o.csv")
}

// TestInterpolateUnknown: commands that predict tasks without values say that their predictions mean nothing.
func TestInterpolateUnknown(t *testing.T) {
	b := newBench(t)
	b.write("empty.csv", "x,y\n1,\n2,NA\n")
	b.write("equal.csv", "x,y\n1,5\n2,5\n3,5\n")
	b.write("targets.csv", "x\n1.5\n")
	b.write("tasks.csv", "day,x,y\na,1,2\na,2,3\nb,1,\nc,1,4\nc,2,4\n")
	for file, want := range map[string]string{
		"empty.csv": "there are no values: nothing is known, and predictions are 0 with a deviation of 1",
		"equal.csv": "one value, or equal ones: their spread is not known"} {
		for command, in := range map[string]string{"predict": "--in", "stations": "--csv", "sample": "--csv"} {
			said := b.ok(command, in, "@"+file, "--targets", "@targets.csv", "--x", "x", "--y", "y", "--out", "@o.csv", "--json")
			require.Contains(t, notes(t, said), want, command)
		}
	}
	b.write("nothing.csv", "")
	for command, in := range map[string]string{"predict": "--in", "stations": "--csv", "sample": "--csv", "regress": "--csv"} {
		b.fails(1, "nothing.csv: the file is empty", command, in, "@equal.csv", "--targets", "@nothing.csv", "--x", "x", "--y", "y",
			"--out", "@o.csv")
	}
	said := b.ok("predict", "--in", "@tasks.csv", "--task", "day", "--x", "x", "--y", "y", "--targets", "@targets.csv", "--out", "@o.csv",
		"--json")
	require.Contains(t, notes(t, said), "1 of 3 tasks have no values: nothing is known of them")
	require.Contains(t, notes(t, said), "1 of 3 tasks have one value, or equal ones: their spread is not known")
}

func TestInterpolateRefuses(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.write("data.csv", "x,y\n1,2\n2,-1\n3,2\n")
	b.write("empty.csv", "x,y\n")
	b.write("nothing.csv", "")
	b.write("header.csv", "x\n")
	b.write("column.csv", "1\n2\n3\n")
	b.write("plane.csv", "x1,x2,y\n1,2,3\n2,2,4\n")
	target := []string{"--from", "0", "--to", "1", "--out", "@pred.csv"}
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{1, "has no logarithm", []string{"--csv", "@data.csv", "--log", "y"}},
		{1, "never negative", []string{"--csv", "@data.csv", "--positive"}},
		{2, "no output of this name", []string{"--csv", "@data.csv", "--log", "z"}},
		{2, "--units \"none\"", []string{"--csv", "@data.csv", "--units", "none"}},
		{2, "--period \"1q\"", []string{"--csv", "@data.csv", "--period", "1q"}},
		{2, "--aux: use --targets with a table that has x2", []string{"--csv", "@plane.csv", "--x", "x1", "--aux", "x2"}},
		{2, "--static: interpolation without a model", []string{"--csv", "@data.csv", "--static", "@plane.csv"}},
		{2, "leave --model out", []string{"--csv", "@data.csv", "--model", "@m.safetensors", "--positive"}},
		{1, "has no values", []string{"--csv", "@empty.csv"}},
		{2, "use --grid or --targets", []string{"--csv", "@plane.csv"}},
		{1, "nothing.csv: the file is empty: need a table with a header or rows", []string{"--csv", "@nothing.csv"}},
		{1, "column.csv: 1 column without a header: need one or more of inputs", []string{"--csv", "@column.csv"}},
	} {
		b.fails(c.status, c.want, append(append([]string{"regress"}, c.args...), target...)...)
	}
	b.write("wide.csv", "a,b,c,d,e,f,g,h,i,y\n1,2,3,4,5,6,7,8,9,1\n2,3,4,5,6,7,8,9,1,2\n")
	b.fails(2, "--sphere: --x names 3 inputs, and the globe has latitude and longitude: --aux takes others", "regress", "--csv",
		"@plane.csv", "--x", "x1,x2,y", "--y", "y", "--sphere", "--out", "@o.csv")
	b.fails(1, "9 inputs, need 1 to 8: --aux takes others", "regress", "--csv", "@wide.csv", "--x", "a,b,c,d,e,f,g,h,i", "--y", "y",
		"--targets", "@wide.csv", "--out", "@o.csv")
	b.fails(1, "plane.csv:1:1: the columns do not fit", "stations", "--csv", "@data.csv", "--targets", "@plane.csv", "--out", "@o.csv")
	regress := []string{"regress", "--csv", "@data.csv", "--out", "@pred.csv", "--targets"}
	for _, more := range [][]string{nil, {"--model", "@m.safetensors"}} {
		b.fails(1, "nothing.csv: the file is empty", append(append(regress, "@nothing.csv"), more...)...)
		require.Contains(t, b.ok(append(append(regress, "@header.csv"), more...)...), "header.csv has no rows: there is nothing to predict")
	}
}

// Dates stay dates on the axis of a plot: of years, and of hours with a zone.
func TestInterpolatePlotDates(t *testing.T) {
	b := newBench(t)
	months, hours := "date,v\n", "time,v\n"
	for i := range 36 {
		months += fmt.Sprintf("%d-%02d-15,%d\n", 1950+i/12, 1+i%12, i*i%7)
		hours += fmt.Sprintf("2024-03-%02dT%02d:30:00+02:00,%d\n", 30+i/24, i%24, i*i%7)
	}
	b.write("months.csv", months)
	b.write("hours.csv", hours)
	for _, c := range []struct{ file, x, from, to, says string }{
		{"months", "date", "1950-01-01", "1954-06-01", "1951 1952 1953 1954"},
		{"hours", "time", "2024-03-30", "2024-04-01T12:00", "30 Mar 12:00 31 Mar 00:00 1 Apr 12:00"},
	} {
		b.ok("regress", "--csv", "@"+c.file+".csv", "--x", c.x, "--y", "v", "--from", c.from, "--to", c.to, "--out",
			"@p.csv", "--plot", "@"+c.file+".svg")
		drawn, err := os.ReadFile(b.path(c.file + ".svg"))
		require.NoError(t, err)
		for _, label := range strings.Fields(c.says) {
			require.Contains(t, string(drawn), label)
		}
	}
}

// Days of one table share a covariance, and days of two kinds do not fail for it.
func TestPredictShares(t *testing.T) {
	b := newBench(t)
	days := "day,x1,x2,rain,context\n"
	for i := range 8 * 16 {
		day, east, north := i/16, float64(i*37%101)/100, float64(i*53%97)/97
		rain := float64(10*day) + math.Exp(float64(day%3))*math.Sin(6*east+float64(day))*math.Cos(5*north-float64(2*day))
		days += fmt.Sprintf("%d,%g,%g,%g,%d\n", day, east, north, rain, min(1, i%16%4))
	}
	b.write("days.csv", days)
	args := []string{"predict", "--in", "@days.csv", "--x", "x1,x2", "--y", "rain", "--task", "day", "--no-check",
		"--out", "@p.csv", "--json"}
	got := decode[predictResult](t, b.ok(args...))
	require.Equal(t, 8, got.Tasks)
	require.Contains(t, fmt.Sprint(got.Notes), "tasks share the parameters of the covariance")
	b.write("days.csv", "day,x1,x2,rain\n1,0,0,1\n1,1,0,2\n2,0,0,3\n3,1,1,\n")
	got = decode[predictResult](t, b.ok(args...))
	require.NotContains(t, fmt.Sprint(got.Notes), "share", "tasks of two values")
}

// TestBacktest: regress forecasts from earlier origins, prints how good that was and writes the forecasts.
func TestBacktest(t *testing.T) {
	b := newBench(t)
	b.write("sales.csv", salesTable)
	with := func(more ...string) []string {
		return append([]string{"regress", "--csv", "@sales.csv", "--x", "date", "--y", "sales", "--backtest", "2"}, more...)
	}
	out := b.ok(with("--next", "3", "--stride", "2", "--out", "@bt.csv", "--quantiles", "0.5")...)
	require.Contains(t, out, "backtest        2 origins of 1 series, 3 steps each, 2 steps apart\n")
	require.Contains(t, out, "seasonal naive, 7 ")
	require.Contains(t, out, "model, step 3 ")
	bt, err := tabular.ReadFile(b.path("bt.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"date", "origin", "step", "value", "mean", "std", "q0.5"}, bt.Header)
	require.Equal(t, 6, bt.Rows())
	got := decode[map[string]any](t, b.ok(with("--next", "3", "--json")...))
	model := got["outputs"].(map[string]any)["sales"].(map[string]any)["model"].(map[string]any)
	require.Equal(t, 6., model["overall"].(map[string]any)["values"])
	require.Len(t, model["steps"], 3)

	b.fails(2, "--backtest: --next says how many steps", with()...)
	b.fails(2, "--backtest 2, --next 60: with origins 60 steps apart a series needs values at 130 times", with("--next", "60")...)
	b.fails(2, "--backtest is for interpolation without a model", with("--next", "3", "--model", "rbf-levels")...)
	b.fails(2, "[backtest plot]", with("--next", "3", "--plot", "@p.png")...)
	b.fails(2, "--stride is for --backtest", "regress", "--csv", "@sales.csv", "--next", "3", "--stride", "2", "--out", "@o.csv")
}

// TestCrossValidate: regress without targets writes the table of all rows as other folds predict them, and prints it; what does not go
// with it is refused.
func TestCrossValidate(t *testing.T) {
	b := newBench(t)
	planeTable(b)
	zinc := []string{"regress", "--csv", "@zinc.csv", "--x", "east,north", "--y", "zinc"}
	with := func(more ...string) []string { return append(slices.Clone(zinc), more...) }
	out := b.ok(with("--positive", "--cross-validate", "@cv.csv", "--folds", "4", "--quantiles", "0.5")...)
	require.Contains(t, out, "left out        4 compact blocks of neighbouring rows, of 20 rows")
	require.Contains(t, out, "zinc: each of 80 values predicted from other folds: log density ")
	require.Contains(t, out, "worse than the check, which leaves single values out")
	require.NotContains(t, out, "targets")
	cv, err := tabular.ReadFile(b.path("cv.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"east", "north", "fold", "zinc", "zinc_mean", "zinc_std", "zinc_q0.5"}, cv.Header)
	require.Equal(t, 80, cv.Rows())

	got := decode[map[string]any](t, b.ok(with("--cross-validate", "@cv.csv", "--grid", "500", "--out", "@o.csv", "--json")...))
	outputs := got["cross_validation"].(map[string]any)["outputs"].(map[string]any)
	require.Equal(t, 80., outputs["zinc"].(map[string]any)["values"])
	require.FileExists(t, b.path("o.csv"))

	b.fails(1, `--folds: `, with("--cross-validate", "@cv.csv", "--folds", "zinc2")...)
	b.fails(2, "--folds is for --cross-validate", with("--folds", "4", "--grid", "500", "--out", "@o.csv")...)
	b.fails(2, `"out" not set`, with("--cross-validate", "@cv.csv", "--grid", "500")...)
	b.fails(2, `"out" not set`, with()...)
	b.fails(2, "--cross-validate is for interpolation without a model",
		with("--model", "rbf-levels", "--cross-validate", "@cv.csv")...)
	b.fails(2, `--folds "1": need a number of blocks`, with("--cross-validate", "@cv.csv", "--folds", "1")...)
}

// TestInterpolatePlane: of three inputs and more, --plot draws the plane of the two that vary among targets, with the rows in it.
func TestInterpolatePlane(t *testing.T) {
	b := newBench(t)
	var rows strings.Builder
	rows.WriteString("east,north,depth,day,grade\n")
	for i := range 60 {
		east, north, depth := math.Mod(float64(i)*7.3, 10), math.Mod(float64(i)*3.1, 10), float64(i%6*5)
		fmt.Fprintf(&rows, "%g,%g,%g,2024-03-%02d,%g\n", 6100000+east, north, depth, 1+i%7, math.Sin(east/2)+depth/10)
	}
	b.write("holes.csv", rows.String())
	space := []string{"regress", "--csv", "@holes.csv", "--x", "east,north,depth", "--y", "grade", "--units", "different", "--out",
		"@o.csv"}
	b.ok(append(space, "--grid", "east=6100000:6100010:1,north=0:10:1,depth=5", "--plot", "@level.svg")...)
	level, err := os.ReadFile(b.path("level.svg"))
	require.NoError(t, err)
	for _, label := range []string{">east<", ">north<", "depth = 5,"} {
		require.Contains(t, string(level), label)
	}
	b.ok(append(space, "--grid", "east=6100003,north=0:10:1,depth=0:25:1", "--plot", "@section.svg")...)
	section, err := os.ReadFile(b.path("section.svg"))
	require.NoError(t, err)
	for _, label := range []string{">north<", ">depth<", "east = 6100003,"} {
		require.Contains(t, string(section), label)
	}
	require.Greater(t, strings.Count(string(level), "<path"), strings.Count(string(section), "<path"), "ten rows lie in the level")
	b.ok("regress", "--csv", "@holes.csv", "--x", "east,north,day", "--y", "grade", "--units", "different", "--out", "@o.csv",
		"--grid", "east=6100000:6100010:1,north=0:10:1,day=2024-03-02:2024-03-02:1d", "--plot", "@day.svg")
	day, err := os.ReadFile(b.path("day.svg"))
	require.NoError(t, err)
	require.Contains(t, string(day), "day = 2024-03-02,")
	for _, grid := range []string{"east=6100000:6100002:1,north=0:2:1,depth=0:5:5", "east=6100001,north=0:2:1,depth=5"} {
		b.fails(1, "3 inputs; a curve needs one, a map two, or targets that vary in two alone",
			append(space, "--grid", grid, "--plot", "@o.png")...)
	}
}
