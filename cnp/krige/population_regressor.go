package krige

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	lie "github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/words"
	"github.com/equivcnp/equivcnp/layers"
)

func init() {
	cnp.RegisterArchitecture(PopulationArchitecture, cnp.Maker{
		Gaps:     true,
		Own:      true,
		Absolute: true,
		Default:  func(c *cnp.Config) { c.DimX, c.Channels, c.ChannelDensity = 1, []int{1}, c.DimY > 1 },
		Check:    func(c *cnp.Config, _ lie.Group) error { _, err := populationsOf(c); return err },
		Describe: describePopulations,
		New32:    newPopulations[float32], New64: newPopulations[float64],
	})
}

// PopulationRegressor is a model that predicts every output of a task by a Population of its own. Tasks may be empty. Its likelihood is
// normal or, where a population has waves, a mixture of 16 normals, on the scale of the values if that is another than theirs.
type PopulationRegressor[T cnp.Float] struct {
	cfg cnp.Config
	of  []*Population // by output
}

// NewPopulationRegressor returns the model whose output c is predicted by population c. All have the same coordinates.
func NewPopulationRegressor(of ...*Population) (*PopulationRegressor[float32], error) {
	c := cnp.Default(PopulationArchitecture, "", len(of))
	if len(of) > 0 && of[0] != nil {
		c.DimX = of[0].opt.Dim
		if of[0].opt.Sphere {
			c.Placement = cnp.PlacementSphere
		}
	}
	return NewPopulationModel(c, of...)
}

// NewPopulationModel is NewPopulationRegressor for a configuration that says more: what the populations were estimated from
// (Config.Trained), and in which units. Its Own is that of the populations.
func NewPopulationModel(c cnp.Config, of ...*Population) (*PopulationRegressor[float32], error) {
	for i, p := range of {
		if p == nil {
			return nil, fmt.Errorf("%w: population %d is nil", ErrInput, i)
		}
	}
	if c.Likelihood == "" {
		c.Likelihood = likelihoodOf(of)
	}
	var err error
	if c.Own, err = json.Marshal(of); err != nil {
		return nil, err
	}
	m, err := cnp.New[float32](c, 0)
	if err != nil {
		return nil, err
	}
	model, ok := m.(*PopulationRegressor[float32])
	if !ok {
		return nil, fmt.Errorf("%w: a configuration of architecture %q", ErrInput, c.Architecture)
	}
	return model, nil
}

// populationsOf reads the populations of a configuration.
func populationsOf(c *cnp.Config) ([]*Population, error) {
	if len(c.Own) == 0 {
		return nil, errors.New("own is empty: need a population of each output")
	}
	var of []*Population
	if err := json.Unmarshal(c.Own, &of); err != nil {
		return nil, fmt.Errorf("own: %w", err)
	}
	if len(of) != c.DimY {
		return nil, fmt.Errorf("own: %d populations of %d outputs", len(of), c.DimY)
	}
	sphere := c.Placement == cnp.PlacementSphere
	for i, p := range of {
		if p == nil {
			return nil, fmt.Errorf("own: output %d has no population", i)
		}
		if p.opt.Dim != c.DimX || p.opt.Sphere != sphere {
			return nil, fmt.Errorf("own: output %d has %d coordinates, sphere %t; the model has %d, %t", i, p.opt.Dim, p.opt.Sphere, c.DimX,
				sphere)
		}
	}
	if l := likelihoodOf(of); c.Likelihood != l {
		return nil, fmt.Errorf("likelihood %q: need %q: populations with waves predict mixtures, others normals, on the scale of "+
			"the values", c.Likelihood, l)
	}
	return of, nil
}

