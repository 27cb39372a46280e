package cnp

import "github.com/equivcnp/equivcnp/cnp/internal/curve"

// densitiesOf returns the number of densities that the context y of a task needs.
func densitiesOf[T Float](c *Config, y []T) int {
	if c.ChannelDensity && curve.Gaps(y) {
		return c.contextValues()
	}
	return 1
}

// appendPhi appends phi of context point at, and the powers of that point of the tasks that follow, of so many in all:
// they have the same points, and the same gaps.
func (b *Batch[T]) appendPhi(dst []T, at, tasks, densities, dy, degree int) []T {
	dst = curve.AppendPhi(dst, b.YContext[at*dy:(at+1)*dy], densities, degree)
	for k := at + b.Nc; k < at+tasks*b.Nc; k += b.Nc {
		dst = curve.AppendPowers(dst, b.YContext[k*dy:(k+1)*dy], degree)
	}
	return dst
}

// auxTargets appends the auxiliary inputs [nt, da] of the targets of task t to dst, each so many times; padding has 0.
func (b *Batch[T]) auxTargets(dst []T, t, da, times int) []T {
	for i := range b.Nt {
		at := (t*b.Nt + i) * da
		for range times {
			if b.targetOK(t, i) {
				dst = append(dst, b.AuxTarget[at:at+da]...)
			} else {
				dst = append(dst, make([]T, da)...)
			}
		}
	}
	return dst
}

// auxOf returns the auxiliary inputs [nt, da] of the targets of task t.
func (b *Batch[T]) auxOf(t, da int) []T { return b.AuxTarget[t*b.Nt*da : (t+1)*b.Nt*da] }
