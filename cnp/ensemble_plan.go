package cnp

import (
	"context"
	"errors"
	"slices"
)

// ensemblePlan mixes what the plans of an ensemble's members predict.
type ensemblePlan[T Float] struct{ members []Plan[T] }

// planMembers makes the plans of an ensemble, which share the memory.
func planMembers[T Float, M Model[T]](ctx context.Context, members []M, s Shape, opt PlanOptions) (Plan[T], error) {
	var p ensemblePlan[T]
	if opt.Memory > 0 {
		opt.Memory = max(1, opt.Memory/int64(len(members)))
	}
	for _, m := range members {
		one, err := m.Plan(ctx, s, opt)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, one)
	}
	return &p, nil
}

// Members returns the plans of the members, in their order.
func (p *ensemblePlan[T]) Members() []Plan[T] { return slices.Clone(p.members) }

func (p *ensemblePlan[T]) Shape() Shape { return p.members[0].Shape() }

// Info adds up what the members' plans say, and has the rest of the first one.
func (p *ensemblePlan[T]) Info() PlanInfo {
	all := p.members[0].Info()
	for _, m := range p.members[1:] {
		i := m.Info()
		all.Stored, all.Evaluated = all.Stored+i.Stored, all.Evaluated+i.Evaluated
		all.WeightBytes, all.Bytes, all.CallBytes = all.WeightBytes+i.WeightBytes, all.Bytes+i.Bytes, all.CallBytes+i.CallBytes
		all.ImageOps, all.CallOps = all.ImageOps+i.ImageOps, all.CallOps+i.CallOps
		all.Live, all.Interpolated, all.Rounded = all.Live || i.Live, all.Interpolated || i.Interpolated, all.Rounded.Or(i.Rounded)
		all.Concurrency, all.FileErr = max(all.Concurrency, i.Concurrency), errors.Join(all.FileErr, i.FileErr)
	}
	return all
}

func (p *ensemblePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	var all []*Prediction[T]
	for _, m := range p.members {
		all = append(all, m.NewPrediction(tasks))
	}
	return mix(all...)
}

func (p *ensemblePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	got, err := mixed(ctx, len(p.members), func(ctx context.Context, i int) (*Prediction[T], error) {
		one := p.members[i].NewPrediction(tasks)
		return one, p.members[i].Predict(ctx, one, tasks)
	})
	var outside *OutsideError
	if err != nil && !errors.As(err, &outside) {
		return err
	}
	if room := dst.checkRoom("the ensemble", got.Likelihood, len(got.Mean)); room != nil {
		return room
	}
	dst.copy(got)
	return err
}
