package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// staticBench has days.csv, tasks whose values depend on what ground.csv says of places of its own, and models:
// static.safetensors, which knows the ground, and plain.safetensors.
func staticBench(t *testing.T) *bench {
	b := newBench(t)
	ground := func(x float64) float64 { return math.Cos(1.3 * x) }
	var days, field strings.Builder
	days.WriteString("day,lon,y\n")
	for day := range 6 {
		for i := range 12 {
			lon := float64(7*i%12)/2 + 0.1*float64(day)
			fmt.Fprintf(&days, "%d,%g,%.3f\n", day, lon, float64(day)+3*ground(lon))
		}
	}
	field.WriteString("height,lon,land\n")
	for i := range 30 {
		land := "1"
		if i%7 == 3 {
			land = "" // missing
		}
		fmt.Fprintf(&field, "%.4f,%g,%s\n", 100*ground(float64(i)/4-0.5), float64(i)/4-0.5, land)
	}
	field.WriteString(",9000,\n") // a place of which nothing is known does not count
	b.write("days.csv", days.String())
	b.write("ground.csv", field.String())
	for name, static := range map[string][]string{"static": {"--static", "@ground.csv"}, "plain": nil} {
		b.ok(append([]string{"train", "regression", "--csv", "@days.csv", "--x", "lon", "--y", "y", "--task", "day", "--levels",
			"2", "--channels", "4,4", "--points-per-unit", "4",
			"--steps", "20", "--out", "@" + name + ".safetensors"}, static...)...)
	}
	return b
}

