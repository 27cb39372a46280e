package krige

import (
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// factorAll prepares the members of an exact model.
func (m *Model) factorAll() {
	u := unit{index: upTo(m.n)}
	u.fill(m.x, m.frame.dim, m.aniso())
	ok := make([]bool, len(m.members))
	parallel.For(len(m.members), 1, func(lo, hi int) {
		var w scratch
		for i := lo; i < hi; i++ {
			ok[i] = m.members[i].factor(&u, m.y, &m.drift, m.opt.MaximumLikelihood, &w)
		}
	})
	kept := m.members[:0]
	for i, b := range m.members {
		if ok[i] {
			kept = append(kept, b)
		}
	}
	m.members = kept
}

// factor prepares an exact member.
func (b *member) factor(u *unit, y []float64, drift *driftColumns, maximum bool, w *scratch) bool {
	n, d := len(u.index), drift.d
	a := make([]float64, tri(n))
	right := make([]float64, (2+d)*n)
	b.one, b.alpha = right[:n:n], right[n:2*n:2*n]
	for i := range n {
		b.one[i] = 1
	}
	copy(b.alpha, y)
	columns := right[2*n:]
	for i, v := range drift.z {
		columns[i%d*n+i/d] = v
	}
	if !u.factor(a, b.kernel, w, right) {
		return false
	}
	b.ones = simd.SumSqF64(b.one)
	b.level = simd.DotF64(b.one, b.alpha) / b.ones
	s := sums{yy: simd.SumSqF64(b.alpha), y1: b.level * b.ones, ones: b.ones, n: n, maximum: maximum}
	if d > 0 {
		s.drift = newDriftSums(drift.precision)
		s.drift.add(columns, b.one, b.alpha, 0, n)
		s.settle()
		if s.found == nil {
			return false
		}
	}
	b.sums, b.variance, b.drift = s, s.spread(), s.found
	if b.spec.dim == 1 {
		b.lower, b.white, b.whiteOne = a, slices.Clone(b.alpha), slices.Clone(b.one)
	}
	simd.AxpyF64(b.alpha, -b.level, b.one)
	if f := b.drift; f != nil {
		if b.spec.dim == 1 {
			f.lower = slices.Clone(columns)
		}
		f.whiten(columns, b.one)
		for k, c := range f.coef {
			simd.AxpyF64(b.alpha, -c, columns[k*n:(k+1)*n])
			backward(a, columns[k*n:(k+1)*n], n)
		}
		f.white = columns
	}
	backward(a, b.alpha, n)
	backward(a, b.one, n)
	b.inverse = inverse(a, n)
	return true
}

// precision is an element of the precision of the values when level and drift are not known.
func (b *member) precision(p, q int) float64 {
	n := len(b.one)
	v := b.inverse[p*n+q] - b.one[p]*b.one[q]/b.ones
	if b.drift != nil {
		for w := b.drift.white; len(w) > 0; w = w[n:] {
			v -= w[p] * w[q]
		}
	}
	return v
}

// leaveOneOut sets mean and variance of every value given the others, in closed form, and density to the logarithm of its
// density given them. The signal's variance is that of the others, too.
func (b *member) leaveOneOut(y, mean, variance, density []float64) {
	n := len(y)
	for i := range n {
		p := b.precision(i, i)
		e := b.alpha[i] / p
		s := b.sums
		s.n--
		s.yy -= e * e * p
		mean[i], variance[i] = y[i]-e, s.spread()/p
		// A Student t distribution, as the variance is not known; without what all members have in common.
		a := varianceShape + float64(s.n-1)/2
		scale := varianceScale + s.residual()/2
		density[i] = 0.5*math.Log(p/scale) - (a+0.5)*math.Log1p(e*e*p/2/scale)
	}
}

// predictExact sets mean and variance of the mixture at targets.
func (m *Model) predictExact(ctx context.Context, at places, mean, variance []float64, outside func(float64) float64) error {
	d, n, t := m.frame.dim, m.n, at.x
	const chunk = 64
	parallel.Until(func() bool { return ctx.Err() != nil }, len(mean), chunk, func(lo, hi int) {
		var f features
		var w scratch
		c := hi - lo
		f.grow(d, c*n, m.aniso())
		for i := range c {
			for j := range n {
				f.set(i*n+j, t[(lo+i)*d:(lo+i+1)*d], m.x[j*d:(j+1)*d])
			}
		}
		cov, sol, beside := make([]float64, c*n), make([]float64, c*n), make([]float64, m.opt.Drift)
		share, far := make([]float64, c), 0.0
		for i := range share {
			share[i] = outside(t[(lo+i)*d])
			far = max(far, share[i])
		}
		for _, b := range m.members {
			if b.weightAt(far) == 0 {
				continue
			}
			b.kernel.covariances(cov, &f, &w)
			simd.GemmF64(sol, n, cov, n, b.inverse, n, 1, 0, c, n, n)
			for i := range c {
				row := cov[i*n : (i+1)*n]
				x := t[(lo+i)*d : (lo+i+1)*d]
				mu := b.level + simd.DotF64(row, b.alpha)
				rest := 1 - simd.DotF64(row, b.one)
				v := b.kernel.variance() + b.kernel.slope2*simd.SumSqF64(x) - simd.DotF64(row, sol[i*n:(i+1)*n])
				v = max(v, 0) + b.kernel.noise + rest*rest/b.ones
				if f := b.drift; f != nil {
					f.coordinates(beside, at.row(lo+i, len(beside)))
					for k, z := range beside {
						known := z - simd.DotF64(row, f.white[k*n:(k+1)*n])
						mu, v = mu+z*f.coef[k], v+known*known
					}
				}
				weight := b.weightAt(share[i])
				mean[lo+i] += weight * mu
				variance[lo+i] += weight * (b.variance*v + mu*mu)
			}
		}
		for i := lo; i < hi; i++ {
			variance[i] -= mean[i] * mean[i]
		}
	})
	return ctx.Err()
}
