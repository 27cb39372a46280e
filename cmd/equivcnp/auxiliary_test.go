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
)

// auxBench has days.csv, tasks whose values depend on columns besides the coordinate, and models of it:
// aux.safetensors, which knows them, and plain.safetensors.
func auxBench(t *testing.T) *bench {
	b := newBench(t)
	var text strings.Builder
	text.WriteString("day,lon,height,hour,y\n")
	for day := range 6 {
		for i := range 12 {
			lon, height := float64(i)/2, math.Mod(float64(7*i+3*day), 10)*100
			cell := fmt.Sprint(height)
			if i == 5 && day == 0 {
				cell = "" // context only
			}
			fmt.Fprintf(&text, "%d,%g,%s,%d,%.3f\n", day, lon, cell, 6*(day%4), math.Sin(lon)-height/300+float64(day%4))
		}
	}
	require.NoError(t, os.WriteFile(b.path("days.csv"), []byte(text.String()), 0o600))
	for name, aux := range map[string][]string{"aux": {"--aux", "height,hour"}, "plain": nil} {
		said := b.ok(append([]string{"train", "regression", "--csv", "@days.csv", "--x", "lon", "--y", "y", "--task", "day",
			"--channels", "4,6,4", "--hidden", "4", "--mid", "4",
			"--points-per-unit", "4", "--steps", "30", "--out", "@" + name + ".safetensors"}, aux...)...)
		require.Equal(t, aux != nil, strings.Contains(said, "1 point without height or hour: context only"), said)
	}
	return b
}