// likelihoodOf returns the likelihood of a configuration: normals, on a scale if one of the populations has one, and a mixture of them if
// one has waves.
func likelihoodOf(of []*Population) string {
	waves := slices.ContainsFunc(of, func(p *Population) bool { return p != nil && p.waves != nil })
	bent := slices.ContainsFunc(of, func(p *Population) bool { return p != nil && !p.straight() })
	switch {
	case waves && bent:
		return bentWaves.Name()
	case waves:
		return fmt.Sprintf("%s:%d", likelihood.MixtureName, waveNormals)
	case bent:
		return likelihood.BentName
	}
	return ""
}

func newPopulations[T cnp.Float](c cnp.Config, _ lie.Group, _ uint64) (cnp.Model[T], error) {
	of, err := populationsOf(&c)
	if err != nil {
		return nil, err
	}
	return &PopulationRegressor[T]{cfg: c, of: of}, nil
}

// describePopulations says what a model consists of.
func describePopulations(c *cnp.Config) string {
	of, err := populationsOf(c)
	if err != nil {
		return err.Error()
	}
	var members, atoms int
	var waves, scales []string
	for _, p := range of {
		members += len(p.kernels)
		atoms += p.atoms()
		if p.waves != nil {
			waves = append(waves, fmt.Sprintf("%.3g %%", 100*p.waves.share))
		}
		if p.bend != straight {
			scales = append(scales, p.bend.String())
		}
	}
	said := fmt.Sprintf("Gaussian processes of %s, with %s of level and variance", words.Plural(members, "covariance"),
		words.Plural(atoms, "prior"))
	if len(scales) > 0 {
		said += ", on the scale of the " + strings.Join(scales, ", the ")
	}
	if len(waves) > 0 {
		said += "; waves, as " + strings.Join(waves, ", ") + " of the tables are"
	}
	return said
}

// atoms is the number of priors of all covariances.
func (p *Population) atoms() (n int) {
	for i := range p.kernels {
		n += len(p.kernels[i].atoms)
	}
	return n
}

// Config describes the model.
func (m *PopulationRegressor[T]) Config() cnp.Config { return m.cfg }

// Populations returns the population of each output.
func (m *PopulationRegressor[T]) Populations() []*Population {
	return append([]*Population(nil), m.of...)
}

// State is empty: the configuration holds the populations.
func (m *PopulationRegressor[T]) State() []layers.Param[T] { return nil }

// Plan makes a plan for curves, of which nothing is computed in advance.
func (m *PopulationRegressor[T]) Plan(ctx context.Context, s cnp.Shape, opt cnp.PlanOptions) (cnp.Plan[T], error) {
	return cnp.LiveCurves[T](ctx, m, s, opt)
}

// EstimateNeed estimates the working memory of predictions.
func (m *PopulationRegressor[T]) EstimateNeed(w cnp.Work) cnp.Need {
	n, t, arrays := float64(w.Context), float64(w.Targets), float64(6+m.cfg.DimX)
	exact := math.Min(n, populationExact)
	// Of a task: pairs of values, and of values and targets; the moments of the members at some targets; orders and trees of the points.
	// With waves, the mixture of each target.
	if m.cfg.Likelihood != "" {
		t *= 2
	}
	bytes := 8*arrays*(exact*exact/2+math.Min(exact*t, populationRoomOf)) + 16*populationRoomOf + 600*n + 200*t
	tasks := min(max(1, w.Batch*len(m.of)), parallel.Workers())
	return cnp.Need{Features: int64(math.Min(bytes*float64(tasks), math.MaxInt64/2))}
}

