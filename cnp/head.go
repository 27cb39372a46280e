package cnp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// family turns the numbers that a network gives into a prediction, by the model's likelihood. Under the normal one of the authors' models a
// row of numbers holds all means, then all spreads, and kernels work on many at a time; under any other it holds the numbers of one value
// after the other.
type family[T Float] struct {
	likelihood Likelihood       // nil: the normal one
	together   TargetLikelihood // the likelihood, if the values of a target go together
	dy         int
	constants  []T   // [dy, Constants]
	first      []int // of each channel, the one whose constants it has: the components of a vector share them
	waves      *waves
	noise      float64 // of observed pixels, which keep their values with it; 0: they are predicted as the others are
}

// newFamily is that of a valid configuration. Constants begin at 0.
func newFamily[T Float](c Config) family[T] {
	l, err := ParseLikelihood(&c)
	if err != nil {
		panic("cnp: a configuration that was valid is not: " + err.Error())
	}
	noise := 0.0
	if c.KeepObserved {
		noise = spreadOf(&c).least()
	}
	if _, ok := l.(normal); ok {
		return family[T]{dy: c.DimY, noise: noise}
	}
	f := family[T]{likelihood: l, dy: c.DimY, constants: make([]T, c.DimY*l.Constants()), noise: noise}
	f.together, _ = l.(TargetLikelihood)
	f.waves = newWaves(&c, l)
	for _, field := range c.Fields() {
		for range field.Width {
			f.first = append(f.first, field.First)
		}
	}
	return f
}

// numbers is how many numbers the network gives for each value.
func (f *family[T]) numbers() int {
	if f.likelihood == nil {
		return 2
	}
	return f.likelihood.Outputs() - f.likelihood.Constants()
}

// params lists the constants.
func (f *family[T]) params() []layers.Param[T] {
	if len(f.constants) == 0 {
		return nil
	}
	return []layers.Param[T]{{Name: "likelihood.constants", Shape: []int{f.dy, f.likelihood.Constants()}, Data: f.constants}}
}

// newPrediction returns a prediction of n zeros.
func (f *family[T]) newPrediction(n int) *Prediction[T] {
	p := newPrediction[T](n)
	if f.likelihood != nil {
		p.Likelihood, p.Params = f.likelihood, make([]T, n*f.likelihood.Outputs())
	}
	return p
}

// widened sets raw [Outputs] to the numbers of a value of channel d, constants included.
func (f *family[T]) widened(raw []float64, numbers []T, d int) {
	for i, v := range numbers {
		raw[i] = float64(v)
	}
	k := f.likelihood.Constants()
	for i, v := range f.constants[f.first[d]*k : (f.first[d]+1)*k] {
		raw[len(numbers)+i] = float64(v)
	}
}

// buffer is room for the numbers and the parameters of a value, or of a target where its values go together.
func (f *family[T]) buffer() []float64 {
	if f.likelihood == nil {
		return nil
	}
	n := 2 * f.likelihood.Outputs()
	if f.together != nil {
		n *= f.dy
	}
	return make([]float64, n)
}

// setTarget sets the values of a target, from value v on, for their numbers [dy, numbers], as set does.
func (f *family[T]) setTarget(out *Prediction[T], v int, numbers []T, buffer []float64) {
	k := f.numbers()
	if f.together == nil {
		for d := range f.dy {
			f.set(out, v+d, d, numbers[d*k:(d+1)*k], buffer)
		}
		return
	}
	raw, params := buffer[:f.dy*k], buffer[f.dy*k:]
	for i, x := range numbers {
		raw[i] = float64(x)
	}
	f.together.ParametersOf(params, raw)
	for d := range f.dy {
		mean, std := f.likelihood.Moments(params[d*k : (d+1)*k])
		out.Mean[v+d], out.Std[v+d] = T(mean), T(std)
	}
	if out.Params != nil {
		for i, x := range params {
			out.Params[v*k+i] = T(x)
		}
	}
}

// set sets value v, of channel d, of a prediction, of its parameters only if there is room for them. Not for the normal likelihood.
func (f *family[T]) set(out *Prediction[T], v, d int, numbers []T, buffer []float64) {
	n := len(buffer) / 2
	raw, params := buffer[:n], buffer[n:]
	f.widened(raw, numbers, d)
	f.likelihood.Parameters(params, raw)
	f.put(out, v, params)
}

// put writes a value's parameters, and what they say of mean and deviation.
func (f *family[T]) put(out *Prediction[T], v int, params []float64) {
	mean, std := f.likelihood.Moments(params)
	out.Mean[v], out.Std[v] = T(mean), T(std)
	if out.Params != nil {
		for i, x := range params {
			out.Params[v*len(params)+i] = T(x)
		}
	}
}

