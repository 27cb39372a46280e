package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVectors: a model of a scalar and a vector is trained on a table, says what it is, and draws arrows; types that do
// not fit are refused.
func TestVectors(t *testing.T) {
	b := newBench(t)
	rng := rand.New(rand.NewPCG(5, 1))
	var table strings.Builder
	table.WriteString("day,east,north,p,u,v\n")
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%g,%g,%g,%g,%g\n", i/20, 4*rng.Float64(), 4*rng.Float64(), 1000+rng.NormFloat64(),
			20*rng.NormFloat64(), 20*rng.NormFloat64())
	}
	b.write("wind.csv", table.String())
	run := []string{"train", "regression", "--csv", "@wind.csv", "--x", "east,north", "--y", "p,u,v", "--task", "day", "--group",
		"SE2", "--lifts", "3", "--levels", "2",
		"--channels", "3", "--kernel-width", "3", "--points-per-unit", "1", "--min-context", "3", "--max-context", "9", "--steps",
		"2", "--batch", "2", "--eval-every", "0"}
	b.ok(append(run, "--outputs", "scalar,vector", "--out", "@wind.safetensors")...)
	b.fails(2, "--outputs vector: need as many columns as the data have, 3; these are 2",
		append(run, "--outputs", "vector", "--out", "@x.safetensors")...)
	b.fails(2, "is not one of", append(run, "--outputs", "wind", "--out", "@x.safetensors")...)
	b.fails(2, "likelihood normal does not turn with vectors", append(run, "--outputs", "scalar,vector", "--likelihood", "normal",
		"--out", "@x.safetensors")...)
	said := b.ok("inspect", "@wind.safetensors")
	require.Contains(t, said, "scalar (column 1), vector (columns 2 to 3)")
	require.Contains(t, said, "for every place: angles 120 degrees apart")

	// Types and other lists may be lists in a file.
	b.write("run.yaml", "task: regression\ncsv: "+b.path("wind.csv")+"\nx: [east, north]\n'y': [p, u, v]\nout: "+
		b.path("listed.safetensors")+"\ngroup: SE2\nlifts: 3\nlevels: 2\nchannels: [2, 3]\n"+
		"kernel-width: 3\npoints-per-unit: 1\nmin-context: 3\nmax-context: 9\nsteps: 1\nbatch: 2\neval-every: "+
		"0\noutputs: [scalar, vector]\n")
	b.ok("train", "--config", "@run.yaml")
	require.Contains(t, b.ok("inspect", "@listed.safetensors"), "scalar (column 1), vector (columns 2 to 3)")
	b.fails(2, "is not one of", append(run, "--outputs", "scalar,,scalar", "--out", "@x.safetensors")...) // an output without a type
	var one strings.Builder
	one.WriteString("east,north,p,u,v\n1,1,1000,3,4\n2,3,1001,-20,7\n0,3,999,5,-30\n")
	b.write("day.csv", one.String())
	b.write("where.csv", "east,north\n1,2\n2,2\n3,1\n")
	b.ok("regress", "--model", "@wind.safetensors", "--csv", "@day.csv", "--x", "east,north", "--y", "p,u,v", "--targets",
		"@where.csv", "--out", "@out.csv", "--plot", "@arrows.svg")
	require.Contains(t, b.files()["arrows.svg"], "<svg")
	e := decode[evalResult](t, b.ok("eval", "--model", "@wind.safetensors", "--csv", "@wind.csv", "--x", "east,north", "--y",
		"p,u,v", "--task", "day", "--json"))
	require.NotEmpty(t, e.Equivariance)

	// Wind from pressure alone.
	b.ok(append(run, "--outputs", "scalar,vector", "--inputs", "scalar", "--out", "@blind.safetensors")...)
	require.Contains(t, b.ok("inspect", "@blind.safetensors"), "scalar (column 1), vector (columns 2 to 3, never observed)")
	b.write("pressure.csv", "east,north,p,u,v\n1,1,1000,,\n2,3,1001,,\n0,3,999,,\n")
	for _, name := range []string{"day", "pressure"} {
		b.ok("regress", "--model", "@blind.safetensors", "--csv", "@"+name+".csv", "--x", "east,north", "--y", "p,u,v",
			"--targets", "@where.csv", "--out", "@"+name+"-out.csv")
	}
	require.Equal(t, b.files()["day-out.csv"], b.files()["pressure-out.csv"])
	b.fails(2, "inputs[0], a vector, is not among outputs", append(run, "--inputs", "vector", "--outputs", "scalar,scalar,scalar",
		"--out", "@x.safetensors")...)
	b.fails(2, "is not one of", append(run, "--inputs", "wind", "--out", "@x.safetensors")...)
}

