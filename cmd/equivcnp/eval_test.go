package main

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// smallImage is an image model that is quick to run.
func smallImage(group string, channels int) cnp.Config {
	c := cnp.Default(cnp.EquivCNPImage, group, channels)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill = []int{4}, 1, 4, 2, 0.05, 0.05
	return c
}

// TestEvalCurves: a report as JSON and as text, the same twice, with a picture of either format.
func TestEvalCurves(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	args := []string{"eval", "--model", "@m.safetensors", "--kernel", "rbf,sawtooth", "--targets", "30", "--max-context", "9",
		"--tasks", "20", "--json"}
	r := decode[evalResult](t, b.ok(append(args, "--picture", "@out.png")...))
	require.Equal(t, 20, r.Report.Tasks)
	require.Equal(t, 600, r.Report.Values)
	require.Len(t, r.Equivariance, 1)
	require.Equal(t, 16*30, r.Equivariance[0].Values)
	require.Greater(t, r.Equivariance[0].MeanRMS, 0.0)
	im, err := raster.Read(b.path("out.png"))
	require.NoError(t, err)
	require.Equal(t, 4*540, im.H)
	again := decode[evalResult](t, b.ok(append(args, "--picture", "@out.svg")...))
	again.Seconds, again.Picture = r.Seconds, r.Picture
	require.Equal(t, r, again)
	args[len(args)-1] = "--equivariance-tasks=0"
	text := b.ok(args...)
	require.Contains(t, text, "log-likelihood")
	require.NotContains(t, text, "equivariance")
}

// TestEvalImages: digits, a folder, MNIST's format and safetensors; finite sets come whole.
func TestEvalImages(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", smallImage("SO(2)", 1))
	r := decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--digits", "--size", "12", "--tasks", "5",
		"--equivariance-tasks", "2", "--json",
		"--picture", "@out.png"))
	require.Equal(t, 5*144, r.Report.Values)
	require.Len(t, r.Equivariance, 2)
	require.Less(t, r.Equivariance[1].MeanMax, 1e-4, "a quarter turn is in SO(2)")
	require.Contains(t, r.Source, "scaled by 0.3 to 0.45")
	_, err := raster.Read(b.path("out.png"))
	require.NoError(t, err)

	idx := binary.BigEndian.AppendUint32(nil, 0x803)
	for _, v := range []uint32{3, 6, 6} {
		idx = binary.BigEndian.AppendUint32(idx, v)
	}
	b.write("images-idx3-ubyte", string(append(idx, make([]byte, 3*36)...)))
	r = decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--mnist", "@images-idx3-ubyte", "--max-angle", "90",
		"--json", "--equivariance-tasks", "0"))
	require.Equal(t, 3, r.Report.Tasks)
	require.Contains(t, r.Source, "turned by up to 90 degrees, scaled by 1 to 1")
	require.Equal(t, []string{}, r.Notes)

	b.writeImage("a.png", image.NewGray(image.Rect(0, 0, 6, 6)))
	b.writeImage("b.png", image.NewGray(image.Rect(0, 0, 6, 6)))
	b.writeImage("c.png", image.NewGray(image.Rect(0, 0, 7, 6)))
	r = decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--images", b.dir, "--size", "6", "--json",
		"--equivariance-tasks", "0"))
	require.Equal(t, 2, r.Report.Tasks)
	require.Len(t, r.Notes, 2) // out.png and c.png
	require.Contains(t, r.Notes[0], "c.png: wrong image size")

	b.tensors("in.safetensors", safetensors.FromFloat32s("image", []int{1, 1, 6, 6}, make([]float32, 36)),
		safetensors.FromFloat32s("mask", []int{1, 6, 6}, make([]float32, 36)))
	r = decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--in", "@in.safetensors", "--json", "--equivariance-tasks", "0"))
	require.Equal(t, 36, r.Report.Values)
}

