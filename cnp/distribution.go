package cnp

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// What follows asks a prediction about single values, by their place in Mean, and about all values of one task together: Task takes one out
// of a batch. Under independent likelihoods the values of several tasks may be asked about together as well.

// Distribution returns the likelihood of the values; it is Normal where the prediction names none.
func (p *Prediction[T]) Distribution() Likelihood { return cmp.Or(p.Likelihood, Normal) }

// Task returns the prediction of task t of so many, and shares its memory. It panics unless all have as many values, and t is one of them.
func (p *Prediction[T]) Task(t, tasks int) *Prediction[T] {
	if tasks < 1 {
		panic(fmt.Sprintf("cnp: Prediction.Task: tasks = %d, need at least 1", tasks))
	}
	per := len(p.Mean) / tasks
	if t < 0 || t >= tasks || len(p.Mean) != per*tasks {
		panic(fmt.Sprintf("cnp: Prediction.Task: task %d of %d with %d values in all", t, tasks, len(p.Mean)))
	}
	return p.Slice(t*per, (t+1)*per)
}

// Slice returns the prediction of values lo up to, but not including, hi, and shares its memory. It panics if there are no such values.
func (p *Prediction[T]) Slice(lo, hi int) *Prediction[T] {
	if lo < 0 || hi < lo || hi > len(p.Mean) { // the slices' capacities may reach into other tasks
		panic(fmt.Sprintf("cnp: Prediction.Slice: values %d to %d of %d", lo, hi, len(p.Mean)))
	}
	out := &Prediction[T]{Mean: p.Mean[lo:hi], Std: p.Std[lo:hi], Likelihood: p.Likelihood}
	if p.Params != nil {
		n := p.Distribution().Outputs()
		out.Params = p.Params[lo*n : hi*n]
	}
	return out
}

// Marginals returns the prediction with independent targets: values that a likelihood joins over all targets become
// normal, each with its own mean and deviation. Values that are joint within a target alone stay so.
func (p *Prediction[T]) Marginals() *Prediction[T] {
	if _, ok := p.Distribution().(JointLikelihood); ok {
		return &Prediction[T]{Mean: p.Mean, Std: p.Std, Likelihood: Normal} // the values of a jointly normal vector are normal
	}
	return p
}

// params returns the parameters of value i, in buffer where it has room. It panics where the prediction has none: a caller of a plan that
// left no room for them may ask for mean and standard deviation alone.
func (p *Prediction[T]) params(i int, buffer []float64) []float64 {
	n := likelihood.Stored(p.Distribution())
	if n == 0 {
		return append(buffer[:0], float64(p.Mean[i]), float64(p.Std[i]))
	}
	if len(p.Params) != n*len(p.Mean) {
		panic(fmt.Sprintf("cnp: Prediction: len(Params) = %d, %d values of likelihood %s need %d", len(p.Params), len(p.Mean),
			p.Distribution().Name(),
			n*len(p.Mean)))
	}
	buffer = buffer[:0]
	for _, v := range p.Params[i*n : (i+1)*n] {
		buffer = append(buffer, float64(v))
	}
	return buffer
}

// LogDensityAt returns the log-density of value i at y.
func (p *Prediction[T]) LogDensityAt(i int, y float64) float64 {
	var room [8]float64
	return p.Distribution().LogDensity(y, p.params(i, room[:0]))
}

// QuantileAt returns the quantile q, from 0 to 1, of value i.
func (p *Prediction[T]) QuantileAt(i int, q float64) float64 {
	var room [8]float64
	return p.Distribution().Quantile(q, p.params(i, room[:0]))
}

// SampleAt draws value i on its own.
func (p *Prediction[T]) SampleAt(i int, rng *rand.Rand) float64 {
	var room [8]float64
	return p.Distribution().Sample(rng, p.params(i, room[:0]))
}

// counted lists the values of a prediction that a mask leaves, and their parameters one after the other.
func (p *Prediction[T]) counted(mask []bool) (at []int, params []float64) {
	var buffer []float64
	for i := range p.Mean {
		if mask == nil || mask[i] {
			buffer = p.params(i, buffer)
			at, params = append(at, i), append(params, buffer...)
		}
	}
	return at, params
}

