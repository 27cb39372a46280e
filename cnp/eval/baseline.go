package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// What follows predicts curves without a model, from the context of a task alone: the methods that a model of scattered
// data has to beat. Outputs are predicted one by one, each from the points where it is known.

// pointwise is a Predictor that predicts one output of one task: mean and standard deviation at targets t [m, dx+da],
// given y at x [n, dx+da], coordinates and auxiliary inputs.
func pointwise[T cnp.Float](predict func(t, x, y []float64, dx, da int) (mean, std []float64, err error)) Predictor[T] {
	return func(ctx context.Context, b *task.Tasks[T]) (*cnp.Prediction[T], error) {
		c := b.Curves
		if c == nil {
			return nil, fmt.Errorf("eval: images are not scattered points")
		}
		p := &cnp.Prediction[T]{Mean: make([]T, len(b.Y)), Std: make([]T, len(b.Y)), Likelihood: cnp.Normal}
		if c.B*c.Nt == 0 {
			return p, nil
		}
		dx, dy, da := len(c.XTarget)/(c.B*c.Nt), len(b.Y)/(c.B*c.Nt), len(c.AuxTarget)/(c.B*c.Nt)
		place := func(dst, x []float64, aux []T, i int) []float64 {
			dst = append(dst, x[i*dx:(i+1)*dx]...)
			for _, v := range aux[i*da : (i+1)*da] {
				dst = append(dst, float64(v))
			}
			return dst
		}
		for k := range c.B {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var at []int // targets that are no padding
			var t []float64
			for i := k * c.Nt; i < (k+1)*c.Nt; i++ {
				if c.TargetMask == nil || c.TargetMask[i] {
					at, t = append(at, i), place(t, c.XTarget, c.AuxTarget, i)
				}
			}
			for d := range dy {
				var x, y []float64
				for i := k * c.Nc; i < (k+1)*c.Nc; i++ {
					if v := float64(c.YContext[i*dy+d]); (c.ContextMask == nil || c.ContextMask[i]) && v == v &&
						!slices.ContainsFunc(c.AuxContext[i*da:(i+1)*da], func(v T) bool { return v != v }) {
						x, y = place(x, c.XContext, c.AuxContext, i), append(y, v)
					}
				}
				mean, std, err := predict(t, x, y, dx, da)
				if err != nil {
					return nil, err
				}
				for j, i := range at {
					p.Mean[i*dy+d], p.Std[i*dy+d] = T(mean[j]), T(std[j])
				}
			}
		}
		return p, nil
	}
}

// distance is that of two points.
func distance(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum)
}

// IDW is inverse-distance weighting: the mean of the context's values with weights of one over the squared distance.
// Its standard deviation is how far values of the context are from what the others predict of them, the same at all
// targets.
func IDW[T cnp.Float]() Predictor[T] {
	return pointwise[T](func(t, x, y []float64, dx, da int) (mean, std []float64, err error) {
		n, wide := len(y), dx+da
		at := func(p []float64, without int) float64 {
			weights, sum := 0.0, 0.0
			for i, v := range y {
				if i == without {
					continue
				}
				d := distance(p[:dx], x[i*wide:][:dx])
				if d == 0 {
					return v
				}
				weights, sum = weights+1/(d*d), sum+v/(d*d)
			}
			if weights == 0 {
				return 0
			}
			return sum / weights
		}
		spread := 0.0
		for i, v := range y {
			e := v - at(x[i*wide:(i+1)*wide], i)
			spread += e * e / float64(n)
		}
		if spread = math.Sqrt(spread); n == 0 || !(spread > 0) {
			spread = 1
		}
		for i := 0; i < len(t); i += wide {
			mean, std = append(mean, at(t[i:i+wide], -1)), append(std, spread)
		}
		return mean, std, nil
	})
}

// Kriging is the best linear unbiased prediction of a process whose mean is a linear function of the coordinates and
// the auxiliary inputs that nobody knows, and whose covariance is the kernel of the distance, noise included: universal
// kriging. Under the kernel that drew the data no linear prediction has a smaller error. A task of fewer points than
// that function has coefficients has a mean of one unknown constant; without any, 0.
func Kriging[T cnp.Float](kernel task.Kernel) Predictor[T] {
	total := kernel(0)
	return pointwise[T](func(t, x, y []float64, dx, da int) (mean, std []float64, err error) {
		n, wide := len(y), dx+da
		m := len(t) / wide
		mean, std = make([]float64, m), make([]float64, m)
		if n == 0 {
			for i := range std {
				std[i] = math.Sqrt(total)
			}
			return mean, std, nil
		}
		f, err := newTrendFit(kernel, x, y, dx, wide)
		if err != nil {
			return nil, nil, err
		}
		for i := range m {
			if mean[i], std[i], err = f.at(t[i*wide : (i+1)*wide]); err != nil {
				return nil, nil, err
			}
		}
		return mean, std, nil
	})
}

// trendFit is a process with a linear trend, given observations.
type trendFit struct {
	kernel       task.Kernel
	x            []float64 // [n, wide], of which the first dx are coordinates
	n, dx, wide  int
	terms        int          // of the trend: a constant, then the slopes, if there are enough observations
	chol         mat.Cholesky // of the observations' covariance C
	solved       mat.Dense    // C⁻¹·[y, the trend's terms]
	coefficients mat.Cholesky // of the trend's coefficients' precision
	beta         mat.VecDense // the trend's coefficients

	k, rest            *mat.VecDense
	weights, corrected mat.VecDense
}

