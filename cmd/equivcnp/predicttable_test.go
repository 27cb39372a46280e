package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

const walks = "run,x,y,note\nb,-1,0.5,first\na,0,0.25,\nb,0.5,-0.5,\na,1,,missing\nb,2,1,\n"

// table reads a table that the program wrote.
func (b *bench) table(name string) *tabular.Table {
	b.t.Helper()
	t, err := tables.ReadFile(b.path(name), nil)
	require.NoError(b.t, err)
	return t
}

// Tasks of a table are predicted as the model predicts each alone, whatever the format; gaps are no context.
func TestPredictTable(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", curveConfig()).(cnp.Regressor[float32])
	require.NoError(t, os.WriteFile(b.path("in.csv"), []byte(walks), 0o600))
	in := b.table("in.csv")
	f, err := os.Create(b.path("in.parquet"))
	require.NoError(t, err)
	require.NoError(t, tables.Write(f, "in.parquet", in, []int{1}))
	require.NoError(t, f.Close())

	want := map[string][]float32{}
	for name, x := range map[string][]float64{"a": {0, 1}, "b": {-1, 0.5, 2}} {
		batch := &cnp.Batch[float32]{B: 1, XTarget: x, Nt: len(x)}
		if name == "a" {
			batch.XContext, batch.YContext, batch.Nc = x[:1], []float32{0.25}, 1
		} else {
			batch.XContext, batch.YContext, batch.Nc = x, []float32{0.5, -0.5, 1}, 3
		}
		p, err := m.Predict(context.Background(), batch)
		require.NoError(t, err)
		want[name] = p.Mean
	}
	mean := []float32{want["b"][0], want["a"][0], want["b"][1], want["a"][1], want["b"][2]}
	for _, out := range []string{"out.csv", "out.tsv", "out.parquet", "out.nc"} {
		for _, file := range []string{"@in.csv", "@in.parquet"} {
			b.ok("predict", "--model", "@m.safetensors", "--in", file, "--task", "run", "--quantiles", "0.5", "--out", "@"+out)
			got := b.table(out)
			require.Equal(t, []string{"run", "x", "y_mean", "y_std", "y_q0.5"}, got.Header)
			for i, v := range mean {
				require.Equal(t, []string{"b", "a", "b", "a", "b"}[i], got.Text(i, 0))
				require.Equal(t, v, float32(got.Values[i*5+2]))
				require.InDelta(t, v, got.Values[i*5+4], 1e-6)
			}
		}
	}

	require.NoError(t, os.WriteFile(b.path("where.csv"), []byte("run,x,y\na,1,0.5\nb,0.5,\n"), 0o600))
	out := b.ok("predict", "--model", "@m.safetensors", "--in", "@in.parquet", "--task", "run", "--targets", "@where.csv",
		"--out", "@out.csv", "--samples", "2")
	require.Contains(t, out, "log-likelihood")
	got := b.table("out.csv")
	require.Equal(t, []string{"run", "x", "y_mean", "y_std", "y_sample1", "y_sample2"}, got.Header)
	require.Equal(t, []float32{want["a"][1], want["b"][1]}, tabletask.Single(got.Take(2)))

	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.csv", "--task", "run", "--grid", "x=-1:2:0.5", "--out", "@out.csv")
	got = b.table("out.csv")
	require.Equal(t, 14, got.Rows()) // both tasks, in the order of their first rows
	require.Equal(t, want["b"][0], float32(got.Values[2]))
	require.Equal(t, want["b"][2], float32(got.Values[6*4+2]))
	require.Equal(t, want["a"][0], float32(got.Values[9*4+2]))

	require.NoError(t, os.WriteFile(b.path("where2.csv"), []byte("run,x\nc,1\n"), 0o600))
	b.fails(1, `has no task c`, "predict", "--model", "@m.safetensors", "--in", "@in.csv", "--task", "run", "--targets",
		"@where2.csv", "--out", "@x.csv")
}

