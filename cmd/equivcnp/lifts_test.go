package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// A model under Sim(2) is trained, explained and measured on digits that are turned, scaled and shifted.
func TestTrainSim2(t *testing.T) {
	b := newBench(t)
	train := []string{"train", "image", "--digits", "--size", "12", "--width", "4", "--blocks", "1", "--steps", "2", "--batch",
		"2", "--eval-every", "0", "--out", "@sim.safetensors"}
	got := decode[trainResult](t, b.ok(append(train, "--group", "Sim2", "--lifts", "4x3", "--json")...))
	require.Equal(t, "Sim(2) at 3 scales", got.Group)
	require.Contains(t, b.ok("inspect", "@sim.safetensors"),
		"12 for every place: angles 90 degrees apart, each at 3 scales, powers of 2")
	m, err := weights.Load[float32](b.path("sim.safetensors"), weights.Options{})
	require.NoError(t, err)
	c := m.Config()
	require.InDelta(t, cnp.Default(cnp.EquivCNPImage, "T(2)", 1).BlockFill/12, c.BlockFill, 1e-12)
	b.ok("eval", "--model", "@sim.safetensors", "--digits", "--size", "12", "--max-angle", "180", "--min-scale", "0.3",
		"--max-scale", "1", "--max-shift", "3", "--tasks", "2", "--equivariance-tasks", "0")

	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{2, `--lifts "4x0": need a number of lifts, or angles and scales, as in 4x3`, []string{"--group", "Sim2", "--lifts", "4x0"}},
		{2, "--lifts 4x3: angles and scales are for --group Sim2, SE(2) takes a single number",
			[]string{"--group", "SE2", "--lifts", "4x3"}},
		{2, "need 1 to 16 scales", []string{"--group", "Sim2", "--lifts", "2x20"}},
		{2, "takes multiples of its number of scales", []string{"--group", "Sim(2) at 3 scales", "--lifts", "4"}},
	} {
		b.fails(c.code, c.words, append(append([]string{}, train[:len(train)-1]...), append([]string{"@new.safetensors"}, c.args...)...)...)
	}
	b.fails(2, "is for images", "train", "regression", "--plane", "isotropic", "--group", "Sim2", "--lifts", "4x2", "--steps",
		"2", "--out", "@new.safetensors")
}

// Views are trained, continued with the same bits, inspected and used; what they are not for is refused by name.
func TestViews(t *testing.T) {
	b := newBench(t)
	args := func(out string, more ...string) []string {
		return append([]string{"train", "image", "--group", "Sim2", "--lifts", "4x2", "--views", "--digits", "--size", "16",
			"--width", "4", "--blocks", "1", "--batch", "2",
			"--eval-tasks", "2", "--steps", "4", "--out", b.path(out)}, more...)
	}
	b.ok(args("whole.safetensors")...)
	b.ok(args("parts.safetensors", "--steps", "4", "--checkpoint-every", "2", "--eval-every", "2")...)
	for _, name := range []string{"whole", "parts"} {
		said := b.ok("inspect", b.path(name+".safetensors"), "--size", "16")
		require.Contains(t, said, "Sim(2) at 2 scales")
		require.Contains(t, said, "things from 0.3 to 1 times as large as in training")
	}
	whole, err := os.ReadFile(b.path("whole.safetensors"))
	require.NoError(t, err)
	parts, err := os.ReadFile(b.path("parts.safetensors"))
	require.NoError(t, err)
	require.Equal(t, whole, parts)
	said := b.ok("eval", "--model", b.path("whole.safetensors"), "--digits", "--size", "16", "--tasks", "2", "--json")
	require.Contains(t, said, "squared_error")

	for want, more := range map[string][]string{
		"--views is for --group Sim2 with --lifts of angles and scales": {"--group", "T2", "--lifts", "1", "--views", "--digits"},
		`--views "1": need the least and the greatest size`:             {"--group", "Sim2", "--lifts", "4x2", "--views=1", "--digits"},
		"sizes from 2 to 1": {"--group", "Sim2", "--lifts", "4x2", "--views=2:1", "--digits"},
		"--group, --alpha, --lifts and --views are for --model equivcnp": {"--model", "convcnp", "--views", "--digits"},
		`need the least and the greatest size of things, as parts of that`: {"--group", "Sim2", "--lifts", "4x2", "--views=a:b",
			"--digits"},
	} {
		b.fails(2, want, append([]string{"train", "image", "--out", b.path("new.safetensors")}, more...)...)
	}
}