// term is term k of the trend at a place.
func (f *trendFit) term(p []float64, k int) float64 {
	if k == 0 {
		return 1
	}
	return p[k-1] - f.x[k-1] // about the first point
}

// covariance is that of a place and observation j: other observations at the same place share no noise.
func (f *trendFit) covariance(p []float64, j int) float64 {
	const near = 1e-9
	return f.kernel(max(near, distance(p[:f.dx], f.x[j*f.wide:][:f.dx])))
}

// conditioned returns an error, unless it only says that a matrix is nearly singular.
func conditioned(err error) error {
	if _, ok := err.(mat.Condition); ok {
		return nil
	}
	return err
}

func newTrendFit(kernel task.Kernel, x, y []float64, dx, wide int) (*trendFit, error) {
	n := len(y)
	f := &trendFit{kernel: kernel, x: x, n: n, dx: dx, wide: wide, terms: 1 + wide}
	if n <= f.terms {
		f.terms = min(1, n)
	}
	cov := mat.NewSymDense(n, nil)
	right := mat.NewDense(n, 1+f.terms, nil) // y and the trend's terms
	for i := range n {
		p := x[i*wide : (i+1)*wide]
		for j := range i {
			cov.SetSym(i, j, f.covariance(p, j))
		}
		cov.SetSym(i, i, kernel(0)*(1+1e-9))
		right.Set(i, 0, y[i])
		for k := range f.terms {
			right.Set(i, 1+k, f.term(p, k))
		}
	}
	if !f.chol.Factorize(cov) {
		return nil, fmt.Errorf("eval: the covariance of %d points is not positive definite", n)
	}
	if err := conditioned(f.chol.SolveTo(&f.solved, right)); err != nil {
		return nil, err
	}
	normal, along := mat.NewSymDense(f.terms, nil), mat.NewVecDense(f.terms, nil)
	for k := range f.terms {
		for l := range k + 1 {
			normal.SetSym(k, l, mat.Dot(right.ColView(1+k), f.solved.ColView(1+l)))
		}
		along.SetVec(k, mat.Dot(right.ColView(1+k), f.solved.ColView(0)))
	}
	for k := range f.terms { // points on a line have no slope across it
		normal.SetSym(k, k, normal.At(k, k)*(1+1e-9)+1e-12)
	}
	if !f.coefficients.Factorize(normal) {
		return nil, fmt.Errorf("eval: the trend of %d points is not determined", n)
	}
	if err := conditioned(f.coefficients.SolveVecTo(&f.beta, along)); err != nil {
		return nil, err
	}
	f.k, f.rest = mat.NewVecDense(n, nil), mat.NewVecDense(f.terms, nil)
	return f, nil
}

// at predicts the process at a place.
func (f *trendFit) at(p []float64) (mean, std float64, err error) {
	for j := range f.n {
		f.k.SetVec(j, f.covariance(p, j))
	}
	for q := range f.terms {
		f.rest.SetVec(q, f.term(p, q)-mat.Dot(f.k, f.solved.ColView(1+q)))
	}
	if err := conditioned(f.chol.SolveVecTo(&f.weights, f.k)); err != nil {
		return 0, 0, err
	}
	if err := conditioned(f.coefficients.SolveVecTo(&f.corrected, f.rest)); err != nil {
		return 0, 0, err
	}
	total := f.kernel(0)
	mean = mat.Dot(f.k, f.solved.ColView(0)) + mat.Dot(f.rest, &f.beta)
	return mean, math.Sqrt(max(total-mat.Dot(f.k, &f.weights)+mat.Dot(f.rest, &f.corrected), 1e-12*total)), nil
}

// ErrNoConstant is wrapped where no constant can be compared with a model.
var ErrNoConstant = errors.New("there is no constant to compare with")

// Constant predicts the mean and the standard deviation of the training values everywhere, as a normal distribution:
// the least that a model with that configuration has to beat. It is an error that wraps ErrNoConstant if the model does
// not know its training values, or if its likelihood is none of values with a density.
func Constant[T cnp.Float](c *cnp.Config) (Predictor[T], error) {
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return nil, err
	}
	if _, density := l.(cnp.Rescaler); !density {
		return nil, fmt.Errorf("%w: likelihood %s gives probabilities beside densities", ErrNoConstant, l.Name())
	}
	if c.Trained == nil || len(c.Trained.Y) != c.DimY {
		return nil, fmt.Errorf("%w: the model does not know its training values", ErrNoConstant)
	}
	known := slices.Clone(c.Trained.Y)
	return func(_ context.Context, b *task.Tasks[T]) (*cnp.Prediction[T], error) {
		p := &cnp.Prediction[T]{Mean: make([]T, len(b.Y)), Std: make([]T, len(b.Y))}
		per := 1 // values of an output that follow each other
		if b.Images != nil {
			per = b.Images.H * b.Images.W
		}
		for i := range p.Mean {
			r := known[i/per%len(known)]
			p.Mean[i], p.Std[i] = T(r.Mean), T(max(r.Std, math.SmallestNonzeroFloat32))
		}
		return p, nil
	}, nil
}
