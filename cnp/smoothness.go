package cnp

import (
	"context"
	"math"
	"math/rand/v2"
)

// Smoothness says how far the predictions of a curve model are from the smooth functions of targets and context that they should be, as
// differences of means, for tasks whose values are about 1.
type Smoothness struct {
	// Step is the greatest difference between two targets that are 0.002 apart, among 4001 on [-4, 4].
	Step float64
	// Ripple is by how much predictions differ beyond the reach of the context, where they should all be the same.
	Ripple float64
	// Shift is the root mean square of the change when context and targets move together, while the lattice, if the model has one of the
	// task's own, stays where it is.
	Shift float64
}

// The tasks that MeasureSmoothness looks at.
const (
	smoothTasks, smoothContext, smoothTargets, smoothShifts = 8, 5, 4001, 7
	smoothFar                                               = 100.0 // where no context reaches
)

// MeasureSmoothness looks at the predictions of a model of one coordinate for some tasks of five context points on [-2, 2].
func MeasureSmoothness[T Float](ctx context.Context, m Regressor[T]) (Smoothness, error) {
	return instance[func(context.Context, Regressor[T]) (Smoothness, error)](&measureSmoothnessInstances)(ctx, m)
}

var measureSmoothnessInstances = instances{measureSmoothness[float32], measureSmoothness[float64]}

func measureSmoothness[T Float](ctx context.Context, m Regressor[T]) (Smoothness, error) {
	var s Smoothness
	if m == nil {
		return s, errNoModel
	}
	rng, dy := rand.New(rand.NewPCG(1, 2)), m.Config().DimY
	square, n := 0.0, 0
	for range smoothTasks {
		b := &Batch[T]{B: 1, Nc: smoothContext, Nt: smoothTargets}
		w, phase := 1+3*rng.Float64(), 2*math.Pi*rng.Float64()
		for range smoothContext {
			x := 4*rng.Float64() - 2
			b.XContext = append(b.XContext, x)
			for range dy {
				b.YContext = append(b.YContext, T(math.Sqrt2*math.Sin(w*x+phase)))
			}
		}
		for i := range smoothTargets {
			b.XTarget = append(b.XTarget, float64(i-smoothTargets/2)*0.002)
		}
		p, err := m.Predict(ctx, b)
		if err != nil {
			return s, err
		}
		for i := dy; i < len(p.Mean); i++ {
			s.Step = grown(s.Step, float64(p.Mean[i])-float64(p.Mean[i-dy]))
		}
		for k := range smoothShifts {
			moved := *b
			moved.moved = (float64(k) + rng.Float64()) / smoothShifts
			q, err := m.Predict(ctx, &moved)
			if err != nil {
				return s, err
			}
			for i, v := range q.Mean {
				d := float64(v) - float64(p.Mean[i])
				square, n = square+d*d, n+1
			}
		}
		far := *b
		far.XTarget = nil
		for i := range smoothTargets {
			far.XTarget = append(far.XTarget, smoothFar+float64(i)*0.002)
		}
		if p, err = m.Predict(ctx, &far); err != nil {
			return s, err
		}
		for i := dy; i < len(p.Mean); i++ {
			s.Ripple = grown(s.Ripple, float64(p.Mean[i])-float64(p.Mean[i%dy]))
		}
	}
	s.Shift = math.Sqrt(square / float64(n))
	return s, nil
}

// grown returns the greater of m and |d|, NaN if d is.
func grown(m, d float64) float64 {
	if d = math.Abs(d); !(d <= m) {
		return d
	}
	return m
}
