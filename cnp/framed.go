package cnp

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
)

// newFrames returns the frames that a model under g sees tasks from; nil where g turns nothing.
func newFrames(c *Config, g group.Group) *curve.Frames {
	t, ok := g.(group.Turner)
	if !ok || curve.TurnsNothing(g) {
		return nil
	}
	return c.framesAt(t, stabiliser(c, g, c.LiftSeed))
}

// framesAt returns the frames of the elements all of the stabiliser.
func (c *Config) framesAt(t group.Turner, all [][]float64) *curve.Frames {
	return curve.FramesAt(t, all, c.DimX, c.DimY, c.contextValues(), c.Fields())
}

// stabiliser returns the lifts of the origin of points: the rotations about it that a model under g sees a task from.
func stabiliser(c *Config, g group.Group, seed uint64) (a [][]float64) {
	origin := make([]float64, g.PointDim())
	l := group.LiftPoints(g, origin, c.Lifts, seed)
	if _, ok := g.(group.UniformLifter); ok && c.LiftSamples != SamplesRandom {
		l = group.LiftPointsUniform(g, origin, c.Lifts)
	}
	for i := range l.Rows() {
		row, _ := l.Row(i)
		a = append(a, row)
	}
	return a
}

// whole returns a batch as a model reads it: values that are never observed are not there, and vectors that lack a
// component lack all of them, since no observer would see the rest. Where that is so already, it is b.
func (b *Batch[T]) whole(c *Config) *Batch[T] {
	hidden := c.Unobserved()
	if hidden == nil && (!c.Vectors() || !c.ChannelDensity || !curve.Gaps(b.YContext)) {
		return b
	}
	out := *b
	out.YContext = slices.Clone(b.YContext)
	for i := range out.YContext {
		if k := i % c.contextValues(); hidden != nil && k < c.DimY && hidden[k] {
			out.YContext[i] = T(math.NaN())
		}
	}
	for _, f := range c.Fields() {
		for i := f.First; i < len(out.YContext); i += c.contextValues() {
			if v := out.YContext[i : i+f.Width]; curve.Gaps(v) {
				for k := range v {
					v[k] = T(math.NaN())
				}
			}
		}
	}
	return &out
}
