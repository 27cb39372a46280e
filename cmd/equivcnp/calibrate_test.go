package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestCalibrate: what calibrate writes predicts the same means with intervals that hold what they should, and says what
// it was calibrated on.
func TestCalibrate(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	args := []string{"calibrate", "--model", "@m.safetensors", "--kernel", "rbf", "--targets", "30", "--max-context", "9",
		"--tasks", "60", "--out", "@c.safetensors"}
	r := decode[calibrateResult](t, b.ok(append(args, "--json")...))
	require.Greater(t, r.After.LogLikelihood.Mean, r.Before.LogLikelihood.Mean)
	require.Less(t, r.After.CalibrationError, 0.1)
	require.Empty(t, r.Notes)
	require.Contains(t, b.ok(args...), "intervals' error")
	s, err := weights.ReadState(b.path("c.safetensors"))
	require.NoError(t, err)
	require.Contains(t, s.Metadata["calibrated"], "rbf")
	measure := func(model string) evalResult {
		return decode[evalResult](t, b.ok("eval", "--model", model, "--kernel", "rbf", "--targets", "30", "--max-context", "9",
			"--tasks", "60", "--seed", "2001", "--json"))
	}
	require.InDelta(t, r.After.LogLikelihood.Mean, measure("@c.safetensors").Report.LogLikelihood.Mean, 1e-9)
	require.InDelta(t, measure("@m.safetensors").Report.RMSE, r.After.RMSE, 1e-5)

	csv := "task,x,y,context\n"
	for i := range 240 {
		csv += []string{"a", "b"}[i/120] + "," + fmt.Sprint(float64(i%120)/10) + "," + fmt.Sprint(i*i%17) + "," +
			[]string{"0", "1"}[i%2] + "\n"
	}
	b.write("own.csv", csv)
	text := b.ok("calibrate", "--model", "@m.safetensors", "--csv", "@own.csv", "--normals", "1", "--out", "@own.safetensors")
	require.Contains(t, text, "scales:1*")
	own := []string{"calibrate", "--model", "@m.safetensors", "--csv", "@own.csv", "--normals", "1", "--out", "@own.safetensors", "--json"}
	unobserved := decode[calibrateResult](t, b.ok(own...))
	require.Equal(t, 120, unobserved.After.Values, "values of the context say nothing of errors elsewhere")
	require.Equal(t, 240, decode[calibrateResult](t, b.ok(append(own, "--score-context")...)).After.Values)
	require.Contains(t, b.ok(append(args, "--mixtures", "2", "--normals", "2")...), "scales:") // one, where all deviations are alike
	b.fails(2, "--mixtures 17", append(args, "--mixtures", "17")...)
	b.fails(2, "--normals 0", append(args, "--normals", "0")...)
	b.fails(1, "is an input", append(args[:len(args)-1], "@m.safetensors")...)
	b.save("cnp.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.fails(1, "of a cnp are not calibrated", "calibrate", "--model", "@cnp.safetensors", "--kernel", "rbf", "--out", "@x.safetensors")
}

// TestCalibrateObserved: with --keep-observed the means of observed pixels are nearer to what was seen, the others
// stay; a model that is trained so says so.
func TestCalibrateObserved(t *testing.T) {
	b := newBench(t)
	b.ok("train", "image", "--model", "convcnp", "--digits", "--size", "16", "--width", "4", "--blocks", "1", "--steps", "2",
		"--batch", "1", "--eval-every", "0", "--keep-observed", "--quiet", "--out", "@kept.safetensors")
	require.Contains(t, b.ok("inspect", "@kept.safetensors"), "pixels keep their values, with a noise of 0.03")
	calibrate := func(in, out string, more ...string) calibrateResult {
		return decode[calibrateResult](t, b.ok(append([]string{"calibrate", "--model", in, "--digits", "--size", "16", "--tasks",
			"4", "--json", "--out", out}, more...)...))
	}
	plain := calibrate("@kept.safetensors", "@plain.safetensors", "--keep-observed=false")
	require.NotContains(t, b.ok("inspect", "@plain.safetensors"), "pixels keep")
	kept := calibrate("@plain.safetensors", "@again.safetensors", "--keep-observed")
	require.Contains(t, b.ok("inspect", "@again.safetensors"), "pixels keep")
	require.Less(t, kept.After.RMSE, plain.After.RMSE)
	require.InEpsilon(t, kept.After.RMSE, calibrate("@kept.safetensors", "@kept2.safetensors").After.RMSE, 1e-5)
	b.save("curve.safetensors", curveConfig())
	b.fails(1, "keep_observed: it is for models of architecture", "calibrate", "--model", "@curve.safetensors", "--kernel", "rbf",
		"--keep-observed", "--out", "@x.safetensors")
	b.fails(2, "keep_observed: it is for models", "train", "image", "--model", "cnp", "--digits", "--keep-observed", "--out",
		"@x.safetensors")
}
