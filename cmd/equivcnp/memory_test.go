//go:build linux && !race

package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// resident runs the program as a process of its own and returns the most memory that it had, in bytes.
func (b *bench) resident(args ...string) int64 {
	b.t.Helper()
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			args[i] = b.path(name)
		}
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", peakFile+"="+b.path("peak"), "GOGC=100") // as without a word from the user
	out, err := cmd.CombinedOutput()
	require.NoError(b.t, err, "%s", out)
	status, err := os.ReadFile(b.path("peak"))
	require.NoError(b.t, err)
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	require.True(b.t, ok)
	kilobytes, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	require.NoError(b.t, err)
	return kilobytes << 10
}

// TestEstimate: what a run really takes, beyond what the program takes anyway, is within a factor of two of the estimate.
func TestEstimate(t *testing.T) {
	b := newBench(t)
	b.writeImage("i.png", gradient(48, 48))
	empty := b.resident("version")
	check := func(need cnp.Need, err error, args ...string) {
		t.Helper()
		require.NoError(t, err)
		took := b.resident(args...) - empty
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
	check(need, err, "train", "regression", "--levels", "6", "--batch", "32", "--steps", "3", "--eval-every", "0", "--out",
		"@l.safetensors")
	if testing.Short() {
		return
	}
	space := cnp.DefaultLevels(3, 3, 1) // where margins are most of a lattice
	space.Kernel, space.PointsPerUnit, space.EncoderLength, space.Channels = 3, 1, 1, []int{32, 32, 32}
	need, err = space.Estimate(cnp.Work{Batch: 4, Context: 90, Targets: 150, Span: 4, Train: true})
	check(need, err, "train", "regression", "--benchmark", "rcnp-eq", "--dx", "3", "--levels", "3", "--kernel-width", "3",
		"--channels", "32", "--points-per-unit", "1", "--encoder-length", "1", "--batch", "4", "--steps", "2", "--eval-every", "0",
		"--out", "@s.safetensors")
	m, err := pretrained.Load("digits-SE2x4")
	require.NoError(t, err)
	need, err = cnp.EstimateModel(m, cnp.Work{Batch: 1, H: 48, W: 48, Weights: implicitWeights})
	check(need, err, "complete", "--model", "digits-SE2x4", "--image", "@i.png", "--rate", "0.3", "--out", "@o.png")
}

// TestMemoryHolds: a plan that is made with a limit, and the batches that it completes afterwards, stay within 1.1 times the limit beside
// what the program itself takes.
func TestMemoryHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; this takes ten seconds and more (make test runs it)")
	}
	b := newBench(t)
	empty := b.resident("version")
	hold := func(model string, size, images, batch int, limit string) {
		t.Helper()
		im := make([]float32, images*size*size)
		mask := make([]float32, len(im))
		rng := testkit.Rand(1)
		for i := range im {
			if im[i] = rng.Float32(); rng.Float64() < 0.3 {
				mask[i] = 1
			}
		}
		b.tensors("in.safetensors", safetensors.FromFloat32s("image", []int{images, 1, size, size}, im),
			safetensors.FromFloat32s("mask", []int{images, size, size}, mask))
		bytes, ok := cli.ParseBytes(limit)
		require.True(t, ok)
		took := b.resident("predict", "--model", model, "--in", "@in.safetensors", "--out", "@out.safetensors", "--memory", limit,
			"--batch", strconv.Itoa(batch))
		t.Logf("%s, %d x %d pixels, batches of %d: %v of %v (%.3f), the program itself %v", model, size, size, batch,
			cnp.Bytes(took), cnp.Bytes(bytes),
			float64(took)/float64(bytes), cnp.Bytes(empty))
		require.Less(t, float64(took), 1.1*float64(bytes)+float64(empty))
	}
	hold("digits-RxSO2", 64, 3, 1, "300M")
	hold("digits-RxSO2", 64, 16, 16, "300M")
	hold("digits-SE2x4", 48, 16, 16, "300M")
	if *long { // images of this size are completed as four coarser ones each, so that a batch of 16 is one of 64
		for _, batch := range []int{1, 4, 16, 64} {
			hold("digits-RxSO2", 128, batch, batch, "900M")
		}
	}
}
