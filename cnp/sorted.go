package cnp

import (
	"cmp"
	"slices"

	"github.com/equivcnp/equivcnp/layers"
)

// byTarget returns the batch with every task's targets in ascending order, padding last, and where they were: target i of a task
// is the batch's target order[t·Nt+i] of that task. One coordinate only.
func (b *Batch[T]) byTarget() (sorted *Batch[T], order []int) {
	s := *b
	order = make([]int, b.B*b.Nt)
	s.XTarget = make([]float64, len(order))
	if b.TargetMask != nil {
		s.TargetMask = make([]bool, len(order))
	}
	for t := range b.B {
		at := order[t*b.Nt : (t+1)*b.Nt]
		for i := range at {
			at[i] = i
		}
		slices.SortStableFunc(at, func(i, j int) int {
			if p, q := b.targetOK(t, i), b.targetOK(t, j); p != q {
				return map[bool]int{true: -1, false: 1}[p]
			} else if !p {
				return 0 // padding may be anything
			}
			return cmp.Compare(b.XTarget[t*b.Nt+i], b.XTarget[t*b.Nt+j])
		})
		for i, from := range at {
			s.XTarget[t*b.Nt+i] = b.XTarget[t*b.Nt+from]
			if b.TargetMask != nil {
				s.TargetMask[t*b.Nt+i] = b.TargetMask[t*b.Nt+from]
			}
		}
	}
	return &s, order
}

// reordered returns the pass with its targets, dy values each, where byTarget took them from.
func (p *Pass[T]) reordered(order []int, mask []bool, dy int) *Pass[T] {
	nt := len(order) / max(1, p.tasks)
	// each calls f with the place of every value in the batch and in p.
	each := func(f func(to, from int)) {
		for i, o := range order {
			for k := range dy {
				f((i/nt*nt+o)*dy+k, i*dy+k)
			}
		}
	}
	out := newPrediction[T](len(order) * dy)
	each(func(to, from int) { out.Mean[to], out.Std[to] = p.Mean[from], p.Std[from] })
	return &Pass[T]{Prediction: out, tasks: p.tasks, mask: mask, stages: p.stages, back: func(dMean, dStd []T, g *layers.Grads[T]) {
		m, s := make([]T, len(dMean)), make([]T, len(dStd))
		each(func(to, from int) { m[from], s[from] = dMean[to], dStd[to] })
		p.back(m, s, g)
	}}
}