// each calls f with the table and the targets of every task and output, side by side; at are the targets' places in a prediction.
func (m *PopulationRegressor[T]) each(ctx context.Context, b *cnp.Batch[T],
	f func(t, c int, x, y, targets []float64, at []int) error) error {
	if err := b.Check(&m.cfg); err != nil {
		return err
	}
	errs := make([]error, b.B*len(m.of))
	parallel.For(len(errs), 1, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			t, c := i/len(m.of), i%len(m.of)
			x, y, targets, at := tableOf(b, m.cfg.DimX, 0, len(m.of), t, c)
			if len(at) == 0 {
				continue
			}
			err := f(t, c, x, y, targets, at)
			switch {
			case err == nil || ctx.Err() != nil:
			case len(m.of) > 1:
				errs[i] = wrongTable(fmt.Sprintf("task %d: output %d", t, c), err)
			default:
				errs[i] = wrongTable(fmt.Sprintf("task %d", t), err)
			}
		}
	})
	return errors.Join(ctx.Err(), errors.Join(errs...))
}

// Predict returns the distributions at the targets of each task, each on its own, noise included: normal ones or, if there are waves,
// mixtures of normals, as a value may lie on either side of a jump. Of amounts and of logarithms it is those of their scale.
func (m *PopulationRegressor[T]) Predict(ctx context.Context, b *cnp.Batch[T]) (*cnp.Prediction[T], error) {
	if err := b.Check(&m.cfg); err != nil {
		return nil, err
	}
	out, err := cnp.NewPrediction[T](&m.cfg, b.B*b.Nt*len(m.of))
	if err != nil {
		return nil, err
	}
	w := &populationWriter[T]{out: out, numbers: len(out.Params) / max(1, len(out.Mean))}
	if out.Params != nil { // of targets that do not count
		for i := range len(out.Mean) {
			w.normal(i, 0, 1, likelihood.Straight)
		}
	}
	err = m.each(ctx, b, func(_, c int, x, y, targets []float64, at []int) error {
		p, d := m.of[c], m.cfg.DimX
		v, err := p.wave(ctx, x, y)
		if err != nil {
			return err
		}
		piece := max(1, populationRoomOf/max(1, p.atoms())) // whose moments are in memory
		for lo := 0; lo < len(at); lo += piece {
			hi := min(lo+piece, len(at))
			mean, std, err := p.gaussian(ctx, x, y, targets[lo*d:hi*d])
			if err != nil {
				return err
			}
			if err := w.set(p, v, targets[lo*d:hi*d], mean, std, at[lo:hi]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// populationWriter writes distributions into a prediction.
type populationWriter[T cnp.Float] struct {
	out     *cnp.Prediction[T]
	numbers int // of a value's distribution: none, mean, deviation and scale, or 16 normals, which a scale may follow
}

// set sets values at of a prediction, given means and deviations of the Gaussian processes and, unless v is nil, the waves.
func (w *populationWriter[T]) set(p *Population, v *waveView, targets, mean, std []float64, at []int) error {
	t, err := p.frame.places("targets", targets)
	if err != nil {
		return err
	}
	d := p.frame.dim
	for k, i := range at {
		if v != nil {
			w.normals(i, v.normals(t[k*d:(k+1)*d], p.frame, mean[k], std[k]), p.family())
		} else if w.numbers > 0 {
			w.normal(i, mean[k], std[k], p.family())
		}
	}
	switch {
	case !p.straight():
		p.unbend(v, t, mean, std)
		err = checkRange(mean, std)
	case v != nil:
		p.mix(v, t, mean, std)
		err = checkRange(mean, std)
	}
	for k, i := range at {
		w.out.Mean[i], w.out.Std[i] = T(mean[k]), max(T(std[k]), math.SmallestNonzeroFloat32)
	}
	return err
}

// normal makes the distribution of value i one normal on a scale.
func (w *populationWriter[T]) normal(i int, mean, std float64, scale likelihood.Bend) {
	if w.numbers == (likelihood.Bent{}).Outputs() {
		copy(w.out.Params[i*w.numbers:], []T{T(mean), max(T(std), math.SmallestNonzeroFloat32), T(scale),
			likelihood.ZeroRoot, likelihood.Unlimited})
		return
	}
	params := make([]float64, 3*waveNormals)
	for j := 0; j < len(params); j += 3 {
		params[j+1], params[j+2] = mean, std
	}
	params[0] = 1
	w.normals(i, params, scale)
}

// normals makes the distribution of value i a mixture of normals on a scale: shares, means and deviations.
func (w *populationWriter[T]) normals(i int, params []float64, scale likelihood.Bend) {
	to := w.out.Params[i*w.numbers : (i+1)*w.numbers]
	for j, value := range params {
		if to[j] = T(value); j%3 == 2 {
			to[j] = max(to[j], math.SmallestNonzeroFloat32)
		}
	}
	if len(to) > len(params) {
		to[len(params)] = T(scale)
	}
}

// SampleCurves draws joint samples [samples, B, Nt, outputs] of functions or of new values. Output c has the seed of its task + c. Where
// a task has too many values and targets for Population.Samples, the chain rule draws all of them, but those that are waves.
func (m *PopulationRegressor[T]) SampleCurves(ctx context.Context, b *cnp.Batch[T], opt cnp.SampleOptions) ([]T, error) {
	if err := b.Check(&m.cfg); err != nil {
		return nil, err
	}
	if err := opt.Check(b.B); err != nil {
		return nil, err
	}
	if b.Nc+b.Nt > populationDrawn {
		return m.sampleLarge(ctx, b, opt)
	}
	values := b.B * b.Nt * len(m.of)
	if err := checkRoom(opt.Samples, values, 16*float64(values)); err != nil {
		return nil, err
	}
	out := make([]T, opt.Samples*values)
	err := m.each(ctx, b, func(t, c int, x, y, targets []float64, at []int) error {
		seed := opt.Seed
		if opt.Seeds != nil {
			seed = opt.Seeds[t]
		}
		drawn, err := m.of[c].Samples(ctx, x, y, targets, opt.Samples, seed+uint64(c), opt.Function)
		if err != nil {
			return err
		}
		for s, row := range drawn {
			for k, i := range at {
				out[s*values+i] = T(row[k])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sampleLarge draws samples of Gaussian processes by the chain rule, and of waves as SampleCurves does.
func (m *PopulationRegressor[T]) sampleLarge(ctx context.Context, b *cnp.Batch[T], opt cnp.SampleOptions) ([]T, error) {
	plain := &PopulationRegressor[T]{cfg: m.cfg}
	for _, p := range m.of {
		own := *p
		own.waves = nil
		plain.of = append(plain.of, &own)
	}
	plain.cfg.Likelihood = likelihoodOf(plain.of)
	out, err := cnp.SampleCurves(ctx, byChain[T]{plain}, b, opt)
	if err != nil || m.cfg.Likelihood == plain.cfg.Likelihood {
		return out, err
	}
	values := b.B * b.Nt * len(m.of)
	err = m.each(ctx, b, func(t, c int, x, y, targets []float64, at []int) error {
		p, seed := m.of[c], opt.Seed
		if opt.Seeds != nil {
			seed = opt.Seeds[t]
		}
		v, err := p.wave(ctx, x, y)
		if err != nil || v == nil {
			return err
		}
		places, err := p.frame.places("targets", targets)
		if err != nil {
			return err
		}
		row := make([]float64, len(at))
		for s := range opt.Samples {
			rng := rand.New(rand.NewPCG(seed+uint64(c), uint64(s)))
			if !(rng.Float64() < v.share) {
				continue
			}
			v.draw(row, places, rng, opt.Function)
			if err := p.restore([][]float64{row}); err != nil {
				return err
			}
			for k, i := range at {
				out[s*values+i] = T(row[k])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// byChain is a model without a way of its own to draw samples.
type byChain[T cnp.Float] struct{ m *PopulationRegressor[T] }

func (c byChain[T]) Config() cnp.Config { return c.m.cfg }

func (c byChain[T]) Predict(ctx context.Context, b *cnp.Batch[T]) (*cnp.Prediction[T], error) {
	return c.m.Predict(ctx, b)
}
