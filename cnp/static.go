package cnp

import (
	"math"
	"slices"
)

// Static fields (Config.Static) are known at places of their own, which need not be those of the context or of the
// targets: the elevation on a grid, a mask of land and sea. Each is a context set beside the observations, with values
// and a density of its own, and goes onto the same lattice: to the network a point of a field is a context point at
// which nothing else was observed (joined). So fields move and turn with the rest of a task, and whatever holds of a
// context holds of them. They are scalars, which no group changes.

// joined returns a checked batch as the network wants it: context points have their auxiliary inputs among their
// values, and points of static fields follow them.
func (b *Batch[T]) joined(c *Config) *Batch[T] {
	dx, dy, da, ds := c.DimX, c.DimY, len(c.Auxiliary), len(c.Static)
	if da+ds == 0 {
		return b
	}
	out := *b
	ns := b.Ns
	out.AuxContext, out.XStatic, out.YStatic, out.Ns, out.joint = nil, nil, nil, 0, ns
	out.Nc = b.Nc + ns
	out.YContext = make([]T, 0, b.B*out.Nc*c.contextValues())
	if ns > 0 {
		out.XContext = make([]float64, 0, b.B*out.Nc*dx)
	}
	fields := b.staticMask(ds)
	if out.ContextMask = nil; b.ContextMask != nil || fields != nil {
		out.ContextMask = make([]bool, 0, b.B*out.Nc)
	}
	unknown := slices.Repeat([]T{T(math.NaN())}, max(dy+da, ds))
	for t := range b.B {
		for i := t * b.Nc; i < (t+1)*b.Nc; i++ {
			out.YContext = append(append(append(out.YContext, b.YContext[i*dy:(i+1)*dy]...), b.AuxContext[i*da:(i+1)*da]...),
				unknown[:ds]...)
		}
		for i := t * ns; i < (t+1)*ns; i++ {
			out.YContext = append(append(out.YContext, unknown[:dy+da]...), b.YStatic[i*ds:(i+1)*ds]...)
		}
		if ns > 0 {
			out.XContext = append(append(out.XContext, b.XContext[t*b.Nc*dx:(t+1)*b.Nc*dx]...), b.XStatic[t*ns*dx:(t+1)*ns*dx]...)
		}
		if out.ContextMask != nil {
			for i := range b.Nc {
				out.ContextMask = append(out.ContextMask, b.contextOK(t, i))
			}
			for i := t * ns; i < (t+1)*ns; i++ {
				out.ContextMask = append(out.ContextMask, fields == nil || fields[i])
			}
		}
	}
	return &out
}
