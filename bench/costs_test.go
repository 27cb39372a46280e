package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCosts: every case is a model that its tasks can train and that predicts; those that take a moment are measured,
// and make lines of the table.
func TestCosts(t *testing.T) {
	names := map[string]bool{}
	for _, c := range costCases() {
		require.NoError(t, c.config.Validate(), c.name)
		require.False(t, names[c.name], "%s twice", c.name)
		names[c.name] = true
		if c.name != "image/T(2)" && c.name != "sphere/SO(3) at 10" && c.name != "space/T(3)" {
			continue
		}
		step, err := c.measure(t.Context(), "step", 1)
		require.NoError(t, err)
		prediction, err := c.measure(t.Context(), "prediction", 1)
		require.NoError(t, err)
		require.Positive(t, step.Step)
		require.Positive(t, prediction.Prediction)
		var line strings.Builder
		writeCosts(&line, step, prediction)
		require.Regexp(t, `^\| `+strings.NewReplacer("(", `\(`, ")", `\)`).Replace(c.name)+
			` \| 1 \| .* s \| .* (ns a pair|µs a point|s a lift) \| \d+ MB \| .* s \|`, line.String())
	}
	cmd := costsCommand()
	cmd.SetArgs([]string{"--only", "nothing"})
	require.ErrorContains(t, cmd.Execute(), "no case starts so")
	cmd = costsCommand()
	cmd.SetArgs([]string{"--times", "0"})
	require.ErrorContains(t, cmd.Execute(), "--times 0: need 1 to")
}
