package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// Numbers of lifts, and of angles and scales.
func TestLiftsFlag(t *testing.T) {
	for text, want := range map[string]liftsFlag{"4": {4, 0}, "1": {1, 0}, "4x3": {12, 3}, "2X1": {2, 1}} {
		var f liftsFlag
		require.NoError(t, f.Set(text))
		require.Equal(t, want, f)
		var again liftsFlag
		require.NoError(t, again.Set(f.String()))
		require.Equal(t, f, again)
	}
	for _, bad := range []string{"", "x", "4x", "x3", "4x0", "-1", "4x-3", "4x3x2", "9999999", "1x99999", "four"} {
		var f liftsFlag
		require.Error(t, f.Set(bad), bad)
	}
}

// A model under Sim(2) is trained, explained and measured on digits that are turned, scaled and shifted.
func TestTrainSim2(t *testing.T) {
	b := newBench(t)
	train := []string{"train", "image", "--digits", "--size", "12", "--width", "4", "--blocks", "1", "--steps", "2", "--batch", "2", "--eval-every", "0", "--out", "@sim.safetensors"}
	got := decode[trainResult](t, b.ok(append(train, "--group", "Sim2", "--lifts", "4x3", "--json")...))
	require.Equal(t, "Sim(2) at 3 scales", got.Group)
	require.Contains(t, b.ok("inspect", "@sim.safetensors"), "12: every place is seen at angles 90 degrees apart, each at 3 scales, powers of 2")
	m, err := weights.Load[float32](b.path("sim.safetensors"), weights.Options{})
	require.NoError(t, err)
	c := m.Config()
	require.InDelta(t, cnp.Default(cnp.EquivCNPImage, "T(2)", 1).BlockFill/12, c.BlockFill, 1e-12)
	b.ok("eval", "--model", "@sim.safetensors", "--digits", "--size", "12", "--max-angle", "180", "--min-scale", "0.3", "--max-scale", "1", "--max-shift", "3", "--tasks", "2", "--equivariance-tasks", "0")

	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{2, `invalid argument "4x0" for "--lifts"`, []string{"--group", "Sim2", "--lifts", "4x0"}},
		{2, "--lifts 4x3: angles and scales are for --group Sim2, SE(2) takes a single number", []string{"--group", "SE2", "--lifts", "4x3"}},
		{2, "need 1 to 16 scales", []string{"--group", "Sim2", "--lifts", "2x20"}},
		{2, "takes multiples of its number of scales", []string{"--group", "Sim(2) at 3 scales", "--lifts", "4"}},
	} {
		b.fails(c.code, c.words, append(append([]string{}, train[:len(train)-1]...), append([]string{"@new.safetensors"}, c.args...)...)...)
	}
	b.fails(2, "is for images", "train", "regression", "--plane", "isotropic", "--group", "Sim2", "--lifts", "4x2", "--steps", "2", "--out", "@new.safetensors")
}
