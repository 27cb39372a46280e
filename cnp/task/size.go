package task

import (
	"math"

	"github.com/equivcnp/equivcnp/cnp"
)

// Sized is a Source that says how large its batches are, without drawing one.
type Sized interface {
	// Work returns what a batch of n tasks asks of a model.
	Work(n int) cnp.Work
}

// Work implements Sized.
func (s CurveSource[T]) Work(n int) cnp.Work {
	c := s.Curves
	return cnp.Work{Batch: n, Context: c.MaxContext, Targets: c.Targets, Span: c.Hi - c.Lo}
}

// Work implements Sized, for the longest tasks.
func (s CurveSetSource[T]) Work(n int) cnp.Work {
	w := cnp.Work{Batch: n}
	for _, c := range s.Set.Curves {
		points := len(c.X) / s.Set.Dx
		if s.Window != nil && s.Most > 0 {
			points = min(points, s.Most)
		}
		context := min(points, s.MaxContext)
		if c.Context != nil {
			context = len(c.Context.X) / s.Set.Dx
			if s.Window != nil && s.Most > 0 {
				context = min(context, s.Most)
			}
		}
		w.Context, w.Targets = max(w.Context, context), max(w.Targets, points)
	}
	for d := range s.Set.Dx {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, c := range s.Set.Curves {
			for i := d; i < len(c.X); i += s.Set.Dx {
				lo, hi = min(lo, c.X[i]), max(hi, c.X[i])
			}
		}
		length := hi - lo
		if s.Window != nil && s.Window[d] > 0 {
			length = min(length, s.Window[d])
		}
		w.Span = max(w.Span, length)
	}
	return w
}

// Work implements Sized.
func (s ImageSource[T]) Work(n int) cnp.Work {
	_, h, w := s.Pictures.Size()
	return cnp.Work{Batch: n, H: h, W: w}
}
