package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/raster"
)

// shipped makes a folder of copies of shipped models.
func (b *bench) shipped(names ...string) string {
	b.t.Helper()
	require.NoError(b.t, os.MkdirAll(b.path("models"), 0o777))
	for _, name := range names {
		file, err := os.ReadFile("../../cnp/pretrained/models/" + name + ".safetensors")
		require.NoError(b.t, err)
		b.write("models/"+name+".safetensors", string(file))
	}
	return b.path("models")
}

// TestDemo: the first command of a fresh clone needs nothing but its output's name, and every shipped image model does well.
func TestDemo(t *testing.T) {
	b := newBench(t)
	shipped, cheap := 0, []string{"rbf-levels"} // the model of curves
	for _, name := range pretrained.Names() {
		info, err := pretrained.About(name)
		require.NoError(t, err)
		if info.Config.Architecture.Image() {
			shipped++
			if name != "digits-T2" {
				cheap = append(cheap, name)
			}
		}
	}
	args := []string{"demo", "--out", "@demo.png", "--json"}
	if !*long { // samples of a network that reaches not far take less time; make demo draws those of digits-T2
		shipped--
		args = append(args, "--models", b.shipped(cheap...))
	}
	r := decode[demoResult](t, b.ok(args...))
	require.Equal(t, 1024, r.ContextPixels)
	require.Len(t, r.Models, shipped)
	require.Equal(t, "digits-T2-small", r.Models[shipped-1].Model, "trained otherwise, it stands apart")
	require.Contains(t, r.Models[0].TrainedOn, "clock digits 56 pixels high on 64 x 64, upright")
	require.Len(t, r.Samples, 2)
	require.Contains(t, r.Samples[0].TrainedOn, "upright")
	require.Contains(t, r.Samples[1].TrainedOn, "rbf")
	require.Len(t, r.Notes, 1)
	require.Contains(t, r.Notes[0], "digits-T2-small was trained on seven-segment digits on 32 x 32 pixels")
	im, err := raster.Read(b.path("demo.png"))
	require.NoError(t, err)
	require.Greater(t, im.H, 2*4*64)

	b = newBench(t)
	text := b.ok("demo", "--models", b.shipped("digits-T2-local", "digits-T2-small"), "--out", "@demo.png")
	upright, other := strings.Index(text, "trained on      upright digits"), strings.Index(text, "trained on      other images")
	require.True(t, 0 < upright && upright < other && other < strings.Index(text, ", digits-T2-small"), text)
	for _, m := range r.Models {
		require.Greater(t, float64(m.LogLikelihood), 0.0, m.Model)
	}
	require.Contains(t, text, "samples         of the upright digit")
}

// TestDemoModels: a folder's models instead, groups from the files' names where the files do not say them, others noted.
func TestDemoModels(t *testing.T) {
	b := newBench(t)
	b.save("b.safetensors", smallImage("SE(2)", 1))
	b.save("a.safetensors", smallImage("T(2)", 1))
	b.save("rgb.safetensors", smallImage("T(2)", 3))
	b.save("curve.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.write("bad.pth", "oops")
	r := decode[demoResult](t, b.ok("demo", "--models", b.dir, "--out", "@demo.png", "--digit", "0", "--rate", "0", "--scale",
		"1", "--json"))
	require.Len(t, r.Models, 2)
	require.Equal(t, "T(2)", r.Models[0].Group)
	require.Equal(t, "SE(2)", r.Models[1].Group)
	require.Zero(t, r.ContextPixels)
	require.Len(t, r.Notes, 1)
	require.Contains(t, r.Notes[0], "bad.pth")
}

func TestDemoErrors(t *testing.T) {
	b := newBench(t)
	for words, args := range map[string][]string{
		"--digit 10":    {"--digit", "10"},
		"--scale 0":     {"--scale", "0"},
		"--scale NaN":   {"--scale", "NaN"},
		"--angle +Inf":  {"--angle", "Inf"},
		"--rate -1":     {"--rate", "-1"},
		"unknown flag:": {"--nothing"},
	} {
		b.fails(2, words, append([]string{"demo", "--out", "@demo.png"}, args...)...)
	}
	b.fails(1, "no model in it", "demo", "--models", b.dir, "--out", "@demo.png")
	b.save("curve.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.fails(1, "no model of grey images", "demo", "--models", b.dir, "--out", "@demo.png")
}
