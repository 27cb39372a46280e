package cnp

import "context"

// livePlan is the plan of a model of which there is nothing to make in advance: each call is one of the model.
type livePlan[T Float] struct {
	shape   Shape
	cfg     Config
	l       Likelihood
	predict func(ctx context.Context, tasks Tasks[T]) (*Prediction[T], error)
}

// LiveImages returns the plan of a model of images of which nothing can be computed in advance: each call is one of the model.
func LiveImages[T Float](ctx context.Context, m Completer[T], s Shape, opt PlanOptions) (Plan[T], error) {
	return instance[func(context.Context, Completer[T], Shape, PlanOptions) (Plan[T], error)](&liveImagesInstances)(ctx, m, s, opt)
}

var liveImagesInstances = instances{liveImages[float32], liveImages[float64]}

func liveImages[T Float](ctx context.Context, m Completer[T], s Shape, opt PlanOptions) (Plan[T], error) {
	if m == nil {
		return nil, errNoModel
	}
	c := m.Config()
	if err := s.checkPixels(&c, false); err != nil {
		return nil, err
	}
	p, err := newLivePlan[T](ctx, c, s, opt)
	if err != nil {
		return nil, err
	}
	p.predict = func(ctx context.Context, tasks Tasks[T]) (*Prediction[T], error) {
		im, err := imagesOf[T](s, tasks)
		if err != nil {
			return nil, err
		}
		if err := im.check(c.DimY); err != nil {
			return nil, err
		}
		if im.Shape() != s {
			return nil, s.refuse(im.Shape())
		}
		return m.Complete(ctx, im)
	}
	return p, nil
}

// LiveCurves returns the plan of a model of curves of which nothing can be computed in advance: each call is one of the model.
func LiveCurves[T Float](ctx context.Context, m Regressor[T], s Shape, opt PlanOptions) (Plan[T], error) {
	return instance[func(context.Context, Regressor[T], Shape, PlanOptions) (Plan[T], error)](&liveCurvesInstances)(ctx, m, s, opt)
}

var liveCurvesInstances = instances{liveCurves[float32], liveCurves[float64]}

func liveCurves[T Float](ctx context.Context, m Regressor[T], s Shape, opt PlanOptions) (Plan[T], error) {
	if m == nil {
		return nil, errNoModel
	}
	c := m.Config()
	if err := s.checkCurves(&c); err != nil {
		return nil, err
	}
	p, err := newLivePlan[T](ctx, c, s, opt)
	if err != nil {
		return nil, err
	}
	p.predict = func(ctx context.Context, tasks Tasks[T]) (*Prediction[T], error) {
		b, err := batchOf[T](s, tasks)
		if err != nil {
			return nil, err
		}
		return m.Predict(ctx, b)
	}
	return p, nil
}

func newLivePlan[T Float](ctx context.Context, c Config, s Shape, opt PlanOptions) (*livePlan[T], error) {
	if err := opt.onlyFloat32(&c); err != nil {
		return nil, err
	}
	l, err := ParseLikelihood(&c)
	if err != nil {
		return nil, err
	}
	return &livePlan[T]{shape: s, cfg: c, l: l}, ctx.Err()
}

func (p *livePlan[T]) Shape() Shape { return p.shape }

func (p *livePlan[T]) Info() PlanInfo { return PlanInfo{Live: true, Precision: Float32} }

func (p *livePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	return newPrediction[T](p.l, valuesOf[T](tasks, p.cfg.DimY, p.shape.h*p.shape.w))
}

func (p *livePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	got, err := p.predict(ctx, tasks)
	if got == nil {
		return err
	}
	if room := dst.checkRoom("the prediction", got.Likelihood, len(got.Mean)); room != nil {
		return room
	}
	dst.copy(got)
	return err
}