// A model with auxiliary inputs goes all the way from a table: training, scores, every kind of prediction; and its file says what it needs.
func TestAuxiliary(t *testing.T) {
	b := auxBench(t)
	m, err := weights.Load[float32](b.path("aux.safetensors"), weights.Options{})
	require.NoError(t, err)
	cfg := m.Config()
	require.Equal(t, []string{"height", "hour"}, cfg.Auxiliary)
	require.True(t, cfg.ChannelDensity)
	require.InDelta(t, 6, cfg.Trained.Aux[1].Min+6, 1e-9)
	require.Len(t, cfg.Trained.Units.Aux, 2)
	require.Contains(t, b.ok("inspect", "@aux.safetensors"), "height, hour: known at the context and at the targets")

	columns := []string{"--csv", "@days.csv", "--x", "lon", "--y", "y", "--task", "day"}
	said := b.ok(append([]string{"eval", "--model", "@aux.safetensors", "--compare", b.path("plain.safetensors") +
		",idw,kriging:rbf(1)+noise(0.1)"}, columns...)...)
	require.Contains(t, said, "plain.safetensors")
	compare := append([]string{"eval", "--model", "@aux.safetensors"}, columns...)
	b.fails(2, "--compare kriging: need a kernel, as in kriging:", append(compare, "--compare", "kriging")...)
	b.fails(1, "--compare: open idv", append(compare, "--compare", "idv")...)

	// Predictions at the rows of a table, on a grid, and of tensors agree.
	table := []string{"predict", "--model", "@aux.safetensors", "--in", "@days.csv", "--x", "lon", "--y", "y", "--task", "day"}
	b.write("places.csv", "lon,hour,height\n0.25,6,500\n1.75,6,500\n")
	b.ok(append(table, "--targets", "@places.csv", "--out", "@a.csv")...)
	a, err := tables.ReadFile(b.path("a.csv"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"day", "lon", "height", "hour", "y_mean", "y_std"}, a.Header)
	require.Equal(t, 12, a.Rows())
	b.ok(append(table, "--grid", "lon=0.25:1.75:1.5,height=500,hour=6", "--out", "@g.csv")...)
	g, err := tables.ReadFile(b.path("g.csv"), nil)
	require.NoError(t, err)
	require.Equal(t, a.Values, g.Values)
	b.ok(append(table, "--grid", "lon=0:2:0.5,height=0:500:250,hour=12", "--samples", "2", "--out", "@g.nc")...)

	rows, err := tables.ReadFile(b.path("days.csv"), nil)
	require.NoError(t, err)
	var x []float64
	var y, aux []float32
	for i := 12; i < 24; i++ { // the second day
		v := rows.Values[i*5 : i*5+5]
		x, y, aux = append(x, v[1]), append(y, float32(v[4])), append(aux, float32(v[2]), float32(v[3]))
	}
	b.tensors("in.safetensors", safetensors.FromFloat64s("x_context", []int{1, 12, 1}, x),
		safetensors.FromFloat32s("y_context", []int{1, 12, 1}, y),
		safetensors.FromFloat32s("aux_context", []int{1, 12, 2}, aux), safetensors.FromFloat64s("x_target", []int{1, 2, 1},
			[]float64{0.25, 1.75}),
		safetensors.FromFloat32s("aux_target", []int{1, 2, 2}, []float32{500, 6, 500, 6}))
	b.ok("predict", "--model", "@aux.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
	require.Equal(t, []float32{float32(a.Values[2*6+4]), float32(a.Values[3*6+4])}, b.read("out.safetensors", "mean", 1, 2, 1))

	// One task of a table.
	var one strings.Builder
	one.WriteString("lon,height,hour,y\n")
	for i := 12; i < 24; i++ {
		v := rows.Values[i*5 : i*5+5]
		fmt.Fprintf(&one, "%g,%g,%g,%g\n", v[1], v[2], v[3], v[4])
	}
	b.write("one.csv", one.String())
	single := []string{"--model", "@aux.safetensors", "--csv", "@one.csv", "--targets", "@places.csv", "--x", "lon", "--y", "y"}
	b.ok(append([]string{"regress", "--out", "@r.csv"}, single...)...)
	r, err := tables.ReadFile(b.path("r.csv"), nil)
	require.NoError(t, err)
	require.Equal(t, a.Header[1:], r.Header)
	require.Equal(t, a.Values[2*6+1:2*6+6], r.Values[:5])
	b.ok(append([]string{"stations", "--rows", "1", "--out", "@s.csv"}, single...)...)
	s, err := os.ReadFile(b.path("s.csv"))
	require.NoError(t, err)
	want, err := os.ReadFile(b.path("r.csv"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(s))
	b.ok(append([]string{"sample", "--samples", "2", "--out", "@d.csv"}, single...)...)
}

// What does not fit is an error that names the column or the tensor, and nothing is written.
func TestAuxiliaryErrors(t *testing.T) {
	b := auxBench(t)
	train := []string{"train", "regression", "--csv", "@days.csv", "--x", "lon", "--y", "y", "--task", "day", "--steps", "1",
		"--out", "@m.safetensors"}
	b.fails(1, `it has no column "heigth", an auxiliary input`, append(train, "--aux", "heigth")...)
	b.fails(2, "--aux is for --model equivcnp; a cnp takes such columns as further inputs",
		append(train, "--aux", "height", "--model", "cnp")...)
	b.fails(2, "--aux is for --csv and --in", "train", "regression", "--aux", "height", "--out", "@m.safetensors")
	b.fails(1, "column 2 is taken twice", append(train, "--aux", "lon")...)

	predict := []string{"predict", "--model", "@aux.safetensors", "--in", "@days.csv", "--x", "lon", "--y", "y", "--task", "day",
		"--out", "@p.csv"}
	b.write("without.csv", "lon,hour\n1,6\n")
	b.fails(1, `without.csv:1:1: the columns do not fit: header "lon,hour": it has no column "height", an auxiliary input`,
		append(predict, "--targets", "@without.csv")...)
	b.write("gap.csv", "lon,height,hour\n1,100,6\n2,,6\n")
	b.fails(1, "gap.csv:3:3: the cell is missing, and a target needs its auxiliary inputs", append(predict, "--targets", "@gap.csv")...)
	b.write("text.csv", "lon,height,hour\n1,high,6\n")
	b.fails(1, "text.csv:2:3:", append(predict, "--targets", "@text.csv")...)
	b.fails(1, "days.csv:7:7: the cell is missing", predict...) // its own rows are the targets
	b.fails(2, "--grid: need all inputs, lon, height, hour", append(predict, "--grid", "lon=0:1:1")...)
	b.fails(2, "--aux height: the model has 2 auxiliary inputs, height, hour", append(predict, "--aux", "height")...)
	b.fails(2, "--aux height: the model has no auxiliary inputs", "predict", "--model", "@plain.safetensors", "--in", "@days.csv",
		"--x", "lon", "--y", "y", "--task", "day", "--aux", "height", "--out", "@p.csv")
	b.fails(1, "the model has the auxiliary inputs height, hour, use --targets", "regress", "--model", "@aux.safetensors",
		"--csv", "@days.csv", "--x", "lon", "--y", "y", "--from", "0", "--to", "1",
		"--out", "@p.csv")
	b.fails(2, "which only --csv and --in have", "eval", "--model", "@aux.safetensors", "--kernel", "rbf")
	b.fails(1, "its auxiliary inputs are height, hour, those of", "eval", "--model", "@plain.safetensors", "--csv", "@days.csv",
		"--x", "lon", "--y", "y", "--task", "day", "--compare",
		b.path("aux.safetensors"))
	x := safetensors.FromFloat64s("x_context", []int{1, 1, 1}, []float64{0})
	y := safetensors.FromFloat32s("y_context", []int{1, 1, 1}, []float32{0})
	to := safetensors.FromFloat64s("x_target", []int{1, 1, 1}, []float64{1})
	b.tensors("in.safetensors", x, y, to)
	tensors := []string{"predict", "--model", "@aux.safetensors", "--in", "@in.safetensors", "--out", "@o.safetensors"}
	b.fails(1, `tensor "aux_context" is missing, the model has the auxiliary inputs height, hour`, tensors...)
	known := safetensors.FromFloat32s("aux_context", []int{1, 1, 2}, []float32{1, 2})
	b.tensors("in.safetensors", x, y, to, known, safetensors.FromFloat32s("aux_target", []int{1, 1, 1}, []float32{1}))
	b.fails(1, `tensor "aux_target" has shape [1 1 1], need [B = 1, Nt = 1, da = 2]`, tensors...)
	b.tensors("in.safetensors", x, y, to, known, safetensors.FromFloat32s("aux_target", []int{1, 1, 2}, []float32{1, float32(math.NaN())}))
	b.fails(1, `tensor "aux_target": [0, 0, 1] = NaN`, tensors...)
}

// A column of texts becomes an input for each text, and the model's file knows them.
func TestCategories(t *testing.T) {
	b := newBench(t)
	write := func(name, kinds string, values bool) {
		text := "task,x,kind,y\n"
		for i := range 24 {
			kind, y := strings.Split(kinds, ",")[i%2], ""
			if values || i%12 < 9 {
				y = fmt.Sprint(math.Sin(float64(i%12)/2) + float64(i%2))
			}
			text += fmt.Sprintf("%d,%g,%s,%s\n", i/12, float64(i%12)/2, kind, y)
		}
		require.NoError(t, os.WriteFile(b.path(name), []byte(text), 0o600))
	}
	write("a.csv", "sea,land", true)
	b.ok("train", "regression", "--csv", "@a.csv", "--aux", "kind", "--channels", "4,6,4", "--hidden", "4", "--mid", "4",
		"--points-per-unit", "4", "--steps", "3", "--out", "@a.safetensors")
	require.Contains(t, b.ok("inspect", "@a.safetensors"), "kind=land, kind=sea")

	write("some.csv", "land,sea", false)
	for _, aux := range [][]string{nil, {"--aux", "kind"}} {
		b.ok(append([]string{"predict", "--model", "@a.safetensors", "--in", "@some.csv", "--out", "@out.csv"}, aux...)...)
		table, err := tables.ReadFile(b.path("out.csv"), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"task", "x", "kind=land", "kind=sea"}, table.Header[:4])
		require.Equal(t, []float64{1, 0, 0, 1}, append(table.Take(2)[:2], table.Take(3)[:2]...))
	}
	write("other.csv", "land,lake", false)
	status, _, errs := b.run("predict", "--model", "@a.safetensors", "--in", "@other.csv", "--out", "@out.csv")
	require.NotZero(t, status)
	require.Contains(t, errs, `"lake" is not one of the known categories of "kind": land, sea`)
}
