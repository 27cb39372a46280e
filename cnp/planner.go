package cnp

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/layers"
)

// Plan is a model compiled for one shape. It is immutable, any number of goroutines may use it, and it keeps the
// parameters that the model had when it was made, unless its PlanInfo says that it is Live.
type Plan[T Float] interface {
	// Shape returns the shape that it was made for. Predict refuses tasks of another shape, with ErrShape.
	Shape() Shape
	// Info describes the plan.
	Info() PlanInfo
	// NewPrediction returns a prediction with room for the values of tasks, and their parameters.
	NewPrediction(tasks Tasks[T]) *Prediction[T]
	// Predict sets dst to the prediction of tasks, as Completer.Complete and Regressor.Predict lay it out. dst.Params
	// may be nil where parameters beside mean and standard deviation are not wanted. Points out of the plan's reach are
	// an OutsideError; what they do not concern is predicted. A prediction that is not finite, because observed values are too
	// large to compute with, is an error that wraps ErrValue.
	Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error
}

// Planner makes plans. Every Model is one.
type Planner[T Float] interface {
	// Plan compiles the model for a shape. Where there is no plan of the model, or none for such a shape, the error wraps ErrNoPlan.
	Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error)
}

// onlyFloat32 refuses options that name another precision, and what is none.
func (o *PlanOptions) onlyFloat32(c *Config) error {
	if err := o.Precision.check(); err != nil || o.Precision != BFloat16 {
		return err
	}
	return fmt.Errorf("architecture %s computes in %s alone, %s can round (%w)", c.Architecture, Float32, EquivCNPImage, ErrConfig)
}

// PlanOptions say how much memory a plan may use, and for what.
type PlanOptions struct {
	// Memory bounds, in bytes, what a plan needs while it is made, what it stores, and what its concurrent calls need.
	// Convolution weights that do not fit are computed in every call, once for all its images or for eight of them: the
	// more images, the less it costs. Where little is left, a call takes fewer than 16 images at a time, and more only
	// where there is room beside all weights. If not even the neighbourhoods and one image fit, Plan returns ErrMemory.
	// 0 means 900 MB or, if that is less, a quarter of the machine's memory, and Soft; a negative number stores no
	// weights, and is Soft.
	Memory int64
	// Soft treats Memory as a wish: neighbourhoods and a call of 16 images may take more, up to MemoryLimit, and weights get what
	// is left.
	Soft bool
	// Precision says what numbers may be rounded to; empty means that of the model's Options, or Float32.
	Precision Precision
	// Plans is a folder that keeps plans, as Options.Plans says; empty means that of the model's Options, or none.
	Plans string
	// Algorithm says how depthwise convolutions are computed on a grid; empty chooses the faster one. Any other is one of float32.
	Algorithm layers.Algorithm
	// Concurrency is the number of calls that compute at the same time; the others wait, and run in the order in which they came. 0 means
	// one call where weights pass through the caches in slices, because several calls would push each other's slices out, and
	// otherwise as many as there are threads. Each takes the memory of a call (PlanInfo.CallBytes).
	Concurrency int
}

// PlanInfo describes a plan.
type PlanInfo struct {
	// Live says that there was nothing to compute in advance: the plan follows the model's parameters, and all that follows is 0.
	Live bool

	Rows  int  // lifted points and targets
	Pairs int  // of a residual layer
	Poses int  // distinct ones among them
	Flat  bool // one small table of weights serves all rows
	// Algorithm says how the residual layers' depthwise convolutions are computed, in float32.
	Algorithm layers.Algorithm
	// Precision is that of the residual layers' products and features: BFloat16 where PlanOptions allow it, and the
	// plan and the CPU are suited; Float32 where only a part is rounded.
	Precision Precision
	// Rounded is that part, in any layer.
	Rounded     layers.Rounded
	Stored      int   // layers that keep all their weights
	Evaluated   int   // layers of which some weights, or all, are computed in every call
	WeightBytes int64 // kept weights
	Bytes       int64 // weights and neighbourhoods
	CallBytes   int64 // what a call of 16 images needs beside them, without its input and output
	Concurrency int   // calls that compute at the same time
	// File names where the plan was read from or written to, empty if neither. FileErr is why it could not be written.
	File    string
	FileErr error
	// Multiply-adds of one image, and of computing the weights of one call (0 where all are kept).
	ImageOps, CallOps float64
	// Interpolated says that a layer's weights come from its WeightNet at the nodes of a grid, with an error like that
	// of float32: under groups whose poses have two coordinates, where there are many poses.
	Interpolated bool
}

// Precision says how a plan computes.
type Precision string

// The precisions.
const (
	// Float32 keeps and multiplies numbers as the model does (in float64 under a float64 model).
	Float32 Precision = "float32"
	// BFloat16 allows a plan to round, in float32 models, to numbers of half the memory, whose sums remain float32.
	// Images on a pixel grid under translations, or turns in a single lift, are computed in them from the embedding's
	// features to those of the last linear map, in two thirds of the time of one core, where the CPU multiplies tiles
	// of them (simd.CurrentLevel is AMX) and the number of channels is a multiple of 32: see PlanInfo.Precision.
	// Elsewhere, other plans that store many weights store these in half the memory; where the CPU adds up products of
	// pairs (AVX512_BF16), features that are multiplied with such weights are rounded as well, and where weights are
	// few, residual blocks' dense maps; all else is float32. Under the paper's models predictions move by a thousandth
	// of the largest value, and in a few places by up to a thirtieth (TestPlanGolden); the mean log-likelihood of a
	// pixel moves by less than 0.0001, by up to 0.0024 under models as they come out of training here, and by 0.04
	// where calibration made a model sure of most pixels ("equivcnp reproduce precision").
	BFloat16 Precision = "bfloat16"
)

// check refuses what is no precision; an empty one is Float32.
func (p Precision) check() error {
	switch p {
	case "", Float32, BFloat16:
		return nil
	}
	return fmt.Errorf("%w: precision %q is neither %q nor %q", ErrConfig, p, Float32, BFloat16)
}

// Options say how a model that was opened computes; see With.
type Options struct {
	// Precision is that of Complete, and the default of PlanOptions; see [BFloat16]. Empty: Float32. The chain rule and
	// rasters know Float32 alone: SampleImages and JointImages refuse a model of another.
	Precision Precision
	// Plans is a folder in which plans are looked for, and into which those go that had to be made; empty: none. Files
	// have names of their own for each model, geometry, options, version of the program and kind of machine, and any
	// number of processes may share a folder. Of plans nothing is ever removed from it; what processes that died while
	// they wrote have left is. A file that is damaged, or not what its name says, is replaced by one that is made anew;
	// where one cannot be written, the plan is used all the same, and PlanInfo.FileErr says why. Models whose plans
	// take no time to make keep none.
	Plans string
}

// asPlan keeps a nil pointer from becoming a non-nil interface.
func asPlan[T Float, P Plan[T]](p P, err error) (Plan[T], error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// defaultMemory is what a plan and its calls may take by default. Together with the program itself, and with garbage that has not
// been collected yet, a process then stays below 1 GB. budgetImages is the number of images of a call that is assumed.
const (
	defaultMemory = 9e8
	budgetImages  = 16
)
