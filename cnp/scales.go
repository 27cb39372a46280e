package cnp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/layers"
)

const scalesName = "scales"

// maxScales bounds the normals of a mixture, scaleLimit their factors and those' inverses.
const (
	maxScales  = 16
	scaleLimit = 1e4
)

func init() {
	RegisterLikelihood(scalesName, func(c *Config, arg string) (Likelihood, error) {
		l := &scales{name: scalesName + ":" + arg, spread: spreadOf(c)}
		sum := 0.0
		for part := range strings.SplitSeq(arg, ",") {
			share, factor, ok := strings.Cut(part, "*")
			p, err := strconv.ParseFloat(share, 64)
			a, err2 := strconv.ParseFloat(factor, 64)
			if !ok || err != nil || err2 != nil || !(p > 0 && p <= 1) || !(a >= 1/scaleLimit && a <= scaleLimit) || len(l.share) == maxScales {
				return nil, fmt.Errorf("need at most %d shares and factors, as in %s:0.7*0.5,0.3*2, shares that add up to 1, factors from %g to %g",
					maxScales, scalesName, 1/scaleLimit, float64(scaleLimit))
			}
			l.share, l.factor = append(l.share, p), append(l.factor, a)
			sum += p
		}
		if !(math.Abs(sum-1) <= 1e-3) {
			return nil, fmt.Errorf("the shares' sum is %g, not 1", sum)
		}
		for k, p := range l.share {
			l.share[k] = p / sum
			l.std += l.share[k] * l.factor[k] * l.factor[k]
		}
		l.std = math.Sqrt(l.std)
		return l, nil
	})
}

// scales is a mixture of normals around one mean, whose deviations are the model's times a factor of each. Errors of trained models are often
// tiny in most places and large in a few, more so than any one normal; shares and factors are no parameters of the network, but measured
// afterwards (Calibrated). Parameters: mean, and the deviation that the factors multiply.
type scales struct {
	name          string
	spread        spread
	share, factor []float64
	std           float64 // of the mixture, over the deviation
}

func (l *scales) Name() string { return l.name }
func (*scales) Outputs() int   { return 2 }
func (*scales) Constants() int { return 0 }

func (l *scales) Parameters(params, raw []float64) {
	params[0], params[1] = raw[0], l.spread.std(raw[1])
}

func (l *scales) Moments(p []float64) (mean, std float64) { return p[0], p[1] * l.std }

// parts returns the log-density at z of the mixture of deviation 1, and the gradient of that to z and to the deviation.
func (l *scales) parts(z float64) (log, dz, dstd float64) {
	var terms [maxScales]float64
	most := math.Inf(-1)
	for k, a := range l.factor {
		terms[k] = math.Log(l.share[k]/a) - 0.5*(z/a)*(z/a)
		most = max(most, terms[k])
	}
	sum := 0.0
	for k := range l.factor {
		terms[k] = math.Exp(terms[k] - most)
		sum += terms[k]
	}
	for k, a := range l.factor {
		r := terms[k] / sum
		dz -= r * z / (a * a)
		dstd += r * (z/a*z/a - 1)
	}
	return most + math.Log(sum) - 0.5*math.Log(2*math.Pi), dz, dstd
}

func (l *scales) LogDensity(y float64, p []float64) float64 {
	log, _, _ := l.parts((y - p[0]) / p[1])
	return log - math.Log(p[1])
}

func (l *scales) Gradient(d []float64, y float64, p, raw []float64) {
	_, dz, dstd := l.parts((y - p[0]) / p[1])
	d[0], d[1] = -dz/p[1], dstd/p[1]*l.spread.slope(raw[1], p[1])
}

func (l *scales) Quantile(q float64, p []float64) float64 { return p[0] + p[1]*l.quantile(q) }

// quantile is that of the mixture around 0 of deviation 1: it lies between those of its narrowest and its widest normal.
func (l *scales) quantile(q float64) float64 {
	if q > 0.5 {
		return -l.quantile(1 - q)
	}
	one := normalQuantile(q, 0, 1)
	if math.IsInf(one, 0) || math.IsNaN(one) || one == 0 {
		return one
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, a := range l.factor {
		lo, hi = min(lo, a*one), max(hi, a*one)
	}
	z := l.std * one
	for range 100 {
		below, density := 0.0, 0.0
		for k, a := range l.factor {
			below += l.share[k] * 0.5 * math.Erfc(-z/a/math.Sqrt2)
			density += l.share[k] / a * math.Exp(-0.5*(z/a)*(z/a)) / math.Sqrt(2*math.Pi)
		}
		if below > q {
			hi = z
		} else {
			lo = z
		}
		next := z - (below-q)/density
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-z) <= 1e-14*math.Abs(z) {
			return next
		}
		z = next
	}
	return z
}

