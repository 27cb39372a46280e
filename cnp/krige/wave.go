package krige

import (
	"math"
	"math/rand/v2"
	"slices"
)

// waves are the tables of one waveform, each at a wave vector and a phase of its own: a value is
//
//	level + gain · g(<w, x> - phase) + a residual,
//
// where g has period 1 and is the same for all tables. A residual is normal, of few values with a larger deviation: those beside a jump.
// After the shape-invariant models of Lawton, Sylvestre and Maggio, Self Modeling Nonlinear Regression (1972).
//
// Waves without noise have no largest likelihood. The deviation of residuals has a floor (foldFloor), about what a waveform of so many
// cells resolves, and densities are as high as it allows.
type waves struct {
	dim    int
	forms  []*waveform // the waveform, and ever smoother ones
	narrow float64     // deviation of most residuals
	broad  float64     // and of the others
	rare   float64     // the share of the others
	// Deviations between tables: of the level, of the logarithms of gain and of the narrow deviation. 0: tables do not differ in it.
	apart [waveExtras]float64
	prior wavePrior
	share float64 // of tables
}

// What tables may differ in besides wave vector and phase.
const (
	waveLevel = iota
	waveGain
	waveNoise
	waveExtras
)

// waveCells is the number of pieces of a waveform.
const waveCells = 1024

// waveform is a function of period 1, linear in each of the cells from lo to hi, which may jump from one to the next.
type waveform struct {
	lo, hi [waveCells]float64
	off    float64 // root mean square difference to the waveform that this one is a smoother version of
}

// at returns value and slope. They are NaN where the place is no finite number.
func (g *waveform) at(u float64) (value, slope float64) {
	if u = (u - math.Floor(u)) * waveCells; math.IsNaN(u) {
		return u, u
	}
	i := min(int(u), waveCells-1)
	rise := g.hi[i] - g.lo[i]
	return g.lo[i] + rise*(u-float64(i)), rise * waveCells
}

// crest is where the first harmonic has its maximum.
func (g *waveform) crest() float64 {
	var c, s float64
	for i := range waveCells {
		sin, cos := math.Sincos(2 * math.Pi * (float64(i) + 0.5) / waveCells)
		c, s = c+cos*(g.lo[i]+g.hi[i]), s+sin*(g.lo[i]+g.hi[i])
	}
	return math.Atan2(s, c) / (2 * math.Pi)
}

// sine is the waveform of mean 0 and variance 1 that has one harmonic.
func sine() *waveform {
	g := new(waveform)
	for i := range waveCells {
		g.lo[i] = math.Sqrt2 * math.Sin(2*math.Pi*float64(i)/waveCells)
		g.hi[i] = math.Sqrt2 * math.Sin(2*math.Pi*float64(i+1)/waveCells)
	}
	return g
}

// waveBlurs are the deviations of the normal distributions that waveforms are smoothed by, in periods.
var waveBlurs = []float64{0.001, 0.002, 0.004, 0.007, 0.012, 0.02, 0.035, 0.06, 0.1, 0.16}

// blurred returns a waveform and smoother versions of it.
func blurred(g *waveform) []*waveform {
	forms := []*waveform{g}
	for _, h := range waveBlurs {
		var weight [waveCells]float64 // by distance, wrapped
		var total float64
		for i := range weight {
			for turn := -1.0; turn <= 1; turn++ {
				z := (float64(i)/waveCells + turn) / h
				weight[i] += math.Exp(-0.5 * z * z)
			}
			total += weight[i]
		}
		s := new(waveform)
		for i := range waveCells { // at the edges of cells
			var v float64
			for k, w := range weight {
				if w > 1e-9 {
					a, b := (i+k)%waveCells, (i+k-1+waveCells)%waveCells
					v += w * (g.lo[a] + g.hi[b]) / 2
				}
			}
			s.lo[i] = v / total
		}
		for i := range waveCells {
			s.hi[i] = s.lo[(i+1)%waveCells]
			e := (s.lo[i] + s.hi[i] - g.lo[i] - g.hi[i]) / 2
			s.off += e * e / waveCells
		}
		s.off = math.Sqrt(s.off)
		forms = append(forms, s)
	}
	return forms
}

// blur is the number of the smoothest version that differs by no more than residuals of this deviation do.
func (w *waves) blur(heat float64) int {
	k := 0
	for k+1 < len(w.forms) && w.forms[k+1].off < 0.7*heat {
		k++
	}
	return k
}

