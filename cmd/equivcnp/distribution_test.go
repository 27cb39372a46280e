package main

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// read is the tensor of a file, which must have that shape.
func (b *bench) read(file, name string, shape ...int) []float32 {
	b.t.Helper()
	f, err := safetensors.Read(b.path(file))
	require.NoError(b.t, err)
	x := f.Get(name)
	require.NotNil(b.t, x, name)
	require.Equal(b.t, shape, x.Shape, name)
	v, err := x.Float32s()
	require.NoError(b.t, err)
	return v
}

// TestPredictJoint: the covariance that predict writes is that of its factor and diagonal, and its diagonal the variance; likelihoods are
// joint, and quantiles those of the values.
func TestPredictJoint(t *testing.T) {
	b := newBench(t)
	c := curveConfig()
	c.Likelihood = "lowrank:3:noise"
	m := b.save("m.safetensors", c).(cnp.Regressor[float32])
	want, err := m.Predict(context.Background(), wave())
	require.NoError(t, err)
	y := []float64{0, 1, 0, -1, 0.5, 0.2, 0.1, 0}
	b.tensors("in.safetensors", append(b.waveTensors(), f64s("y_target", []int{2, 4, 1}, y...))...)
	got := decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
		"@out.safetensors", "--covariance",
		"--quantiles", "0.1,0.5", "--json"))
	require.Equal(t, want.Mean, b.read("out.safetensors", "mean", 2, 4, 1))
	std, function := b.read("out.safetensors", "std", 2, 4, 1), b.read("out.safetensors", "std_function", 2, 4, 1)
	f, diag := b.read("out.safetensors", "cov_factor", 2, 4, 1, 3), b.read("out.safetensors", "cov_diag", 2, 4, 1)
	cov, q := b.read("out.safetensors", "covariance", 2, 4, 4), b.read("out.safetensors", "quantiles", 2, 4, 1, 2)
	sum := 0.0
	for task := range 2 {
		for i := range 4 {
			for j := range 4 {
				s := 0.0
				for k := range 3 {
					s += float64(f[(task*4+i)*3+k]) * float64(f[(task*4+j)*3+k])
				}
				if i == j {
					s += float64(diag[task*4+i])
				}
				require.InDelta(t, s, float64(cov[task*16+i*4+j]), 1e-6)
			}
			at := task*4 + i
			require.InDelta(t, float64(std[at])*float64(std[at]), float64(cov[task*16+i*5]), 1e-6)
			require.Less(t, function[at], std[at])
			require.InDelta(t, want.QuantileAt(at, 0.1), float64(q[2*at]), 1e-6)
			require.InDelta(t, float64(want.Mean[at]), float64(q[2*at+1]), 1e-6)
		}
		truth := make([]float32, 4)
		for i := range truth {
			truth[i] = float32(y[task*4+i])
		}
		s, n := want.Task(task, 2).LogDensity(truth, nil)
		require.Equal(t, 4, n)
		sum += s
	}
	require.InDelta(t, sum/8, float64(*got.LogLikelihood), 1e-9)
	b.fails(2, "--quantiles 1.5", "predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@no.safetensors",
		"--quantiles", "1.5")
	b.fails(2, "--quantiles 0.5: named twice", "predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
		"@no.safetensors", "--quantiles", "0.5,0.1,0.5")

	// Images, by the plan of predict.
	ic := imageConfig("T(2)", 2)
	ic.Likelihood = "lowrank:2"
	im := b.save("i.safetensors", ic)
	pixels, seen := make([]float64, 2*2*4*4), make([]float64, 2*4*4)
	for i := range pixels {
		pixels[i] = float64(i%7) / 7
	}
	for i := range seen {
		seen[i] = float64(i % 2)
	}
	b.tensors("images.safetensors", f64s("image", []int{2, 2, 4, 4}, pixels...), f64s("mask", []int{2, 4, 4}, seen...))
	b.ok("predict", "--model", "@i.safetensors", "--in", "@images.safetensors", "--out", "@out.safetensors", "--batch", "1")
	images := &cnp.Images[float32]{B: 2, C: 2, H: 4, W: 4, Pixels: make([]float32, 64), Mask: make([]bool, 32)}
	for i, v := range pixels {
		if images.Pixels[i] = float32(v); i < 32 {
			images.Mask[i] = seen[i] != 0
		}
	}
	p, err := im.(cnp.Completer[float32]).Complete(context.Background(), images)
	require.NoError(t, err)
	factor := b.read("out.safetensors", "cov_factor", 2, 2, 4, 4, 2)
	for i := range p.Mean {
		for k := range 2 {
			require.InDelta(t, float64(p.Params[4*i+2+k])/math.Sqrt2, float64(factor[2*i+k]), 1e-5)
		}
	}
}

