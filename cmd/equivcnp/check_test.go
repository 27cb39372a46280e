package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSelfCheck: a model without noise says first of all that it does not suit noisy data, from tables and from files
// of tensors; with clean data, and with --no-check, nothing is said.
func TestSelfCheck(t *testing.T) {
	b := newBench(t)
	for name, noise := range map[string]float64{"noisy": 0.3, "clean": 0} {
		rng := rand.New(rand.NewPCG(1, 9))
		var text strings.Builder
		text.WriteString("x,y\n")
		for range 40 {
			x := 4*rng.Float64() - 2
			fmt.Fprintf(&text, "%g,%g\n", x, math.Sin(2*x)+noise*rng.NormFloat64())
		}
		b.write(name+".csv", text.String())
		b.write("targets.csv", "x\n0\n1\n")
		for command, args := range map[string][]string{
			"regress":  {"--csv", "@" + name + ".csv", "--targets", "@targets.csv"},
			"sample":   {"--csv", "@" + name + ".csv", "--targets", "@targets.csv", "--samples", "2"},
			"stations": {"--csv", "@" + name + ".csv", "--targets", "@targets.csv"},
			"predict":  {"--in", "@" + name + ".csv", "--targets", "@targets.csv"},
		} {
			args = append([]string{command, "--model", "rbf-equivcnp", "--out", "@" + command + name + ".csv", "--json",
				"--quiet"}, args...)
			status, out, errs := b.run(args...)
			require.Zero(t, status, errs)
			var got struct {
				Check *struct {
					Values  int
					Warning string
				}
				Notes []string
			}
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Equal(t, 40, got.Check.Values, command)
			if noise > 0 {
				require.True(t, strings.HasPrefix(errs, "note: do not trust these predictions"), "%s: %s", command, errs)
				require.Equal(t, got.Check.Warning, got.Notes[0])
			} else {
				require.Empty(t, got.Check.Warning, command)
				require.Empty(t, errs, command)
			}
			status, out, errs = b.run(append(args, "--no-check")...)
			require.Zero(t, status, errs)
			require.Empty(t, errs)
			require.NotContains(t, out, `"check"`)
		}
	}
}