// LogDensity returns the joint log-density of the values y of a task, and how many of them count: those that the mask, if
// there is one, does not exclude. It panics if the lengths differ.
func (p *Prediction[T]) LogDensity(y []T, mask []bool) (sum float64, n int) {
	if _, ok := p.Distribution().(Gaussian); ok {
		return logLikelihood(p.Mean, p.Std, y, mask)
	}
	p.checkLen("LogDensity", "y", len(y), mask)
	at, params := p.counted(mask)
	if joint, ok := p.Distribution().(JointLikelihood); ok {
		seen := make([]float64, len(at))
		for k, i := range at {
			seen[k] = float64(y[i])
		}
		return joint.LogDensityOf(seen, params), len(at)
	}
	outputs := p.Distribution().Outputs()
	if l, ok := p.Distribution().(TargetLikelihood); ok {
		for i := 0; i < len(y); i += l.Values() {
			sum += p.logDensityOf(l, i, y[i:i+l.Values()], knownValues(mask, i, l.Values()))
		}
		return sum, len(at)
	}
	for k, i := range at {
		sum += p.Distribution().LogDensity(float64(y[i]), params[k*outputs:(k+1)*outputs])
	}
	return sum, len(at)
}

// logDensityOf returns the log-density of a target's values y, from value i on: those that are known.
func (p *Prediction[T]) logDensityOf(l TargetLikelihood, i int, y []T, known []bool) float64 {
	if known != nil && !slices.Contains(known, true) {
		return 0
	}
	seen := make([]float64, len(y))
	for k, v := range y {
		seen[k] = float64(v)
	}
	return l.LogDensityOf(seen, p.paramsOf(l, i), known)
}

// paramsOf returns the parameters of a target's values, from value i on.
func (p *Prediction[T]) paramsOf(l TargetLikelihood, i int) []float64 {
	n := l.Outputs()
	params := make([]float64, 0, l.Values()*n)
	for k := range l.Values() {
		params = append(params, p.params(i+k, params[len(params):])...)
	}
	return params
}

// LogDensities returns the sum of LogDensity over so many tasks.
func (p *Prediction[T]) LogDensities(tasks int, y []T, mask []bool) (sum float64, n int) {
	if _, ok := p.Distribution().(JointLikelihood); !ok || tasks < 2 {
		return p.LogDensity(y, mask)
	}
	p.checkLen("LogDensities", "y", len(y), mask)
	per := len(y) / tasks
	for t := range tasks {
		lo, hi := t*per, (t+1)*per
		own := mask
		if own != nil {
			own = own[lo:hi]
		}
		s, k := p.Task(t, tasks).LogDensity(y[lo:hi], own)
		sum, n = sum+s, n+k
	}
	return sum, n
}

// Quantiles sets dst to the quantile q, from 0 to 1, of every value.
func (p *Prediction[T]) Quantiles(dst []T, q float64) {
	p.checkLen("Quantiles", "dst", len(dst), nil)
	var buffer []float64
	l := p.Distribution()
	for i := range dst {
		buffer = p.params(i, buffer)
		dst[i] = T(l.Quantile(q, buffer))
	}
}

// Sample draws the values of a task together, as new observations. Where the mask, if there is one, is false dst gets
// zeros. Equal states of rng give equal draws.
func (p *Prediction[T]) Sample(dst []T, rng *rand.Rand, mask []bool) { p.sample(dst, rng, mask, false) }

// SampleFunction draws the values of the function without the noise of observations. It reports whether the likelihood knows them apart;
// if not it draws nothing.
func (p *Prediction[T]) SampleFunction(dst []T, rng *rand.Rand, mask []bool) bool {
	if _, ok := p.Distribution().(Noisy); !ok {
		return false
	}
	p.sample(dst, rng, mask, true)
	return true
}

func (p *Prediction[T]) sample(dst []T, rng *rand.Rand, mask []bool, function bool) {
	p.checkLen("Sample", "dst", len(dst), mask)
	clear(dst)
	at, params := p.counted(mask)
	l := p.Distribution()
	if joint, ok := l.(JointLikelihood); ok {
		values := make([]float64, len(at))
		joint.SampleOf(values, rng, params, function)
		for k, i := range at {
			dst[i] = T(values[k])
		}
		return
	}
	if together, ok := l.(TargetLikelihood); ok {
		values := make([]float64, together.Values())
		for i := 0; i < len(dst); i += len(values) {
			if mask != nil && !slices.Contains(mask[i:i+len(values)], true) {
				continue
			}
			together.SampleOf(values, rng, p.paramsOf(together, i))
			for k, v := range values {
				if mask == nil || mask[i+k] {
					dst[i+k] = T(v)
				}
			}
		}
		return
	}
	n := l.Outputs()
	for k, i := range at {
		own := params[k*n : (k+1)*n]
		if function {
			std, _ := l.(Noisy).Parts(own)
			mean, _ := l.Moments(own)
			dst[i] = T(mean + std*rng.NormFloat64())
			continue
		}
		dst[i] = T(l.Sample(rng, own))
	}
}

