package krige

import (
	"context"
	"math"
	"slices"
)

// Sizes of tables.
const (
	populationExact  = 1024    // values, up to which all count for every target
	populationRoomOf = 1 << 20 // covariances of values and targets that are in memory at a time
	populationNear   = 192     // values near a target that count beyond
	populationJoint  = 4096    // values of a joint density, at most
	populationLeast  = 1e-3    // the least weight of a covariance that predicts from a large table
)

// predictLarge predicts from a large table. How likely each covariance is follows from blocks of it, and a target
// from its nearest values or by way of inducing points.
func (p *Population) predictLarge(ctx context.Context, x, y, targets []float64) (mean, std []float64, err error) {
	_, t, _, err := p.normalise(x, targets, y)
	if err != nil {
		return nil, nil, err
	}
	m := &Model{opt: p.opt, frame: p.frame, axial: p.axial, n: len(y)}
	bent, _, _ := p.bent(y)
	m.x, m.y, _ = p.frame.table(x, bent)
	e := m.evidence()
	if p.axial {
		e.fillAxes()
	}
	most := math.Inf(-1)
	for k := range p.kernels {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		own := &p.kernels[k]
		s, ok := e.sums(own.kernel)
		if !ok {
			continue
		}
		for i := range own.atoms {
			a := &own.atoms[i]
			kernel := *own.kernel
			level, doubt := a.level(&s)
			kernel.level2 = doubt
			w := math.Log(a.share) + a.density(&s)
			most = max(most, w)
			m.members = append(m.members, &member{spec: own.spec, theta: own.theta, kernel: &kernel, weight: w, level: level,
				variance: a.variance(&s)})
		}
	}
	nt := len(targets) / p.opt.Dim
	mean, std = make([]float64, nt), make([]float64, nt)
	var total float64
	for _, b := range m.members {
		b.weight = math.Exp(b.weight - most)
		total += b.weight
	}
	m.members = slices.DeleteFunc(m.members, func(b *member) bool { return !(b.weight > populationLeast*total) })
	if len(m.members) == 0 { // no covariance could be factored
		for i := range mean {
			mean[i], std[i] = p.frame.y0, p.frame.ys
		}
		return mean, std, nil
	}
	byWeight(m.members)
	l := m.nearest(populationNear)
	l.induce(ctx)
	if err := l.predict(ctx, places{x: t}, mean, std); err != nil {
		return nil, nil, err
	}
	for i := range mean {
		mean[i], std[i] = p.frame.y0+p.frame.ys*mean[i], p.frame.ys*math.Sqrt(std[i])
	}
	return mean, std, checkRange(mean, std)
}