// TestRain: a model of amounts that are often none is trained, used and judged; what no amount can be is named with its place.
func TestRain(t *testing.T) {
	b := newBench(t)
	b.write("rain.csv", "task,x,y\n"+strings.Repeat("0,0.1,0\n0,0.3,1.5\n0,0.6,0\n0,0.9,2\n1,0.2,0\n1,0.5,0.5\n1,0.8,3\n1,1,0\n", 1))
	run := []string{"train", "regression", "--csv", "@rain.csv", "--likelihood", "bernoulli-gamma", "--model", "cnp", "--steps",
		"4", "--eval-every", "4",
		"--eval-tasks", "2", "--max-context", "3", "--min-context", "1"}
	b.ok(append(run, "--out", "@rain.safetensors")...)
	b.fails(2, "--noise or --beta", append(run, "--beta", "0.5", "--out", "@no.safetensors")...)
	b.fails(2, `likelihood "snow" is not one of`, append(run, "--likelihood", "snow", "--out", "@no.safetensors")...)
	require.Contains(t, b.ok("inspect", "@rain.safetensors"), "bernoulli-gamma")

	b.write("data.csv", "x,y\n0,0\n1,2\n")
	b.ok("regress", "--model", "@rain.safetensors", "--csv", "@data.csv", "--from", "0", "--to", "1", "--points", "3", "--out",
		"@out.csv", "--quantiles", "0.05,0.95",
		"--plot", "@out.svg")
	text, err := os.ReadFile(b.path("out.csv"))
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"x", "mean", "std", "q0.05", "q0.95"}, rows[0])
	for _, row := range rows[1:] {
		var v []float64
		for _, cell := range row {
			x, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
			v = append(v, x)
		}
		require.GreaterOrEqual(t, v[3], 0.0)
		require.Greater(t, v[4], v[1])
	}
	drawing, err := os.ReadFile(b.path("out.svg"))
	require.NoError(t, err)
	require.NotContains(t, string(drawing), "2 std")
	require.NotContains(t, string(drawing), "mean ±")
	got := decode[evalResult](t, b.ok("eval", "--model", "@rain.safetensors", "--csv", "@rain.csv", "--max-context", "3",
		"--min-context", "1", "--json"))
	require.Zero(t, got.Report.NotFinite)

	b.write("bad.csv", "x,y\n0,1\n1,-2\n")
	for _, args := range [][]string{
		{"regress", "--model", "@rain.safetensors", "--csv", "@bad.csv", "--from", "0", "--to", "1", "--out", "@no.csv"},
		{"regress", "--model", "@rain.safetensors", "--csv", "@data.csv", "--targets", "@bad.csv", "--out", "@no.csv"},
	} {
		b.fails(1, "bad.csv:3:3: out of range: -2, and likelihood bernoulli-gamma is for values from 0 to +Inf", args...)
	}
	b.fails(1, "y of row 1 is -2", "eval", "--model", "@rain.safetensors", "--csv", "@bad.csv")
	b.fails(1, "y of row 1 is -2", "train", "regression", "--csv", "@bad.csv", "--likelihood", "bernoulli-gamma", "--steps", "1",
		"--out", "@no.safetensors")
	in := b.waveTensors()
	b.tensors("in.safetensors", in...)
	b.fails(1, "y_context of row 2 is -0.41614684", "predict", "--model", "@rain.safetensors", "--in", "@in.safetensors", "--out",
		"@no.safetensors")
	in[1] = f64s("y_context", []int{2, 3, 1}, 0, 1, 2, 0, 0, 0)
	b.tensors("in.safetensors", in...)
	b.ok("predict", "--model", "@rain.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
	b.read("out.safetensors", "params", 2, 4, 1, 3)
	b.tensors("in.safetensors", append(in, f64s("y_target", []int{2, 4, 1}, 0, 1, 2, 3, 4, -1, 0, 0))...)
	b.fails(1, "y_target of row 5 is -1", "predict", "--model", "@rain.safetensors", "--in", "@in.safetensors", "--out", "@no.safetensors")
}
