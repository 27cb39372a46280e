package cnp

import (
	"cmp"
	"slices"

	"github.com/equivcnp/equivcnp/layers"
)

// byTarget returns the batch with the targets of every task in ascending order, padding last, and their former places: target i
// of a task is target order[t·Nt+i] of that task in the batch. It needs tasks with one coordinate.
func (b *Batch[T]) byTarget() (sorted *Batch[T], order []int) {
	s := *b
	order = make([]int, b.B*b.Nt)
	s.XTarget = make([]float64, len(order))
	da := len(b.AuxTarget) / max(1, len(order))
	s.AuxTarget = make([]T, len(b.AuxTarget))
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
			copy(s.AuxTarget[(t*b.Nt+i)*da:][:da], b.AuxTarget[(t*b.Nt+from)*da:])
			if b.TargetMask != nil {
				s.TargetMask[t*b.Nt+i] = b.TargetMask[t*b.Nt+from]
			}
		}
	}
	return &s, order
}

// reordered returns the pass with its targets, dy values each, in the order that they had before byTarget.
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
	out := newPass(p.family, len(order)*dy, p.tasks, mask)
	k, outputs := len(p.raw)/max(1, len(p.Mean)), len(p.Params)/max(1, len(p.Mean))
	each(func(to, from int) {
		out.Mean[to], out.Std[to] = p.Mean[from], p.Std[from]
		copy(out.raw[to*k:(to+1)*k], p.raw[from*k:])
		copy(out.Params[to*outputs:(to+1)*outputs], p.Params[from*outputs:])
	})
	out.stages, out.back = p.stages, func(d outGrad[T], g *layers.Grads[T]) {
		own := outGrad[T]{make([]T, len(d.mean)), make([]T, len(d.std)), make([]T, len(d.raw))}
		each(func(to, from int) {
			if len(d.mean) > 0 {
				own.mean[from], own.std[from] = d.mean[to], d.std[to]
			}
			copy(own.raw[from*k:(from+1)*k], d.raw[min(to*k, len(d.raw)):])
		})
		p.back(own, g)
	}
	return out
}
