package cnp

import (
	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// forwardLifts is forward for targets whose lifts have the features [n, lifts, c], and turn values by turns.
func (h *head[T]) forwardLifts(out *Prediction[T], at int, features []T, n, lifts int, fields []Field, turns [][]float64) {
	width := h.raw().Out
	raw, sum := make([]T, n*lifts*width), make([]T, n*width)
	h.raw().Forward(raw, features, n*lifts, simd.ActNone)
	var t curve.Turner[T]
	for row, r := range turns {
		t.Add(sum[row/lifts*width:][:width], raw[row*width:(row+1)*width], h.likelihood.(Turning), fields, r, width, 1/float64(lifts))
	}
	h.setAll(out, at, sum)
}

// recordTurned is record for features of targets as several observers see them, each of whom has the same number of
// rows: what the rows say is turned back, and the mean over a target's rows is the model's. Values begin with value at.
func (h *head[T]) recordTurned(p *Pass[T], at int, features []T, rows, each int, fields []Field, of curve.View) *headTape[T] {
	width := h.raw().Out
	raw, to := make([]T, rows*width), p.raw[at*h.numbers():][:rows/each*width]
	h.raw().Forward(raw, features, rows, simd.ActNone)
	var t curve.Turner[T]
	for row := range rows {
		target, r := of(row)
		t.Add(to[target*width:][:width], raw[row*width:(row+1)*width], h.likelihood.(Turning), fields, r, width, 1/float64(each))
	}
	h.setAll(p.Prediction, at, to)
	return &headTape[T]{features: features, n: rows}
}

// backwardTurned returns the gradient to the features that recordTurned was given.
func (h *head[T]) backwardTurned(d outGrad[T], at int, tape *headTape[T], each int, fields []Field, of curve.View, g *layers.Grads[T]) []T {
	width := h.raw().Out
	raw, from := make([]T, tape.n*width), d.raw[at*h.numbers():][:tape.n/each*width]
	var t curve.Turner[T]
	for row := range tape.n {
		target, r := of(row)
		t.Add(raw[row*width:][:width], from[target*width:(target+1)*width], h.likelihood.(Turning), fields, t.Transposed(r, h.dy),
			width, 1/float64(each))
	}
	df := make([]T, len(tape.features))
	h.raw().Backward(df, raw, tape.features, tape.n, g)
	return df
}

// recordFrames is record for the features [tasks, frames, n, c] of targets as every frame sees them; the mean over frames is the model's.
func (h *head[T]) recordFrames(p *Pass[T], f *curve.Frames, features []T, tasks, n int) *headTape[T] {
	k := f.Count()
	if f.Vectors() {
		return h.recordTurned(p, 0, features, tasks*k*n, k, f.Fields, f.Views(n))
	}
	c := h.in()
	merged := make([]T, tasks*n*c)
	for v := range tasks * k {
		to := merged[v/k*n*c:][:n*c]
		simd.Add(to, to, features[v*n*c:(v+1)*n*c])
	}
	simd.Scale(merged, 1/T(k), merged)
	return h.record(p, 0, merged, tasks*n, nil)
}

// backwardFrames returns the gradient to the features that recordFrames was given.
func (h *head[T]) backwardFrames(d outGrad[T], f *curve.Frames, tape *headTape[T], tasks, n int, g *layers.Grads[T]) []T {
	k := f.Count()
	if f.Vectors() {
		return h.backwardTurned(d, 0, tape, k, f.Fields, f.Views(n), g)
	}
	c := h.in()
	merged := h.backward(d, 0, tape, g)
	simd.Scale(merged, 1/T(k), merged)
	df := make([]T, tasks*k*n*c)
	for v := range tasks * k {
		copy(df[v*n*c:(v+1)*n*c], merged[v/k*n*c:])
	}
	return df
}

// look adds to sum what frame l says of targets, whose features [m, c] these are.
func (h *plannedHead[T]) look(sum []T, f *curve.Frames, l int, features []T, m int, run *headRun[T], turn *curve.Turner[T]) {
	if !f.Vectors() {
		simd.Add(sum, sum, features)
		return
	}
	width := h.dy * h.numbers()
	run.raw = reuse.Sized(run.raw, m*width)
	h.raw().Forward(run.raw, features, m)
	turn.Add(sum, run.raw, h.likelihood.(Turning), f.Fields, f.Y[l], width, 1)
}

// answer is forward for what all frames have said.
func (h *plannedHead[T]) answer(dst *Prediction[T], at int, order []int32, f *curve.Frames, sum []T, run *headRun[T]) {
	simd.Scale(sum, 1/T(f.Count()), sum)
	if !f.Vectors() {
		h.forward(dst, at, order, sum, nil, run)
		return
	}
	width := h.dy * h.numbers()
	for j, i := range order {
		h.setTarget(dst, at+int(i)*h.dy, sum[j*width:(j+1)*width], h.room(run))
	}
}

// frameWidth is how many numbers of a target are added up over frames.
func (h *plannedHead[T]) frameWidth(f *curve.Frames, features int) int {
	if f.Vectors() {
		return h.dy * h.numbers()
	}
	return features
}
