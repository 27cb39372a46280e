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
	wideRational = []float64{1, 1, 2, 4}
	wideSeason   = []float64{1, 1, 2, 4}
	wideMatern   = map[shape][]float64{matern12: octaves(12), matern32: octaves(8), matern52: octaves(6)}
)

// octaves are factors of the chi-squared variable that a Matérn covariance mixes squared exponentials by: half of them 1, and the others
// fall to 4^-n, which doubles the frequency n times.
func octaves(n int) (out []float64) {
	for k := range n {
		out = append(out, 1, math.Pow(4, -float64(k+1)))
	}
	return out
}

// newPath draws a path of a kernel of d coordinates. root is metricRoot of its member.
func newPath(k *kernel, root []float64, d int, rng *rand.Rand) *path {
	terms := len(k.parts)
	if k.season.variance > 0 {
		terms++
	}
	each := pathWaves / terms
	n := each * terms
	f := &path{frequency: make([]float64, d*n), cos: make([]float64, n), sin: make([]float64, n), slope: make([]float64, d)}
	z := make([]float64, d)
	for i := range n {
		var square, scale float64 // of the amplitudes, of the normal numbers
		if q := i / each; q < len(k.parts) {
			scale, square = k.parts[q].frequency(rng)
		} else {
			scale, square = k.season.decay, k.season.variance
		}
		square *= normals(z, rng) / float64(each)
		switch {
		case i/each == len(k.parts):
			multiple, ratio := harmonic(k.season.width, rng)
			f.frequency[i] = scale*z[0] + 2*k.season.frequency*multiple
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

// unlikely is the density of a gamma distribution of this shape at x over that of the mixture of its stretched copies.
func unlikely(x, shape float64, stretches []float64) float64 {
	var sum float64
	for _, s := range stretches {
		sum += math.Pow(s, -shape) * math.Exp(-x*(1/s-1))
	}
	return float64(len(stretches)) / sum
}

// normals draws normal numbers, some of them wide. ratio is their density over the one that they are drawn from.
func normals(z []float64, rng *rand.Rand) (ratio float64) {
	scale := math.Sqrt(wideNormal[rng.IntN(len(wideNormal))])
	var square float64
	for i := range z {
		z[i] = scale * rng.NormFloat64()
		square += z[i] * z[i]
	}
	return unlikely(square/2, float64(len(z))/2, wideNormal)
}

// frequency draws the scale of a normal frequency, of which a part of the covariance is a mixture, and the variance of waves of it.
func (p *part) frequency(rng *rand.Rand) (scale, variance float64) {
	switch p.shape {
	case squared:
		return p.inverse, p.variance
	case rational:
		s := wideRational[rng.IntN(len(wideRational))]
		x := s * rng.ExpFloat64()
		return p.inverse * math.Sqrt(x), p.variance * unlikely(x, 1, wideRational)
	}
	degrees := int([...]float64{0, 1, 3, 5}[p.shape])
	stretches := wideMatern[p.shape]
	s := stretches[rng.IntN(len(stretches))]
	var x float64
	for range degrees {
		v := rng.NormFloat64()
		x += v * v
	}
	x = max(s*x, 1e-30)
	return p.inverse * math.Sqrt(float64(degrees)/x), p.variance * unlikely(x/2, float64(degrees)/2, stretches)
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
		sum += math.Pow(s, up+down) * math.Exp(-width*(s-1))
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