// head turns features into a prediction. Under the normal likelihood mean = Linear, variance (or std) = softplus(Linear), never
// below floor; under any other the numbers of the values are one Linear.
type head[T Float] struct {
	family[T]
	mean, spread *layers.Linear[T]
	raw          *layers.Linear[T]
	output       Output
	floor        float64
}

// newHead is that of a model whose features have so many channels.
func newHead[T Float](in int, c Config, rng *rand.Rand) head[T] {
	h := head[T]{family: newFamily[T](c), output: c.Output, floor: c.Floor}
	if h.likelihood == nil {
		h.mean, h.spread = layers.NewLinear[T](in, c.DimY, rng), layers.NewLinear[T](in, c.DimY, rng)
	} else {
		h.raw = layers.NewLinear[T](in, c.DimY*h.numbers(), rng)
		beginWith(h.waves, h.raw.Bias)
	}
	return h
}

// in is the number of channels of the features.
func (h *head[T]) in() int {
	if h.likelihood == nil {
		return h.mean.In
	}
	return h.raw.In
}

func (h *head[T]) params() []layers.Param[T] {
	if h.likelihood == nil {
		return append(h.mean.Params("mean_linear."), h.spread.Params("var_linear.0.")...)
	}
	return append(h.raw.Params("raw_linear."), h.family.params()...)
}

// forward sets the values of out from value at on, for features [n, c] of targets at x, which only waves look at.
func (h *head[T]) forward(out *Prediction[T], at int, features []T, n int, x []float64) {
	values := n * h.dy
	if h.likelihood == nil {
		mean, std := out.Mean[at:at+values], out.Std[at:at+values]
		h.mean.Forward(mean, features, n, simd.ActNone)
		h.spread.Forward(std, features, n, simd.ActSoftplus)
		toStd(std, h.output, h.floor)
		return
	}
	raw := make([]T, n*h.raw.Out)
	h.raw.Forward(raw, features, n, simd.ActNone)
	turn(h.waves, raw, x, false)
	h.setAll(out, at, raw)
}

// setAll is setTarget for the values of targets from at on.
func (f *family[T]) setAll(out *Prediction[T], at int, raw []T) {
	per, buffer := f.dy*f.numbers(), f.buffer()
	for i := range len(raw) / per {
		f.setTarget(out, at+i*f.dy, raw[i*per:(i+1)*per], buffer)
	}
}

// toStd turns a model's positive second output into a standard deviation, in place.
func toStd[T Float](v []T, o Output, floor float64) {
	for i := range v {
		v[i] = max(v[i], T(floor))
		if o == OutputVariance {
			v[i] = sqrt(v[i])
		}
	}
}

// headTape is what a head's backward pass needs.
type headTape[T Float] struct {
	features, spread []T // [n, c], [n, dy]
	n                int
	x                []float64
}

// record is forward with its tape, for a pass.
func (h *head[T]) record(p *Pass[T], at int, features []T, n int, x []float64) *headTape[T] {
	values := n * h.dy
	if h.likelihood != nil {
		raw := p.raw[at*h.numbers():][:n*h.raw.Out]
		h.raw.Forward(raw, features, n, simd.ActNone)
		turn(h.waves, raw, x, false)
		h.setAll(p.Prediction, at, raw)
		return &headTape[T]{features: features, n: n, x: x}
	}
	mean, std := p.Mean[at:at+values], p.Std[at:at+values]
	h.mean.Forward(mean, features, n, simd.ActNone)
	h.spread.Forward(std, features, n, simd.ActSoftplus)
	tape := &headTape[T]{features: features, spread: append([]T(nil), std...), n: n}
	toStd(std, h.output, h.floor)
	return tape
}

// backward returns the gradient [n, c] to the features, given that to all values, of which the tape's begin with value at.
func (h *head[T]) backward(d outGrad[T], at int, tape *headTape[T], g *layers.Grads[T]) []T {
	df, lo, hi := make([]T, len(tape.features)), at, at+tape.n*h.dy
	if h.likelihood != nil {
		raw := d.raw[lo*h.numbers() : hi*h.numbers()]
		if h.waves != nil {
			raw = slices.Clone(raw)
			turn(h.waves, raw, tape.x, true)
		}
		h.raw.Backward(df, raw, tape.features, tape.n, g)
		return df
	}
	other := make([]T, len(tape.features))
	h.mean.Backward(df, d.mean[lo:hi], tape.features, tape.n, g)
	h.spread.Backward(other, spreadGrad(d.std[lo:hi], tape.spread, h.output, h.floor), tape.features, tape.n, g)
	simd.Add(df, df, other)
	return df
}

// plannedHead is a head, packed.
type plannedHead[T Float] struct {
	family[T]
	mean, spread, raw *layers.PlannedLinear[T]
	output            Output
	floor             float64
}