// A table without rows has nothing to predict, which is said; a file without anything is an error.
func TestEmptyTables(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.write("data.csv", "x,y\n0,1\n1,2\n")
	b.write("empty.csv", "")
	b.write("header.csv", "x,y\n")
	b.write("places.csv", "x\n")
	predict := []string{"predict", "--model", "@m.safetensors", "--out", "@o.csv", "--in"}
	b.fails(1, "empty.csv: the file is empty", append(predict, "@empty.csv")...)
	b.fails(1, "empty.csv: the file is empty", append(predict, "@data.csv", "--targets", "@empty.csv")...)
	for _, args := range [][]string{append(predict, "@header.csv"), append(predict, "@data.csv", "--targets", "@places.csv"),
		{"stations", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets", "@places.csv", "--out", "@o.csv"}} {
		status, _, errs := b.run(args...)
		require.Zero(t, status, errs)
		require.Contains(t, errs, ": there is nothing to predict")
		require.Zero(t, b.table("o.csv").Rows())
	}
}

// Times are on the clock of the file, wherever the dates stand, and a calendar of other days is refused.
func TestClocksOfFiles(t *testing.T) {
	b := newBench(t)
	in := testkit.Shared(t, "cases", "04_time_hours.nc")
	b.write("dates.csv", "time\n2000-01-02\n2000-01-03T00:00:00+00:00\n2000-01-04 02:00:00+02:00\n")
	b.write("hours.csv", "time\n24\n48\n72\n")
	common := []string{"--model", "rbf-levels", "--x", "time", "--y", "y", "--out", "@o.csv"}
	var want []float64
	for i, args := range [][]string{
		{"predict", "--in", in, "--targets", "@hours.csv"},
		{"predict", "--in", in, "--targets", "@dates.csv"},
		{"predict", "--in", in, "--grid", "time=2000-01-02:2000-01-04:1"},
		{"regress", "--csv", in, "--targets", "@dates.csv"},
		{"regress", "--csv", in, "--from", "2000-01-02", "--to", "2000-01-04", "--points", "3"},
		{"stations", "--csv", in, "--targets", "@dates.csv"},
	} {
		b.ok(append(args, common...)...)
		got := b.inHours("o.csv", i > 0)
		if i == 0 {
			want = got
		}
		require.InDeltaSlice(t, want, got, 1e-5, "%v", args)
	}
	b.clocksWithoutModel(in)
	data, err := os.ReadFile(in)
	require.NoError(t, err)
	b.write("sols.nc", strings.Replace(string(data), "hours since 2000-01-01 00:00:00", "months since 2000-01-01 00:00:0", 1))
	b.fails(1, "which have no one length", append([]string{"predict", "--in", "@sols.nc", "--targets", "@dates.csv"}, common...)...)
	old := []string{"regress", "--csv", in, "--from", "1500-01-01", "--to", "2000-01-04", "--points", "3"}
	b.fails(1, "another in the calendar", append(old, common...)...)
	b.write("plain.csv", "time,y\n0,1\n24,2\n")
	b.fails(1, "without a unit of time", append([]string{"predict", "--in", "@plain.csv", "--targets", "@dates.csv"}, common...)...)
	b.fails(2, "need 1 to", "regress", "--model", "rbf-levels", "--csv", "@plain.csv", "--from", "0", "--to", "1", "--points",
		"0", "--out", "@o.csv")
	b.fails(2, "only one input can be", "regress", "--model", "rbf-levels", "--csv", "-", "--targets", "/dev/stdin", "--out", "@o.csv")
}

// Identifiers are tasks of their own where float64 does not tell them apart, and are written as they were; a grid of
// several tasks keeps its dimensions.
func TestTasksOfLongNumbers(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"10_task_ids", "11_task_underscore"} {
		for _, out := range []string{"o.csv", "o.parquet", "o.npz", "o.nc"} {
			b.ok("predict", "--model", "rbf-levels", "--in", testkit.Shared(t, "cases", name+".csv"), "--grid", "x=0:1:0.5",
				"--out", "@"+out)
			got := b.table(out)
			require.Equal(t, 6, got.Rows(), out)
			require.Equal(t, "task", got.Header[0])
			want := []string{"2023552585717263358", "2023552585717263359"}
			if name == "11_task_underscore" {
				want = []string{"1_12", "11_2"}
			}
			require.Equal(t, want, []string{got.Cell(0, 0), got.Cell(5, 0)}, out)
			require.Less(t, got.Values[2], 1.0)
			require.Greater(t, got.Values[5*got.Cols+2], 3.0)
		}
		f, err := os.ReadFile(b.path("o.nc"))
		require.NoError(t, err)
		nc, err := netcdf.Decode(f)
		require.NoError(t, err)
		require.Equal(t, []int{2, 3}, nc.Shape(nc.Var("y_mean")))
	}
	b.write("where.csv", "task,x\n2023552585717263359,0.5\n")
	b.ok("predict", "--model", "rbf-levels", "--in", testkit.Shared(t, "cases", "10_task_ids.csv"), "--targets", "@where.csv",
		"--out", "@o.csv")
	require.Greater(t, b.table("o.csv").Values[2], 3.0)
}

