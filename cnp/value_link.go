package cnp

import (
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
)

// valueLink is the link of every likelihood but the authors' normal one: the numbers of one value come after those of
// the other, and the likelihood takes value by value.
type valueLink[T Float] struct{}

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

// set sets value v, of channel d, of a prediction, of its parameters only if there is room for them.
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

// setAll is setTarget for the values of targets from at on.
func (f *family[T]) setAll(out *Prediction[T], at int, raw []T) {
	per, buffer := f.dy*f.numbers(), f.buffer()
	for i := range len(raw) / per {
		f.setTarget(out, at+i*f.dy, raw[i*per:(i+1)*per], buffer)
	}
}

func (valueLink[T]) rows(f *family[T], out *Prediction[T], at int, raw, y []T) {
	if raw != nil {
		copy(raw[at*f.numbers():], y)
	}
	f.setAll(out, at, y)
}

func (valueLink[T]) rowsGrad(f *family[T], d outGrad[T], at int, y []T) []T {
	return d.raw[at*f.numbers():][:len(y)]
}

func (valueLink[T]) pixels(f *family[T], out *Prediction[T], raw []T, n, lo, hi int, y []T) {
	k, c, buffer := f.numbers(), f.dy, f.buffer()
	for i := range (hi - lo) * n * c {
		v := ((lo+i/(n*c))*c+i%c)*n + i/c%n
		f.set(out, v, i%c, y[i*k:(i+1)*k], buffer)
		if raw != nil {
			copy(raw[v*k:(v+1)*k], y[i*k:])
		}
	}
}

func (valueLink[T]) pixelsGrad(f *family[T], d outGrad[T], n, lo, hi int, y []T) []T {
	k, c, dy := f.numbers(), f.dy, make([]T, len(y))
	for i := range (hi - lo) * n * c {
		v := ((lo+i/(n*c))*c+i%c)*n + i/c%n
		copy(dy[i*k:(i+1)*k], d.raw[v*k:])
	}
	return dy
}

func (valueLink[T]) channel(f *family[T], out *Prediction[T], at, ch int, y []T, seen seenPixels[T], buffer []float64) {
	k, c := f.numbers(), f.dy
	for i := range len(y) / (k * c) {
		f.set(out, at+i, ch, y[(i*c+ch)*k:(i*c+ch+1)*k], buffer)
		if seen.mask != nil && seen.mask[i] {
			f.observe(out, at+i, seen.y[i], buffer)
		}
	}
}

func (valueLink[T]) keep(f *family[T], out *Prediction[T], v int, y T, buffer []float64) {
	n := len(buffer) / 2
	for i := range n {
		buffer[n+i] = float64(out.Params[v*n+i])
	}
	f.observe(out, v, y, buffer)
}

// observe makes value v of a prediction, whose parameters are in the buffer, that of a pixel that was observed as y.
func (f *family[T]) observe(out *Prediction[T], v int, y T, buffer []float64) {
	params := buffer[len(buffer)/2:]
	f.likelihood.(Observer).Observe(params, float64(y), f.noise)
	f.put(out, v, params)
}

func (valueLink[T]) newRaw(f *family[T], n int) []T { return make([]T, n*f.numbers()) }

func (valueLink[T]) backward(p *Pass[T], _, _ []T, _ *layers.Grads[T]) {
	panic("cnp: Pass.Backward: the likelihood is " + p.family.likelihood.Name() + ", which has BackwardRaw")
}

func (valueLink[T]) backwardRaw(p *Pass[T], d []T, g *layers.Grads[T]) {
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

// gradient goes task by task: tasks are independent of each other.
func (v valueLink[T]) gradient(p *Pass[T], o Objective, y []T, g *layers.Grads[T]) (loss float64, err error) {
	l, err := o.Under(p.family.likelihood)
	if err != nil {
		return 0, err
	}
	if err := checkSupport(l, "y", y, p.mask, p.family.dy); err != nil {
		return 0, err
	}
	n := l.Outputs()
	per, scale := len(y)/max(1, p.tasks), 1/float64(o.Tasks)
	d, sums := make([]T, len(y)*n), make([]float64, p.tasks)
	parallel.For(p.tasks, 1, func(lo, hi int) {
		s := scorerOf(p, l)
		for t := lo; t < hi; t++ {
			sums[t] = s.score(d, y, t*per, (t+1)*per, -scale)
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
	v.backwardRaw(p, d, g)
	return loss, nil
}

// scorer returns the log-density of the values y from one up to another, those of a task, and sets d [values, Outputs]
// to scale times its gradient to the numbers of the network. A goroutine has one of its own.
type scorer[T Float] interface {
	score(d, y []T, from, to int, scale float64) float64
}

// scorerOf returns that of a likelihood, for a pass.
func scorerOf[T Float](p *Pass[T], l Likelihood) scorer[T] {
	switch l := l.(type) {
	case TargetLikelihood:
		return &targetScorer[T]{p, l}
	case JointLikelihood:
		return &valueScorer[T]{pass: p, likelihood: l, gradient: l.GradientOf}
	}
	n := l.Outputs()
	return &valueScorer[T]{pass: p, likelihood: l, gradient: func(d, y, params, raw []float64) (sum float64) {
		for j, v := range y {
			l.Gradient(d[j*n:(j+1)*n], v, params[j*n:(j+1)*n], raw[j*n:(j+1)*n])
			sum += l.LogDensity(v, params[j*n:(j+1)*n])
		}
		return sum
	}}
}

// valueScorer takes all values of a task that count together.
type valueScorer[T Float] struct {
	pass       *Pass[T]
	likelihood Likelihood
	gradient   func(d, y, params, raw []float64) float64 // of so many values

	at   []int // the values that count
	seen []float64
	room []float64
}

func (s *valueScorer[T]) score(d, y []T, from, to int, scale float64) float64 {
	p, n := s.pass, s.likelihood.Outputs()
	k := p.family.numbers()
	s.at, s.seen = s.at[:0], s.seen[:0]
	for i := from; i < to; i++ {
		if p.mask == nil || p.mask[i] {
			s.at, s.seen = append(s.at, i), append(s.seen, float64(y[i]))
		}
	}
	m := len(s.at) * n
	s.room = reuse.Sized(s.room, 3*m)
	raw, params, grads := s.room[:m], s.room[m:2*m], s.room[2*m:]
	for j, i := range s.at {
		p.family.widened(raw[j*n:(j+1)*n], p.raw[i*k:(i+1)*k], p.channel(i, p.family.dy))
		s.likelihood.Parameters(params[j*n:(j+1)*n], raw[j*n:(j+1)*n])
	}
	sum := s.gradient(grads, s.seen, params, raw)
	for j, i := range s.at {
		for q, v := range grads[j*n : (j+1)*n] {
			d[i*n+q] = T(scale * v)
		}
	}
	return sum
}

// targetScorer takes the values of a target together.
type targetScorer[T Float] struct {
	pass       *Pass[T]
	likelihood TargetLikelihood
}

func (s *targetScorer[T]) score(d, y []T, from, to int, scale float64) (sum float64) {
	p, l := s.pass, s.likelihood
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
