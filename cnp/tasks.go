package cnp

import (
	"slices"

	"github.com/equivcnp/equivcnp/layers"
)

// Float is the set of feature types: float32 for work, float64 for reference results and gradient checks.
type Float = layers.Float

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
	// Ns is the number of points that each task has of the static fields of a model that has any (Config.Static): at XStatic [B,
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

// Tasks are the input of a plan: Images or a Batch.
type Tasks[T Float] interface {
	// Shape is that of the tasks.
	Shape() Shape
	// values is how many values they have, of dy outputs, at targets per image where it is given.
	values(dy, targets int) int
}

// Shape returns the shape of the images.
func (im *Images[T]) Shape() Shape {
	if im == nil {
		return Shape{}
	}
	return Pixels(im.H, im.W)
}

func (im *Images[T]) values(dy, targets int) int {
	if im == nil {
		return 0
	}
	return countable(im.B, dy, targets)
}

// Shape returns Scattered: a batch does not say how its points lie.
func (b *Batch[T]) Shape() Shape { return Scattered() }

func (b *Batch[T]) values(dy, _ int) int {
	if b == nil {
		return 0
	}
	return countable(b.B, b.Nt, dy)
}

// valuesOf returns the number of values of tasks, 0 for tasks without a sensible number, of which Predict says what is
// wrong.
func valuesOf[T Float](tasks Tasks[T], dy, targets int) int {
	if tasks == nil {
		return 0
	}
	return tasks.values(dy, targets)
}

func countable(sizes ...int) int {
	n, ok := product(sizes...)
	if !ok || slices.Min(sizes) < 0 {
		return 0
	}
	return n
}

// imagesOf and batchOf return tasks of the kind that a plan needs.
func imagesOf[T Float](s Shape, tasks Tasks[T]) (*Images[T], error) {
	im, ok := tasks.(*Images[T])
	if !ok {
		return nil, s.refuse(shapeOfTasks[T](tasks))
	}
	return im, nil
}

func batchOf[T Float](s Shape, tasks Tasks[T]) (*Batch[T], error) {
	b, ok := tasks.(*Batch[T])
	if !ok {
		return nil, s.refuse(shapeOfTasks[T](tasks))
	}
	return b, nil
}

func shapeOfTasks[T Float](tasks Tasks[T]) Shape {
	if tasks == nil {
		return Shape{}
	}
	return tasks.Shape()
}
