package cnp

import (
	"fmt"
	"math"
	"slices"
)

// Static fields (Config.Static) are known at places of their own, which need not be those of the context or of the
// targets: the elevation on a grid, a mask of land and sea. Each is a context set beside the observations, with values
// and a density of its own, and goes onto the same lattice: to the network a point of a field is a context point at
// which nothing else was observed (joined). So fields move and turn with the rest of a task, and whatever holds of a
// context holds of them. They are scalars, which no group changes.

// validateStatic reports what names no static fields.
func (c *Config) validateStatic() error {
	if err := c.validateNames("static", c.Static); err != nil || len(c.Static) == 0 {
		return err
	}
	if !c.ChannelDensity {
		return fmt.Errorf("static = %q: fields that are known elsewhere than the outputs need channel_density",
			c.Static[:min(len(c.Static), 8)])
	}
	for i, name := range c.Static {
		if slices.Contains(c.Auxiliary, name) {
			return fmt.Errorf("static[%d] = %q is an auxiliary input, too", i, name)
		}
	}
	return nil
}

// staticMask [B, Ns] says which points of static fields count: those that have a value. It is nil if all do.
func (b *Batch[T]) staticMask(ds int) (mask []bool) {
	if ds == 0 {
		return nil
	}
	known := func(v T) bool { return v == v }
	for i := range b.B * b.Ns {
		if !slices.ContainsFunc(b.YStatic[i*ds:(i+1)*ds], known) {
			if mask == nil {
				mask = slices.Repeat([]bool{true}, b.B*b.Ns)
			}
			mask[i] = false
		}
	}
	return mask
}

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

// pointOf is the point of a caller's batch that context point i of a joined one stands for.
func (b *Batch[T]) pointOf(i int) (tensor string, point int) {
	if first := b.Nc - b.joint; i >= first {
		return "x_static", i - first
	}
	return "x_context", i
}
