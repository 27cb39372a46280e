package cnp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// ConvCNP is the one-dimensional baseline of Gordon et al. 2020: the same set convolution onto a lattice, ordinary
// convolutions along it, and a second set convolution that reads them at the targets.
type ConvCNP[T Float] struct {
	cfg     Config
	encoder curve.Encoder[T]
	pre     *layers.Linear[T]
	conv    []*layers.Conv1d[T]
	readout *layers.RBF[T]
	head    head[T]
}

func newConvCNP[T Float](c Config, rng *rand.Rand) *ConvCNP[T] {
	m := &ConvCNP[T]{cfg: c,
		encoder: curve.Encoder[T]{Psi: layers.NewRBF[T](curve.PsiScale, curve.PsiLength), Dx: 1, Dy: c.DimY, Degree: c.Multiplicity,
			Coordinates: c.CoordinateFeature, Each: c.ChannelDensity, Floor: curve.DensityFloor},
		readout: layers.NewRBF[T](curve.PsiScale, curve.PsiLength),
	}
	m.pre = layers.NewLinear[T](m.encoder.Channels(), c.Channels[0], rng)
	for i := range len(c.Channels) - 1 {
		m.conv = append(m.conv, layers.NewConv1d[T](c.Channels[i], c.Channels[i+1], c.Kernel, rng))
	}
	last := c.Channels[len(c.Channels)-1]
	m.head = newHead[T](last, c, rng)
	return m
}

// Config returns the model's configuration.
func (m *ConvCNP[T]) Config() Config { return m.cfg }

// State lists the parameters under the authors' names.
func (m *ConvCNP[T]) State() []layers.Param[T] {
	ps := append(m.encoder.Psi.Params("psi."), m.pre.Params("pre_mlp.0.")...)
	for i, l := range m.conv {
		ps = append(ps, l.Params(fmt.Sprintf("cnn.%d.", 2*i))...)
	}
	return append(append(ps, m.readout.Params("psi_rho.")...), m.head.params()...)
}

// Plan makes a plan for curves, of which nothing is computed in advance.
func (m *ConvCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return liveCurves[T](ctx, m, s, opt)
}

// Predict returns mean and standard deviation at the targets. With an OutsideError it also returns the prediction of everything
// that lies inside.
func (m *ConvCNP[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	return predictNear(b, &m.cfg, func(b *Batch[T]) (*Prediction[T], error) { return m.predict(ctx, b) })
}

// predict is Predict for batches whose points lie near each other.
func (m *ConvCNP[T]) predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	if err := b.check(m.cfg.widths()); err != nil {
		return nil, err
	}
	if b.B*b.Nt == 0 { // for any number of tasks
		return m.head.newPrediction(0), ctx.Err()
	}
	out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
	grid, _, err := lattice(b, &m.cfg)
	if err != nil {
		return nil, err
	}
	report, n, dy := progress(ctx), len(grid), m.cfg.DimY
	for t := range b.B {
		report(t, b.B)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.context(t, 1, dy)
		h := make([]T, n*m.pre.Out)
		m.pre.Forward(h, m.encoder.Encode(grid, x, y, 0), n, simd.ActSigmoid)
		for _, l := range m.conv {
			next := make([]T, n*l.Out)
			l.Forward(next, h, 1, n, simd.ActReLU)
			h = next
		}
		c := m.head.in()
		read := make([]T, b.Nt*c)
		m.readout.Forward(read, b.targets(t, 1), grid, h, 1, c)
		at := t * b.Nt * dy
		m.head.forward(out, at, read, b.Nt, nil)
		clearMasked(out, b, t, dy)
	}
	report(b.B, b.B)
	return out, nil
}
