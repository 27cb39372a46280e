package testkit

import (
	"math"
	"testing"
)

// Close fails the test if got differs from want by more than tol anywhere, and reports the worst value. NaN differs from
// everything.
func Close[T float32 | float64](t testing.TB, name string, got []T, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	worst, at := 0.0, -1
	for i := range want {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= worst) {
			worst, at = d, i
			if math.IsNaN(d) {
				break
			}
		}
	}
	if !(worst <= tol) {
		t.Errorf("%s: value %d is %v, want %v: off by %.3g, tolerance %.3g", name, at, got[at], want[at], worst, tol)
	}
}