// An input may be called y.
func TestInputNamedY(t *testing.T) {
	b := newBench(t)
	b.write("in.csv", "y,z\n0,1\n1,2\n")
	b.write("de.csv", "y;z\n0,0;1,0\n1,0;2,0\n")
	b.ok("predict", "--model", "rbf-levels", "--in", "@in.csv", "--x", "y", "--y", "z", "--grid", "y=0:1:0.5", "--out", "@o.csv")
	want := b.table("o.csv")
	require.Equal(t, 3, want.Rows())
	b.ok("predict", "--model", "rbf-levels", "--in", "@de.csv", "--decimal", ",", "--x", "y", "--y", "z", "--grid", "y=0:1:0.5",
		"--out", "@o.csv")
	require.Equal(t, want.Values, b.table("o.csv").Values)
	b.fails(2, "need a point or a comma", "predict", "--model", "rbf-levels", "--in", "@de.csv", "--decimal", ";", "--out", "@o.csv")
}

// BenchmarkPredictTable reads 20,000 rows of 200 tasks, predicts half of them from the other half with rbf-equivcnp,
// and writes them, in every format of tables.
func BenchmarkPredictTable(b *testing.B) {
	const rows, tasks = 20_000, 200
	w := newBench(b)
	rng := rand.New(rand.NewPCG(1, 2))
	var run, x, y []float64
	for i := range rows {
		run, x, y = append(run, float64(i%tasks)), append(x, 4*rng.Float64()-2), append(y, rng.NormFloat64())
		if i/tasks%2 == 0 {
			y[i] = math.NaN()
		}
	}
	t := tabular.Of([]tabular.Column{{Name: "run", Values: run}, {Name: "x", Values: x}, {Name: "y", Values: y}})
	for _, ending := range []string{".csv", ".parquet", ".npz", ".nc"} {
		f, err := os.Create(w.path("in" + ending))
		require.NoError(b, err)
		require.NoError(b, tables.Write(f, f.Name(), t, []int{1}))
		require.NoError(b, f.Close())
		b.Run("format="+ending[1:], func(b *testing.B) {
			for b.Loop() {
				w.ok("predict", "--model", "rbf-equivcnp", "--in", "@in"+ending, "--task", "run", "--out", "@out"+ending)
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// inHours are the values of a table whose first column has dates, if that is so, as hours since 2000-01-01.
func (b *bench) inHours(name string, dates bool) []float64 {
	t := b.table(name)
	if dates {
		days, err := t.Coordinates(0)
		require.NoError(b.t, err)
		for row, v := range days {
			t.Values[row*t.Cols] = 24 * (v - 10957)
		}
	}
	return t.Values
}

// clocksWithoutModel is TestClocksOfFiles for tables that are interpolated themselves: dates are predicted as their hours are.
func (b *bench) clocksWithoutModel(in string) {
	common := []string{"--x", "time", "--y", "y", "--no-check", "--out", "@o.csv"}
	predicted := func(dates bool, args ...string) []float64 {
		b.ok(append(args, common...)...)
		return b.inHours("o.csv", dates)
	}
	for _, command := range [][]string{{"regress", "--csv", in}, {"predict", "--in", in}, {"stations", "--csv", in}} {
		want := predicted(false, append(command, "--targets", "@hours.csv")...)
		got := [][]float64{predicted(true, append(command, "--targets", "@dates.csv")...)}
		if command[0] == "regress" {
			got = append(got, predicted(true, append(command, "--from", "2000-01-02", "--to", "2000-01-04", "--points", "3")...))
		}
		require.Equal(b.t, []float64{24, 48, 72}, []float64{want[0], want[3], want[6]})
		for _, values := range got {
			require.InDeltaSlice(b.t, want, values, 1e-5, "%v", command)
		}
	}
	b.write("numbers.csv", "time,y\n0,1\n24,2\n48,1\n72,0\n")
	b.fails(1, "without a unit of time", "regress", "--csv", "@numbers.csv", "--x", "time", "--y", "y", "--from", "2000-01-02", "--to",
		"2000-01-04", "--out", "@new.csv")
}

// Tasks that are times of a NetCDF file stay times: their column has the file's unit and calendar.
func TestTasksOfTimes(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	in := &tabular.Table{Cols: 3, Header: []string{"time", "x", "y"}, Units: []string{"hours since 2000-01-01", "m", "K"},
		Calendars: []string{"noleap", "", ""}, Values: []float64{6, 0, 1, 6, 1, 2, 12, 0, 3, 12, 1, 4}}
	var data bytes.Buffer
	require.NoError(t, tables.Write(&data, "in.nc", in, []int{0, 1}))
	b.write("in.nc", data.String())
	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.nc", "--task", "time", "--grid", "x=0:1:0.5", "--out", "@out.nc")
	got := b.table("out.nc")
	require.Equal(t, []string{"time", "x", "y_mean", "y_std"}, got.Header)
	require.Equal(t, []string{"hours since 2000-01-01", "m", "K", "K"}, got.Units)
	require.Equal(t, "noleap", got.Calendars[0])
	require.Equal(t, []float64{6, 6, 6, 12, 12, 12}, got.Take(0))
}
