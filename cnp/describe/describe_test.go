package describe_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/describe"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestConfig: a group is named, or else those to choose from.
func TestConfig(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPImage, "SE(2)", 1)
	c.Lifts = 4
	text := describe.Config(&c, nil)
	require.Contains(t, text, [2]string{"group", "SE(2)"})
	require.Contains(t, text, [2]string{"images", "1 channel"})
	require.Contains(t, text, [2]string{"lifts", "4 for every place: angles 90 degrees apart"})
	c.Group = ""
	require.Contains(t, describe.Config(&c, []string{"T(2)", "SO(2)"}), [2]string{"group", "one of T(2), SO(2): say which with --group"})
}

// TestFile: text of a file stays on one line, and what is not finite is noted.
func TestFile(t *testing.T) {
	mean := 0.25
	d := &weights.Description{Path: "m.pth", Format: "pth", Problem: "no model", Parameters: 3, Elements: 4, NonFinite: 1,
		Metadata: map[string]string{"source_file": "a\nb", "equivcnp.x": "hidden"},
		Tensors:  []weights.TensorInfo{{Name: "conv.r", Shape: []int{2, 3}, Mean: &mean}}}
	text, notes := describe.File(d)
	require.Equal(t, [][2]string{{"file", "m.pth (pth)"}, {"model", "none: no model"}, {"parameters", "3, with buffers 4"},
		{"radius", "0.25  conv.r"}, {"source file", `"a\nb"`}}, text)
	require.Equal(t, []string{"1 value not finite"}, notes)
	var b bytes.Buffer
	require.NoError(t, describe.Tensors(&b, d))
	require.Contains(t, b.String(), "[2, 3]")
	require.Contains(t, b.String(), "0.25")
}

// TestCommand: the commands that made a model are shown whole, one a line, as a shell runs them; what a file of unknown origin says is
// bounded.
func TestCommand(t *testing.T) {
	command := func(path, text string) (lines []string) {
		d := &weights.Description{Path: path, Metadata: map[string]string{"command": text}}
		shown, _ := describe.File(d)
		for i, line := range shown {
			if line[0] == "command" || len(lines) > 0 && line[0] == "" {
				require.Equal(t, len(lines) > 0, shown[i][0] == "")
				lines = append(lines, line[1])
			}
		}
		return lines
	}
	long := "equivcnp train image --digits" + strings.Repeat(" --seed 1", 60)
	require.Equal(t, []string{"# after another", long + " --out a.safetensors  # stopped after 7 steps", "equivcnp calibrate --out b"},
		command("m.safetensors", "after another: "+long+" --out a.safetensors (stopped after 7) && equivcnp calibrate --out b"))
	require.Equal(t, []string{"equivcnp train image --out digits-T2.safetensors"}, command("digits-T2", "equivcnp train image"))
	require.Equal(t, []string{"equivcnp train image"}, command("./digits-T2", "equivcnp train image"))
	require.Equal(t, []string{`"a\x1b"`, "b"}, command("m", "a\x1b && b"))
	require.Len(t, command("m", strings.Repeat("a && ", 1e6)), 1)
}
