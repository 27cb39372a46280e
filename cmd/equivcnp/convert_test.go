package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// What a file says of its model, as where it is from and what speaks against bfloat16, stays; scores of another model do not.
func TestConvertProvenance(t *testing.T) {
	b := newBench(t)
	b.ok("convert", "--model", "digits-T2", "--out", "@same.safetensors")
	b.ok("convert", "--model", "digits-T2", "--alpha", "0.4", "--out", "@other.safetensors")
	was, err := pretrained.State("digits-T2")
	require.NoError(t, err)
	same, err := weights.ReadState(b.path("same.safetensors"))
	require.NoError(t, err)
	was.Metadata["source"] = "digits-T2"
	require.Equal(t, was.Metadata, same.Metadata)

	other, err := weights.ReadState(b.path("other.safetensors"))
	require.NoError(t, err)
	require.Equal(t, was.Metadata[pretrained.KeyBFloat16], other.Metadata[pretrained.KeyBFloat16])
	require.Equal(t, was.Metadata[pretrained.KeyCommand], other.Metadata[pretrained.KeyCommand])
	require.NotContains(t, other.Metadata, pretrained.KeyLogLikelihood)
	require.NotContains(t, other.Metadata, pretrained.KeyTest)
}

// A checkpoint without configuration needs its group once; what convert writes needs it never again and predicts the
// same to the last bit.
func TestConvert(t *testing.T) {
	b := newBench(t)
	b.save("whole.safetensors", imageConfig("T(2)", 1))
	whole, err := safetensors.Read(b.path("whole.safetensors"))
	require.NoError(t, err)
	whole.Metadata = nil
	require.NoError(t, safetensors.Write(b.path("bare.safetensors"), whole))

	args := []string{"convert", "--model", "@bare.safetensors", "--out", "@new.safetensors"}
	b.fails(1, "T(2), R>0xSO(2), R>0xSqueeze (with --group)", args...)
	b.fails(1, "SE(2)", append(args, "--group", "SE(2)")...)
	require.Contains(t, b.ok(append(args, "--group", "R>0xSO(2)", "--alpha", "0.4")...), "R>0xSO(2) is on record now")
	cfg, err := weights.LoadConfig(b.path("new.safetensors"), weights.Options{})
	require.NoError(t, err)
	require.Equal(t, "R>0xSO(2)", cfg.Group)
	require.Equal(t, 0.4, cfg.Alpha)

	b.tensors("in.safetensors", f64s("image", []int{1, 1, 3, 3}, 0, 1, 0, 1, 0, 1, 0, 1, 0),
		u8s("mask", safetensors.U8, []int{1, 1, 3, 3}, 1, 0, 1, 0, 1, 0, 1, 0, 1))
	b.ok("predict", "--model", "@bare.safetensors", "--group", "R>0xSO(2)", "--alpha", "0.4", "--in", "@in.safetensors", "--out",
		"@a.safetensors")
	b.ok("predict", "--model", "@new.safetensors", "--in", "@in.safetensors", "--out", "@b.safetensors")
	require.Equal(t, b.files()["a.safetensors"], b.files()["b.safetensors"])

	got := decode[convertResult](t, b.ok(append(args, "--group", "T(2)", "--json")...))
	require.Equal(t, "T(2)", got.Group)
	require.Positive(t, got.Parameters)
	b.fails(1, "is an input", "convert", "--model", "@new.safetensors", "--out", "@new.safetensors")
	b.fails(1, "--out: ", "convert", "--model", "@new.safetensors", "--out", "@nowhere/new.safetensors")
	b.write("hostile.pth", "\x80\x02cos\nsystem\nU\x04echoR.")
	b.fails(1, "hostile.pth", "convert", "--model", "@hostile.pth", "--out", "@x.safetensors")
}

func TestInspect(t *testing.T) {
	b := newBench(t)
	b.save("image.safetensors", imageConfig("SO(2)", 3))
	b.save("curve.safetensors", curveConfig())
	b.save("cnp.safetensors", pointConfig(2, 1))
	for name, words := range map[string][]string{
		"image": {"equivcnp-image, known from its own metadata", "SO(2)", "3 channels", "1 residual block", "0.5  conv_theta.r",
			"cnn.0.module.weight"},
		"curve": {"architecture    equivcnp,", "1 input, 1 output", "8 points per unit", "second output   variance"},
		"cnp":   {"architecture    cnp,", "2 inputs, 1 output", "encoder.0.weight", "[8, 3]"},
	} {
		text := b.ok("inspect", "@"+name+".safetensors")
		for _, w := range words {
			require.Contains(t, text, w)
		}
		var d weights.Description
		require.NoError(t, json.Unmarshal([]byte(b.ok("inspect", "@"+name+".safetensors", "--json")), &d))
		require.NotNil(t, d.Config)
		require.Positive(t, d.Parameters)
		for _, x := range d.Tensors {
			require.Contains(t, text, x.Name)
		}
	}
	b.tensors("other.safetensors", f64s("a", []int{2}, 1, nan()), f64s("b", []int{0}))
	text := b.ok("inspect", "@other.safetensors")
	require.Contains(t, text, "model           none: ")
	require.Contains(t, text, "1 value not finite")
	b.fails(1, "no such file", "inspect", "@none.safetensors")
	b.fails(1, "shipped models: bench-", "inspect", "@none.safetensors")
	text = b.ok("inspect", "digits-T2")
	require.Regexp(t, `command +equivcnp train image --group T2`, text)
	require.Regexp(t, `log likelihood +\d`, text)
	b.write("text.pth", "hello")
	b.fails(1, "text.pth", "inspect", "@text.pth")
	require.Contains(t, b.ok("inspect", "rbf-equivcnp"), "kept for the paper's tables")
	require.NotContains(t, b.ok("inspect", "rbf-levels"), "kept for")
}

// The authors' checkpoints are recognised as they are; those that leave a choice of group say so.
func TestInspectCheckpoints(t *testing.T) {
	b := newBench(t)
	for file, words := range map[string]string{
		"1d/rbf_equivcnp.pth": "group           T(1)",
		"1d/matern_cnp.pth":   "architecture    cnp,",
		"2d/T2.pth":           "group           one of T(2), R>0xSO(2)",
		"2d_bn/SO2.pth":       "4 residual blocks with batch normalisation",
	} {
		path := testkit.Shared(t, append([]string{"weights"}, strings.Split(file, "/")...)...)
		require.Contains(t, b.ok("inspect", path), words)
	}
}