func (l *scales) Sample(rng *rand.Rand, p []float64) float64 {
	u, k := rng.Float64(), 0
	for u -= l.share[0]; u >= 0 && k+1 < len(l.share); u -= l.share[k] {
		k++
	}
	return p[0] + p[1]*l.factor[k]*rng.NormFloat64()
}

func (*scales) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (*scales) Rescale(p []float64, a Affine) { p[0], p[1] = a.Undo(p[0]), p[1]/a.Factor }

// Deviations are the deviations that Calibrated's factors multiply, of a model that it takes: those predicted, without the factors of an
// earlier calibration.
func (p *Prediction[T]) Deviations() []T {
	if _, ok := p.Likelihood.(*scales); !ok {
		return p.Std
	}
	out := make([]T, len(p.Mean))
	for i := range out {
		out[i] = p.Params[2*i+1]
	}
	return out
}

// Calibrated is a model with the parameters of m that predicts the same means, and instead of a normal around each a mixture of normals, with
// these shares, whose deviations are the model's times these factors. One factor alone is a normal that is wider or narrower. What m's own
// calibration was, if it had one, is replaced. It is for models of the normal likelihood, and for all but CNPs, whose least deviation is part of their function.
func Calibrated[T Float](m Model[T], share, factor []float64) (Model[T], error) {
	c := m.Config()
	before, err := ParseLikelihood(&c)
	if err != nil {
		return nil, err
	}
	_, plain := before.(normal)
	if _, again := before.(*scales); !plain && !again {
		return nil, fmt.Errorf("%w: likelihood %s: only normal deviations are calibrated", ErrConfig, before.Name())
	}
	if c.Architecture == CNPCurve || c.Architecture == CNPImage {
		return nil, fmt.Errorf("%w: the deviations of a %s are not calibrated", ErrConfig, c.Architecture)
	}
	if len(share) != len(factor) || len(share) == 0 {
		return nil, fmt.Errorf("%w: calibrated by %d shares and %d factors", ErrConfig, len(share), len(factor))
	}
	var parts []string
	for k, p := range share {
		parts = append(parts, fmt.Sprintf("%.6g*%.6g", p, factor[k]))
	}
	c.Likelihood = scalesName + ":" + strings.Join(parts, ",")
	out, err := remade(m, c)
	if err != nil {
		return nil, err
	}
	known := map[string][]T{}
	for _, p := range m.State() {
		known[p.Name] = p.Data
	}
	for _, p := range out.State() {
		if from, ok := known[p.Name]; ok {
			copy(p.Data, from)
		}
	}
	if plain {
		err = interleave(out, m, c.DimY)
	}
	return out, err
}

// remade is a new model of m's group.
func remade[T Float](m Model[T], c Config) (Model[T], error) {
	if g := GroupOf(m); g != nil {
		return newWithGroup[T](c, g, 0)
	}
	return New[T](c, 0)
}

// interleave sets the last linear map of a model, which makes the numbers of one value after the other, to that of a normal model, which
// makes all means first.
func interleave[T Float](to, from Model[T], dy int) error {
	rows := func(to, mean, spread *layers.Linear[T], at int) {
		in := to.In
		for d := range dy {
			copy(to.Weight[2*d*in:], mean.Weight[d*in:(d+1)*in])
			copy(to.Weight[(2*d+1)*in:], spread.Weight[(at+d)*in:(at+d+1)*in])
			to.Bias[2*d], to.Bias[2*d+1] = mean.Bias[d], spread.Bias[at+d]
		}
	}
	switch to := to.(type) {
	case *EquivCNP[T]:
		own := &from.(*EquivCNP[T]).head
		rows(to.head.raw, own.mean, own.spread, 0)
	case *ConvCNP[T]:
		own := &from.(*ConvCNP[T]).head
		rows(to.head.raw, own.mean, own.spread, 0)
	case *ImageEquivCNP[T]:
		own := from.(*ImageEquivCNP[T]).last
		rows(to.last, own, own, dy)
	case *ImageConvCNP[T]:
		own := from.(*ImageConvCNP[T]).last
		rows(to.last, own, own, dy)
	default:
		return errors.New("cnp: Calibrated: a model of another package")
	}
	return nil
}
