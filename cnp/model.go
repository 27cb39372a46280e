package cnp

import (
	"context"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// Model has the methods that every architecture offers. A Model is a Regressor or a Completer besides. Models are safe for
// concurrent prediction as long as nobody changes their State.
type Model[T Float] interface {
	// Config returns the configuration that New builds the same architecture from. Its slices and pointers are the model's own: a
	// caller that wants another model changes copies of them.
	Config() Config
	// State lists every parameter and buffer, named as in the authors' checkpoints. The slices are live.
	State() []layers.Param[T]
	Planner[T]
}

// Regressor predicts at any target points from any context points.
type Regressor[T Float] interface {
	Model[T]
	// Predict returns mean and standard deviation [B, Nt, dy] at the targets. Masked targets get zeros. If single points lie out
	// of the model's reach, it returns an OutsideError together with the prediction of everything else.
	Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error)
}

// Completer predicts all pixels of an image from some of them.
type Completer[T Float] interface {
	Model[T]
	// Complete returns mean and standard deviation [B, C, H, W].
	Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error)
}

// GroupOf returns the group that a model is equivariant under, nil for an architecture that has none.
func GroupOf[T Float](m Model[T]) group.Group {
	return instance[func(Model[T]) group.Group](&groupInstances)(m)
}

var groupInstances = instances{groupOf[float32], groupOf[float64]}

func groupOf[T Float](m Model[T]) group.Group {
	if m, ok := m.(interface{ lieGroup() group.Group }); ok {
		return m.lieGroup()
	}
	return nil
}

// asModel keeps a nil pointer from becoming a non-nil interface.
func asModel[T Float, M Model[T]](m M, err error) (Model[T], error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
