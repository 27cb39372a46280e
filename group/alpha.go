package group

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// Default weights of the distance's first part, those that the paper's authors trained with.
const (
	defaultAlpha     = 0.2
	defaultAlphaSO2  = 0.3
	defaultAlphaRSO2 = 0.3
)

// maxDim bounds n of T(n), R>0(n) and trivial(n).
const maxDim = 64

// weights are α and 1-α.
type weights struct{ alpha, beta float64 }

// Alpha returns the weight of the distance's first part.
func (w weights) Alpha() float64 { return w.alpha }

// mix returns α·x + (1-α)·y, each product rounded on its own so that every caller gets the same bits.
func (w weights) mix(x, y float64) float64 { return float64(w.alpha*x) + float64(w.beta*y) }

// newWeights resolves alpha = 0 to the default and panics outside (0, 1).
func newWeights(name string, alpha, def float64) weights {
	if alpha == 0 {
		alpha = def
	}
	if !goodAlpha(alpha) {
		panic(fmt.Sprintf("group: %s: alpha = %g, need 0 < alpha < 1, or 0 for the default", name, alpha))
	}
	return weights{alpha, 1 - alpha}
}

func goodAlpha(alpha float64) bool { return alpha > 0 && alpha < 1 }

func checkDim(name string, n int) {
	if n < 1 || n > maxDim {
		panic(fmt.Sprintf("group: %s: n = %d, need 1 to %d", name, n, maxDim))
	}
}

// Allowances for rounding in bounding boxes. A box is wider than the proof asks by a part in 10⁹, which covers the
// rounding of coordinates up to 10⁵ times the half-width; coordinates of known size (angles, unit vectors, logarithms)
// get an absolute allowance as well, so that balls of any radius are covered.
const (
	slackRel = 1e-9
	slackAbs = 1e-12 // above 2⁻⁵³·8·745, the rounding of the logarithm of any float64
)

// widen adds the relative allowance.
func widen(half float64) float64 { return half * (1 + slackRel) }

// widenAbs adds both allowances.
func widenAbs(half float64) float64 { return half*(1+slackRel) + slackAbs }

// clampFinite returns the computed length r of x. Where rounding alone made it infinite, it returns the largest float64 instead.
func clampFinite(r float64, x []float64) float64 {
	if math.IsInf(r, 1) {
		for _, v := range x {
			if math.IsInf(v, 0) {
				return r
			}
		}
		return math.MaxFloat64
	}
	return r
}

// smallest is the smallest positive float64. Points at which a logarithm does not exist are lifted as if they were that
// far from the origin, which puts them farther from all other points than these are from each other.
const smallest = math.SmallestNonzeroFloat64

// logSmallest is log(smallest).
var logSmallest = linalg.Log(smallest)

// floorLog is l, but not below logSmallest; NaN stays NaN.
func floorLog(l float64) float64 {
	if l < logSmallest {
		return logSmallest
	}
	return l
}
