package cnp

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// EquivCNP is the paper's model for continuous inputs (Algorithm 1): a set convolution of the context onto a lattice and
// (ReadoutTargets) the targets, a pointwise layer, LieConvs with ReLU, and mean and variance read at the targets. What
// lies between encoder and head is an engine: lifted points, points of a line, or lattices of several levels.
type EquivCNP[T Float] struct {
	curveParts[T]
	engine curveEngine[T]
}

func newEquivCNP[T Float](c Config, g group.Group, rng *rand.Rand) (*EquivCNP[T], error) {
	outer := c
	if c.OnSphere() {
		c.DimX = 3
	}
	m := &EquivCNP[T]{curveParts: curveParts[T]{cfg: c, outer: outer, group: g,
		encoder: curve.Encoder[T]{Psi: layers.NewRBF[T](curve.PsiScale, cmp.Or(c.EncoderLength, curve.PsiLength)),
			Dx: c.DimX, Dy: c.contextValues(),
			Degree: c.Multiplicity, Coordinates: c.CoordinateFeature, Each: c.ChannelDensity,
			Floor: cmp.Or(c.DensityFloor, curve.DensityFloor), Cap: c.DensityCap}}}
	read := c.Channels[len(c.Channels)-1]
	if c.Departure != nil { // its parameters are drawn apart: the others are those of the model without one
		seed := rand.New(rand.NewPCG(uint64(c.Departure.Channels), 0x6465706172740000))
		m.encoder.Departure = curve.NewDepartureNet[T](c.DimX, c.Departure.Channels, seed)
	}
	if c.Levels > 0 {
		m.encoder.Floor = cmp.Or(c.DensityFloor, levelsFloor)
		m.engine, read = newLevelsEngine(&m.curveParts, rng), c.Channels[0]
	} else {
		if !group.IsIsometric(g) {
			m.encoder.Metric = g
		}
		points, err := newPointsEngine(&m.curveParts, rng)
		if err != nil {
			return nil, err
		}
		if m.engine = points; points.lies() {
			m.engine = &lineEngine[T]{pointsEngine: points}
		}
	}
	m.head = newHead[T](read, c, rng)
	m.aux = curve.NewAuxNet[T](read, len(c.Auxiliary), rng)
	return m, nil
}

// Config returns the model's configuration.
func (m *EquivCNP[T]) Config() Config { return m.outer }

// State lists the parameters under the authors' names.
func (m *EquivCNP[T]) State() []layers.Param[T] { return m.state(m.engine) }

func (m *EquivCNP[T]) lieGroup() group.Group { return m.group }

// Predict returns mean and standard deviation at the targets. Of an OutsideError it returns both, the error and the prediction of all
// else.
func (m *EquivCNP[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	b, err := placed(&m.outer, b)
	if err != nil {
		return nil, err
	}
	return predictNear(b, &m.cfg, func(b *Batch[T]) (*Prediction[T], error) {
		if err := b.check(m.cfg.widths()); err != nil {
			return nil, err
		}
		b = b.joined(&m.cfg)
		if b.B*b.Nt == 0 { // however many tasks there are
			return m.head.newPrediction(0), ctx.Err()
		}
		return m.engine.predict(ctx, b)
	})
}

// Differentiate predicts, and keeps what a backward pass needs: all tasks share one geometry, so that batch normalisation sees every
// pair of the batch.
func (m *EquivCNP[T]) Differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	b, err := placed(&m.outer, b)
	if err != nil {
		return nil, err
	}
	if err := b.checkPass(m.cfg.widths()); err != nil {
		return nil, err
	}
	return m.engine.differentiate(ctx, b.joined(&m.cfg).whole(&m.cfg), mode)
}

// Exact returns the equivariant model inside, with parameters of its own: this one without its departure. It is the model itself where
// that has none.
func (m *EquivCNP[T]) Exact() (TrainableRegressor[T], error) {
	if m.outer.Departure == nil || m.outer.Departure.Off {
		return m, nil
	}
	c, d := m.outer, *m.outer.Departure
	d.Off = true
	c.Departure = &d
	out, err := newEquivCNP[T](c, m.group, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return nil, err
	}
	from := m.State()
	for i, p := range out.State() {
		copy(p.Data, from[i].Data)
	}
	return out, nil
}
