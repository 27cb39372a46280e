package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestCalibrate: what calibrate writes predicts the same means with intervals that hold what they should, and says what it was calibrated on.
func TestCalibrate(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	args := []string{"calibrate", "--model", "@m.safetensors", "--kernel", "rbf", "--targets", "30", "--max-context", "9", "--tasks", "60", "--out", "@c.safetensors"}
	r := decode[calibrateResult](t, b.ok(append(args, "--json")...))
	require.Greater(t, r.After.LogLikelihood.Mean, r.Before.LogLikelihood.Mean)
	require.Less(t, r.After.CalibrationError, 0.1)
	require.Empty(t, r.Notes)
	require.Contains(t, b.ok(args...), "intervals' error")
	s, err := weights.ReadState(b.path("c.safetensors"))
	require.NoError(t, err)
	require.Contains(t, s.Metadata["calibrated"], "rbf")
	measure := func(model string) evalResult {
		return decode[evalResult](t, b.ok("eval", "--model", model, "--kernel", "rbf", "--targets", "30", "--max-context", "9", "--tasks", "60", "--seed", "2001", "--json"))
	}
	require.InDelta(t, r.After.LogLikelihood.Mean, measure("@c.safetensors").Report.LogLikelihood.Mean, 1e-9)
	require.InDelta(t, measure("@m.safetensors").Report.RMSE, r.After.RMSE, 1e-5)

	csv := "task,x,y,context\n"
	for i := range 120 {
		csv += []string{"a", "b"}[i/60] + "," + fmt.Sprint(float64(i%60)/10) + "," + fmt.Sprint(i*i%17) + "," + []string{"0", "1"}[i%2] + "\n"
	}
	b.write("own.csv", csv)
	text := b.ok("calibrate", "--model", "@m.safetensors", "--csv", "@own.csv", "--normals", "1", "--out", "@own.safetensors")
	require.Contains(t, text, "scales:1*")
	require.Contains(t, b.ok(append(args, "--mixtures", "2", "--normals", "2")...), "scales:") // one, where all deviations are alike
	b.fails(2, "--mixtures 17", append(args, "--mixtures", "17")...)
	b.fails(2, "--normals 0", append(args, "--normals", "0")...)
	b.fails(1, "is an input", append(args[:len(args)-1], "@m.safetensors")...)
	b.save("cnp.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.fails(1, "of a cnp are not calibrated", "calibrate", "--model", "@cnp.safetensors", "--kernel", "rbf", "--out", "@x.safetensors")
}
