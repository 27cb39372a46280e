package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// days writes a table of values at places of several days, whose values are factor·y + offset, and one table of each day.
func (b *bench) days(factor, offset float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := "east,north,zinc,day\n"
	for day := range 2 {
		one := "east,north,zinc\n"
		for range 25 {
			x, y := 10*rng.Float64(), 10*rng.Float64()
			z := math.Sin(x/2+float64(day)) + math.Cos(y/3) + 0.05*rng.NormFloat64()
			line := fmt.Sprintf("%.4f,%.4f,%.6f", x, y, factor*z+offset)
			one += line + "\n"
			all += fmt.Sprintf("%s,%d\n", line, day)
		}
		b.write(fmt.Sprintf("day%d.csv", day), one)
	}
	b.write("days.csv", all)
	b.write("grid.csv", "east,north\n1,1\n5,5\n9,2\n")
}

// column reads a column of a table.
func (b *bench) column(file, name string) []float64 {
	b.t.Helper()
	t, err := tabular.ReadFile(b.path(file))
	require.NoError(b.t, err)
	for k, h := range t.Header {
		if h == name {
			var out []float64
			for i := range t.Rows() {
				out = append(out, t.Values[i*t.Cols+k])
			}
			return out
		}
	}
	require.Fail(b.t, "no column", "%s of %s: %v", name, file, t.Header)
	return nil
}

// Without a model tasks of a table are interpolated as regress does each alone; other units of values change nothing else.
func TestPredictUniversal(t *testing.T) {
	b := newBench(t)
	args := []string{"predict", "--in", "@days.csv", "--x", "east,north", "--y", "zinc", "--task", "day", "--targets", "@grid.csv",
		"--out", "@pred.csv", "--json"}
	var first, scaled []float64
	for _, units := range [][2]float64{{1, 0}, {1000, 2e4}} {
		b.days(units[0], units[1])
		got := decode[predictResult](t, b.ok(args...))
		require.Equal(t, []any{"universal-2", "krige", 2, 50, 6},
			[]any{got.Model, got.Architecture, got.Tasks, got.ContextPoints, got.Targets})
		mean, std := b.column("pred.csv", "zinc_mean"), b.column("pred.csv", "zinc_std")
		for day := range 2 {
			b.ok("regress", "--csv", fmt.Sprintf("@day%d.csv", day), "--x", "east,north", "--y", "zinc", "--targets", "@grid.csv",
				"--out", "@one.csv")
			for i, want := range b.column("one.csv", "zinc_mean") {
				require.InDelta(t, want, mean[3*day+i], 1e-4*units[0])
			}
			for i, want := range b.column("one.csv", "zinc_std") {
				require.InDelta(t, want, std[3*day+i], 1e-4*units[0])
			}
		}
		first, scaled = scaled, mean
	}
	for i := range first {
		require.InDelta(t, 1000*first[i]+2e4, scaled[i], 1)
	}
	b.days(1, 0) // without the check deviations are those of the Gaussian processes, as regress has them
	checked := b.ok(args...)
	std := b.column("pred.csv", "zinc_std")
	require.NotNil(t, decode[predictResult](t, checked).Check)
	require.Nil(t, decode[predictResult](t, b.ok(append(args, "--no-check")...)).Check)
	plain := b.column("pred.csv", "zinc_std")
	require.NotEqual(t, std, plain)
	b.ok("regress", "--csv", "@day0.csv", "--x", "east,north", "--y", "zinc", "--targets", "@grid.csv", "--out", "@one.csv", "--no-check")
	for i, want := range b.column("one.csv", "zinc_std") {
		require.InDelta(t, want, plain[i], 1e-4)
	}
}

// Files of tensors have as many inputs and outputs as their tensors; a manifest needs no model either.
func TestPredictUniversalFile(t *testing.T) {
	b := newBench(t)
	b.tasks(t, "in.safetensors")
	got := decode[predictResult](t, b.ok("predict", "--in", "@in.safetensors", "--out", "@out.safetensors", "--samples", "3", "--json"))
	require.Equal(t, []any{"universal-1", 2, []int{2, 4, 2}}, []any{got.Model, got.Tasks, got.Shape})
	mean := b.read("out.safetensors", "mean", 2, 4, 2)
	b.read("out.safetensors", "samples", 3, 2, 4, 2)
	x, y := []float64{0, 1, 2, 3, 4}, []float64{0, 1, 0, -1, 0}
	want, _, err := krige.Interpolate(x, y, []float64{0.5, 1.5, 2.5, 3.5})
	require.NoError(t, err)
	for i, v := range want {
		require.InDelta(t, v, mean[2*i], 1e-6)
		require.InDelta(t, v+2, mean[2*i+1], 1e-5, "the second output is the first one + 2")
	}
	b.write("list", "in.safetensors\n")
	b.ok("predict", "--manifest", "@list", "--out-dir", "@folder")
	files := b.ok("merge", "--json", b.path("folder"))
	require.Contains(t, files, `"bad": 0`)
	b.ok("sample", "--in", "@in.safetensors", "--out", "@samples.safetensors", "--samples", "2")
	b.read("samples.safetensors", "samples", 2, 2, 4, 2)
}

