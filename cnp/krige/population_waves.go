package krige

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// learnWaves adds waves to a population if its tables are likelier with them: by as much, at least, as the parameters of the waveform cost.
func (p *Population) learnWaves(ctx context.Context, candidates []*candidate, large []*waveTable, seen []*evidence, gauss []float64) {
	w, logs := learnWaves(ctx, large, seen, gauss, p.frame.dim)
	if w == nil || ctx.Err() != nil {
		return
	}
	before := p.kernels
	p.waves = w
	var gain, values float64
	for t, v := range p.choose(candidates, len(large), logs) {
		gain, values = gain+v-gauss[t], values+float64(len(large[t].y))
	}
	if !(gain > 0.5*float64(w.pieces())*math.Log(values)) || !(w.share > 0) {
		p.waves, p.kernels = nil, before
		return
	}
	least := wavePenalty / 2
	w.share = min(max(w.share, least), 1-least)
	var total float64
	for _, k := range p.kernels {
		for _, a := range k.atoms {
			total += a.share
		}
	}
	if w.document().check(w.dim) != nil { // tables so far from each other that no model file holds their waves
		p.waves, p.kernels = nil, before
		return
	}
	for _, k := range p.kernels {
		for i := range k.atoms {
			k.atoms[i].share *= (1 - w.share) / total
		}
	}
}

// pieces counts the parameters of the waveform: two for each of its lines.
func (w *waves) pieces() (n int) {
	g := w.forms[0]
	slope := math.Inf(1)
	for i := range waveCells {
		if s := g.hi[i] - g.lo[i]; math.Abs(s-slope) > 1e-9*(1+math.Abs(s)) {
			n, slope = n+2, s
		}
	}
	return n
}

// view finds out which wave a normalised table may be, nil if the population has none. Of a large table a part says it.
func (p *Population) view(ctx context.Context, x, y []float64) (*waveView, error) {
	if p.waves == nil {
		return nil, nil
	}
	m := &Model{opt: p.opt, frame: p.frame}
	m.x, m.y = x, y
	x, y = m.canonical()
	t := newWaveTable(x, y, p.frame.dim, waveValues)
	s := p.waves.posterior(ctx, t, waveEvidence(len(t.y)), 1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gauss := math.Inf(-1)
	r := p.room(t.x, len(t.y))
	for k := range p.kernels {
		if !r.factor(p.kernels[k].kernel, t.y) {
			continue
		}
		sums := r.sums(len(t.y))
		for _, a := range p.kernels[k].atoms {
			gauss = logAdd(gauss, math.Log(a.share)+a.density(&sums))
		}
	}
	return &waveView{s, 1 / (1 + math.Exp(min(700, gauss-math.Log(p.waves.share)-s.logZ)))}, nil
}

// waveEvidences are the logarithms of the densities of the first n values of a normalised table, and of all of them, if it is a wave, times
// the share of waves.
func (p *Population) waveEvidences(ctx context.Context, x, y []float64, n int) (given, together float64, err error) {
	d := p.frame.dim
	first, rest := &Model{opt: p.opt, frame: p.frame, x: x[:n*d], y: y[:n]}, &Model{opt: p.opt, frame: p.frame, x: x[n*d:], y: y[n:]}
	x, y = first.canonical()
	moreX, moreY := rest.canonical()
	given, together = p.waves.evidences(ctx, append(x, moreX...), append(y, moreY...), n)
	share := math.Log(p.waves.share)
	return share + given, share + together, ctx.Err()
}

// canonical returns rows in an order that depends on nothing but them.
func (m *Model) canonical() (x, y []float64) {
	d := m.frame.dim
	order := upTo(len(m.y))
	slices.SortFunc(order, func(a, b int) int {
		if c := slices.Compare(m.x[a*d:(a+1)*d], m.x[b*d:(b+1)*d]); c != 0 {
			return c
		}
		return slices.Compare(m.y[a:a+1], m.y[b:b+1])
	})
	for _, i := range order {
		x, y = append(x, m.x[i*d:(i+1)*d]...), append(y, m.y[i])
	}
	return x, y
}

// LogDensities returns the logarithms of the densities of values [nt] at targets [nt, Dim], of each on its own, given a table, which may be
// empty. Of Gaussian processes these are the densities of normal distributions with the mean and the deviation of Predict. Of waves they
// are those of mixtures over draws of the wave, as a value may lie on either side of a jump. Sizes and numbers are checked as those of
// Predict, and values have to be finite. A value that is not on the population's scale, as 0 if that is the logarithm, has -Inf.
func (p *Population) LogDensities(ctx context.Context, x, y, targets, values []float64) ([]float64, error) {
	if len(values)*p.opt.Dim != len(targets) {
		return nil, fmt.Errorf("%w: %d values at %d coordinates of targets", ErrInput, len(values), len(targets))
	}
	if err := checkFinite("values", values, 1); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	mean, std, v, err := p.predict(ctx, x, y, targets)
	if err != nil {
		return nil, err
	}
	t, err := p.frame.places("targets", targets)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(values))
	for i, y := range values {
		if out[i], err = p.density(v, t[i*p.frame.dim:(i+1)*p.frame.dim], y, mean[i], std[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mix adds what waves say to means and deviations of Gaussian processes.
func (p *Population) mix(v *waveView, t []float64, mean, std []float64) {
	d := p.frame.dim
	for i := range mean {
		m, variance := v.moments(t[i*d : (i+1)*d])
		m, variance = p.frame.y0+p.frame.ys*m, p.frame.ys*p.frame.ys*variance
		apart := m - mean[i]
		std[i] = math.Sqrt((1-v.share)*std[i]*std[i] + v.share*variance + v.share*(1-v.share)*apart*apart)
		mean[i] += v.share * apart
	}
}

// family returns the scale as package likelihood has it.
func (p *Population) family() likelihood.Bend {
	return (&Prediction{bend: p.bend, positive: p.amounts}).family()
}

// bentWaves is the family of values that are a mixture of normals on a scale.
var bentWaves = func() likelihood.Family {
	f, err := likelihood.Parse(fmt.Sprintf("%s:%d", likelihood.BentName, waveNormals),
		likelihood.Options{Architecture: string(PopulationArchitecture)})
	if err != nil {
		panic(err)
	}
	return f
}()

// unbend takes means and deviations of Gaussian processes on the population's scale, and what waves say unless v is nil, to those of
// values.
func (p *Population) unbend(v *waveView, t, mean, std []float64) {
	d := p.frame.dim
	for i := range mean {
		if v != nil {
			params := v.normals(t[i*d:(i+1)*d], p.frame, mean[i], std[i])
			mean[i], std[i] = bentWaves.Moments(append(params, float64(p.family())))
			continue
		}
		if mean[i], std[i] = p.bend.moments(mean[i], std[i], likelihood.Unlimited); p.amounts {
			mean[i] = max(0, mean[i])
		}
	}
}

// density is the logarithm of the density of a value given the mean and the deviation on the population's scale and, if v is not nil, the
// wave at place t.
func (p *Population) density(v *waveView, t []float64, y, mean, std float64) (float64, error) {
	bent, slope, ok := p.bent([]float64{y})
	if !ok {
		return math.Inf(-1), nil
	}
	out := logNormal(bent[0], mean, std*std)
	if v != nil {
		_, _, normal, err := p.normalise(nil, nil, []float64{y})
		if err != nil {
			return 0, err
		}
		wave := v.logDensity(t, normal[0]) - math.Log(p.frame.ys)
		out = logAdd(math.Log1p(-v.share)+out, math.Log(v.share)+wave)
	}
	return out + slope, nil
}
