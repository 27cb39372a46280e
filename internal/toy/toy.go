// Package toy is the smallest model that all front ends can use: a smoother with two parameters. It shows, and its tests
// prove, what an architecture needs. Programs do not import it.
package toy

import (
	"context"
	"errors"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// Architecture is the model's name in configurations and model files.
const Architecture cnp.Architecture = "toy-smoother"

func init() {
	cnp.RegisterArchitecture(Architecture, cnp.Maker{
		Default: func(c *cnp.Config) { c.DimX, c.Channels = 1, []int{1} },
		Check: func(c *cnp.Config, _ group.Group) error {
			if c.Likelihood != "" {
				return errors.New("a smoother predicts normals")
			}
			return nil
		},
		New32: build[float32], New64: build[float64],
	})
}

// smoother predicts the mean of the context's values, weighted by how near they are. Its deviation is that of the noise
// near the context, and grows to 1 away from it.
type smoother[T cnp.Float] struct {
	cfg           cnp.Config
	length, noise []T
}

func build[T cnp.Float](c cnp.Config, _ group.Group, _ uint64) (cnp.Model[T], error) {
	return &smoother[T]{cfg: c, length: []T{0.5}, noise: []T{0.1}}, nil
}

func (m *smoother[T]) Config() cnp.Config { return m.cfg }

func (m *smoother[T]) State() []layers.Param[T] {
	return []layers.Param[T]{{Name: "smoother.length", Shape: []int{1}, Data: m.length},
		{Name: "smoother.noise", Shape: []int{1}, Data: m.noise}}
}

// Plan makes a plan of which nothing is computed in advance.
func (m *smoother[T]) Plan(ctx context.Context, s cnp.Shape, opt cnp.PlanOptions) (cnp.Plan[T], error) {
	return cnp.LiveCurves[T](ctx, m, s, opt)
}

func (m *smoother[T]) Predict(ctx context.Context, b *cnp.Batch[T]) (*cnp.Prediction[T], error) {
	if err := b.Check(&m.cfg); err != nil {
		return nil, err
	}
	p, err := cnp.NewPrediction[T](&m.cfg, b.B*b.Nt*m.cfg.DimY)
	if err != nil {
		return nil, err
	}
	for i := range b.B * b.Nt {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if b.TargetMask == nil || b.TargetMask[i] {
			m.target(p, b, i)
		}
	}
	return p, nil
}

// target predicts the values of target i of the batch.
func (m *smoother[T]) target(p *cnp.Prediction[T], b *cnp.Batch[T], i int) {
	dx, dy := m.cfg.DimX, m.cfg.DimY
	near, sum, length := 0.0, make([]float64, dy), float64(m.length[0])
	for k := i / b.Nt * b.Nc; k < (i/b.Nt+1)*b.Nc; k++ {
		if b.ContextMask != nil && !b.ContextMask[k] {
			continue
		}
		dist2 := 0.0
		for d := range dx {
			u := (b.XTarget[i*dx+d] - b.XContext[k*dx+d]) / length
			dist2 += u * u
		}
		w := math.Exp(-dist2 / 2)
		near += w
		for d := range sum {
			sum[d] += w * float64(b.YContext[k*dy+d])
		}
	}
	noise := float64(m.noise[0])
	for d, s := range sum {
		p.Mean[i*dy+d] = T(s / (near + 1e-9))
		p.Std[i*dy+d] = T(noise + (1-noise)*math.Exp(-near))
	}
}
