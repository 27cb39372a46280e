package krige

import (
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Sizes of what inducing points need.
const (
	inducingMost  = 512     // points
	inducingWork  = 1 << 32 // values times squared points
	inducingRows  = 2048    // rows that points are chosen from
	inducingFirst = 32      // points, before a choice may be given up
	inducingProbe = 48      // places where a member's variance is compared
	inducingWorth = 0.9     // of the variance given the rows near a target, that is worth them
)

// inducing predicts a member from all values of a large table, by way of some of its rows, the inducing points: of a smooth function these
// say what all others are, but for a small residual variance, which counts as noise of the row it stands at. A covariance of inducing
// points u and of places x is phi(x) phi(x'), where phi(x) = L^-1 k(u, x) and L L' = k(u, u), plus the residual at x = x'.
//
// That is the fully independent training conditional of Snelson and Ghahramani (Sparse Gaussian Processes using Pseudo-inputs, 2006), with
// points chosen by a Cholesky factorization with pivots. Time is linear in the number of values, and a prediction's does not depend on it.
type inducing struct {
	*rows
	kernel *kernel
	level  float64
	drift  *drift
	chosen []int     // the rows that are inducing points
	at     []float64 // [r, d] their places
	down   []float64 // [2 r, r]: L^-1, and R^-1 L^-1 where R R' = 1 + sum of phi phi' / noise over all rows
	weight []float64 // [1+D, r]: a mean is the level plus k(u, x) times the first; the others tell the coordinates of a drift
}

// rows are a table as inducing points need it.
type rows struct {
	x, y         []float64 // [n, d], [n]
	d, n         int
	aniso, axial bool // what covariances need of pairs
}

// newInducing chooses points among some rows. It returns nil where a member needs too many.
func newInducing(ctx context.Context, t *rows, k *kernel, level float64, f *drift, some []int) *inducing {
	u := &inducing{rows: t, kernel: k, level: level, drift: f}
	most := min(inducingMost, len(some), int(math.Sqrt(inducingWork/float64(t.n))))
	lower := u.choose(some, most)
	r := len(u.chosen)
	if r == 0 || ctx.Err() != nil {
		return nil
	}
	for _, i := range u.chosen {
		u.at = append(u.at, t.x[i*t.d:(i+1)*t.d]...)
	}
	u.down = make([]float64, 2*r*r)
	copy(u.down, lowerInverse(lower, r))
	a, v := u.gather()
	z := slices.Clone(v) // R^-1 v
	u.weight = make([]float64, len(v))
	if ctx.Err() != nil || !cholesky(a, r, z, new(square)) {
		return nil
	}
	simd.GemmF64(u.down[r*r:], r, lowerInverse(a, r), r, u.down, r, 1, 0, r, r, r)
	for at := 0; at < len(z); at += r {
		simd.GemvTF64(u.weight[at:at+r], u.down[r*r:], r, z[at:at+r], 1, 0, r, r)
	}
	return u
}

// choose takes rows among some, one after the other, each where the others leave the largest variance, and returns the factor of their
// covariance, as cholesky does. It ends where the largest is small beside the variance that so many values leave of the signal, noise r/n
// of r points and n values, and chooses none where it sees that this would take too many.
func (u *inducing) choose(some []int, most int) (lower []float64) {
	d, n, k := u.d, len(some), u.kernel
	left, column, g := make([]float64, n), make([]float64, n), make([]float64, n*most)
	var largest float64
	for i, row := range some {
		left[i] = k.prior(u.x[row*d : (row+1)*d])
		largest = max(largest, left[i])
	}
	var f features
	var w scratch
	f.grow(d, n, u.aniso)
	if u.axial {
		f.growAxes(d, n)
	}
	picked := make([]int, 0, most)
	var before float64 // half as many points ago: what was left over what may be
	for j := range most {
		p := 0
		for i, v := range left {
			if v > left[p] {
				p = i
			}
		}
		now := left[p] / (0.05 * k.noise * float64(j) / float64(u.n))
		if now <= 1 || !(left[p] > 1e-10*largest) {
			break
		}
		if j >= inducingFirst && j&(j-1) == 0 {
			// What is left falls by a power of the number of points at least. 25 times what may be left is too much.
			if j > inducingFirst && now*math.Pow(now/before, math.Log2(float64(most)/float64(j))) > 25 {
				return nil
			}
			before = now
		}
		at := u.x[some[p]*d : (some[p]+1)*d]
		for i, row := range some {
			f.set(i, u.x[row*d:(row+1)*d], at)
		}
		k.covariances(column, &f, &w)
		if j > 0 {
			simd.GemvF64(column, g, most, g[p*most:p*most+j], -1, 1, n, j)
		}
		root := math.Sqrt(left[p])
		for i, c := range column {
			v := c / root
			g[i*most+j], left[i] = v, max(0, left[i]-v*v)
		}
		g[p*most+j], left[p] = root, 0
		picked = append(picked, p)
	}
	for j, p := range picked {
		u.chosen = append(u.chosen, some[p])
		lower = append(lower, g[p*most:p*most+j]...)
		lower = append(lower, 1/g[p*most+j])
	}
	return lower
}

// gather returns the triangle of 1 + sum of phi phi' / noise over the table's rows, and the sums of phi times the values less the level,
// and times the coordinates of a drift, over the noise [1+D, r].
func (u *inducing) gather() (triangle, v []float64) {
	const chunk, band = 512, 64
	d, r := u.d, len(u.chosen)
	beside := u.drift.size()
	a, phi, right := make([]float64, r*r), make([]float64, 8*chunk*r), make([]float64, (1+beside)*8*chunk)
	v = make([]float64, (1+beside)*r)
	for from := 0; from < u.n; from += 8 * chunk {
		c := min(8*chunk, u.n-from)
		parallel.For(c, chunk, func(lo, hi int) {
			var w inducingDesk
			x := u.x[(from+lo)*d : (from+hi)*d]
			w.covariances(u, x)
			simd.GemmNTF64(phi[lo*r:], r, w.cov, r, u.down, r, 1, 0, hi-lo, r, r)
			for i := lo; i < hi; i++ {
				row := phi[i*r : (i+1)*r]
				at := x[(i-lo)*d : (i-lo+1)*d]
				scale := 1 / math.Sqrt(u.kernel.noise+max(0, u.kernel.prior(at)-simd.SumSqF64(row)))
				simd.ScaleF64(row, scale, row)
				right[i] = scale * u.drift.less(u.y, u.level, from+i)
				for k := range beside {
					right[(1+k)*8*chunk+i] = scale * u.drift.rows[k*u.n+from+i]
				}
			}
		})
		parallel.For(r, band, func(lo, hi int) {
			simd.GemmTNF64(a[lo*r:], r, phi[lo:], r, phi, r, 1, 1, hi-lo, hi, c)
		})
		for k := range 1 + beside {
			simd.GemvTF64(v[k*r:(k+1)*r], phi, r, right[k*8*chunk:][:c], 1, 1, c, r)
		}
	}
	for i := range r {
		a[i*r+i]++
		triangle = append(triangle, a[i*r:i*r+i+1]...)
	}
	return triangle, v
}

// inducingDesk is working memory of predictions from inducing points.
type inducingDesk struct {
	f        features
	w        scratch
	cov, phi []float64 // [targets, r] k(u, x); [targets, 2 r] L^-1 k(u, x) and R^-1 L^-1 k(u, x)
}

// covariances sets cov at places.
func (w *inducingDesk) covariances(u *inducing, places []float64) {
	d, r := u.d, len(u.chosen)
	c := len(places) / d
	w.f.grow(d, c*r, u.aniso)
	if u.axial {
		w.f.growAxes(d, c*r)
	}
	for i := range c {
		for j := range r {
			w.f.set(i*r+j, places[i*d:(i+1)*d], u.at[j*d:(j+1)*d])
		}
	}
	if cap(w.cov) < c*r {
		w.cov = make([]float64, c*r)
	}
	w.cov = w.cov[:c*r]
	u.kernel.covariances(w.cov, &w.f, &w.w)
}

// solve sets cov and phi at places.
func (w *inducingDesk) solve(u *inducing, places []float64) {
	r := len(u.chosen)
	w.covariances(u, places)
	c := len(w.cov) / r
	if cap(w.phi) < 2*c*r {
		w.phi = make([]float64, 2*c*r)
	}
	w.phi = w.phi[:2*c*r]
	simd.GemmNTF64(w.phi, 2*r, w.cov, r, u.down, r, 1, 0, c, 2*r, r)
}

// moments returns, of place i with columns z, the mean, the prior variance that the points leave, and what the values leave of the rest of
// it.
func (w *inducingDesk) moments(u *inducing, i int, at, z []float64) (mean, left, doubt float64) {
	r := len(u.chosen)
	cov, phi := w.cov[i*r:(i+1)*r], w.phi[2*i*r:2*(i+1)*r]
	mean, doubt = u.level+simd.DotF64(cov, u.weight[:r]), simd.SumSqF64(phi[r:])
	if z != nil {
		add, more := u.drift.near(make([]float64, len(z)), z, cov, u.weight[r:])
		mean, doubt = mean+add, doubt+more
	}
	return mean, max(0, u.kernel.prior(at)-simd.SumSqF64(phi[:r])), doubt
}

// knowledge is the sum over places of the variance of the signal.
func (u *inducing) knowledge(places []float64) (sum float64) {
	var w inducingDesk
	w.solve(u, places)
	for i := range len(places) / u.d {
		_, left, doubt := w.moments(u, i, places[i*u.d:(i+1)*u.d], nil)
		sum += left + doubt
	}
	return sum
}

// predict adds to the first and second moments of a mixture at targets, or at rows given the others, those of a member of this weight and
// variance.
func (u *inducing) predict(ctx context.Context, weight, variance float64, at places, rows []int, first, second []float64) error {
	const chunk = 128
	d, t, beside := u.d, at.x, u.drift.size()
	desks := make([]inducingDesk, parallel.Workers())
	parallel.UntilWorkers(func() bool { return ctx.Err() != nil }, len(first), chunk, len(desks), func(worker, lo, hi int) {
		w := &desks[worker]
		w.solve(u, t[lo*d:hi*d])
		for i := lo; i < hi; i++ {
			mu, left, doubt := w.moments(u, i-lo, t[i*d:(i+1)*d], at.row(i, beside))
			v := left + doubt + u.kernel.noise
			if rows != nil {
				// The inverse of phi phi' + noise, with the residual variance as noise, in closed form.
				y, noise := u.y[rows[i]], left+u.kernel.noise
				precision := max(1-doubt/noise, 1e-9) / noise // noise is a millionth of the variance at least
				mu, v = y-(y-mu)/noise/precision, 1/precision
			}
			first[i] += weight * mu
			second[i] += weight * (variance*v + mu*mu)
		}
	})
	return ctx.Err()
}