// TestEvalOwn: a user's curves, all of them and no more.
func TestEvalOwn(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.write("own.csv", "task,x,y,context\n1,0,1,1\n1,1,2,0\n2,0,3,0\n")
	r := decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--csv", "@own.csv", "--json", "--picture", "@own.png"))
	require.Equal(t, 2, r.Report.Tasks)
	require.Equal(t, 2, r.Report.Values, "what was observed is not scored")
	require.Contains(t, r.Source, "scored where they are not observed")
	r = decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--csv", "@own.csv", "--json", "--score-context"))
	require.Equal(t, 3, r.Report.Values)
}

// TestEvalUnits: figures in the units of values have digits whatever these units are.
func TestEvalUnits(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	text.WriteString("task,x,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%d,%g\n", i/20, i%20, 3e-9*math.Sin(float64(i)))
	}
	require.NoError(t, os.WriteFile(b.path("t.csv"), []byte(text.String()), 0o600))
	trained := b.ok("train", "regression", "--csv", "@t.csv", "--model", "cnp", "--steps", "2", "--batch", "2", "--eval-every", "1",
		"--out", "@m.safetensors")
	require.Regexp(t, `RMSE \d\.\d+e-09`, trained)
	require.Regexp(t, `squared error +\d\.\d+e-18 ± \d\.\d+e-1\d, its root over all values \d\.\d+e-09`,
		b.ok("eval", "--model", "@m.safetensors", "--csv", "@t.csv", "--equivariance-tasks", "0"))
}

// TestEvalPlane: where tasks that were moved apart share too large a lattice, all else is still measured.
func TestEvalPlane(t *testing.T) {
	b := newBench(t)
	c := cnp.Default(cnp.EquivCNPCurve, "T(2)", 1)
	c.PointsPerUnit, c.Fill, c.MaxLattice = 2, 0.1, 16
	b.save("m.safetensors", c)
	b.write("own.csv", "task,x1,x2,y,context\n1,0,0,1,1\n1,1,1,2,0\n2,0,1,3,0\n")
	r := decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--csv", "@own.csv", "--json"))
	require.Equal(t, 2, r.Report.Values)
	require.Empty(t, r.Equivariance)
	require.Len(t, r.Notes, 2)
	require.Equal(t, "task 1 has no context: its prediction is the prior", r.Notes[0])
	require.Contains(t, r.Notes[1], "equivariance is not measured")
}

// TestEvalShipped: a model of the program's own needs no file.
func TestEvalShipped(t *testing.T) {
	b := newBench(t)
	r := decode[evalResult](t, b.ok("eval", "--model", "digits-T2-small", "--digits", "--tasks", "2", "--equivariance-tasks", "0",
		"--json"))
	require.Greater(t, r.Report.LogLikelihood.Mean, 0.0)
	b.fails(1, "shipped models: ", "eval", "--model", "nobody", "--digits")
}

