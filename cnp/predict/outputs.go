package predict

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// ErrOutput is wrapped by errors about an output that a prediction does not have.
var ErrOutput = errors.New("no such output")

// maxValues bounds the numbers of a tensor that is larger than the prediction it is made of.
const maxValues = 1 << 28

// Output describes a tensor that predictions have.
type Output struct {
	Name string
	// Meaning says in one sentence what the numbers are.
	Meaning string
	// Written reports whether files have the tensor where nobody names any.
	Written bool

	has    func(l cnp.Likelihood) bool
	shape  func(s sizes) []int
	values func(r *Result) ([]float32, error)
}

// sizes are the numbers that shapes consist of. -1 stands for one that is not known yet.
type sizes struct {
	targets            []int // of mean: [B, Nt, dy] or [B, C, H, W]
	samples, quantiles int
	outputs, rank, own int // of the likelihood: numbers of a value, rank of the covariance, values of a target
}

// task is the number of values of a task.
func (s sizes) task() int {
	n := 1
	for _, k := range s.targets[1:] {
		if k < 0 {
			return -1
		}
		n *= k
	}
	return n
}

// each is the shape of tensors with n numbers a value. A single one has no axis of its own.
func (s sizes) each(n int) []int {
	if n == 1 {
		return slices.Clone(s.targets)
	}
	return append(slices.Clone(s.targets), n)
}

// table lists all outputs, in the order of files, metadata and answers.
var table = []Output{
	{Name: "mean", Meaning: "mean of the predictive distribution", Written: true, has: every,
		shape: func(s sizes) []int { return s.each(1) }, values: func(r *Result) ([]float32, error) { return r.Prediction.Mean, nil }},
	{Name: "std", Meaning: "standard deviation of new observations", Written: true, has: every,
		shape: func(s sizes) []int { return s.each(1) }, values: func(r *Result) ([]float32, error) { return r.Prediction.Std, nil }},
	{Name: "std_function", Meaning: "standard deviation of the function, without the noise of observations", Written: true, has: noisy,
		shape: func(s sizes) []int { return s.each(1) }, values: extra("std_function")},
	{Name: "cov_factor", Meaning: "factor F of the covariance F F' + diag(D) of all values of a task", Written: true, has: jointly,
		shape: func(s sizes) []int { return s.each(s.rank) }, values: extra("cov_factor")},
	{Name: "cov_diag", Meaning: "diagonal D of the covariance F F' + diag(D) of all values of a task", Written: true, has: jointly,
		shape: func(s sizes) []int { return s.each(1) }, values: extra("cov_diag")},
	{Name: "cov_target", Meaning: "covariance of the values of each target", Written: true, has: perTarget,
		shape: func(s sizes) []int { return s.each(s.own) }, values: extra("cov_target")},
	{Name: "params", Meaning: "parameters of distributions that are not normal", Written: true, has: parametric,
		shape: func(s sizes) []int { return s.each(s.outputs) }, values: extra("params")},
	{Name: "quantiles", Meaning: "the quantiles that were asked for", Written: true, has: every,
		shape: func(s sizes) []int { return append(slices.Clone(s.targets), s.quantiles) }, values: (*Result).quantiles},
	{Name: "covariance", Meaning: "covariance of all values of a task", has: func(l cnp.Likelihood) bool {
		return jointly(l) ||
			perTarget(l)
	},
		shape: func(s sizes) []int { return []int{s.targets[0], s.task(), s.task()} }, values: (*Result).covariance},
	{Name: "samples", Meaning: "samples of all values of a task together", Written: true, has: every,
		shape: func(s sizes) []int { return append([]int{s.samples}, s.targets...) }, values: (*Result).drawn},
}

func every(cnp.Likelihood) bool { return true }

func noisy(l cnp.Likelihood) bool {
	_, ok := l.(cnp.Noisy)
	return ok
}

func jointly(l cnp.Likelihood) bool {
	_, ok := l.(cnp.JointLikelihood)
	return ok
}

func perTarget(l cnp.Likelihood) bool {
	_, ok := l.(cnp.TargetLikelihood)
	return ok
}

// parametric reports whether mean and deviation, and what else the table has, leave something of the distribution unsaid.
func parametric(l cnp.Likelihood) bool {
	return l.Name() != "normal" && !noisy(l) && !jointly(l) && !perTarget(l)
}

// Outputs lists the outputs of predictions under a likelihood.
func Outputs(l cnp.Likelihood) (all []Output) {
	for _, o := range table {
		if o.has(l) {
			all = append(all, o)
		}
	}
	return all
}

