package cnp

import (
	"context"

	"github.com/equivcnp/equivcnp/layers"
)

// Float is the set of feature types: float32 for work, float64 for reference results and gradient checks.
type Float = layers.Float

// Model is what every architecture offers. A Model is a Regressor or a Completer besides. Models are safe for
// concurrent prediction as long as nobody changes their State.
type Model[T Float] interface {
	// Config returns the configuration that New builds the same architecture from.
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

// Batch is a batch of regression tasks. New models predict each as if it were alone, bit for bit. Models under PlacementBatch, as the
// authors' are, lay one lattice over all tasks of a batch, so that batching tasks together changes their results slightly.
type Batch[T Float] struct {
	B, Nc, Nt int       // tasks, context points and targets per task; Nc and Nt may be 0
	XContext  []float64 // [B, Nc, dx]
	YContext  []T       // [B, Nc, dy]; NaN where an output was not observed, under Config.ChannelDensity
	XTarget   []float64 // [B, Nt, dx]
	// AuxContext [B, Nc, da] and AuxTarget [B, Nt, da] are the auxiliary inputs of a model that has any (Config.Auxiliary), in its order.
	// In the context NaN is one that is missing, under Config.ChannelDensity.
	AuxContext, AuxTarget []T
	// Ns is how many points each task has of the static fields of a model that has any (Config.Static): at XStatic [B,
	// Ns, dx] their values are YStatic [B, Ns, ds], in the configuration's order, NaN where one is missing. A point
	// without a value does not count, wherever it is: it is padding.
	Ns      int
	XStatic []float64
	YStatic []T
	// ContextMask [B, Nc] and TargetMask [B, Nt] are false at padding, whose values are never read; nil means that all
	// points count.
	ContextMask, TargetMask []bool

	// twins, above 1, is how many tasks in a row have equal points, of which all count, and equal targets: samples of
	// one task, which differ in values alone. B is a multiple of it.
	twins int
	joint int     // how many of the context points, the last, are of static fields; see joined
	moved float64 // by how much lattices of the tasks' own are moved, to see what that changes
}

// Images is a batch of partly observed images of one size.
type Images[T Float] struct {
	B, C, H, W int
	Pixels     []T    // [B, C, H, W]; values at unobserved pixels are never read
	Mask       []bool // [B, H, W], true where the pixel is observed
}

// Prediction is the predictive distribution of new observations: mean and standard deviation of every value, and what a
// likelihood has for parameters beside them. Its methods give the rest: densities, quantiles, samples, covariances.
// NewPrediction makes one with room for a model's values.
type Prediction[T Float] struct {
	Mean, Std []T

	// Likelihood is the distribution of the values, never nil in predictions of models and plans. See Distribution.
	Likelihood Likelihood
	// Params [values, Likelihood.Outputs()] holds the parameters of every value, as Likelihood.Parameters makes them,
	// rounded to T. It is nil under a Gaussian, whose parameters are Mean and Std. A plan fills Params where there is
	// room for all values, and leaves it nil where it is nil: methods that need more than mean and standard deviation
	// then panic.
	Params []T
}

type progressKey struct{}

// WithProgress returns a context under which long predictions report how much of the work is done.
func WithProgress(ctx context.Context, f func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// progress returns the reporter of ctx, never nil.
func progress(ctx context.Context) func(done, total int) {
	if f, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return f
	}
	return func(int, int) {}
}
