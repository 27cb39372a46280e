package cnp

import (
	"fmt"
	"slices"
)

// Options are how a model that was opened computes; see With.
type Options struct {
	// Precision is that of Complete, and the default of PlanOptions; see [BFloat16]. Empty: Float32. The chain rule and
	// rasters know Float32 alone: SampleImages and JointImages refuse a model of another.
	Precision Precision
	// Plans is a folder in which plans are looked for, and into which those go that had to be made; empty: none. Files
	// have names of their own for each model, geometry, options, version of the program and kind of machine, and any
	// number of processes may share a folder. Of plans nothing is ever removed from it; what processes that died while
	// they wrote have left is. A file that is damaged, or not what its name says, is replaced by one that is made anew;
	// where one cannot be written, the plan is used all the same, and PlanInfo.FileErr says why. Models whose plans
	// take no time to make keep none.
	Plans string
}

// With returns a model that shares the parameters of m and computes as the options say. The model m stays as it is,
// whoever uses it. The error wraps ErrConfig where a model has no such precision.
func With[T Float](m Model[T], opt Options) (Model[T], error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no model", ErrConfig)
	}
	if err := opt.Precision.check(); err != nil {
		return nil, err
	}
	if able, ok := m.(interface {
		with(opt Options) (Model[T], error)
	}); ok {
		return able.with(opt)
	}
	c := m.Config()
	return m, (&PlanOptions{Precision: opt.Precision}).onlyFloat32(&c)
}

// view returns a model that shares the parameters, and has caches of its own.
func (m *ImageEquivCNP[T]) view() *ImageEquivCNP[T] {
	return &ImageEquivCNP[T]{cfg: m.cfg, group: m.group, psi: m.psi, first: m.first, blocks: m.blocks, last: m.last,
		family: m.family, parts: m.parts, opt: m.opt}
}

func (m *ImageEquivCNP[T]) with(opt Options) (Model[T], error) {
	sweepPlans(opt.Plans)
	v := m.view()
	v.opt = opt
	return v, nil
}

func (m *ImageViews[T]) with(opt Options) (Model[T], error) {
	sweepPlans(opt.Plans)
	base := m.base.view()
	base.opt = opt
	return &ImageViews[T]{cfg: m.cfg, sim: m.sim, base: base}, nil
}

func (e *ImageEnsemble[T]) with(opt Options) (Model[T], error) { return eachWith[T](e.members, opt) }
func (e *CurveEnsemble[T]) with(opt Options) (Model[T], error) { return eachWith[T](e.members, opt) }

func eachWith[T Float, M Model[T]](members []M, opt Options) (Model[T], error) {
	var all []Model[T]
	for _, m := range members {
		one, err := With[T](m, opt)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return Ensemble(all...)
}

// Within returns the model, or one that shares its parameters and completes images of work's size as more, and coarser,
// ones, so that EstimateModel finds that the work needs at most so many bytes. The coarser images are never coarser
// than those of the training: 128 x 128 pixels may become four times 64 x 64, and images of a size that nobody knows
// are not divided. If nothing suffices, and for models that divide no images, it is the model itself. Members of an
// ensemble are divided one by one, and share the memory.
func Within[T Float](m Model[T], w Work, memory int64) (Model[T], error) {
	switch m := m.(type) {
	case *ImageEquivCNP[T]:
		return asModel[T](m.within(w, memory))
	case *ImageEnsemble[T]:
		var all []Model[T]
		for _, one := range m.members {
			view, err := Within[T](one, w, memory/int64(len(m.members)))
			if err != nil {
				return nil, err
			}
			all = append(all, view)
		}
		if slices.EqualFunc(all, m.members, func(a Model[T], b Completer[T]) bool { return a == Model[T](b) }) {
			return m, nil
		}
		return Ensemble(all...)
	}
	return m, nil
}

// Parts returns how many coarser images a model completes an image of h x w pixels as; 1 is the image itself.
func Parts[T Float](m Model[T], h, w int) int {
	switch m := m.(type) {
	case *ImageEquivCNP[T]:
		if g, err := m.Geometry(h, w, 1); err == nil {
			return g.Interleaved.parts()
		}
	case *ImageEnsemble[T]:
		parts := 1
		for _, one := range m.members {
			parts = max(parts, Parts[T](one, h, w))
		}
		return parts
	}
	return 1
}

// Learner returns what is trained of a model: the network that a model with views shows them to, and every other model
// itself. It shares the parameters.
func Learner[T Float](m Model[T]) Model[T] {
	if v, ok := m.(*ImageViews[T]); ok {
		return v.base
	}
	return m
}