func TestEvalErrors(t *testing.T) {
	b := newBench(t)
	b.save("curve.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.save("image.safetensors", smallImage("T(2)", 1))
	b.save("two.safetensors", cnp.Default(cnp.CNPCurve, "", 2))
	plane := cnp.Default(cnp.EquivCNPCurve, "T(2)", 1)
	plane.PointsPerUnit, plane.Fill = 8, 0.1
	b.save("plane.safetensors", plane)
	b.save("rgb.safetensors", smallImage("T(2)", 3))
	b.write("own.csv", "a,b\n1,2\n")
	b.write("junk.npz", "junk")
	b.write("empty.csv", "")
	for _, c := range []struct {
		status int
		words  string
		args   []string
	}{
		{2, "at least one of the flags in the group [kernel benchmark sphere field plane line universal digits images mnist csv in]",
			[]string{"@curve.safetensors"}},
		{2, "none of the others can be", []string{"@curve.safetensors", "--kernel", "rbf", "--digits"}},
		{2, "needs curves", []string{"@curve.safetensors", "--digits"}},
		{2, "needs images", []string{"@image.safetensors", "--kernel", "rbf"}},
		{2, `"linear" is not one of rbf`, []string{"@curve.safetensors", "--kernel", "linear"}},
		{2, "--tasks -1", []string{"@curve.safetensors", "--kernel", "rbf", "--tasks", "-1"}},
		{2, "--equivariance-tasks -1", []string{"@curve.safetensors", "--kernel", "rbf", "--equivariance-tasks", "-1"}},
		{2, "--min-context and --max-context 3 to 49 of 10 targets: need", []string{"@curve.safetensors", "--kernel", "rbf",
			"--targets", "10"}},
		{2, "--from 4 --to -4: the interval is empty", []string{"@curve.safetensors", "--kernel", "rbf", "--from", "4", "--to", "-4"}},
		{2, "--targets 5000", []string{"@curve.safetensors", "--kernel", "rbf", "--targets", "5000"}},
		{2, "--min-context 9 --max-context 3", []string{"@curve.safetensors", "--kernel", "rbf", "--min-context", "9",
			"--max-context", "3"}},
		{2, "one coordinate and one output", []string{"@two.safetensors", "--kernel", "rbf"}},
		{2, "--min-rate and --max-rate 0.9 to 0.5: need", []string{"@image.safetensors", "--digits", "--min-rate", "0.9"}},
		{2, "scales 2 to 0.45", []string{"@image.safetensors", "--digits", "--min-scale", "2"}},
		{2, "--size", []string{"@image.safetensors", "--mnist", "@own.csv", "--size", "4"}},
		{2, "--size 5000: digits on 5000 x 5000 pixels", []string{"@image.safetensors", "--digits", "--size", "5000"}},
		{1, "junk.npz: its first bytes are not those of a .npz file", []string{"@curve.safetensors", "--in", "@junk.npz"}},
		{1, "empty.csv: not usable as data: no rows", []string{"@curve.safetensors", "--csv", "@empty.csv"}},
		{2, `--size "0": need a side or width x height`, []string{"@image.safetensors", "--digits", "--size", "0"}},
		{2, "2 coordinates cannot be drawn", []string{"@plane.safetensors", "--csv", "@own.csv", "--picture", "@x.png"}},
		{2, "images are drawn as .png", []string{"@image.safetensors", "--digits", "--picture", "@x.svg"}},
		{2, `not ".gif"`, []string{"@image.safetensors", "--digits", "--picture", "@x.gif"}},
		{1, "no column", []string{"@curve.safetensors", "--csv", "@own.csv"}},
		{1, "begins with", []string{"@image.safetensors", "--mnist", "@curve.safetensors"}},
		{1, "1 channel, the model has 3", []string{"@rgb.safetensors", "--digits"}},
		{1, "is an input", []string{"@curve.safetensors", "--csv", "@own.csv", "--picture", "@own.csv.png"}},
	} {
		if c.words == "is an input" {
			b.write("own.csv.png", "x,y\n1,2\n")
			c.args[2] = "@own.csv.png"
		}
		b.fails(c.status, c.words, append([]string{"eval", "--model"}, c.args...)...)
	}
}

// TestEvalPaper: with the authors' weights the 1D scores of the paper's test come out as their code gives them, and the 2D
// ones as on digits of the same shapes, within five standard errors.
func TestEvalPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; this takes seconds (make test runs it)")
	}
	for _, c := range []struct {
		kernel, model string
		mean, std     float64 // measured with their code, 1000 tasks
	}{{"rbf", "equivcnp", 1.3232, 1.0136}, {"matern", "convcnp", 0.8695, 0.9146}, {"periodic", "cnp", -1.0349, 0.5146}} {
		b, n := newBench(t), 96.0
		r := decode[evalResult](t, b.ok("eval", "--model", testkit.Shared(t, "weights", "1d", c.kernel+"_"+c.model+".pth"),
			"--kernel", c.kernel,
			"--tasks", "96", "--equivariance-tasks", "0", "--json"))
		require.InDelta(t, c.mean, r.Report.LogLikelihood.Mean, 5*c.std*math.Sqrt(1/n+1e-3), c.kernel)
		require.InDelta(t, c.std, r.Report.LogLikelihood.Std, 0.35*c.std, c.kernel)
	}
	b := newBench(t)
	r := decode[evalResult](t, b.ok("eval", "--model", testkit.Shared(t, "weights", "2d", "T2.pth"), "--group", "T(2)",
		"--digits", "--tasks", "16",
		"--equivariance-tasks", "0", "--json"))
	require.InDelta(t, 1.071, r.Report.LogLikelihood.Mean, 5*0.406*math.Sqrt(1/16.0+1/100.0))
}
