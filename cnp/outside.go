package cnp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// OutsideError is the error of a prediction that leaves out some targets, because they, or points of their task's context, lie
// where the model cannot predict: outside a plan's interval, or so far away that no lattice reaches there. All other targets are
// predicted as if those did not exist; targets left out have NaN as mean and standard deviation. It wraps ErrRange.
type OutsideError struct {
	Points []OutsidePoint // that lie outside; a context point stands for all targets of its task
	Where  string         // what they lie outside of
}

// OutsidePoint is a point of a batch that lies outside.
type OutsidePoint struct {
	Tensor      string // x_context, x_static or x_target
	Task, Point int
	X           []float64 // [dx]
}

// Error names the first points.
func (e *OutsideError) Error() string {
	const most = 3
	var names []string
	for _, p := range e.Points[:min(len(e.Points), most)] {
		x := strings.Trim(fmt.Sprint(p.X), "[]") // of one coordinate, a number
		names = append(names, fmt.Sprintf("%s[%d, %d] = %s", p.Tensor, p.Task, p.Point, x))
	}
	text, lie := strings.Join(names, ", "), "lie"
	if n := len(e.Points); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	} else if n == 1 {
		lie = "lies"
	}
	return fmt.Sprintf("%v: %s %s outside %s", ErrRange, text, lie, e.Where)
}

// Unwrap returns ErrRange.
func (e *OutsideError) Unwrap() error { return ErrRange }

// outside lists the points of the batch that ok refuses, and returns the batch without refused targets and without tasks that
// have a refused context point. If nothing is refused, it returns the batch itself and no error.
func (b *Batch[T]) outside(dx int, where string, ok func(task int, x []float64) bool) (*Batch[T], *OutsideError) {
	e := &OutsideError{Where: where}
	inside := *b
	look := func(name string, x []float64, n int, counts func(t, i int) bool, refuse func(t, i int)) {
		for p := range b.B * n {
			if t, i := p/n, p%n; counts(t, i) && !ok(t, x[p*dx:(p+1)*dx]) {
				point := OutsidePoint{name, t, i, slices.Clone(x[p*dx : (p+1)*dx])}
				if name == "x_context" {
					point.Tensor, point.Point = b.pointOf(i)
				}
				e.Points = append(e.Points, point)
				refuse(t, i)
			}
		}
	}
	masks := func() { // copies: the batch's own masks must not change
		if len(e.Points) != 1 {
			return
		}
		inside.ContextMask, inside.TargetMask = slices.Clone(b.ContextMask), slices.Clone(b.TargetMask)
		if inside.ContextMask == nil {
			inside.ContextMask = slices.Repeat([]bool{true}, b.B*b.Nc)
		}
		if inside.TargetMask == nil {
			inside.TargetMask = slices.Repeat([]bool{true}, b.B*b.Nt)
		}
	}
	look("x_context", b.XContext, b.Nc, b.contextOK, func(t, _ int) {
		masks()
		clear(inside.ContextMask[t*b.Nc : (t+1)*b.Nc])
		clear(inside.TargetMask[t*b.Nt : (t+1)*b.Nt])
	})
	look("x_target", b.XTarget, b.Nt, b.targetOK, func(t, i int) {
		masks()
		inside.TargetMask[t*b.Nt+i] = false
	})
	if len(e.Points) == 0 {
		return b, nil
	}
	return &inside, e
}

// mark sets the prediction to NaN at the targets that count in b but not in inside, which outside has made.
func (p *Prediction[T]) mark(b, inside *Batch[T], dy int) {
	nan := T(math.NaN())
	for i := range b.B * b.Nt {
		if b.targetOK(i/b.Nt, i%b.Nt) && !inside.targetOK(i/b.Nt, i%b.Nt) {
			p.fill(i*dy, (i+1)*dy, nan)
		}
	}
}