// TestFieldDefaults: without flags for the model, vector fields have levels under the groups that have some, and none under others.
func TestFieldDefaults(t *testing.T) {
	b := newBench(t)
	run := []string{"train", "regression", "--field", "rbf", "--targets", "5", "--steps", "1", "--batch", "1", "--eval-every", "0"}
	b.ok(append(run, "--out", "@plane.safetensors")...)
	said := b.ok("inspect", "@plane.safetensors")
	require.Contains(t, said, "channels [32 32 48 64]")
	require.Contains(t, said, "2 points per unit")
	b.ok(append(run, "--group", "SE2", "--lifts", "4", "--start", "@plane.safetensors", "--out", "@turned.safetensors")...)
	b.ok(append(run, "--group", "RxSO2", "--channels", "2,2", "--out", "@radial.safetensors")...)
}

// TestStart: a run that begins with another model's parameters begins with its predictions, also where it has more
// lifts or more blocks; models of other sizes are refused, and the tensor is named.
func TestStart(t *testing.T) {
	b := newBench(t)
	run := []string{"train", "regression", "--field", "rbf", "--levels", "2", "--channels", "3", "--kernel-width", "3",
		"--min-context", "3", "--max-context", "9",
		"--targets", "5", "--batch", "2", "--eval-every", "0"}
	b.ok(append(run, "--steps", "2", "--out", "@first.safetensors")...)
	score := func(model string) float64 {
		return decode[evalResult](t, b.ok("eval", "--model", model, "--field", "rbf", "--tasks", "2", "--json")).Report.LogLikelihood.Mean
	}
	b.ok(append(run, "--steps", "0", "--start", "@first.safetensors", "--out", "@second.safetensors")...)
	require.Equal(t, score("@first.safetensors"), score("@second.safetensors"))
	b.ok(append(run, "--steps", "0", "--start", "@first.safetensors", "--group", "SE2", "--lifts", "4", "--out", "@lifts.safetensors")...)
	require.NotEqual(t, score("@first.safetensors"), score("@lifts.safetensors"))
	b.ok(append(run, "--steps", "1", "--start", "@first.safetensors", "--out", "@third.safetensors")...)
	require.NotEqual(t, score("@first.safetensors"), score("@third.safetensors"))
	b.ok(append(run, "--steps", "0", "--blocks", "3", "--start", "@first.safetensors", "--out", "@deeper.safetensors")...)
	require.Equal(t, score("@first.safetensors"), score("@deeper.safetensors"))
	b.ok(append(run, "--steps", "2", "--blocks", "3", "--start", "@first.safetensors", "--out", "@learned.safetensors")...)
	require.NotEqual(t, score("@third.safetensors"), score("@learned.safetensors"))
	b.fails(1, "--start: it has a tensor", append(run, "--start", "@deeper.safetensors", "--out", "@x.safetensors")...)
	b.fails(1, "--start", append(run, "--start", "@none.safetensors", "--out", "@x.safetensors")...)
	b.fails(1, "--start: tensor", append(run, "--channels", "4", "--start", "@first.safetensors", "--out", "@x.safetensors")...)
	b.fails(1, "which this model has: its number of levels is 2, this model's 3", append(run, "--levels", "3", "--start",
		"@first.safetensors", "--out", "@x.safetensors",
		"--resume")...)
	b.fails(1, "which this model has not", append(run, "--blocks", "0", "--start", "@first.safetensors", "--out", "@x.safetensors")...)
	b.fails(1, "is an input", append(run, "--start", "@first.safetensors", "--out", "@first.safetensors")...)

	// A joint normal begins with the network and the means of an independent one, and with a factor of its own.
	line := []string{"train", "regression", "--benchmark", "eq", "--levels", "2", "--channels", "3", "--kernel-width", "3",
		"--points-per-unit", "8", "--batch", "2", "--eval-every", "0"}
	b.ok(append(line, "--steps", "2", "--out", "@normal.safetensors")...)
	joint := append(line, "--start", "@normal.safetensors", "--steps", "0", "--likelihood", "lowrank:9", "--waves", "4:12")
	b.ok(append(joint, "--out", "@joint.safetensors")...)
	squared := func(model string) float64 {
		return float64(decode[evalResult](t, b.ok("eval", "--model", model, "--benchmark", "eq", "--tasks", "2", "--json")).Report.RMSE)
	}
	require.Equal(t, squared("@normal.safetensors"), squared("@joint.safetensors"))
	require.Contains(t, b.ok("inspect", "@joint.safetensors"), "4 frequencies along a coordinate, up to 12 radians per unit")
	for _, waves := range []string{"4", "x:12", "4:", "4:y"} {
		b.fails(2, `--waves "`+waves+`": need COUNT:FASTEST`, append(line, "--likelihood", "lowrank:9", "--waves", waves, "--out",
			"@x.safetensors")...)
	}
	b.fails(2, "count = 5", append(line, "--likelihood", "lowrank:9", "--waves", "5:12", "--out", "@x.safetensors")...)
	b.fails(2, "waves are for likelihood lowrank", append(line, "--waves", "4:12", "--out", "@x.safetensors")...)
}

