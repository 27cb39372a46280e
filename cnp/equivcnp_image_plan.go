package cnp

import (
	"cmp"
	"context"

	"github.com/equivcnp/equivcnp/layers"
)

// GeometryPlanner is a Model of images that predicts at any places, and takes pixels anywhere.
type GeometryPlanner[T Float] interface {
	Model[T]
	// Geometry places the pixels of h x w images as the model sees them, with scale times as many targets along each side.
	Geometry(h, w, scale int) (Geometry, error)
	// PlanGeometry is Plan for pixels and targets at places of one's own.
	PlanGeometry(ctx context.Context, g Geometry, opt PlanOptions) (*ImagePlan[T], error)
}

// Complete predicts every pixel from the observed ones. The first call for an image size makes a plan that stores little
// (implicitMemory), which later calls use as long as the parameters do not change. A service that answers many calls should make
// a Plan of its own, which may store more.
func (m *ImageEquivCNP[T]) Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	out := m.family.newPrediction(len(im.Pixels))
	if im.B == 0 {
		return out, ctx.Err()
	}
	p, err := m.cached(ctx, im.H, im.W, layers.Auto, cmp.Or(m.opt.Precision, Float32))
	if err != nil {
		return nil, err
	}
	if err := p.Predict(ctx, out, im); err != nil {
		return nil, err
	}
	return out, nil
}

// cached returns the model's own plan for images.
func (m *ImageEquivCNP[T]) cached(ctx context.Context, h, w int, algorithm layers.Algorithm, precision Precision) (*imagePlan[T], error) {
	s, opt := Pixels(h, w), implicitPlan(algorithm, precision)
	return m.plans.get(ctx, m.State(), s, opt, func() (*imagePlan[T], error) { return m.planShape(ctx, s, opt) })
}

// Plan compiles the model for images, whose pixels it places by [ImageEquivCNP.Geometry], or reads the plan from the folder of the options.
func (m *ImageEquivCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return asPlan[T](asImagePlan(m.planShape(ctx, s, opt)))
}

// PlanGeometry is like Plan for pixels and targets at places of one's own.
func (m *ImageEquivCNP[T]) PlanGeometry(ctx context.Context, g Geometry, opt PlanOptions) (*ImagePlan[T], error) {
	return asImagePlan(m.planGeometry(ctx, g, opt))
}

func (m *ImageEquivCNP[T]) planGeometry(ctx context.Context, g Geometry, opt PlanOptions) (*imagePlan[T], error) {
	opt.Precision, opt.Plans = cmp.Or(opt.Precision, m.opt.Precision), cmp.Or(opt.Plans, m.opt.Plans)
	if opt.Plans != "" {
		return m.keptPlan(ctx, g, opt)
	}
	return m.makePlan(ctx, g, opt)
}

func (m *ImageEquivCNP[T]) planShape(ctx context.Context, s Shape, opt PlanOptions) (*imagePlan[T], error) {
	if err := s.checkPixels(&m.cfg, true); err != nil {
		return nil, err
	}
	g, err := m.Geometry(s.h, s.w, s.scale)
	if err != nil {
		return nil, err
	}
	p, err := m.planGeometry(ctx, g, opt)
	if err == nil {
		p.shape = s
	}
	return p, err
}

func (m *ImageEquivCNP[T]) with(opt Options) (Model[T], error) {
	sweepPlans(opt.Plans)
	v := m.view()
	v.opt = opt
	return v, nil
}
