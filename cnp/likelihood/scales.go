package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// ScalesName begins the name of the mixture of normals around one mean that calibration makes: scales:0.7*0.5,0.3*2 has normals of
// half the network's deviation with a share of 0.7 and of twice of it with 0.3, so that the variance is the network's times
// 0.7·0.5² + 0.3·2². Shares are divided by their sum. Several mixtures, as in scales:0.03@1*1;0.5@0.7*0.5,0.3*2, are those of values whose
// deviation is the number before the @: between two of them shares pass from one to the other linearly in the logarithm of the
// deviation, and beyond the first and the last one is that mixture's.
const ScalesName = "scales"

// maxScales bounds the normals of a mixture, maxNodes the mixtures, and scaleLimit the factors and their inverses.
const (
	maxScales  = 16
	maxNodes   = 16
	scaleLimit = 1e4
)

func init() {
	Register(ScalesName, func(o Options, arg string) (Family, error) {
		l := &scales{name: ScalesName + ":" + arg, spread: o.Spread}
		bad := fmt.Errorf("need shares and factors, as in %s:0.7*0.5,0.3*2, at most %d, shares that add up to 1, "+
			"factors from %g to %g; or at most %d such lists, "+
			"each behind a deviation and an @, with a semicolon between", ScalesName, maxScales, 1/scaleLimit,
			float64(scaleLimit), maxNodes)
		parts := strings.Split(arg, ";")
		for _, part := range parts {
			if len(parts) > 1 {
				at, rest, ok := strings.Cut(part, "@")
				v, err := strconv.ParseFloat(at, 64)
				if last := len(l.at) - 1; !ok || err != nil || !(v > 0 && v <= math.MaxFloat32) || last+1 == maxNodes ||
					last >= 0 && !(math.Log(v) > l.at[last]) {
					return nil, bad
				}
				l.at, part = append(l.at, math.Log(v)), rest
			}
			var m mixture
			sum := 0.0
			for term := range strings.SplitSeq(part, ",") {
				share, factor, ok := strings.Cut(term, "*")
				p, err := strconv.ParseFloat(share, 64)
				a, err2 := strconv.ParseFloat(factor, 64)
				if !ok || err != nil || err2 != nil || !(p > 0 && p <= 1) || !(a >= 1/scaleLimit && a <= scaleLimit) ||
					len(m.share) == maxScales {
					return nil, bad
				}
				m.share, m.factor = append(m.share, p), append(m.factor, a)
				sum += p
			}
			if !(math.Abs(sum-1) <= 1e-3) {
				return nil, fmt.Errorf("the shares' sum is %g, not 1", sum)
			}
			for k := range m.share {
				m.share[k] /= sum
			}
			l.nodes = append(l.nodes, m)
		}
		if len(l.nodes) > 1 {
			return l, nil
		}
		return plainScales{l}, nil
	})
}

// scales is a mixture of normals around one mean, whose deviations are the model's times a factor of each. Errors of
// trained models are often tiny in most places and large in a few, more so than any one normal; shares and factors are
// no parameters of the network, but measured afterwards (cnp.Calibrated). Parameters: mean, and the deviation that the
// factors multiply.
//
// Where there are several mixtures, each is that of values whose deviation is the node's; between two nodes a value has
// both, by how near the logarithm of its deviation is to theirs.
type scales struct {
	name   string
	spread Spread
	at     []float64 // the nodes' deviations, logarithms; one node has none
	nodes  []mixture
}

// plainScales is scales with one node, whose distribution is of the same shape in any units.
type plainScales struct{ *scales }

func (plainScales) Rescale(p []float64, a Affine) { p[0], p[1] = a.Undo(p[0]), p[1]/a.Factor }

type mixture struct{ share, factor []float64 }

func (l *scales) Name() string { return l.name }

func (*scales) Outputs() int { return 2 }

// Means implements Normals.
func (*scales) Means() []int { return []int{0} }

// Spreads implements Normals.
func (*scales) Spreads() []int { return []int{1} }

func (*scales) Constants() int { return 0 }

func (l *scales) Parameters(params, raw []float64) {
	params[0], params[1] = raw[0], l.spread.Std(raw[1])
}

// Observe does to the deviation that the factors multiply, and to the noise, what it is for a normal: the factors are measured afterwards.
func (*scales) Observe(p []float64, y, noise float64) { p[0], p[1] = Observed(p[0], p[1], y, noise) }

// nodeOf returns the node at or below a deviation, and by how much its value is the next one's: weight, whose
// derivative to the deviation is slope.
func nodeOf(at []float64, std float64) (node int, weight, slope float64) {
	v := math.Log(std)
	for node+1 < len(at) && v >= at[node+1] {
		node++
	}
	if node+1 >= len(at) || v <= at[node] {
		return node, 0, 0
	}
	width := at[node+1] - at[node]
	return node, (v - at[node]) / width, 1 / (width * std)
}