// Names lists the names of outputs.
func Names(all []Output) (names []string) {
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

// LikelihoodOf returns the likelihood of a model's predictions: that of its configuration, or of an ensemble the mixture of its members'.
func LikelihoodOf(m cnp.Model[float32]) (cnp.Likelihood, error) {
	if m == nil {
		return nil, errNoModel
	}
	members := cnp.Members(m)
	if len(members) == 1 {
		c := m.Config()
		return cnp.ParseLikelihood(&c)
	}
	var all []*cnp.Prediction[float32]
	for _, member := range members {
		c := member.Config()
		p, err := cnp.NewPrediction[float32](&c, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return cnp.Mix(all...).Distribution(), nil
}

// TargetShape returns the shape of mean and standard deviation of a configuration's predictions, with -1 for what a task decides:
// [B, Nt, dy] or [B, C, H, W].
func TargetShape(c *cnp.Config) []int {
	if c.Architecture.Image() {
		return []int{-1, c.DimY, -1, -1}
	}
	return []int{-1, -1, c.DimY}
}

// Shape returns the shape of the output for targets of that shape, in which -1 stands for what is not known yet. The numbers of samples and
// quantiles are -1.
func (o Output) Shape(targets []int, l cnp.Likelihood) []int {
	return o.shape(sizesOf(targets, l, -1, -1))
}

func sizesOf(targets []int, l cnp.Likelihood, samples, quantiles int) sizes {
	s := sizes{targets: targets, samples: samples, quantiles: quantiles, outputs: l.Outputs()}
	if joint, ok := l.(cnp.JointLikelihood); ok {
		s.rank = joint.Rank()
	}
	if t, ok := l.(cnp.TargetLikelihood); ok {
		s.own = t.Values()
	}
	return s
}

// Tensor is a named tensor of numbers, row-major.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float32
}

// Result is a prediction of tasks with all that its outputs are made of.
type Result struct {
	Prediction *cnp.Prediction[float32]
	// Shape is that of the mean: [B, Nt, dy] or [B, C, H, W].
	Shape []int
	// Counts says which values have a prediction; nil is all. Others are padding, or lie out of the model's reach.
	Counts []bool
	// Samples [Drawn, Shape] are samples, nil without.
	Samples []float32
	Drawn   int
	// Quantiles are the quantiles of the output of that name, none without.
	Quantiles []float64
}

// Tensors makes the outputs of these names, in their order. Without names it makes those that files have: all but the covariance of all
// values of a task, samples and quantiles only if they were asked for.
func (r *Result) Tensors(names ...string) ([]Tensor, error) {
	var out []Tensor
	l := r.Prediction.Distribution()
	if len(names) == 0 {
		for _, o := range Outputs(l) {
			if o.Written && (o.Name != "samples" || r.Samples != nil) && (o.Name != "quantiles" || len(r.Quantiles) > 0) {
				names = append(names, o.Name)
			}
		}
	}
	for _, name := range names {
		all := Outputs(l)
		i := slices.IndexFunc(all, func(o Output) bool { return o.Name == name })
		if i < 0 {
			return nil, NoOutput(name, all)
		}
		values, err := all[i].values(r)
		if err != nil {
			return nil, err
		}
		out = append(out, Tensor{name, all[i].shape(sizesOf(r.Shape, l, r.Drawn, len(r.Quantiles))), values})
	}
	return out, nil
}

// NoOutput is the error for a name that is not one of the outputs.
func NoOutput(name string, all []Output) error {
	return fmt.Errorf("predict: %w: %.40q, the model has %s", ErrOutput, name, strings.Join(Names(all), ", "))
}

// Check returns an error for the first value that counts and is not a number.
func (r *Result) Check() error { return r.Prediction.Check(r.Counted) }

// Size returns how many numbers an output has for targets of that shape, and false if they are too many to be made.
func (o Output) Size(targets []int, l cnp.Likelihood, samples, quantiles int) (int64, bool) {
	n := uint64(1)
	for _, k := range o.shape(sizesOf(targets, l, samples, quantiles)) {
		hi, lo := bits.Mul64(n, uint64(max(0, k)))
		if hi != 0 || lo > 1<<60 {
			return 0, false
		}
		n = lo
	}
	return int64(n), o.Name != "covariance" || n <= maxValues
}

// extra returns what makes the output that cnp.Prediction.Extras has under that name.
func extra(name string) func(r *Result) ([]float32, error) {
	return func(r *Result) ([]float32, error) {
		p := r.Prediction
		if len(p.Mean) == 0 { // of nothing there are no parameters
			return nil, nil
		}
		if !jointly(p.Distribution()) {
			return find(p.Extras(), name), nil
		}
		var out []float32
		for t := range r.Shape[0] { // a covariance is that of one task
			out = append(out, find(p.Task(t, r.Shape[0]).Extras(), name)...)
		}
		return out, nil
	}
}

func find(all []cnp.Extra[float32], name string) []float32 {
	i := slices.IndexFunc(all, func(e cnp.Extra[float32]) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return all[i].Values
}

// Counted reports whether value i has a prediction.
func (r *Result) Counted(i int) bool { return r.Counts == nil || r.Counts[i] }

// quantiles are the quantiles [Shape, quantiles]. They are NaN where the mean is, and 0 at padding.
func (r *Result) quantiles() ([]float32, error) {
	if len(r.Quantiles) == 0 {
		return nil, errors.New("predict: quantiles: say which, as in 0.05,0.5,0.95")
	}
	p, n := r.Prediction, len(r.Quantiles)
	out := make([]float32, len(p.Mean)*n)
	for i, m := range p.Mean {
		for k, q := range r.Quantiles {
			switch {
			case m != m:
				out[i*n+k] = m
			case r.Counted(i):
				out[i*n+k] = float32(p.QuantileAt(i, q))
			}
		}
	}
	return out, nil
}

// CheckQuantiles refuses numbers that are no quantiles.
func CheckQuantiles(quantiles []float64) error {
	for _, q := range quantiles {
		if !(q > 0 && q < 1) {
			return fmt.Errorf("predict: quantile %g: need numbers between 0 and 1", q)
		}
	}
	return nil
}

// covariance is the covariance of all values of each task.
func (r *Result) covariance() ([]float32, error) {
	p, tasks := r.Prediction, r.Shape[0]
	n := len(p.Mean) / max(1, tasks)
	if n > 0 && len(p.Mean) > maxValues/n {
		return nil, fmt.Errorf("predict: covariance: %d tasks of %d values have too many covariances", tasks, n)
	}
	out := make([]float32, 0, len(p.Mean)*n)
	for t := range min(tasks, len(p.Mean)) {
		for _, v := range p.Task(t, tasks).Covariance() {
			out = append(out, float32(v))
		}
	}
	return out, nil
}

func (r *Result) drawn() ([]float32, error) {
	if r.Samples == nil {
		return nil, errors.New("predict: samples: say how many")
	}
	return r.Samples, nil
}