// predictNear calls predict. If that fails with ErrRange, because the points of the batch lie too far apart for one lattice, it
// calls it again without those that lie far from the rest.
func predictNear[T Float](b *Batch[T], c *Config, predict func(*Batch[T]) (*Prediction[T], error)) (*Prediction[T], error) {
	p, err := predict(b)
	if err == nil {
		return p.ofTargets(b, c.DimY)
	}
	if p != nil || !errors.Is(err, ErrRange) {
		return p, err
	}
	inside, out := b.near(c)
	if out == nil {
		return nil, err
	}
	if p, err = predict(inside); err == nil {
		p, err = p.ofTargets(inside, c.DimY)
	}
	if err != nil {
		return nil, err
	}
	p.mark(b, inside, c.DimY)
	return p, out
}

// ofTargets returns the prediction of a batch's targets, or an error if it is not finite.
func (p *Prediction[T]) ofTargets(b *Batch[T], dy int) (*Prediction[T], error) {
	if err := p.finite(func(i int) bool { return b.targetOK(i/dy/b.Nt, i/dy%b.Nt) }); err != nil {
		return nil, err
	}
	return p, nil
}

// finite reports the first value whose mean or deviation is not finite, among those that count; nil counts all. Values
// that are huge, if finite, have such predictions.
func (p *Prediction[T]) finite(counts func(i int) bool) error {
	for i, m := range p.Mean {
		if s := p.Std[i]; (m-m != 0 || s-s != 0) && (counts == nil || counts(i)) {
			return fmt.Errorf("%w: the prediction of value %d is %v ± %v: values of the context, or parameters of the "+
				"model, are beyond what it can compute with", ErrValue, i, m, s)
		}
	}
	return nil
}

// near returns the batch without the points that lie so far from the rest that no lattice of the configuration, under
// PlacementBatch, spans both, and an error that names them.
func (b *Batch[T]) near(c *Config) (*Batch[T], *OutsideError) {
	dx := c.DimX
	half := math.Pow(float64(c.latticeLimit()), 1/float64(dx))
	half = (half-2)/(2*c.PointsPerUnit) - c.Margin
	center := make([]float64, dx)
	for d := range dx {
		var v []float64
		for p := range b.B * b.Nc {
			if b.contextOK(p/b.Nc, p%b.Nc) {
				v = append(v, b.XContext[p*dx+d])
			}
		}
		for p := range b.B * b.Nt {
			if b.targetOK(p/b.Nt, p%b.Nt) {
				v = append(v, b.XTarget[p*dx+d])
			}
		}
		if len(v) == 0 {
			return b, nil
		}
		slices.Sort(v)
		center[d] = v[len(v)/2]
	}
	where := fmt.Sprintf("what a lattice of %d points, %g per unit, covers around the batch's median, %g", c.latticeLimit(),
		c.PointsPerUnit, center)
	return b.outside(dx, where, func(_ int, x []float64) bool {
		for d, v := range x {
			if !(math.Abs(v-center[d]) < half) {
				return false
			}
		}
		return true
	})
}

// join adds the points of another error, each once.
func (e *OutsideError) join(other *OutsideError) {
	for _, x := range other.Points {
		if !slices.ContainsFunc(e.Points, func(y OutsidePoint) bool {
			return x.Tensor == y.Tensor && x.Task == y.Task &&
				x.Point == y.Point
		}) {
			e.Points = append(e.Points, x)
		}
	}
}

// pointOf returns the point of a caller's batch that context point i of a joined one stands for.
func (b *Batch[T]) pointOf(i int) (tensor string, point int) {
	if first := b.Nc - b.joint; i >= first {
		return "x_static", i - first
	}
	return "x_context", i
}

// clearMasked zeroes the prediction at padded targets of task t.
func clearMasked[T Float](p *Prediction[T], b *Batch[T], t, dy int) {
	for i := range b.Nt {
		if !b.targetOK(t, i) {
			at := (t*b.Nt + i) * dy
			p.fill(at, at+dy, 0)
		}
	}
}
