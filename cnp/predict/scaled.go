package predict

import (
	"context"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
)

// scaled is Prepared.Fine of a model.
func scaled(ctx context.Context, model cnp.Completer[float32], im *cnp.Images[float32], scale int) (p,
	fine *cnp.Prediction[float32], err error) {
	if scale == 1 {
		p, err = model.Complete(ctx, im)
		return p, p, err
	}
	m, ok := model.(cnp.GeometryPlanner[float32])
	if !ok {
		return nil, nil, settings.Errorf("{Scale} %d: a %s model predicts at the pixels only", scale, model.Config().Architecture)
	}
	g, err := m.Geometry(im.H, im.W, scale)
	if err != nil {
		return nil, nil, err
	}
	g.Targets = append(append([]float64(nil), g.Points...), g.Targets...) // the likelihood is that of the pixels
	plan, err := m.PlanGeometry(ctx, g, cnp.PlanOptions{Memory: -1})
	if err != nil {
		return nil, nil, err
	}
	all := plan.NewPrediction(im)
	if err := plan.Predict(ctx, all, im); err != nil {
		return nil, nil, err
	}
	p, fine = &cnp.Prediction[float32]{Likelihood: all.Likelihood}, &cnp.Prediction[float32]{Likelihood: all.Likelihood}
	outputs := len(all.Params) / plan.Values()
	n, each := im.H*im.W, plan.Values()/im.C
	for c := range im.C {
		at := c * each
		p.Mean, p.Std = append(p.Mean, all.Mean[at:at+n]...), append(p.Std, all.Std[at:at+n]...)
		fine.Mean, fine.Std = append(fine.Mean, all.Mean[at+n:at+each]...), append(fine.Std, all.Std[at+n:at+each]...)
		p.Params = append(p.Params, all.Params[at*outputs:(at+n)*outputs]...)
		fine.Params = append(fine.Params, all.Params[(at+n)*outputs:(at+each)*outputs]...)
	}
	return p, fine, nil
}
