package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Calibrate measures by how much the true values of the first tasks of a source differ from a model's predictions, in its own deviations, and
// returns the model with deviations that are as wide: a mixture of so many normals (cnp.Calibrated), the most likely one; one normal is
// a factor for all deviations. The means stay as they are. The tasks should be such as the model was trained on, and not those themselves.
// predict is the model's, in units of the tasks.
func Calibrate[T cnp.Float](ctx context.Context, m cnp.Model[T], predict Predictor[T], src task.Source[T], opt Options, normals int) (cnp.Model[T], error) {
	if normals < 1 {
		return nil, fmt.Errorf("eval: calibration by %d normals, need at least 1", normals)
	}
	if _, err := cnp.Calibrated(m, []float64{1}, []float64{1}); err != nil {
		return nil, err // before the work
	}
	var z []float64
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		p, err := predict(ctx, b)
		if err != nil {
			return err
		}
		std, counts := p.Deviations(), b.Counts()
		for i := range n * (len(b.Y) / Count(b)) {
			v := math.Abs(float64(b.Y[i])-float64(p.Mean[i])) / float64(std[i])
			if (counts == nil || counts[i]) && v-v == 0 {
				z = append(z, v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(z) < leastErrors {
		return nil, fmt.Errorf("eval: calibration with %d values, need at least %d", len(z), leastErrors)
	}
	share, factor := fitScales(z, normals)
	return cnp.Calibrated(m, share, factor)
}

const (
	leastErrors = 100
	mostErrors  = 1 << 17  // that are looked at, evenly spread among all of them in order of size
	leastFactor = 1.0 / 64 // errors of exactly 0, as of saturated values, would make a normal as narrow as you please
	mostFactor  = 1 << 12
)

// fitScales returns the shares and the deviations of the most likely mixture of normals around 0 for errors of such sizes, by expectation and
// maximisation: no step makes it less likely.
func fitScales(z []float64, normals int) (share, factor []float64) {
	slices.Sort(z)
	if step := float64(len(z)) / mostErrors; step > 1 {
		for i := range mostErrors {
			z[i] = z[int((float64(i)+0.5)*step)]
		}
		z = z[:mostErrors]
	}
	limit := func(a float64) float64 { return max(leastFactor, min(a, mostFactor)) }
	for k := range normals { // each begins where it has its share of the sizes
		q := (float64(k) + 0.5) / float64(normals)
		share = append(share, 1/float64(normals))
		factor = append(factor, limit(z[int(q*float64(len(z)))]/(math.Sqrt2*math.Erfinv(q))))
	}
	was := math.Inf(-1)
	p, height, narrow := make([]float64, normals), make([]float64, normals), make([]float64, normals)
	for range 1000 {
		n, squares, sum := make([]float64, normals), make([]float64, normals), 0.0
		for k, a := range factor {
			height[k], narrow[k] = math.Log(share[k]/a), 0.5/(a*a)
		}
		for _, v := range z {
			most, total := math.Inf(-1), 0.0
			for k := range p {
				p[k] = height[k] - narrow[k]*v*v
				most = max(most, p[k])
			}
			for k := range p {
				p[k] = math.Exp(p[k] - most)
				total += p[k]
			}
			sum += most + math.Log(total)
			for k := range p {
				n[k] += p[k] / total
				squares[k] += p[k] / total * v * v
			}
		}
		for k := range n {
			share[k] = n[k] / float64(len(z))
			factor[k] = limit(math.Sqrt(squares[k] / max(n[k], math.SmallestNonzeroFloat64)))
		}
		// A normal that nothing needs any more goes.
		for k := len(share) - 1; k >= 0 && len(share) > 1; k-- {
			if share[k] < 1e-5 {
				share, factor = slices.Delete(share, k, k+1), slices.Delete(factor, k, k+1)
				normals, p = normals-1, p[:len(p)-1]
			}
		}
		if sum /= float64(len(z)); sum-was < 1e-8 {
			break
		}
		was = sum
	}
	return share, factor
}
