package cnp

import (
	"context"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// curveParts are what an EquivCNP has, whatever its engine.
type curveParts[T Float] struct {
	cfg   Config // of the network; on the sphere its points are unit vectors, whatever the model's
	outer Config // the model's
	group group.Group

	encoder curve.Encoder[T]
	aux     *curve.AuxNet[T] // of the targets' auxiliary inputs
	head    head[T]
}

// curveEngine computes features from encoded data, and what the head reads from them. Batches have been checked (Batch.check), and
// are as the network needs them (placed, joined).
type curveEngine[T Float] interface {
	// params lists the parameters behind those of the encoder.
	params() []layers.Param[T]
	// predict predicts a batch with targets.
	predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error)
	// differentiate is predict, ready for a backward pass; the batch may be empty.
	differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error)
	// elsewhere reports why no plan has points of such a shape; nil where it has.
	elsewhere(s Shape) error
	// compile packs the network with its current parameters, for points in an interval.
	compile(lo, hi float64) (curveProgram[T], error)
}

// curveProgram is an engine, packed. It is immutable.
type curveProgram[T Float] interface {
	// parts are the model's head and its network's configuration.
	parts() (*plannedHead[T], *Config)
	// anywhere reports whether points may lie outside the interval that it was compiled for.
	anywhere() bool
	// predict predicts a batch that has been checked and has targets.
	predict(ctx context.Context, dst *Prediction[T], b *Batch[T]) error
}

// state lists the parameters of a model with that engine.
func (p *curveParts[T]) state(e curveEngine[T]) []layers.Param[T] {
	return append(append(append(append(p.encoder.Psi.Params("psi."), e.params()...), p.aux.Params()...), p.head.params()...),
		p.encoder.Departure.Params()...)
}
