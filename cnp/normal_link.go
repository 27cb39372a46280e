package cnp

import (
	"math"

	"github.com/equivcnp/equivcnp/cnp/internal/stdlink"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// normalLink is the link of the independent normal of the authors' models. The numbers of a target are all means, then all raw spreads, and
// kernels work on many at a time.
type normalLink[T Float] struct{ deviations stdlink.Link[T] }

// apart separates the numbers y of targets into means and softplus of spreads.
func (l normalLink[T]) apart(mean, std, y []T, dy int) {
	for i := range len(y) / (2 * dy) {
		copy(mean[i*dy:(i+1)*dy], y[2*i*dy:])
		copy(std[i*dy:(i+1)*dy], y[(2*i+1)*dy:])
	}
	simd.Softplus(std, std)
}

func (l normalLink[T]) rows(f *family[T], out *Prediction[T], at int, _, y []T) {
	n := len(y) / 2
	mean, std := out.Mean[at:at+n], out.Std[at:at+n]
	l.apart(mean, std, y, f.dy)
	l.deviations.Set(std)
}

func (l normalLink[T]) rowsGrad(f *family[T], d outGrad[T], at int, y []T) []T {
	n, c := len(y)/2, f.dy
	mean, std := make([]T, n), make([]T, n)
	l.apart(mean, std, y, c)
	ds, dy := l.deviations.Grad(d.std[at:at+n], std), make([]T, len(y))
	for i := range n / c {
		copy(dy[2*i*c:], d.mean[at+i*c:at+(i+1)*c])
		copy(dy[(2*i+1)*c:], ds[i*c:(i+1)*c])
	}
	return dy
}

func (l normalLink[T]) pixels(f *family[T], out *Prediction[T], _ []T, n, lo, hi int, y []T) {
	c := f.dy
	mean, std := out.Mean[lo*c*n:hi*c*n], out.Std[lo*c*n:hi*c*n]
	for b := range hi - lo {
		for p := range n {
			row := y[(b*n+p)*2*c:][:2*c]
			for ch := range c {
				mean[(b*c+ch)*n+p], std[(b*c+ch)*n+p] = row[ch], row[c+ch]
			}
		}
	}
	simd.Softplus(std, std)
	l.deviations.Set(std)
}

func (l normalLink[T]) pixelsGrad(f *family[T], d outGrad[T], n, lo, hi int, y []T) []T {
	c := f.dy
	std := make([]T, (hi-lo)*c*n)
	for b := range hi - lo {
		for p := range n {
			for ch := range c {
				std[(b*c+ch)*n+p] = y[(b*n+p)*2*c+c+ch]
			}
		}
	}
	simd.Softplus(std, std)
	dm, ds := d.mean[lo*c*n:hi*c*n], l.deviations.Grad(d.std[lo*c*n:hi*c*n], std)
	dy := make([]T, len(y))
	for b := range hi - lo {
		for p := range n {
			row := dy[(b*n+p)*2*c:][:2*c]
			for ch := range c {
				row[ch], row[c+ch] = dm[(b*c+ch)*n+p], ds[(b*c+ch)*n+p]
			}
		}
	}
	return dy
}

func (l normalLink[T]) channel(f *family[T], out *Prediction[T], at, ch int, y []T, seen seenPixels[T], _ []float64) {
	c := f.dy
	n := len(y) / (2 * c)
	mean, std := out.Mean[at:at+n], out.Std[at:at+n]
	for t := range mean {
		mean[t], std[t] = y[2*c*t+ch], y[2*c*t+c+ch]
	}
	simd.Softplus(std, std)
	l.deviations.Set(std)
	for t, ok := range seen.mask {
		if ok {
			l.keep(f, out, at+t, seen.y[t], nil)
		}
	}
}

func (normalLink[T]) keep(f *family[T], out *Prediction[T], v int, y T, _ []float64) {
	mean, std := likelihood.Observed(float64(out.Mean[v]), float64(out.Std[v]), float64(y), f.noise)
	out.Mean[v], out.Std[v] = T(mean), T(std)
}

func (normalLink[T]) newRaw(*family[T], int) []T { return nil }

func (normalLink[T]) backward(p *Pass[T], dMean, dStd []T, g *layers.Grads[T]) {
	if p.mask != nil {
		m, s := make([]T, len(dMean)), make([]T, len(dStd))
		for i, ok := range p.mask {
			if ok {
				m[i], s[i] = dMean[i], dStd[i]
			}
		}
		dMean, dStd = m, s
	}
	p.back(outGrad[T]{mean: dMean, std: dStd}, g)
}

func (normalLink[T]) backwardRaw(*Pass[T], []T, *layers.Grads[T]) {
	panic("cnp: Pass.BackwardRaw: the likelihood is the normal one, which has Backward")
}

func (l normalLink[T]) gradient(p *Pass[T], o Objective, y []T, g *layers.Grads[T]) (loss float64, err error) {
	dMean, dStd := make([]T, len(y)), make([]T, len(y))
	loss = gaussianLoss(dMean, dStd, p.Mean, p.Std, y, p.mask, 1/float64(o.Tasks), o)
	l.backward(p, dMean, dStd, g)
	return loss, nil
}

// gaussianLoss returns -scale · Σ log N(y + ε; mean, std²), averaged over ε of deviation o.Noise, and writes its gradients: with
// z = (y - mean)/std and q = z² + (noise/std)²,
//
//	loss = scale · Σ (q/2 + log std + log(2π)/2),  dMean = -scale·z/std · std^2β,  dStd = scale·(1 - q)/std · std^2β.
func gaussianLoss[T Float](dMean, dStd, mean, std, y []T, mask []bool, scale float64, o Objective) float64 {
	sum := 0.0
	for i := range y {
		if mask == nil || mask[i] {
			s := float64(std[i])
			z, e := (float64(y[i])-float64(mean[i]))/s, o.Noise/s
			q := z*z + e*e
			sum += 0.5*q + math.Log(s) + 0.5*math.Log(2*math.Pi)
			g := scale / s
			if o.Beta != 0 {
				g *= math.Pow(s, 2*o.Beta)
			}
			dMean[i], dStd[i] = T(-g*z), T(g*(1-q))
		}
	}
	return scale * sum
}
