package krige

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/simd"
)

// driftPrior is the prior standard deviation of a coefficient of the drift, in units of the signal's deviation over the column's. It keeps
// columns apart that say the same.
const driftPrior = 10.0

// driftReach is the least one in units of the values' own deviation over the column's. Where columns leave a thousandth of the values,
// coefficients are of the size of 1000: a prior of 10 would count hundreds of deviations against what the data say of them, and the
// signal's variance, which the prior's cost is part of, would be too large.
const driftReach = 2.0

// leastApart is the least share of the values' deviation that a drift may leave. Below it the sums of squares lose too many digits: with a
// hundredth of this predictions are wrong where columns explain all.
const leastApart = 1e-3

// drift is the linear part of the mean of a member, y = level + z' beta + a process, where z are columns that are known at every row and
// target, as elevation is: universal kriging, or kriging with external drift. The level has a flat prior, and beta a normal one.
//
// The columns z [D] are taken to coordinates in which what the values say of each is independent of the others and of the level:
// c = R^-1 (z - level), where R R' are the squares of the columns in the metric of the inverse covariance, less what the level is of them,
// plus the prior's precision. The coefficients of c have the variance of the signal, and are independent.
type drift struct {
	level []float64 // [D]: of the columns, as the level is of the values
	root  []float64 // R, packed, with inverses on its diagonal
	coef  []float64 // [D]: of the coordinates

	precision []float64 // [D]: of the prior of beta, as driftColumns has it

	white []float64 // [D, n], of an exact member: V^-1 c at the rows, V the covariance
	lower []float64 // [D, n], of an exact one on a line: L^-1 z where V = L L'
	rows  []float64 // [D, n], of one that is not exact: c at the rows
	rest  []float64 // [n], of one that is not exact: the values less level and drift
}

// driftColumns are the columns of a table's drift.
type driftColumns struct {
	d         int
	z         []float64 // [n, D], normalised
	precision []float64 // [D]: of the prior of the coefficients, in units of the signal's
}

// driftSums are sums over points of whitened columns: times a whitened constant, the whitened values, and each other.
type driftSums struct {
	one, y    []float64 // [D]
	square    []float64 // [D, D]
	precision []float64 // [D]
}

func newDriftSums(precision []float64) *driftSums {
	d := len(precision)
	all := make([]float64, 2*d+d*d)
	return &driftSums{one: all[:d:d], y: all[d : 2*d : 2*d], square: all[2*d:], precision: precision}
}

// add adds points from..to: z are whitened columns [D, n], one a whitened constant and y whitened values [n].
func (f *driftSums) add(z, one, y []float64, from, to int) {
	n, d := len(one), len(f.y)
	for i := range d {
		zi := z[i*n+from : i*n+to]
		f.one[i] += simd.DotF64(zi, one[from:to])
		f.y[i] += simd.DotF64(zi, y[from:to])
		for j := range i + 1 {
			f.square[i*d+j] += simd.DotF64(zi, z[j*n+from:j*n+to])
		}
	}
}

// merge adds other sums.
func (f *driftSums) merge(o *driftSums) {
	simd.AxpyF64(f.one, 1, o.one)
	simd.AxpyF64(f.y, 1, o.y)
	simd.AxpyF64(f.square, 1, o.square)
}

// size is the number of columns, 0 of no drift.
func (f *drift) size() int {
	if f == nil {
		return 0
	}
	return len(f.coef)
}

// coordinates sets c [D] to the coordinates of columns z [D].
func (f *drift) coordinates(c, z []float64) {
	for i, v := range z {
		c[i] = v - f.level[i]
	}
	forward(f.root, c, len(c))
}

// all returns the coordinates [D, n] of columns [n, D].
func (f *drift) all(z []float64) []float64 {
	d := len(f.coef)
	n := len(z) / d
	out, c := make([]float64, d*n), make([]float64, d)
	for i := range n {
		f.coordinates(c, z[i*d:(i+1)*d])
		for k, v := range c {
			out[k*n+i] = v
		}
	}
	return out
}

