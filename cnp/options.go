package cnp

import "slices"

// With returns a model that shares the parameters of m and computes as the options say. The model m stays as it is,
// whoever uses it. The error wraps ErrConfig where a model has no such precision.
func With[T Float](m Model[T], opt Options) (Model[T], error) {
	return instance[func(Model[T], Options) (Model[T], error)](&withInstances)(m, opt)
}

var withInstances = instances{with[float32], with[float64]}

func with[T Float](m Model[T], opt Options) (Model[T], error) {
	if m == nil {
		return nil, errNoModel
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

func (e *ImageEnsemble[T]) with(opt Options) (Model[T], error) { return eachWith[T](e.members, opt) }

func (e *CurveEnsemble[T]) with(opt Options) (Model[T], error) { return eachWith[T](e.members, opt) }

func eachWith[T Float, M Model[T]](members []M, opt Options) (Model[T], error) {
	var all []Model[T]
	for _, m := range members {
		one, err := with[T](m, opt)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return ensemble(all...)
}

// Within returns the model, or one that shares its parameters and completes images of work's size as more, and coarser,
// ones, so that EstimateModel finds that the work needs at most so many bytes. The coarser images are never coarser
// than those of the training: 128 x 128 pixels may become four times 64 x 64, and images of a size that nobody knows
// are not divided. If nothing suffices, and for models that divide no images, it is the model itself. Members of an
// ensemble are divided one by one, and share the memory.
func Within[T Float](m Model[T], w Work, memory int64) (Model[T], error) {
	return instance[func(Model[T], Work, int64) (Model[T], error)](&withinInstances)(m, w, memory)
}

var withinInstances = instances{within[float32], within[float64]}

func within[T Float](m Model[T], w Work, memory int64) (Model[T], error) {
	switch m := m.(type) {
	case *ImageEquivCNP[T]:
		return asModel[T](m.within(w, memory))
	case *ImageEnsemble[T]:
		var all []Model[T]
		for _, one := range m.members {
			view, err := within[T](one, w, memory/int64(len(m.members)))
			if err != nil {
				return nil, err
			}
			all = append(all, view)
		}
		if slices.EqualFunc(all, m.members, func(a Model[T], b Completer[T]) bool { return a == Model[T](b) }) {
			return m, nil
		}
		return ensemble(all...)
	}
	return m, nil
}

// Parts returns how many coarser images a model completes an image of h x w pixels as; 1 is the image itself.
func Parts[T Float](m Model[T], h, w int) int {
	return instance[func(Model[T], int, int) int](&partsInstances)(m, h, w)
}

var partsInstances = instances{partsOf[float32], partsOf[float64]}

func partsOf[T Float](m Model[T], h, w int) int {
	switch m := m.(type) {
	case *ImageEquivCNP[T]:
		if g, err := m.Geometry(h, w, 1); err == nil {
			return g.Interleaved.parts()
		}
	case *ImageEnsemble[T]:
		parts := 1
		for _, one := range m.members {
			parts = max(parts, partsOf[T](one, h, w))
		}
		return parts
	}
	return 1
}

// Learner returns what is trained of a model: the network that a model with views shows them to, and every other model
// itself. It shares the parameters.
func Learner[T Float](m Model[T]) Model[T] {
	return instance[func(Model[T]) Model[T]](&learnerInstances)(m)
}

var learnerInstances = instances{learner[float32], learner[float64]}

func learner[T Float](m Model[T]) Model[T] {
	if v, ok := m.(*ImageViews[T]); ok {
		return v.base
	}
	return m
}

// within is Within.
func (m *ImageEquivCNP[T]) within(w Work, memory int64) (*ImageEquivCNP[T], error) {
	for view := m; view != nil; view = view.divided(w.H, w.W, max(w.Scale, 1)) {
		need, err := estimateModel[T](view, w)
		if err != nil {
			return nil, err
		}
		if need.Bytes() <= memory {
			return view, nil
		}
	}
	return m, nil
}
