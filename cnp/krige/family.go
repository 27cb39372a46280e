package krige

import (
	"math"
	"math/rand/v2"
	"slices"
)

// family is a spec and the mode of its posterior.
type family struct {
	spec     *spec
	theta    []float64
	cost     float64
	hessian  []float64
	evidence float64
	units    *evidence // of a season's own, nil for the table's
	change   float64   // of the cost by these

	// How its mode is found, from theta.
	steps     int
	tolerance float64
}

// around returns points around the mode, and their weights, which add up to 1: importance sampling from a normal distribution.
func (f *family) around(e *evidence, points int) (thetas [][]float64, weights []float64) {
	if points == 0 {
		return [][]float64{f.theta}, []float64{1}
	}
	n := len(f.theta)
	values, vectors := eigen(slices.Clone(f.hessian), n)
	_, prior := e.prior.normals(f.spec)
	wide := 0.0
	for _, s := range prior {
		wide = max(wide, s)
	}
	rng := rand.New(rand.NewPCG(42, uint64(n)))
	const stretch = 1.15
	var logq []float64
	for i := range points {
		z := make([]float64, n)
		if i%2 == 1 {
			copy(z, thetas[i-1])
			for k := range z {
				z[k] = -z[k]
			}
		} else if i > 0 {
			for k := range z {
				z[k] = rng.NormFloat64()
			}
		}
		thetas = append(thetas, z)
	}
	thetas = slices.Delete(thetas, 1, 2) // the mode is its own mirror image
	for i, z := range thetas {
		theta := slices.Clone(f.theta)
		var q float64
		for k := range n {
			sd := min(stretch/math.Sqrt(max(values[k], 1e-9)), wide)
			q -= 0.5 * z[k] * z[k]
			for j := range n {
				theta[j] += vectors[j*n+k] * sd * z[k]
			}
		}
		thetas[i], logq = theta, append(logq, q)
	}
	costs := e.costs(f.spec, thetas)
	var total float64
	for i, c := range costs {
		w := math.Exp(min(f.cost-c-logq[i], 3))
		weights, total = append(weights, w), total+w
	}
	for i := range weights {
		weights[i] /= total
	}
	return thetas, weights
}

// laplace sets the evidence of a family, by a normal approximation around the mode.
func (f *family) laplace(e *evidence) {
	n := len(f.theta)
	f.hessian = e.hessian(f.spec, f.theta, f.cost)
	values, _ := eigen(slices.Clone(f.hessian), n)
	f.evidence = f.change - f.cost
	for _, v := range values {
		f.evidence += 0.5*math.Log(2*math.Pi) - 0.5*math.Log(max(v, 0.3))
	}
}

// of is the evidence that a family was fitted to.
func (f *family) of(e *evidence) *evidence {
	if f.units != nil {
		return f.units
	}
	return e
}

// Numbers of points up to which predictions are exact, in one dimension and in more.
const (
	exactLine  = 640
	exactSpace = 320
)