// whiten takes whitened columns [D, n] to whitened coordinates, beside a whitened constant.
func (f *drift) whiten(columns, one []float64) {
	n := len(one)
	for i := range f.coef {
		row := columns[i*n : (i+1)*n]
		simd.AxpyF64(row, -f.level[i], one)
		for j := range i {
			simd.AxpyF64(row, -f.root[tri(i)+j], columns[j*n:(j+1)*n])
		}
		simd.ScaleF64(row, f.root[tri(i)+i], row)
	}
}

// after returns what the drift adds to mean and variance of value i of a line given earlier ones: row are the weights of their whitened
// values, lower the whitened columns [D, n], and known how much of the level these values are.
func (f *drift) after(lower, z, row []float64, i int, known float64) (mean, variance float64) {
	d := len(f.coef)
	n := len(lower) / d
	c := make([]float64, d)
	for k := range d {
		c[k] = z[i*d+k] - simd.DotF64(row, lower[k*n:k*n+len(row)]) - f.level[k]*(1-known)
	}
	forward(f.root, c, d)
	return simd.DotF64(c, f.coef), simd.SumSqF64(c)
}

// near returns what the drift adds to mean and variance at a target with columns z, whose covariances with the rows near it and whose rows'
// coordinates [D, n] are whitened. It sets c to the target's coordinates, less what those of the rows say of them.
func (f *drift) near(c, z, cov, rows []float64) (mean, variance float64) {
	n := len(cov)
	f.coordinates(c, z)
	mean = simd.DotF64(c, f.coef)
	for k := range c {
		c[k] -= dot(cov, rows[k*n:], n)
	}
	return mean, simd.SumSqF64(c)
}

// knowRows prepares a drift for predictions from the rows near a target, or by way of inducing points.
func (f *drift) knowRows(y, z []float64, level float64) {
	f.rows = f.all(z)
	n := len(y)
	f.rest = make([]float64, n)
	for i, v := range y {
		f.rest[i] = v - level
	}
	for k, c := range f.coef {
		simd.AxpyF64(f.rest, -c, f.rows[k*n:(k+1)*n])
	}
}

// less is value p less the level and the drift, if there is one.
func (f *drift) less(y []float64, level float64, p int) float64 {
	if f != nil {
		return f.rest[p]
	}
	return y[p] - level
}

// beta returns the coefficients of the columns themselves, and their standard deviations in units of the signal's.
func (f *drift) beta() (mean, std []float64) {
	d := len(f.coef)
	mean, std = append([]float64(nil), f.coef...), make([]float64, d)
	backward(f.root, mean, d)
	for i, m := 0, inverse(f.root, d); i < d; i++ {
		std[i] = math.Sqrt(m[i*d+i])
	}
	return mean, std
}

// places are normalised places: coordinates [n, d] and columns of the drift [n, D].
type places struct{ x, z []float64 }

// row returns the columns of place i, of which there are d; nil where there are none.
func (p *places) row(i, d int) []float64 {
	if d == 0 {
		return nil
	}
	return p.z[i*d : (i+1)*d]
}

// columns takes columns of a drift to a scale of their own: each less its mean, over its standard deviation.
type columns struct{ centre, unit []float64 }

// plainPrecision is that of d coefficients of which nothing else is known.
func plainPrecision(d int) []float64 {
	return slices.Repeat([]float64{1 / (driftPrior * driftPrior)}, d)
}

func newColumns(z []float64, d int, s *slopes) (c columns) {
	c.centre, c.unit = make([]float64, d), make([]float64, d)
	for k := range d {
		if c.centre[k], c.unit[k] = moments(column(z, d, k)); c.unit[k] == 0 && s.known(k) {
			c.unit[k] = 1 // other tables know what the column does
		}
	}
	return c
}

// normalised normalises rows of columns. One that is constant in the table says nothing, wherever the targets lie.
func (c *columns) normalised(z []float64) []float64 {
	d := len(c.unit)
	out := make([]float64, len(z))
	for i, v := range z {
		if k := i % d; c.unit[k] > 0 {
			out[i] = onGrid(normalised(v, c.centre[k], c.unit[k]))
		}
	}
	return out
}
