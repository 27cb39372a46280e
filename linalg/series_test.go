package linalg

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeriesMeetTheirFormulas(t *testing.T) {
	// Σ (-1)ᵏ x²ᵏ/(2k+3)!·x² and x²Σ..., summed in 400 bits by the defining products, against the switch of formulas.
	sinCos := func(x float64) (s, c *big.Float) {
		s, c = new(big.Float).SetPrec(400), new(big.Float).SetPrec(400)
		term := new(big.Float).SetPrec(400).SetInt64(1)
		bx := new(big.Float).SetPrec(400).SetFloat64(x)
		for k := int64(0); k < 90; k++ {
			if k > 0 {
				term.Mul(term, bx)
				term.Quo(term, new(big.Float).SetPrec(400).SetInt64(k))
			}
			t := new(big.Float).SetPrec(400).Set(term)
			if k%4 >= 2 {
				t.Neg(t)
			}
			if k%2 == 0 {
				c.Add(c, t)
			} else {
				s.Add(s, t)
			}
		}
		return s, c
	}
	one := new(big.Float).SetPrec(400).SetInt64(1)
	for _, x := range []float64{1e-30, 1e-8, 1e-3, 0.1, 0.3, 0.49, 0.5, math.Nextafter(0.5, 1), 0.51, 1, 2, 3, math.Pi} {
		s, _ := sinCos(x)
		s.Quo(s, new(big.Float).SetPrec(400).SetFloat64(x))
		want, _ := s.Sub(one, s).Float64()
		require.InEpsilon(t, want, oneMinusSinc(x), 1e-14, "1 - sinc %v", x)

		hs, hc := sinCos(x / 2)
		hc.Mul(hc, new(big.Float).SetPrec(400).SetFloat64(x/2))
		hc.Quo(hc, hs)
		want, _ = hc.Sub(one, hc).Float64()
		require.InEpsilon(t, want, oneMinusHalfCot(x), 1e-14, "1 - h cot h at %v", x)
	}
	require.Zero(t, oneMinusSinc(0))
	require.Zero(t, oneMinusHalfCot(0))
}