// headRun is the memory of one goroutine.
type headRun[T Float] struct {
	mean, spread, raw []T
	buffer            []float64
	x                 []float64 // places
}

func (h *head[T]) plan() plannedHead[T] {
	p := plannedHead[T]{family: h.family, output: h.output, floor: h.floor}
	p.constants = slices.Clone(h.constants)
	if h.likelihood != nil {
		p.raw = h.raw.Plan()
	} else {
		p.mean, p.spread = h.mean.Plan(), h.spread.Plan()
	}
	return p
}

// forward predicts the targets of one task, whose values begin with value at of dst; order says which, and their features [m, c] come in
// that order, as do their places x, which only waves look at.
func (h *plannedHead[T]) forward(dst *Prediction[T], at int, order []int32, features []T, x []float64, run *headRun[T]) {
	m, dy := len(order), h.dy
	if h.likelihood != nil {
		k := h.numbers()
		run.raw = reuse.Sized(run.raw, m*dy*k)
		if run.buffer == nil {
			run.buffer = h.buffer()
		}
		h.raw.Forward(run.raw, features, m)
		turn(h.waves, run.raw, x, false)
		for j, i := range order {
			h.setTarget(dst, at+int(i)*dy, run.raw[j*dy*k:(j+1)*dy*k], run.buffer)
		}
		return
	}
	run.mean, run.spread = reuse.Sized(run.mean, m*dy), reuse.Sized(run.spread, m*dy)
	h.mean.Forward(run.mean, features, m)
	h.spread.Forward(run.spread, features, m)
	simd.Softplus(run.spread, run.spread)
	toStd(run.spread, h.output, h.floor)
	for k, i := range order {
		copy(dst.Mean[at+int(i)*dy:][:dy], run.mean[k*dy:])
		copy(dst.Std[at+int(i)*dy:][:dy], run.spread[k*dy:])
	}
}

// outGrad is the gradient to a prediction: under the normal likelihood to mean and standard deviation, under any other to the network's
// numbers [values, numbers].
type outGrad[T Float] struct{ mean, std, raw []T }

// newPass is a pass of n values.
func newPass[T Float](f *family[T], n, tasks int, mask []bool) *Pass[T] {
	p := &Pass[T]{Prediction: f.newPrediction(n), family: f, tasks: tasks, mask: mask, back: func(outGrad[T], *layers.Grads[T]) {},
		stages: func(func(string, []T) bool) {}}
	if f.likelihood != nil {
		p.raw = make([]T, n*f.numbers())
	}
	return p
}

// newImagePass is newPass for images.
func newImagePass[T Float](f *family[T], im *Images[T]) *Pass[T] {
	p := newPass(f, len(im.Pixels), im.B, nil)
	p.pixels = im.H * im.W
	return p
}

// BackwardRaw is Backward under any likelihood but the normal one: it takes the gradients d [values, Outputs] to the numbers that
// Likelihood.Parameters makes parameters of. Where the values of a target go together, those of a target count if one of them does.
func (p *Pass[T]) BackwardRaw(d []T, g *layers.Grads[T]) {
	if p.family.likelihood == nil {
		panic("cnp: Pass.BackwardRaw: the likelihood is the normal one, which has Backward")
	}
	n, k, dy := p.family.likelihood.Outputs(), p.family.numbers(), p.family.dy
	if len(d) != len(p.Mean)*n {
		panic(fmt.Sprintf("cnp: Pass.BackwardRaw: len(d) = %d, need %d", len(d), len(p.Mean)*n))
	}
	raw, constants := make([]T, len(p.raw)), make([]float64, len(p.family.constants))
	for i := range p.Mean {
		if p.mask != nil && !p.mask[i] && (p.family.together == nil || !slices.Contains(p.mask[i/dy*dy:][:dy], true)) {
			continue
		}
		copy(raw[i*k:(i+1)*k], d[i*n:])
		for j, v := range d[i*n+k : (i+1)*n] {
			constants[p.family.first[p.channel(i, dy)]*(n-k)+j] += float64(v)
		}
	}
	if len(constants) > 0 {
		to := g.Of(p.family.constants)
		for i, v := range constants {
			to[i] += T(v)
		}
	}
	p.back(outGrad[T]{raw: raw}, g)
}

// channel is that of value i: the values of an image are channel by channel.
func (p *Pass[T]) channel(i, dy int) int {
	if p.pixels > 0 {
		return i / p.pixels % dy
	}
	return i % dy
}

