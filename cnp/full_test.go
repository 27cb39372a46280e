package cnp

import (
	"context"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestFullTurns: when the numbers are turned, means and covariances turn, and densities stay.
func TestFullTurns(t *testing.T) {
	rng := testkit.Rand(3)
	for _, name := range []string{"full", "lowrank:4"} {
		c := Config{Likelihood: name, Architecture: EquivCNPCurve, DimX: 2, DimY: 5, Outputs: []FieldType{Vector, Scalar, Vector},
			Output: OutputStd}
		l, err := ParseLikelihood(&c)
		require.NoError(t, err)
		f := curve.Frames{Dx: 2, Dy: 5, Fields: c.Fields()}
		k := l.Outputs()
		for range 20 {
			s, co := math.Sincos(rng.Float64() * 7)
			r := f.OfValues([]float64{co, -s, s, co}, f.Dy)
			raw, turned, back := make([]float64, 5*k), make([]float64, 5*k), make([]float64, 5*k)
			for i := range raw {
				raw[i] = rng.NormFloat64()
			}
			if name != "full" { // a vector's components share their deviation
				raw[k+1], raw[4*k+1] = raw[1], raw[3*k+1]
			}
			turning := l.(Turning)
			turning.Turn(turned, raw, r, f.Fields)
			var tr curve.Turner[float64]
			turning.Turn(back, turned, tr.Transposed(r, 5), f.Fields)
			for i, v := range raw {
				if i%k > 0 && name == "full" {
					continue
				}
				require.InDelta(t, v, back[i], 1e-12, "turned back")
			}
			predicted := func(raw []float64) *Prediction[float64] {
				p := &Prediction[float64]{Mean: make([]float64, 5), Std: make([]float64, 5), Likelihood: l, Params: make([]float64, 5*k)}
				fam := newFamily[float64](c)
				fam.setTarget(p, 0, raw, fam.buffer())
				return p
			}
			a, b := predicted(raw), predicted(turned)
			ca, cb := a.Covariance(), b.Covariance()
			for i := range 5 {
				m := 0.0
				for j := range 5 {
					m += r[i*5+j] * a.Mean[j]
					s := 0.0
					for p := range 5 {
						for q := range 5 {
							s += r[i*5+p] * ca[p*5+q] * r[j*5+q]
						}
					}
					require.InDelta(t, s, cb[i*5+j], 1e-11)
				}
				require.InDelta(t, m, b.Mean[i], 1e-12)
				require.InDelta(t, math.Sqrt(cb[i*5+i]), b.Std[i], 1e-11)
			}
			y, ty := make([]float64, 5), make([]float64, 5)
			for i := range y {
				y[i] = rng.NormFloat64()
			}
			for i := range ty {
				for j, v := range y {
					ty[i] += r[i*5+j] * v
				}
			}
			before, n := a.LogDensity(y, nil)
			after, _ := b.LogDensity(ty, nil)
			require.Equal(t, 5, n)
			require.InDelta(t, before, after, 1e-9*(1+math.Abs(before)))
		}
	}
}

// TestFullPrediction: samples have the covariance that the prediction says, single values their marginals, other units
// change densities by their factors, and what is not known counts for nothing.
func TestFullPrediction(t *testing.T) {
	c := Default(CNPCurve, "", 2)
	c.Likelihood, c.Channels = "full", []int{8, 8}
	m, err := New[float64](c, 3)
	require.NoError(t, err)
	perturb(m.State(), 4)
	b := randomBatch[float64](testkit.Rand(5), 2, 4, 3, 1, 2)
	all, err := m.(Regressor[float64]).Predict(context.Background(), b)
	require.NoError(t, err)
	p := all.Task(1, 2)
	cov := p.Covariance()
	require.Zero(t, cov[0*6+2], "targets are independent")
	require.NotZero(t, cov[0*6+1])
	rng, sums, draw := testkit.Rand(6), make([]float64, 36), make([]float64, 6)
	const draws = 1 << 16
	for range draws {
		p.Sample(draw, rng, nil)
		for i := range 6 {
			for j := range 6 {
				sums[i*6+j] += (draw[i] - p.Mean[i]) * (draw[j] - p.Mean[j]) / draws
			}
		}
	}
	for i := range 36 {
		require.InDelta(t, cov[i], sums[i], 0.03*p.Std[i/6]*p.Std[i%6], "covariance %d", i)
	}
	extras := p.Extras()
	require.Len(t, extras, 1)
	require.Equal(t, "cov_target", extras[0].Name)
	require.Equal(t, 2, extras[0].Width)
	require.InDelta(t, cov[2*6+3], extras[0].Values[2*2+1], 1e-12)
	y := []float64{1, 2, 3, math.NaN(), math.NaN(), math.NaN()}
	sum, n := p.LogDensity(y, []bool{true, true, true, false, false, false})
	require.Equal(t, 3, n)
	first, _ := p.Slice(0, 2).LogDensity(y[:2], nil)
	require.InDelta(t, first+p.LogDensityAt(2, 3), sum, 1e-12)
	q := &Prediction[float64]{Mean: append([]float64(nil), p.Mean...), Std: append([]float64(nil), p.Std...), Likelihood: p.Likelihood,
		Params: append([]float64(nil), p.Params...)}
	q.rescale(0, Affine{Offset: 1, Factor: 4}, nil)
	q.rescale(1, Affine{Offset: -2, Factor: 0.5}, nil)
	after, _ := q.Slice(0, 2).LogDensity([]float64{1.0/4 + 1, 2/0.5 - 2}, nil)
	require.InDelta(t, first, after-math.Log(4)-math.Log(0.5), 1e-9)
}