// Parts sets function and noise to the standard deviations of the function and of the noise of its observations: the squares of both
// make that of Std. It reports whether the likelihood knows them apart; if not it sets nothing.
func (p *Prediction[T]) Parts(function, noise []T) bool {
	l, ok := p.Distribution().(Noisy)
	if !ok {
		return false
	}
	p.checkLen("Parts", "function", len(function), nil)
	p.checkLen("Parts", "noise", len(noise), nil)
	var buffer []float64
	for i := range p.Mean {
		buffer = p.params(i, buffer)
		f, e := l.Parts(buffer)
		function[i], noise[i] = T(f), T(e)
	}
	return true
}

// Covariance returns the covariance [n, n] of the n values of a task. For large tasks see Factors.
func (p *Prediction[T]) Covariance() []float64 {
	n := len(p.Mean)
	out := make([]float64, n*n)
	if l, ok := p.Distribution().(TargetLikelihood); ok {
		dy := l.Values()
		own := make([]float64, dy*dy)
		for i := 0; i < n; i += dy {
			l.CovarianceOf(own, p.paramsOf(l, i))
			for k := range dy {
				copy(out[(i+k)*n+i:][:dy], own[k*dy:(k+1)*dy])
			}
		}
		return out
	}
	f, diag, k := p.Factors()
	for i := range n {
		for j := range n {
			s := 0.0
			for c := range k {
				s += f[i*k+c] * f[j*k+c]
			}
			out[i*n+j] = s
		}
		out[i*n+i] += diag[i]
	}
	return out
}

// Factors returns f [n, rank] and diag [n] of the covariance f·fᵀ + diag of the n values of a task. Where they are
// independent rank is 0, and so it is where those of a target alone go together, of which diag then has the variances:
// TargetCovariances has the rest.
func (p *Prediction[T]) Factors() (f, diag []float64, rank int) {
	diag = make([]float64, len(p.Mean))
	if joint, ok := p.Distribution().(JointLikelihood); ok {
		_, params := p.counted(nil)
		f = make([]float64, len(p.Mean)*joint.Rank())
		joint.Factors(f, diag, params)
		return f, diag, joint.Rank()
	}
	for i, s := range p.Std {
		diag[i] = float64(s) * float64(s)
	}
	return nil, diag, 0
}

// TargetCovariances returns the covariances [targets, dy, dy] of the values of every target, or nil where they are
// independent.
func (p *Prediction[T]) TargetCovariances() []float64 {
	l, ok := p.Distribution().(TargetLikelihood)
	if !ok {
		return nil
	}
	dy := l.Values()
	out := make([]float64, len(p.Mean)*dy)
	for i := 0; i < len(p.Mean); i += dy {
		l.CovarianceOf(out[i*dy:(i+dy)*dy], p.paramsOf(l, i))
	}
	return out
}

// take makes value i that of another prediction's value k, on its own.
func (p *Prediction[T]) take(i int, from *Prediction[T], k int) {
	p.Mean[i], p.Std[i] = from.Mean[k], from.Std[k]
	n := likelihood.Stored(from.Distribution())
	if _, joint := from.Distribution().(JointLikelihood); joint || n == 0 {
		return
	}
	if p.Params == nil {
		p.Likelihood, p.Params = from.Distribution(), make([]T, len(p.Mean)*n)
	}
	copy(p.Params[i*n:(i+1)*n], from.Params[k*n:])
}