// each calls f with the share and the factor of all normals that a value of a deviation has; slope is the derivative of
// the share to the deviation.
func (l *scales) each(std float64, f func(share, slope, factor float64)) {
	node, w, s := nodeOf(l.at, std)
	for k, a := range l.nodes[node].factor {
		p := l.nodes[node].share[k]
		f((1-w)*p, -s*p, a)
	}
	if s == 0 {
		return
	}
	for k, a := range l.nodes[node+1].factor {
		p := l.nodes[node+1].share[k]
		f(w*p, s*p, a)
	}
}

func (l *scales) Moments(p []float64) (mean, std float64) {
	v := 0.0
	l.each(p[1], func(share, _, a float64) { v += share * a * a })
	return p[0], p[1] * math.Sqrt(v)
}

// parts returns the log-density at z deviations from the mean, but for the deviation's own logarithm, and the gradient
// of that to z and to the deviation, the latter times the deviation.
func (l *scales) parts(z, std float64) (log, dz, dstd float64) {
	most := math.Inf(-1)
	l.each(std, func(_, _, a float64) { most = max(most, -math.Log(a)-0.5*(z/a)*(z/a)) })
	sum := 0.0
	l.each(std, func(share, slope, a float64) {
		density := math.Exp(-math.Log(a) - 0.5*(z/a)*(z/a) - most)
		sum += share * density
		dz -= share * density * z / (a * a)
		dstd += share*density*(z/a*z/a-1) + slope*std*density
	})
	if sum == 0 { // the nearest normal has no share, and all others are too far to tell
		return math.Inf(-1), 0, 0
	}
	return most + math.Log(sum) - 0.5*math.Log(2*math.Pi), dz / sum, dstd / sum
}

func (l *scales) LogDensity(y float64, p []float64) float64 {
	log, _, _ := l.parts((y-p[0])/p[1], p[1])
	return log - math.Log(p[1])
}

func (l *scales) Gradient(d []float64, y float64, p, raw []float64) {
	_, dz, dstd := l.parts((y-p[0])/p[1], p[1])
	d[0], d[1] = -dz/p[1], dstd/p[1]*l.spread.Slope(raw[1], p[1])
}

func (l *scales) Quantile(q float64, p []float64) float64 { return p[0] + p[1]*l.quantile(q, p[1]) }

// quantile returns that of the mixture around 0, over the deviation: it lies between those of its narrowest and its widest normal.
func (l *scales) quantile(q, std float64) float64 {
	if q > 0.5 {
		return -l.quantile(1-q, std)
	}
	one := normalQuantile(q, 0, 1)
	if math.IsInf(one, 0) || math.IsNaN(one) || one == 0 {
		return one
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	l.each(std, func(_, _, a float64) { lo, hi = min(lo, a*one), max(hi, a*one) })
	z := lo + (hi-lo)/2
	for range 100 {
		below, density := 0.0, 0.0
		l.each(std, func(share, _, a float64) {
			below += share * 0.5 * math.Erfc(-z/a/math.Sqrt2)
			density += share / a * math.Exp(-0.5*(z/a)*(z/a)) / math.Sqrt(2*math.Pi)
		})
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
	u, factor := rng.Float64(), 0.0
	l.each(p[1], func(share, _, a float64) {
		if u >= 0 && share > 0 {
			factor = a
		}
		u -= share
	})
	return p[0] + p[1]*factor*rng.NormFloat64()
}

func (*scales) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Scaled reports whether a family is a mixture of normals around one mean, by factors of a model's deviation, which is the
// second parameter.
func Scaled(l Family) bool { return scalesOf(l) != nil }

// scalesOf returns a likelihood of this kind, or nil.
func scalesOf(l Family) *scales {
	switch l := l.(type) {
	case plainScales:
		return l.scales
	case *scales:
		return l
	}
	return nil
}

// Mixture is one of normals around the same mean: Share of the values have the deviation of a model times Factor. At is
// the deviation of the values that have it, for cnp.Calibrated with several.
type Mixture struct {
	At            float64
	Share, Factor []float64
}

// NodeOf returns between which of several mixtures, in the order of At, a value of a deviation is: it has that of node
// by a weight of 1 less weight, and the next one by weight.
func NodeOf(mixtures []Mixture, std float64) (node int, weight float64) {
	at := make([]float64, len(mixtures))
	for i, m := range mixtures {
		at[i] = math.Log(m.At)
	}
	node, weight, _ = nodeOf(at, std)
	return node, weight
}
