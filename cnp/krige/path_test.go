package krige

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnlikely compares ratios of densities with their definition.
func TestUnlikely(t *testing.T) {
	for name, c := range map[string]struct {
		w     *widened
		shape float64
	}{
		"normal": {newWidened(1.5, wideNormal), 1.5}, "rational": {wideRational, 1},
		"matern12": {wideMatern[matern12], 0.5}, "matern32": {wideMatern[matern32], 1.5}, "matern52": {wideMatern[matern52], 2.5},
	} {
		for _, x := range []float64{1e-30, 1e-9, 1e-3, 0.3, 1, 4, 21, 64, 100} {
			var sum float64
			for _, s := range c.w.stretches {
				sum += math.Pow(s, -c.shape) * math.Exp(x-x/s)
			}
			require.InEpsilon(t, float64(len(c.w.stretches))/sum, c.w.unlikely(x), 1e-13, fmt.Sprint(name, " at ", x))
		}
	}
}
