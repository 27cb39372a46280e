//go:build linux && !race

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

// TestEstimate: what a run really takes, beyond what the program takes anyway, is within a factor of two of the estimate.
func TestEstimate(t *testing.T) {
	b := newBench(t)
	b.writeImage("i.png", gradient(48, 48))
	resident := func(args ...string) int64 {
		for i, a := range args {
			if name, ok := strings.CutPrefix(a, "@"); ok {
				args[i] = b.path(name)
			}
		}
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1", peakFile+"="+b.path("peak"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		status, err := os.ReadFile(b.path("peak"))
		require.NoError(t, err)
		_, after, ok := strings.Cut(string(status), "VmHWM:")
		require.True(t, ok)
		kilobytes, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
		require.NoError(t, err)
		return kilobytes << 10
	}
	empty := resident("version")
	check := func(need cnp.Need, err error, args ...string) {
		t.Helper()
		require.NoError(t, err)
		took := resident(args...) - empty
		t.Logf("estimated %v, took %v: %s", need, cnp.Bytes(took), args)
		require.Greater(t, 2*took, need.Bytes(), "%s", args)
		require.Less(t, took, 2*need.Bytes(), "%s", args)
	}
	image := func(group string, lifts, width int) *cnp.Config {
		c := cnp.Default(cnp.EquivCNPImage, group, 1)
		c.Lifts, c.Channels = lifts, []int{width}
		return &c
	}
	train := []string{"train", "image", "--digits", "--steps", "2", "--eval-every", "0", "--overwrite", "--out", "@m.safetensors"}
	need, err := image("T(2)", 1, 64).Estimate(cnp.Work{Batch: 4, H: 64, W: 64, Train: true})
	check(need, err, append(train, "--group", "T2", "--width", "64", "--batch", "4")...)
	need, err = image("R>0xSO(2)", 1, 64).Estimate(cnp.Work{Batch: 1, H: 48, W: 48, Train: true})
	check(need, err, append(train, "--group", "RxSO2", "--width", "64", "--batch", "1", "--size", "48")...)
	curve := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	need, err = curve.Estimate(cnp.Work{Batch: 64, Context: 49, Targets: 100, Span: 4, Train: true})
	check(need, err, "train", "regression", "--batch", "64", "--steps", "2", "--eval-every", "0", "--out", "@c.safetensors")
	levels := cnp.DefaultLevels(6, 1, 1)
	need, err = levels.Estimate(cnp.Work{Batch: 32, Context: 49, Targets: 100, Span: 4, Train: true})
	check(need, err, "train", "regression", "--levels", "6", "--batch", "32", "--steps", "3", "--eval-every", "0", "--out", "@l.safetensors")
	if testing.Short() {
		return
	}
	m, err := pretrained.Load("digits-SE2x4")
	require.NoError(t, err)
	need, err = cnp.EstimateModel(m, cnp.Work{Batch: 1, H: 48, W: 48, Weights: implicitWeights})
	check(need, err, "complete", "--model", "digits-SE2x4", "--image", "@i.png", "--rate", "0.3", "--out", "@o.png")
}

// An ensemble that needs more memory than it may take is refused with both numbers before it begins, where one of its models would fit.
func TestEnsembleMemory(t *testing.T) {
	b := newBench(t)
	b.writeImage("i.png", gradient(64, 64))
	m, err := pretrained.Load("digits-SO2")
	require.NoError(t, err)
	pair, err := cnp.Ensemble(m, m)
	require.NoError(t, err)
	w := cnp.Work{Batch: 1, H: 64, W: 64, Weights: implicitWeights}
	one, err := cnp.EstimateModel(m, w)
	require.NoError(t, err)
	two, err := cnp.EstimateModel(pair, w)
	require.NoError(t, err)
	limit := (one.Bytes() + two.Bytes()) / 2
	require.NoError(t, one.Check(limit))
	b.fails(1, fmt.Sprintf("too much memory: this needs about %v, the limit is %s", two, cnp.Bytes(limit)), "complete", "--model", "digits-SO2", "--model", "digits-SO2", "--image", "@i.png",
		"--rate", "0.3", "--memory", fmt.Sprint(limit), "--out", "@o.png")
	require.NotContains(t, b.names(), "o.png")
}
