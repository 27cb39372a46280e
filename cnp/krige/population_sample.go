package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// populationDrawn is the greatest number of values, those of the table and the targets together, that Samples factors the covariance of.
const populationDrawn = 2048

// Samples draws joint samples of new values at targets [nt, Dim], given a table, which may be empty: samples [count][nt]. Each is a draw
// from the distribution whose density is LogDensity: of a covariance by its weight, of the variance and the level from their posterior, and
// of all targets together; or, with the probability that the table is a wave, of one wave from its posterior. With function, the noise of
// new values is left out, and so are the residuals of a wave. Equal seeds give equal samples, and a sample does not depend on the number of
// others. Table and targets together may have 2,048 values at most; time grows with the third power of their number.
func (p *Population) Samples(ctx context.Context, x, y, targets []float64, count int, seed uint64, function bool) ([][]float64, error) {
	if err := p.check(x, y, targets); err != nil {
		return nil, err
	}
	if err := checkCount(count, len(targets)/p.opt.Dim); err != nil {
		return nil, err
	}
	n, nt := len(y), len(targets)/p.opt.Dim
	if n+nt > populationDrawn {
		return nil, fmt.Errorf("%w: samples of %d targets given %d values; at most %d together are possible", ErrInput, nt, n,
			populationDrawn)
	}
	at, t, values, err := p.normalise(x, targets, y)
	if err != nil {
		return nil, err
	}
	v, err := p.view(ctx, at, values)
	if err != nil {
		return nil, err
	}
	components, err := p.components(ctx, at, values)
	if err != nil {
		return nil, err
	}
	out, rngs := make([][]float64, count), make([]*rand.Rand, count)
	of := make([][]int, len(components)) // the samples of each component
	var waves []int                      // and of waves
	for s := range out {
		out[s], rngs[s] = make([]float64, nt), rand.New(rand.NewPCG(seed, uint64(s)))
		u, c := rngs[s].Float64(), 0
		if v != nil {
			if u < v.share {
				waves = append(waves, s)
				continue
			}
			u = (u - v.share) / (1 - v.share)
		}
		for c+1 < len(components) && u >= components[c].weight {
			u -= components[c].weight
			c++
		}
		if len(components) > 0 {
			of[c] = append(of[c], s)
			continue
		}
		for i := range out[s] { // no covariance of the table could be factored: nothing is known but the population's values
			out[s][i] = rngs[s].NormFloat64()
		}
	}
	for _, s := range waves {
		v.draw(out[s], t, rngs[s], function)
	}
	d := &populationDraw{p: p, n: n, places: append(at, t...), values: values, function: function}
	for c, some := range of {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(some) > 0 && !d.draw(&components[c], out, some, rngs) {
			return nil, fmt.Errorf("%w: the covariance of the targets is not positive definite in float64", ErrInput)
		}
	}
	if err := errors.Join(ctx.Err(), p.restore(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// restore takes samples back to the unit of values.
func (p *Population) restore(samples [][]float64) error {
	for _, row := range samples {
		for i := range row {
			if row[i] = p.back(p.frame.y0 + p.frame.ys*row[i]); math.IsNaN(row[i] - row[i]) {
				return fmt.Errorf("%w: targets: row %d: a sample of %v is beyond float64", ErrInput, i, row[i])
			}
		}
	}
	return nil
}

// component is an atom of a covariance, with its posterior given a table.
type component struct {
	kernel       *populationKernel
	weight       float64
	level, doubt float64 // of the level: mean, and variance over the signal's
	shape, scale float64 // of the signal's variance, which is inverse gamma
}

// components returns the posterior of a normalised table. Weights add up to 1; there are none where no covariance can be factored.
func (p *Population) components(ctx context.Context, at, values []float64) ([]component, error) {
	var out []component
	most, r := math.Inf(-1), p.room(at, len(values))
	for k := range p.kernels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		own := &p.kernels[k]
		if !r.factor(own.kernel, values) {
			continue
		}
		s := r.sums(len(values))
		for i := range own.atoms {
			a := &own.atoms[i]
			c := component{kernel: own, weight: math.Log(a.share) + a.density(&s), shape: a.shape + float64(s.n)/2,
				scale: a.scale + a.rest(&s)/2}
			c.level, c.doubt = a.level(&s)
			most = max(most, c.weight)
			out = append(out, c)
		}
	}
	var total float64
	for i := range out {
		out[i].weight = math.Exp(out[i].weight - most)
		total += out[i].weight
	}
	for i := range out {
		out[i].weight /= total
	}
	return out, nil
}

// populationDraw draws at targets that stand behind the n places of a table.
type populationDraw struct {
	p        *Population
	n        int
	places   []float64
	values   []float64
	function bool

	room *populationRoom
	last *kernel // that room holds the factor of
}

// draw sets rows of out to normalised samples of a component. It reports whether its covariance could be factored.
func (d *populationDraw) draw(c *component, out [][]float64, some []int, rngs []*rand.Rand) bool {
	if d.last != c.kernel.kernel && !d.factor(c.kernel.kernel) {
		return false
	}
	n, all := d.n, len(d.places)/d.p.frame.dim
	a, z, one := d.room.a, d.room.right[:all], d.room.right[all:]
	parallel.For(len(some), 1, func(lo, hi int) {
		e := make([]float64, all)
		for _, s := range some[lo:hi] {
			deviation := math.Sqrt(c.scale / gamma(rngs[s], c.shape))
			level := c.level + deviation*math.Sqrt(c.doubt)*rngs[s].NormFloat64()
			for i := range n {
				e[i] = z[i] - level*one[i]
			}
			for i := range out[s] {
				e[n+i] = deviation * rngs[s].NormFloat64()
				row := a[tri(n+i):]
				out[s][i] = level + dot(row, e, n+i) + e[n+i]/row[n+i] // the diagonal holds inverses
			}
		}
	})
	return true
}

// factor factors the covariance of the table's values and of what is drawn at the targets.
func (d *populationDraw) factor(k *kernel) bool {
	all := len(d.places) / d.p.frame.dim
	if d.room == nil {
		d.room = d.p.room(d.places, all)
		d.room.a, d.room.right = make([]float64, tri(all)), make([]float64, 2*all)
	}
	r := d.room
	clear(r.right)
	copy(r.right, d.values)
	for i := range d.n {
		r.right[all+i] = 1
	}
	k.covariances(r.a, &r.u.features, &r.w)
	for i := range all {
		if d.function && i >= d.n {
			r.a[tri(i)+i] += least
			continue
		}
		r.a[tri(i)+i] += k.noise
	}
	d.last = nil
	if cholesky(r.a, all, r.right, &r.w.square) {
		d.last = k
	}
	return d.last != nil
}

// gamma draws from a gamma distribution of a shape of at least 1 and scale 1 (Marsaglia and Tsang, A simple method for generating gamma
// variables, 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := 1 + c*z
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(rng.Float64()) < z*z/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}
