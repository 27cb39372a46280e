package krige

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Sizes of the runs of rows, in the order of a curve that fills space, that the drift of a large table is estimated from, each given the
// rows before it. The blocks of its evidence would do, but are a few hundred rows.
const (
	driftRun    = 16
	driftBefore = 32
	driftRuns   = 1024
)

// apartFrom is the share of the values' deviation that normalised columns z [n, D] leave of it by least squares, as their regression on the
// columns knows it: the unit of values. What the variance of the signal is expected to be is a share of it, and not of what the columns
// say.
func apartFrom(y, z []float64, f *frame) float64 {
	n := len(y)
	d := len(z) / n
	if n <= d+2 {
		return 1
	}
	values, one, by := make([]float64, n), slices.Repeat([]float64{1}, n), make([]float64, len(z))
	for i, v := range y {
		values[i] = normalised(v, f.y0, f.ys)
	}
	for i, v := range z { // so large that the prior of coefficients keeps equal columns apart, and no more
		by[i%d*n+i/d] = 1e5 / math.Sqrt(float64(n)) * v
	}
	s := sums{yy: simd.SumSqF64(values), y1: simd.SumF64(values), ones: float64(n), n: n, drift: newDriftSums(plainPrecision(d))}
	s.drift.add(by, one, values, 0, n)
	s.settle()
	return max(leastApart, min(1, math.Sqrt(s.residual()/float64(n-1-d))))
}

// estimateDrift estimates the drift of the members of a model that is not exact.
func (m *Model) estimateDrift() {
	e := &evidence{x: m.x, y: m.y, drift: m.drift, dim: m.frame.dim}
	order := along(m.x, m.frame.dim)
	runs := m.n / driftRun
	for k := range min(runs, driftRuns) {
		lo := k * driftRun
		if runs > driftRuns {
			lo = k * (m.n - driftRun) / (driftRuns - 1)
		}
		u := unit{given: min(lo, driftBefore)}
		for _, p := range order[lo-u.given : lo+driftRun] {
			u.index = append(u.index, int(p))
		}
		e.units = append(e.units, u)
	}
	parallel.For(len(e.units), 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e.units[i].fill(m.x, m.frame.dim, m.aniso())
		}
	})
	parallel.For(len(m.members), 1, func(lo, hi int) {
		for _, b := range m.members[lo:hi] {
			if s, ok := e.sums(b.kernel); ok && s.found != nil {
				b.level, b.ones, b.drift = s.level(), s.ones, s.found
			}
			b.drift.knowRows(m.y, m.drift.z, b.level)
		}
	})
}

// prepareDrift takes the units of a drift's columns z [n, D] from a table, and returns its values less what they are expected to say.
func (m *Model) prepareDrift(y, z []float64) []float64 {
	d, s := m.opt.Drift, m.opt.slopes
	if d == 0 {
		return y
	}
	if m.columns = newColumns(z, d, s); s == nil {
		return y
	}
	out := slices.Clone(y)
	for i, v := range z {
		out[i/d] -= s.mean[i%d] * (v - m.columns.centre[i%d])
	}
	return out
}

// addSlopes adds to means at targets [n, Dim] what the columns are expected to say there.
func (m *Model) addSlopes(mean, targets []float64) {
	s := m.opt.slopes
	if s == nil {
		return
	}
	_, z := m.opt.split(targets)
	for i, v := range z {
		d := m.opt.Drift
		mean[i/d] += s.mean[i%d] * (v - m.columns.centre[i%d])
	}
}

// take takes a table whose frame is known, normalised.
func (m *Model) take(x, y, z []float64) {
	d := m.opt.Drift
	m.drift = driftColumns{d: d, precision: plainPrecision(d)}
	if d > 0 {
		z = m.columns.normalised(z)
		apart := apartFrom(y, z, m.frame)
		m.frame.ys *= apart
		for k, p := range m.drift.precision {
			m.drift.precision[k] = min(p, apart*apart/(driftReach*driftReach))
		}
	}
	m.x, m.y, m.order = m.frame.table(x, y)
	for _, i := range m.order {
		m.drift.z = append(m.drift.z, z[i*d:(i+1)*d]...)
	}
	for k, p := range m.drift.precision {
		if s := m.opt.slopes; s.known(k) {
			tau := s.std[k] * m.columns.unit[k] / m.frame.ys
			m.drift.precision[k] = min(max(p, 1/(tau*tau)), mostPrecision)
		}
	}
}

// mostPrecision is that of a coefficient that other tables leave no doubt of.
const mostPrecision = 1e8