// tasks writes two tasks of a curve with two outputs.
func (b *bench) tasks(t *testing.T, name string) {
	x, y, at := []float32{}, []float32{}, []float32{}
	for range 2 {
		for i, v := range []float32{0, 1, 0, -1, 0} {
			x, y = append(x, float32(i)), append(y, v, v+2)
		}
		at = append(at, 0.5, 1.5, 2.5, 3.5)
	}
	err := safetensors.Write(b.path(name), &safetensors.File{Tensors: []safetensors.Tensor{
		safetensors.FromFloat32s("x_context", []int{2, 5, 1}, x), safetensors.FromFloat32s("y_context", []int{2, 5, 2}, y),
		safetensors.FromFloat32s("x_target", []int{2, 4, 1}, at)}})
	require.NoError(t, err)
	_, err = taskfile.Open(b.path(name))
	require.NoError(t, err)
}

// Samples and stations without a model are those of the interpolation that its name stands for, on the globe too.
func TestSampleStationsUniversal(t *testing.T) {
	b := newBench(t)
	b.days(1, 0)
	for _, table := range []string{"--x east,north --y zinc", "--x east,north --y zinc --sphere"} {
		words, name := strings.Fields(table), "universal-2"
		var sphere []string
		if len(words) == 5 {
			words, sphere, name = words[:4], words[4:], "universal-globe"
		}
		stations := append([]string{"stations", "--csv", "@day0.csv", "--targets", "@grid.csv", "--rows", "2"}, words...)
		got := decode[stationsResult](t, b.ok(append(append(stations, sphere...), "--out", "@left.csv", "--json")...))
		require.Equal(t, name, got.Model)
		b.ok(append(stations, "--out", "@named.csv", "--model", name)...)
		files := b.files()
		require.Equal(t, files["named.csv"], files["left.csv"])
	}
	sample := []string{"sample", "--csv", "@day0.csv", "--targets", "@grid.csv", "--x", "east,north", "--y", "zinc", "--samples", "4"}
	got := decode[sampleResult](t, b.ok(append(sample, "--out", "@left.csv", "--json")...))
	require.Equal(t, "universal-2", got.Model)
	b.ok(append(sample, "--out", "@named.csv", "--model", "universal-2")...)
	files := b.files()
	require.Equal(t, files["named.csv"], files["left.csv"])
	require.Len(t, b.column("left.csv", "zinc_sample4"), 3)
	got = decode[sampleResult](t, b.ok(append(sample, "--function", "--out", "@function.csv", "--json")...))
	require.Zero(t, got.Knots, "all targets are drawn at once")
}

// What cannot be interpolated is refused with the flag or the file at fault.
func TestUniversalRefuses(t *testing.T) {
	b := newBench(t)
	b.days(1, 0)
	b.write("bad.csv", "lat,lon,y\n95,0,1\n0,1,2\n")
	err := safetensors.Write(b.path("image.safetensors"), &safetensors.File{Tensors: []safetensors.Tensor{
		safetensors.FromFloat32s("image", []int{1, 1, 2, 2}, make([]float32, 4))}})
	require.NoError(t, err)
	for _, c := range []struct {
		status int
		words  string
		args   string
	}{
		{1, "image.safetensors: --model was left out", "predict --in @image.safetensors --out @o.safetensors"},
		{2, "--sphere is for interpolation", "predict --model universal-2 --sphere --in @days.csv --x east,north --y zinc --out @o.csv"},
		{2, "--sphere: the inputs are latitude and longitude", "predict --sphere --in @days.csv --x east --y zinc --out @o.csv"},
		{1, "latitude 95", "predict --sphere --in @bad.csv --out @o.csv"},
		{2, "--static", "stations --csv @day0.csv --static @day1.csv --targets @grid.csv --x east,north --y zinc --out @o.csv"},
		{2, "--sphere is for interpolation", "stations --model universal-2 --sphere --csv @day0.csv --targets @grid.csv --out @o.csv"},
		{1, "5 input coordinates", "sample --csv @wide.csv --from 0 --to 1 --out @o.csv"},
	} {
		b.write("wide.csv", "x1,x2,x3,x4,x5,y\n1,2,3,4,5,6\n2,2,3,4,5,6\n")
		b.fails(c.status, c.words, strings.Fields(c.args)...)
	}
}

// TestTrainUniversal trains on tables of the universal prior, and tests on others.
func TestTrainUniversal(t *testing.T) {
	b := newBench(t)
	b.ok("train", "regression", "--universal", "2", "--targets", "8", "--max-context", "12", "--levels", "2", "--channels", "4",
		"--steps", "3", "--batch", "2", "--out", "@u.safetensors")
	out := b.ok("eval", "--model", "@u.safetensors", "--universal", "2", "--max-context", "12", "--tasks", "4")
	require.Contains(t, out, "universal, 2 inputs")
	b.fails(2, "the model has 2 coordinates", "eval", "--model", "@u.safetensors", "--universal", "1")
	b.fails(2, "4 inputs", "train", "regression", "--universal", "4", "--steps", "3", "--out", "@v.safetensors")
}
