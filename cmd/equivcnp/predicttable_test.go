package main

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
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
	out := b.ok("predict", "--model", "@m.safetensors", "--in", "@in.parquet", "--task", "run", "--targets", "@where.csv", "--out", "@out.csv", "--samples", "2")
	require.Contains(t, out, "log-likelihood")
	got := b.table("out.csv")
	require.Equal(t, []string{"run", "x", "y_mean", "y_std", "y_sample1", "y_sample2"}, got.Header)
	require.Equal(t, []float32{want["a"][1], want["b"][1]}, single(got.Take(2)))

	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.csv", "--task", "run", "--grid", "x=-1:2:0.5", "--out", "@out.csv")
	got = b.table("out.csv")
	require.Equal(t, 14, got.Rows()) // both tasks, in the order of their first rows
	require.Equal(t, want["b"][0], float32(got.Values[2]))
	require.Equal(t, want["b"][2], float32(got.Values[6*4+2]))
	require.Equal(t, want["a"][0], float32(got.Values[9*4+2]))

	require.NoError(t, os.WriteFile(b.path("where2.csv"), []byte("run,x\nc,1\n"), 0o600))
	b.fails(1, `has no task c`, "predict", "--model", "@m.safetensors", "--in", "@in.csv", "--task", "run", "--targets", "@where2.csv", "--out", "@x.csv")
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

func TestParseGrid(t *testing.T) {
	axes, err := parseGrid([]string{"lon=-10:10:5", "time=1970-01-03", "lat=50:60.5:10"}, []string{"lat", "lon", "time"})
	require.NoError(t, err)
	require.Equal(t, []axis{{"lon", []float64{-10, -5, 0, 5, 10}}, {"time", []float64{2}}, {"lat", []float64{50, 60}}}, axes)
	table := gridTable(axes, []string{"lat", "lon", "time"})
	require.Equal(t, 10, table.Rows())
	require.Equal(t, []float64{50, -10, 2, 60, -10, 2, 50, -5, 2}, table.Values[:9])
	for text, words := range map[string]string{"lat=1:2": "need FROM:TO:STEP", "lat=a:2:1": `"a" is not a number`, "lat=2:1:1": "values from the first to the second",
		"lat=1:2:0": "values from the first to the second", "x=1:2:1": "the inputs are lat", "lat=0:1e9:1e-9": "need 1 to", "lat=NaN": "not a finite number"} {
		_, err := parseGrid(strings.Fields(text), []string{"lat"})
		require.ErrorContains(t, err, words)
	}
}

// BenchmarkPredictTable reads 20,000 rows of 200 tasks, predicts half of them from the other half with rbf-equivcnp, and writes them, in every format of tables.
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
