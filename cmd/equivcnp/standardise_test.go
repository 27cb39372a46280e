package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegressOtherScale: a newcomer's curve, about 21 or in nanoseconds and kelvin, is predicted in its own units, and what lies outside
// the model's range is said by name.
func TestRegressOtherScale(t *testing.T) {
	for name, c := range map[string]struct {
		x0, dx, y0, dy float64
		notes          []string
	}{
		"values about 21": {0, 1, 21, 1, []string{"y of the context reaches from"}},
		"another world":   {1e12, 1e9, 2900, 50, []string{"y of the context", "x of the context spans"}},
		"as trained":      {0, 1, 0, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var text strings.Builder
			text.WriteString("x,y\n")
			for i, y := range []float64{-1, -0.4, 0.4, 1.5, 1.1, 0.2, -0.7, -1.1, -0.3} {
				fmt.Fprintf(&text, "%.17g,%.17g\n", c.x0+c.dx*(float64(i)*0.45-1.8), c.y0+c.dy*y)
			}
			require.NoError(t, os.WriteFile(b.path("data.csv"), []byte(text.String()), 0o600))
			status, out, errs := b.run("regress", "--model", "rbf-equivcnp", "--csv", "@data.csv", "--targets", "@data.csv",
				"--out", "@out.csv", "--json")
			require.Equal(t, 0, status, errs)
			var got regressResult
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			// In the model's own units every point is met to within some hundredths.
			require.Greater(t, float64(*got.LogLikelihood)+math.Log(c.dy), 0.5)
			for i, want := range c.notes {
				require.Contains(t, got.Notes[i], want)
				require.Contains(t, errs, want)
			}
			if c.notes == nil {
				require.Empty(t, got.Notes)
				require.Empty(t, errs)
			}
		})
	}
}