// extras lists what tables differ in.
func (w *waves) extras() (kinds []int) {
	for k, a := range w.apart {
		if a > 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// wavePrior is the distribution of wave vectors: a kernel density of those of the tables that it was learned from, or of their lengths,
// where directions are as likely; and a broad one of any direction, of lengths from least to most, all as likely.
type wavePrior struct {
	dim         int
	known       []float64 // [n, dim] wave vectors, or [n] lengths
	isotropic   bool
	width       float64 // of the kernels
	least, most float64
	other       float64 // share of the broad one; 1 if nothing is known
}

// logSphere is the logarithm of the area of the unit sphere in so many coordinates.
func logSphere(dim int) float64 {
	g, _ := math.Lgamma(float64(dim) / 2)
	return math.Ln2 + float64(dim)/2*math.Log(math.Pi) - g
}

func length(w []float64) (l float64) {
	for _, v := range w {
		l = math.Hypot(l, v)
	}
	return l
}

// logDensity is the logarithm of the density of a wave vector.
func (p *wavePrior) logDensity(w []float64) float64 {
	l := length(w)
	if !(l > 0) {
		return math.Inf(-1)
	}
	shell := logSphere(p.dim) + float64(p.dim-1)*math.Log(l)
	out := math.Inf(-1)
	if l >= p.least && l <= p.most {
		out = math.Log(p.other/(p.most-p.least)) - shell
	}
	if p.other == 1 {
		return out
	}
	k := p.kernels(w, l, -1)
	if p.isotropic {
		k -= shell
	}
	return logAdd(out, math.Log(1-p.other)+k)
}

// kernels is the logarithm of the kernel density of a wave vector of length l, or of its length, without the kernel number out.
func (p *wavePrior) kernels(w []float64, l float64, out int) float64 {
	var sum float64
	d, n := p.dim, 0
	if p.isotropic {
		d = 1
	}
	for i := 0; i < len(p.known); i += d {
		if i/d == out {
			continue
		}
		n++
		if p.isotropic {
			a, b := (l-p.known[i])/p.width, (l+p.known[i])/p.width // lengths are reflected at 0
			sum += math.Exp(-0.5*a*a) + math.Exp(-0.5*b*b)
			continue
		}
		var z2 float64
		for k, v := range w {
			z := (v - p.known[i+k]) / p.width
			z2 += z * z
		}
		sum += math.Exp(-0.5 * z2)
	}
	return math.Log(sum/float64(n)) - float64(d)*(math.Log(p.width)+0.5*math.Log(2*math.Pi))
}

// draw sets w to a wave vector.
func (p *wavePrior) draw(w []float64, rng *rand.Rand) {
	u := rng.Float64()
	if u >= p.other && !p.isotropic {
		i := rng.IntN(len(p.known)/p.dim) * p.dim
		for k := range w {
			w[k] = p.known[i+k] + p.width*rng.NormFloat64()
		}
		return
	}
	l := p.least + (p.most-p.least)*rng.Float64()
	if u >= p.other {
		l = math.Abs(p.known[rng.IntN(len(p.known))] + p.width*rng.NormFloat64())
	}
	for k := range w {
		w[k] = rng.NormFloat64()
	}
	l /= length(w)
	for k := range w {
		w[k] *= l
	}
}

// scale is a deviation of wave vectors along one coordinate.
func (p *wavePrior) scale() float64 {
	l := p.most / 2
	if len(p.known) > 0 {
		l = 0
		d := p.dim
		if p.isotropic {
			d = 1
		}
		for i := 0; i < len(p.known); i += d {
			l += length(p.known[i:i+d]) * float64(d) / float64(len(p.known))
		}
	}
	return l / math.Sqrt(float64(p.dim))
}

// waveDirected is how many nats preferred directions have to gain.
const waveDirected = 5

// waveWidths are the widths of kernels that are tried, over the mean length of the wave vectors.
var waveWidths = []float64{0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.3}

// learnWavePrior returns the prior of wave vectors [n, dim], all as likely: of those with and without preferred directions, and of several
// widths, the one under which each is likeliest given the others.
func learnWavePrior(vectors []float64, dim int) wavePrior {
	n := len(vectors) / dim
	lengths := make([]float64, n)
	var mean float64
	for i := range lengths {
		lengths[i] = length(vectors[i*dim : (i+1)*dim])
		mean += lengths[i] / float64(n)
	}
	base := wavePrior{dim: dim, other: 0.05, least: slices.Min(lengths) / 2, most: 2 * slices.Max(lengths)}
	best, most := base, math.Inf(-1)
	for _, isotropic := range []bool{true, false} {
		for _, h := range waveWidths {
			p := base
			p.isotropic, p.width, p.known = isotropic, h*mean, vectors
			if isotropic {
				p.known = lengths
			}
			var sum float64
			for i, l := range lengths {
				k := p.kernels(vectors[i*dim:(i+1)*dim], l, i)
				if isotropic {
					k -= logSphere(dim) + float64(dim-1)*math.Log(l)
				}
				far := math.Log(p.other/(p.most-p.least)) - logSphere(dim) - float64(dim-1)*math.Log(l)
				sum += logAdd(math.Log(1-p.other)+k, far)
			}
			if !isotropic { // few tables have a preferred direction by chance
				sum -= waveDirected
			}
			if sum > most {
				best, most = p, sum
			}
		}
	}
	return best
}
