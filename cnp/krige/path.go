package krige

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/simd"
)

// path is a function drawn from a covariance function, that is, from the process before any value is known: a sum of waves, a trend and a
// level.
//
// The frequency of a wave is drawn from the covariance's spectrum, by Bochner's theorem a density, and its amplitudes are normal. Over many
// draws the covariance of two places is exactly that of the kernel, however few the waves. One path alone has the spectrum of its waves, so
// that it is nearly, and not quite, normal. What is left between known values are high frequencies, which the spectrum has few of: they
// are drawn more often than they are likely, and have smaller amplitudes in return.
type path struct {
	frequency []float64 // [d, waves]
	cos, sin  []float64 // amplitudes
	slope     []float64 // [d]
	level     float64
}

// pathWaves is how many waves a path has. With so many the variance between known values differs by 5 to 10 % from one path to the next.
const pathWaves = 1536

// How much wider than the spectrum frequencies are drawn: factors of squares of normal numbers, of the mixing variable of the rational
// quadratic, and of the number of a season's harmonics. Each is drawn as often as it stands here; the second half are the wide ones.
var (
	wideNormal   = []float64{1, 1, 3, 6}
	wideRational = newWidened(1, []float64{1, 1, 2, 4})
	wideSeason   = []float64{1, 1, 2, 4}
	wideMatern   = [...]*widened{matern12: octaves(1, 12), matern32: octaves(3, 8), matern52: octaves(5, 6)}
)

// octaves are factors of the chi-squared variable, of so many degrees of freedom, that a Matérn covariance mixes squared exponentials by:
// half of them 1, and the others fall to 4^-n, which doubles the frequency n times.
func octaves(degrees, n int) *widened {
	var stretches []float64
	for k := range n {
		stretches = append(stretches, 1, math.Pow(4, -float64(k+1)))
	}
	return newWidened(float64(degrees)/2, stretches)
}

// widened is a gamma distribution among stretched copies of it, all as likely. The first of the stretches is 1.
type widened struct{ stretches, power, rate []float64 } // power[i] and rate[i] are s^-shape and 1/s - 1 of stretch s

func newWidened(shape float64, stretches []float64) *widened {
	w := &widened{stretches: stretches}
	for _, s := range stretches {
		w.power, w.rate = append(w.power, math.Pow(s, -shape)), append(w.rate, 1/s-1)
	}
	return w
}

// stretch draws one of the stretches.
func (w *widened) stretch(rng *rand.Rand) float64 { return w.stretches[rng.IntN(len(w.stretches))] }

// unlikely is the density of the gamma distribution at x over that of the mixture.
func (w *widened) unlikely(x float64) float64 {
	var sum float64
	for i, rate := range w.rate {
		switch e := x * rate; {
		case rate == 0:
			sum++
		case e < 64: // more than that is lost beside 1
			sum += w.power[i] * math.Exp(-e)
		}
	}
	return float64(len(w.rate)) / sum
}

// newPath draws a path of a kernel of d coordinates. root is metricRoot of its member.
func newPath(k *kernel, root []float64, d int, rng *rand.Rand) *path {
	var seasons []season
	for _, s := range []season{k.season, k.long} {
		if s.variance > 0 {
			seasons = append(seasons, s)
		}
	}
	terms := len(k.parts) + len(seasons)
	each := pathWaves / terms
	n := each * terms
	f := &path{frequency: make([]float64, d*n), cos: make([]float64, n), sin: make([]float64, n), slope: make([]float64, d)}
	z, wide := make([]float64, d), newWidened(float64(d)/2, wideNormal)
	for i := range n {
		var square, scale float64 // of the amplitudes, of the normal numbers
		q := i/each - len(k.parts)
		if q < 0 {
			scale, square = k.parts[i/each].frequency(rng)
		} else {
			scale, square = seasons[q].decay, seasons[q].variance
		}
		square *= wide.normals(z, rng) / float64(each)
		switch {
		case q >= 0:
			multiple, ratio := harmonic(seasons[q].width, rng)
			f.frequency[i] = scale*z[0] + 2*seasons[q].frequency*multiple
			square *= ratio
		case root == nil:
			for c, v := range z {
				f.frequency[c*n+i] = scale * v
			}
		default:
			for c := range d {
				for r, v := range z {
					f.frequency[c*n+i] += scale * root[r*d+c] * v
				}
			}
		}
		size := math.Sqrt(square)
		f.cos[i], f.sin[i] = size*rng.NormFloat64(), size*rng.NormFloat64()
	}
	for c := range f.slope {
		f.slope[c] = math.Sqrt(k.slope2) * rng.NormFloat64()
	}
	f.level = math.Sqrt(k.level2) * rng.NormFloat64()
	return f
}

// normals draws normal numbers, some of them wide. ratio is their density over the one that they are drawn from.
func (w *widened) normals(z []float64, rng *rand.Rand) (ratio float64) {
	scale := math.Sqrt(w.stretch(rng))
	var square float64
	for i := range z {
		z[i] = scale * rng.NormFloat64()
		square += z[i] * z[i]
	}
	return w.unlikely(square / 2)
}

// frequency draws the scale of a normal frequency, of which a part of the covariance is a mixture, and the variance of waves of it.
func (p *part) frequency(rng *rand.Rand) (scale, variance float64) {
	switch p.shape {
	case squared:
		return p.inverse, p.variance
	case rational:
		x := wideRational.stretch(rng) * rng.ExpFloat64()
		return p.inverse * math.Sqrt(x), p.variance * wideRational.unlikely(x)
	}
	degrees := int([...]float64{0, 1, 3, 5}[p.shape])
	wide := wideMatern[p.shape]
	s := wide.stretch(rng)
	var x float64
	for range degrees {
		v := rng.NormFloat64()
		x += v * v
	}
	x = max(s*x, 1e-30)
	return p.inverse * math.Sqrt(float64(degrees)/x), p.variance * wide.unlikely(x/2)
}

// harmonic draws the multiple of a season's frequency: exp(width (cos φ - 1)) is the characteristic function of the difference of two
// Poisson numbers of mean width/2. ratio is its probability over the one that it is drawn by.
func harmonic(width float64, rng *rand.Rand) (multiple, ratio float64) {
	if width > 1000 { // normal by now
		return math.Round(math.Sqrt(width) * rng.NormFloat64()), 1
	}
	s := wideSeason[rng.IntN(len(wideSeason))]
	up, down := poisson(s*width/2, rng), poisson(s*width/2, rng)
	var sum float64
	for _, s := range wideSeason {
		sum += math.Exp((up+down)*math.Log(s) - width*(s-1)) // neither factor may overflow
	}
	return up - down, float64(len(wideSeason)) / sum
}

// poisson draws a Poisson number: how many exponential gaps fit into the mean.
func poisson(mean float64, rng *rand.Rand) (n float64) {
	for mean -= rng.ExpFloat64(); mean > 0; mean -= rng.ExpFloat64() {
		n++
	}
	return n
}

// at returns the path's value at a place. phase, s and c are working memory of one number a wave.
func (f *path) at(place, phase, s, c []float64) float64 {
	n := len(f.cos)
	simd.ScaleF64(phase, place[0], f.frequency[:n])
	v := f.level + f.slope[0]*place[0]
	for k, x := range place[1:] {
		simd.AxpyF64(phase, x, f.frequency[(k+1)*n:(k+2)*n])
		v += f.slope[k+1] * x
	}
	simd.SinCosF64(s, c, phase)
	return v + simd.DotF64(f.cos, c) + simd.DotF64(f.sin, s)
}