// A model with static fields goes all the way from tables: training, scores, every kind of prediction; and its file says what it needs.
func TestStatic(t *testing.T) {
	b := staticBench(t)
	m, err := weights.Load[float32](b.path("static.safetensors"), weights.Options{})
	require.NoError(t, err)
	cfg := m.Config()
	require.Equal(t, []string{"height", "land"}, cfg.Static)
	require.True(t, cfg.ChannelDensity)
	require.InDelta(t, 100, cfg.Trained.Static[0].Max, 1)
	require.Len(t, cfg.Trained.Units.Static, 2)
	require.Contains(t, b.ok("inspect", "@static.safetensors"), "height, land: known at places of their own")

	said := b.ok("eval", "--model", "@static.safetensors", "--csv", "@days.csv", "--x", "lon", "--y", "y", "--task", "day",
		"--static", "@ground.csv",
		"--compare", b.path("plain.safetensors")+",idw")
	require.Contains(t, said, "plain.safetensors")

	// Predictions of a table, whatever the format of the fields, and of tensors agree.
	ground, err := tables.ReadFile(b.path("ground.csv"), nil)
	require.NoError(t, err)
	rows := ground.Rows() - 1 // but the place of which nothing is known
	known := tabular.Of([]tabular.Column{{Name: "lon"}, {Name: "height"}, {Name: "land"}, {Name: "unread"}})
	for i := range rows {
		v := ground.Values[i*3 : i*3+3]
		known.Values = append(known.Values, v[1], v[0], v[2], float64(i))
	}
	table := []string{"predict", "--model", "@static.safetensors", "--in", "@days.csv", "--x", "lon", "--y", "y", "--task", "day",
		"--grid", "lon=0.25:1.75:1.5"}
	b.ok(append(table, "--static", "@ground.csv", "--out", "@a.csv")...)
	want, err := tables.ReadFile(b.path("a.csv"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"day", "lon", "y_mean", "y_std"}, want.Header)
	require.Equal(t, 12, want.Rows())
	for _, name := range []string{"f.tsv", "f.parquet", "f.npz", "f.nc"} {
		f, err := os.Create(b.path(name))
		require.NoError(t, err)
		require.NoError(t, tables.Write(f, name, known, []int{0}))
		require.NoError(t, f.Close())
		b.ok(append(table, "--static", "@"+name, "--out", "@b.csv")...)
		got, err := tables.ReadFile(b.path("b.csv"), nil)
		require.NoError(t, err)
		require.Equal(t, want.Values, got.Values, name)
	}
	b.ok(append(table, "--static", "@ground.csv", "--samples", "2", "--out", "@g.nc")...)

	days, err := tables.ReadFile(b.path("days.csv"), nil)
	require.NoError(t, err)
	var x, xs []float64
	var y, ys []float32
	var one strings.Builder
	one.WriteString("lon,y\n")
	for i := 12; i < 24; i++ { // the second day
		v := days.Values[i*3 : i*3+3]
		x, y = append(x, v[1]), append(y, float32(v[2]))
		fmt.Fprintf(&one, "%g,%g\n", v[1], v[2])
	}
	for i := range rows {
		xs, ys = append(xs, known.Values[i*4]), append(ys, float32(known.Values[i*4+1]), float32(known.Values[i*4+2]))
	}
	tensors := []safetensors.Tensor{safetensors.FromFloat64s("x_context", []int{1, 12, 1}, x),
		safetensors.FromFloat32s("y_context", []int{1, 12, 1}, y),
		safetensors.FromFloat64s("x_target", []int{1, 2, 1}, []float64{0.25, 1.75}),
		safetensors.FromFloat64s("x_static", []int{1, rows, 1}, xs), safetensors.FromFloat32s("y_static", []int{1, rows, 2}, ys)}
	b.tensors("in.safetensors", tensors...)
	b.ok("predict", "--model", "@static.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
	require.Equal(t, []float32{float32(want.Values[2*4+2]), float32(want.Values[3*4+2])}, b.read("out.safetensors", "mean", 1, 2, 1))
	b.tensors("truth.safetensors", append(tensors, safetensors.FromFloat32s("y_target", []int{1, 2, 1}, []float32{1, 2}))...)
	b.ok("eval", "--model", "@static.safetensors", "--in", "@truth.safetensors")
	b.ok("train", "regression", "--in", "@truth.safetensors", "--static-fields", "height,land", "--levels", "1", "--channels",
		"4", "--points-per-unit", "4", "--steps", "2", "--holdout", "0",
		"--out", "@t.safetensors")
	require.Contains(t, b.ok("inspect", "@t.safetensors"), "height, land: known at places of their own")

	// One task of a table.
	b.write("one.csv", one.String())
	b.write("places.csv", "lon\n0.25\n1.75\n")
	single := []string{"--model", "@static.safetensors", "--csv", "@one.csv", "--targets", "@places.csv", "--x", "lon", "--y",
		"y", "--static", "@ground.csv"}
	b.ok(append([]string{"regress", "--out", "@r.csv"}, single...)...)
	r, err := tables.ReadFile(b.path("r.csv"), nil)
	require.NoError(t, err)
	require.Equal(t, want.Values[2*4+2:2*4+4], r.Values[1:3])
	b.ok(append([]string{"stations", "--rows", "1", "--out", "@s.csv"}, single...)...)
	s, err := os.ReadFile(b.path("s.csv"))
	require.NoError(t, err)
	whole, err := os.ReadFile(b.path("r.csv"))
	require.NoError(t, err)
	require.Equal(t, string(whole), string(s))
	b.ok(append([]string{"sample", "--samples", "2", "--out", "@d.csv"}, single...)...)

	// In windows of a large table a task has the part of the fields around it.
	b.ok("train", "regression", "--csv", "@days.csv", "--x", "lon", "--y", "y", "--window", "lon=2", "--static", "@ground.csv",
		"--static-fields", "height", "--levels", "1", "--channels", "4",
		"--points-per-unit", "4", "--steps", "4", "--holdout", "0", "--out", "@w.safetensors")
}

// What does not fit is an error that names the column or the tensor, and nothing is written.
func TestStaticErrors(t *testing.T) {
	b := staticBench(t)
	train := []string{"train", "regression", "--csv", "@days.csv", "--x", "lon", "--y", "y", "--task", "day", "--steps", "1",
		"--out", "@m.safetensors"}
	b.fails(1, `it has no column "heigth"`, append(train, "--static", "@ground.csv", "--static-fields", "heigth")...)
	b.fails(2, "--static is for --model equivcnp", append(train, "--static", "@ground.csv", "--model", "cnp")...)
	b.fails(2, "--static-fields is for --static", append(train, "--static-fields", "height")...)
	b.fails(2, "--static is for --csv", "train", "regression", "--static", "@ground.csv", "--out", "@m.safetensors")
	b.fails(1, "column 2 is taken twice", append(train, "--static", "@ground.csv", "--static-fields", "lon")...)
	b.write("aux.csv", "day,lon,y,height\n1,1,1,1\n1,2,3,4\n2,1,1,1\n2,2,3,4\n")
	b.fails(2, "static[0] = \"height\" is an auxiliary input, too", append(train, "--static", "@ground.csv", "--static-fields",
		"height", "--csv", "@aux.csv", "--aux", "height")...)
	b.write("places.csv", "lon\n1\n")
	b.fails(1, "there is no column of a field beside the coordinates", append(train, "--static", "@places.csv")...)
	b.write("text.csv", "lon,height\n1,high\n")
	b.fails(1, "text.csv:2:3:", append(train, "--static", "@text.csv")...)
	b.write("nowhere.csv", "lon,height\n1,2\n,3\n")
	b.fails(1, "nowhere.csv:3:1:", append(train, "--static", "@nowhere.csv")...)
	b.write("empty.csv", "lon,height,land\n1,2,\n2,3,\n")
	b.fails(1, "the static field land has no value at all", append(train, "--static", "@empty.csv")...)
	b.write("huge.csv", "lon,height\n1,1e300\n")
	b.fails(1, "huge.csv:2:3:", append(train, "--static", "@huge.csv")...)

	predict := []string{"predict", "--model", "@static.safetensors", "--in", "@days.csv", "--x", "lon", "--y", "y", "--task",
		"day", "--grid", "lon=0:1:1", "--out", "@p.csv"}
	b.fails(2, "the model has the static fields height, land: name a table that has them with --static", predict...)
	b.fails(1, `it has no column "land" (--x says which columns are the inputs, --static-fields which the fields)`,
		append(predict, "--static", "@text.csv")...)
	b.fails(2, "--static-fields height: the model has 2 static fields, height, land", append(predict, "--static", "@ground.csv",
		"--static-fields", "height")...)
	b.fails(2, "the model has no static fields", "predict", "--model", "@plain.safetensors", "--in", "@days.csv", "--x", "lon",
		"--y", "y", "--task", "day", "--grid", "lon=0:1:1", "--static", "@ground.csv",
		"--out", "@p.csv")
	b.fails(2, "which only --csv (with --static) and --in have", "eval", "--model", "@static.safetensors", "--kernel", "rbf")
	b.fails(1, "its static fields are height, land, those of", "eval", "--model", "@plain.safetensors", "--csv", "@days.csv",
		"--x", "lon", "--y", "y", "--task", "day", "--compare",
		b.path("static.safetensors"))
	x, y := safetensors.FromFloat64s("x_context", []int{1, 1, 1}, []float64{0}),
		safetensors.FromFloat32s("y_context", []int{1, 1, 1}, []float32{0})
	to := safetensors.FromFloat64s("x_target", []int{1, 1, 1}, []float64{1})
	tensors := []string{"predict", "--model", "@static.safetensors", "--in", "@in.safetensors", "--out", "@o.safetensors"}
	b.tensors("in.safetensors", x, y, to)
	b.fails(1, `tensor "x_static" is missing, the model has the static fields height, land`, tensors...)
	at := safetensors.FromFloat64s("x_static", []int{1, 1, 1}, []float64{0})
	b.tensors("in.safetensors", x, y, to, at, safetensors.FromFloat32s("y_static", []int{1, 1, 1}, []float32{1}))
	b.fails(1, `tensor "y_static" has shape [1 1 1], need [B = 1, Ns = 1, ds = 2]`, tensors...)
	b.tensors("in.safetensors", x, y, to, safetensors.FromFloat64s("x_static", []int{1, 1, 1}, []float64{math.NaN()}),
		safetensors.FromFloat32s("y_static", []int{1, 1, 2}, []float32{1, 2}))
	b.fails(1, `tensor "x_static": [0, 0, 0] = NaN`, tensors...)
	b.tensors("in.safetensors", x, y, to, at, safetensors.FromFloat32s("y_static", []int{1, 1, 2}, []float32{1, float32(math.Inf(1))}))
	b.fails(1, `tensor "y_static": [0, 0, 1] = +Inf`, tensors...)
}