// gradientOf is GradientOf under any likelihood but the normal one, for checked arguments: tasks are independent of each other.
func (p *Pass[T]) gradientOf(o Objective, y []T, g *layers.Grads[T]) (loss float64, err error) {
	l := p.family.likelihood
	if l, err = o.under(l); err != nil {
		return 0, err
	}
	if err := CheckSupport(l, "y", y, p.mask, p.family.dy); err != nil {
		return 0, err
	}
	n := l.Outputs()
	k, per, scale := p.family.numbers(), len(y)/max(1, p.tasks), 1/float64(o.Tasks)
	d, sums := make([]T, len(y)*n), make([]float64, p.tasks)
	parallel.For(p.tasks, 1, func(lo, hi int) {
		var (
			at                 []int // the values of a task that count
			seen, raw, params  []float64
			grads, widenedBoth []float64
		)
		for t := lo; t < hi; t++ {
			at, seen = at[:0], seen[:0]
			for i := t * per; i < (t+1)*per; i++ {
				if p.mask == nil || p.mask[i] {
					at, seen = append(at, i), append(seen, float64(y[i]))
				}
			}
			widenedBoth = reuse.Sized(widenedBoth, 3*len(at)*n)
			raw, params, grads = widenedBoth[:len(at)*n], widenedBoth[len(at)*n:2*len(at)*n], widenedBoth[2*len(at)*n:]
			if together, ok := l.(TargetLikelihood); ok {
				sums[t] = p.gradientOfTargets(together, d, y, t*per, (t+1)*per, -scale)
				continue
			}
			for j, i := range at {
				p.family.widened(raw[j*n:(j+1)*n], p.raw[i*k:(i+1)*k], p.channel(i, p.family.dy))
				l.Parameters(params[j*n:(j+1)*n], raw[j*n:(j+1)*n])
			}
			if joint, ok := l.(JointLikelihood); ok {
				sums[t] = joint.GradientOf(grads, seen, params, raw)
			} else {
				for j := range at {
					l.Gradient(grads[j*n:(j+1)*n], seen[j], params[j*n:(j+1)*n], raw[j*n:(j+1)*n])
					sums[t] += l.LogDensity(seen[j], params[j*n:(j+1)*n])
				}
			}
			for j, i := range at {
				for q, v := range grads[j*n : (j+1)*n] {
					d[i*n+q] = T(-scale * v)
				}
			}
		}
	})
	sum := 0.0
	for _, s := range sums {
		loss -= scale * s
		sum += s
	}
	if o.Noise == 0 && len(y) > 0 {
		p.known = &known[T]{&y[0], sum, 0}
		for i := range y {
			if p.mask == nil || p.mask[i] {
				p.known.n++
			}
		}
	}
	p.BackwardRaw(d, g)
	return loss, nil
}

// gradientOfTargets returns the log-density of values from one up to another, targets with values that go together, and sets d to its
// gradient times scale.
func (p *Pass[T]) gradientOfTargets(l TargetLikelihood, d, y []T, from, to int, scale float64) (sum float64) {
	dy, n := l.Values(), l.Outputs()
	seen, room := make([]float64, dy), make([]float64, 3*dy*n)
	raw, params, grads := room[:dy*n], room[dy*n:2*dy*n], room[2*dy*n:]
	for i := from; i < to; i += dy {
		known := knownValues(p.mask, i, dy)
		if known != nil && !slices.Contains(known, true) {
			continue
		}
		for k := range dy {
			seen[k] = float64(y[i+k])
		}
		for k := range raw {
			raw[k] = float64(p.raw[i*n+k])
		}
		l.ParametersOf(params, raw)
		sum += l.GradientOf(grads, seen, params, raw, known)
		for k, v := range grads {
			d[i*n+k] = T(scale * v)
		}
	}
	return sum
}

// knownValues is the part of a mask that is of a target's dy values, from value i on; nil: all are known.
func knownValues(mask []bool, i, dy int) []bool {
	if mask == nil {
		return nil
	}
	return mask[i : i+dy]
}

// setImages is set for images lo to hi of n pixels, whose numbers y [b, n, channels, numbers] come pixel by pixel. raw, if there is
// any, takes them as the values lie in the prediction.
func (f *family[T]) setImages(out *Prediction[T], raw []T, n, lo, hi int, y []T) {
	k, c, buffer := f.numbers(), f.dy, f.buffer()
	for i := range (hi - lo) * n * c {
		v := ((lo+i/(n*c))*c+i%c)*n + i/c%n
		f.set(out, v, i%c, y[i*k:(i+1)*k], buffer)
		if raw != nil {
			copy(raw[v*k:(v+1)*k], y[i*k:])
		}
	}
}

// imagesGrad returns the gradient to y, which setImages takes, given that to raw.
func (f *family[T]) imagesGrad(raw []T, n, lo, hi int) []T {
	k, c := f.numbers(), f.dy
	dy := make([]T, (hi-lo)*n*c*k)
	for i := range (hi - lo) * n * c {
		v := ((lo+i/(n*c))*c+i%c)*n + i/c%n
		copy(dy[i*k:(i+1)*k], raw[v*k:])
	}
	return dy
}
