package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// TestShippedCommands: the commands that inspect shows for a shipped model are complete. This program takes their flags, each begins with a
// model that is shipped or that an earlier one wrote, and the last one writes the model.
func TestShippedCommands(t *testing.T) {
	b := newBench(t)
	written := map[string]bool{}
	for _, name := range pretrained.Names() {
		if name != "digits-RxSO2-coarse" { // which goes on where digits-RxSO2 ends
			clear(written)
		}
		for _, other := range pretrained.Names() {
			written[other] = true
		}
		_, shown, ok := strings.Cut("\n"+b.ok("inspect", name), "\ncommand ")
		require.True(t, ok, name)
		out := ""
		for line := range strings.Lines(shown) {
			if out != "" && line[0] != ' ' {
				break
			}
			if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
				out = shippedCommand(t, strings.TrimSpace(line), written)
			}
		}
		require.Equal(t, name+".safetensors", out)
	}
}

// shippedCommand checks one of these commands and returns the file that it writes.
func shippedCommand(t *testing.T, line string, written map[string]bool) (out string) {
	if line == "OMP_NUM_THREADS=1 python3 testdata/demo/make_demo.py" {
		return "digits-T2-small.safetensors"
	}
	args, err := shards.Words(line)
	require.NoError(t, err, line)
	require.Equal(t, "equivcnp", args[0], line)
	cmd, rest, err := (&app{}).root().Find(args[1:])
	require.NoError(t, err, line)
	require.NoError(t, cmd.ParseFlags(rest), line)
	require.NoError(t, cmd.ValidateRequiredFlags(), line)
	require.NoError(t, cmd.ValidateFlagGroups(), line)
	require.Empty(t, cmd.Flags().Args(), line)
	for _, name := range []string{"start", "model"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			require.True(t, written[strings.Trim(f.Value.String(), "[]")], line)
		}
	}
	out = cmd.Flags().Lookup("out").Value.String()
	written[out] = true
	return out
}