// TestReproduceVectors: the table has a row for each kind of model, with a cell for each kernel that it was trained on;
// by the chain rule it says what a sample costs.
func TestReproduceVectors(t *testing.T) {
	b := newBench(t)
	for _, kernel := range []string{"rbf", "curl-free"} {
		b.ok("train", "regression", "--field", kernel, "--levels", "1", "--channels", "2", "--kernel-width", "3",
			"--points-per-unit", "0.5", "--min-context", "3",
			"--max-context", "9", "--targets", "5", "--steps", "2", "--batch", "2", "--eval-every", "0", "--out", "@"+kernel+".safetensors")
	}
	b.ok("train", "regression", "--field", "rbf", "--levels", "1", "--channels", "2", "--kernel-width", "3", "--points-per-unit",
		"0.5", "--targets", "5", "--steps", "1",
		"--batch", "2", "--eval-every", "0", "--out", "@short.safetensors")
	args := []string{"reproduce", "vectors", "--models", "@", "--tasks", "1", "--out", "@"}
	if !testing.Short() {
		args = append(args, "--chain", "1")
	}
	b.ok(args...)
	report, table := b.files()["vectors.md"], b.files()["vectors.csv"]
	require.Regexp(t, `here: T\(2\), independent \| -?[0-9.]+.* \| -?[0-9.]+.* \| not trained yet`, report)
	require.Regexp(t, `here: T\(2\), 1 steps, independent \| -?[0-9.]+.* \| not trained yet \| not trained yet`, report)
	require.Contains(t, table, "curl-free,the process,joint,1,")
	require.Equal(t, !testing.Short(), strings.Contains(report, "takes 2550 evaluations of its network"))
}

// TestCharges: fields in space are trained and measured under SE(3) with random and with even lifts, which inspect
// explains; what does not fit is refused by name.
func TestCharges(t *testing.T) {
	b := newBench(t)
	run := []string{"train", "regression", "--field", "charges", "--levels", "1", "--channels", "2", "--points-per-unit", "0.5",
		"--min-context", "3", "--max-context", "9",
		"--targets", "5", "--batch", "2", "--eval-every", "0", "--steps", "2"}
	b.ok(append(run, "--group", "SE3", "--lifts", "2", "--lift-samples", "random", "--out", "@random.safetensors")...)
	require.Contains(t, b.ok("inspect", "@random.safetensors"),
		"2 random lifts with seed 0, resampled for every batch of the training")
	b.ok(append(run, "--group", "SE3", "--lifts", "4", "--start", "@random.safetensors", "--steps", "0", "--out", "@even.safetensors")...)
	require.Contains(t, b.ok("inspect", "@even.safetensors"), "a group of rotations; turns by one of them are exact")
	for _, kind := range []string{"charges", "turned-charges"} {
		e := decode[evalResult](t, b.ok("eval", "--model", "@even.safetensors", "--field", kind, "--tasks", "2", "--json"))
		require.NotEmpty(t, e.Equivariance)
	}
	plain := []string{"train", "regression", "--field", "charges", "--channels", "2,2", "--min-context", "3", "--max-context",
		"9", "--targets", "5", "--batch", "2",
		"--eval-every", "0", "--steps", "1"}
	b.ok(append(plain, "--group", "trivial(3)", "--out", "@none.safetensors")...)
	b.ok(append(plain, "--model", "cnp", "--out", "@cnp.safetensors")...)
	b.fails(2, `--field "magnets": need one of rbf, curl-free, divergence-free, charges, turned-charges`, "train", "regression",
		"--field", "magnets", "--out", "@x.safetensors")
	b.fails(2, `--lift-samples "odd" is neither empty`, append(run, "--group", "SE3", "--lift-samples", "odd", "--out",
		"@x.safetensors")...)
	b.fails(2, `--lift-samples "random" is for models with levels under SE(3), this is T(3)`,
		append(run, "--lift-samples", "random", "--out", "@x.safetensors")...)
	b.fails(2, "--field has tasks of 2 coordinates and 2 outputs, the model has 3 and 3", "eval", "--model", "@even.safetensors",
		"--field", "rbf")
	b.fails(2, "5 to 3 context points", append(run, "--min-context", "5", "--max-context", "3", "--out", "@x.safetensors")...)
}