// rescale brings value i to the units that a.Undo gives.
func (p *Prediction[T]) rescale(i int, a Affine, buffer []float64) []float64 {
	if a == identity {
		return buffer
	}
	if p.Params == nil {
		p.Mean[i], p.Std[i] = T(a.Undo(float64(p.Mean[i]))), T(float64(p.Std[i])/a.Factor)
		return buffer
	}
	l, ok := p.Distribution().(Rescaler)
	if !ok {
		panic("cnp: likelihood " + p.Distribution().Name() + " knows no other units")
	}
	buffer = p.params(i, buffer)
	l.Rescale(buffer, a)
	for k, v := range buffer {
		p.Params[i*len(buffer)+k] = T(v)
	}
	mean, std := l.Moments(buffer)
	p.Mean[i], p.Std[i] = T(mean), T(std)
	return buffer
}

// fill sets values lo to hi to v.
func (p *Prediction[T]) fill(lo, hi int, v T) {
	parts := [][]T{p.Mean[lo:hi], p.Std[lo:hi]}
	if p.Params != nil {
		n := p.Distribution().Outputs()
		parts = append(parts, p.Params[lo*n:hi*n])
	}
	for _, part := range parts {
		for i := range part {
			part[i] = v
		}
	}
}

func (p *Prediction[T]) checkLen(method, name string, n int, mask []bool) {
	if n != len(p.Mean) || len(p.Std) != len(p.Mean) || mask != nil && len(mask) != len(p.Mean) {
		panic(fmt.Sprintf("cnp: Prediction.%s: len(%s) = %d, len(mask) = %d, len(Std) = %d, need %d", method, name, n, len(mask),
			len(p.Std),
			len(p.Mean)))
	}
}

// Check reports the first value of a prediction that is no distribution: a mean or a parameter that is not finite, or a
// deviation that is not a positive number. ok may leave out what is padding; nil looks at all.
func (p *Prediction[T]) Check(ok func(i int) bool) error {
	n := 0
	if p.Params != nil && len(p.Mean) > 0 {
		n = len(p.Params) / len(p.Mean)
	}
	for i, m := range p.Mean {
		if s := p.Std[i]; !(s > 0) || math.IsInf(float64(s), 0) || math.IsNaN(float64(m-m)) {
			if ok == nil || ok(i) {
				return fmt.Errorf("%w: the model predicts %v ± %v for value %d: its parameters or the data are beyond "+
					"what it can compute with", ErrValue, m, s, i)
			}
		}
		for _, v := range p.Params[i*n : (i+1)*n] {
			if math.IsNaN(float64(v-v)) && (ok == nil || ok(i)) {
				return fmt.Errorf("%w: the model predicts a parameter of %v for value %d: its own parameters or the "+
					"data are beyond what it can compute with",
					ErrValue, v, i)
			}
		}
	}
	return nil
}

// Extra is a tensor that a prediction holds beside mean and standard deviation: Width numbers for each value.
type Extra[T Float] struct {
	Name   string
	Width  int
	Values []T
}

// Extras lists them, for files and answers: std_function, the deviation of the function without the noise of
// observations; cov_factor and cov_diag, the factor F and the diagonal D of the covariance F·Fᵀ + diag(D) of all values
// of a task; cov_target, the covariance of the values of a target where those alone go together, a row for each;
// params, the parameters of a likelihood of another kind. Independent normals have none.
func (p *Prediction[T]) Extras() (out []Extra[T]) {
	n := len(p.Mean)
	if _, ok := p.Distribution().(Noisy); ok {
		function := make([]T, n)
		p.Parts(function, make([]T, n))
		out = append(out, Extra[T]{"std_function", 1, function})
	}
	if _, ok := p.Distribution().(JointLikelihood); ok {
		f, diag, rank := p.Factors()
		return append(out, Extra[T]{"cov_factor", rank, narrowed[T](f)}, Extra[T]{"cov_diag", 1, narrowed[T](diag)})
	}
	if l, ok := p.Distribution().(TargetLikelihood); ok {
		return append(out, Extra[T]{"cov_target", l.Values(), narrowed[T](p.TargetCovariances())})
	}
	if len(out) == 0 && likelihood.Stored(p.Distribution()) > 0 {
		out = append(out, Extra[T]{"params", p.Distribution().Outputs(), p.Params})
	}
	return out
}

func narrowed[T Float](x []float64) []T {
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = T(v)
	}
	return out
}

// knownValues returns the part of a mask that is of a target's dy values, from value i on; nil: all are known.
func knownValues(mask []bool, i, dy int) []bool {
	if mask == nil {
		return nil
	}
	return mask[i : i+dy]
}
