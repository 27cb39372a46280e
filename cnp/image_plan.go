package cnp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/cnp/internal/image"
	"github.com/equivcnp/equivcnp/internal/frozen"
	"github.com/equivcnp/equivcnp/layers"
)

// ImagePlan is an ImageEquivCNP compiled for one geometry: neighbourhoods, poses, folded normalisation and, as far as memory
// allows, the convolution weights of every pose. It is immutable, safe for concurrent use, and keeps the parameters that the
// model had when it was made.
type ImagePlan[T Float] struct{ plan imagePlanner[T] }

// imagePlanner is what an imagePlan can do. Behind an interface a program that uses an ImagePlan compiles nothing of it
// (see instance).
type imagePlanner[T Float] interface {
	Plan[T]
	Values() int
}

func asImagePlan[T Float](p *imagePlan[T], err error) (*ImagePlan[T], error) {
	if err != nil {
		return nil, err
	}
	return &ImagePlan[T]{p}, nil
}

// Info describes the plan.
func (p *ImagePlan[T]) Info() PlanInfo { return p.plan.Info() }

// NewPrediction returns a prediction with room for images.
func (p *ImagePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	return p.plan.NewPrediction(tasks)
}

// Shape returns the shape of the geometry that the plan was made for: Scattered where its points lie on no grid.
func (p *ImagePlan[T]) Shape() Shape { return p.plan.Shape() }

// Values returns the number of values that Predict sets for each image in Mean and in Std: channels times targets.
func (p *ImagePlan[T]) Values() int { return p.plan.Values() }

// Predict sets dst to the prediction of a batch of [Images]: mean and standard deviation [B, C, targets], where targets are
// those of the plan's geometry, or else its points in their order. dst.Mean and dst.Std must have B·Values() elements; they
// are what the caller keeps, and reusing them saves making them anew. dst.Params may be nil where parameters beside them are not wanted.
//
// An image's result does not depend on the rest of the batch or on the number of threads. Observed values so large that a prediction is
// not finite are an error that wraps ErrValue, and dst then has it all the same. Any number of goroutines may call
// Predict. PlanOptions.Concurrency of the calls compute at a time, on all threads, and the others wait their turn. Once ctx is
// done, Predict returns its error, and dst may be written in part.
func (p *ImagePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	return p.plan.Predict(ctx, dst, tasks)
}

// imagePlan is an ImagePlan.
type imagePlan[T Float] struct {
	cfg     Config
	shape   Shape
	n, m, k int         // points, targets (0: the points), lifts
	apart   Interleaved // zero: every image is one
	rows    int         // (n + m)·k
	rank    []int32     // natural row → row of the plan; nil: the same

	arranged  map[ball]*layers.Arrangement[T]
	embedding *layers.PlannedEmbedding[T]
	conv      []*layers.PlannedSeparable[T] // two per block
	blocks    *layers.PlannedBlocks         // instead of them, all in bfloat16
	layout    *layers.Arrangement[T]        // how the last of them stores features
	slabs     bool                          // features stand slab by slab; then p.k is 1
	half      bool                          // weights may be stored in bfloat16
	last      *layers.PlannedLinear[T]
	family    family[T]

	info PlanInfo
	file *frozen.File // that it was read from, if it was
	most int          // images at a time
	near struct {
		sync.Mutex
		patches []image.Patch
	}
	// turn is a semaphore with one place for every call that computes.
	turn chan struct{}
	// idle is the memory of a call, kept permanently for the next one. Concurrent calls take theirs from the pool, which the
	// garbage collector empties.
	idle atomic.Pointer[imageRun[T]]
	pool sync.Pool // *imageRun[T]
}

// maxConcurrency bounds the calls of a plan that compute at a time.
const maxConcurrency = 1 << 16

func (p *imagePlan[T]) Info() PlanInfo { return p.info }

func (p *imagePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	return p.family.newPrediction(valuesOf[T](tasks, 1, p.Values()))
}

func (p *imagePlan[T]) Shape() Shape { return p.shape }

func (p *imagePlan[T]) Values() int {
	if p.m > 0 {
		return p.cfg.DimY * p.m
	}
	return p.cfg.DimY * p.pixels()
}

// callBytes is what a call needs that takes so many images at a time.
func (p *imagePlan[T]) callBytes(images int) int64 {
	most := int64(0)
	for _, a := range p.arranged {
		need := int64(workers()) * a.CallBytes(p.cfg.Channels[0], images)
		if p.half {
			_, call := a.PairedBytes(p.cfg.Channels[0], images)
			need += call
		}
		most = max(most, need)
	}
	if p.blocks != nil {
		most += p.blocks.CallBytes(images)
	}
	return most + int64(images)*p.imageBytes()
}

// mostImages is how many images a call may ever take at a time.
func (p *imagePlan[T]) mostImages() int { return int(max(1, runBytes/p.imageBytes())) }

// outputs returns the number of places that are predicted, of each coarse image where images are taken apart.
func (p *imagePlan[T]) outputs() int {
	if p.m > 0 {
		return p.m
	}
	return p.n
}

// pixels returns the number of pixels of an image.
func (p *imagePlan[T]) pixels() int {
	if p.apart.Stride > 0 {
		return p.apart.H * p.apart.W
	}
	return p.n
}

// share decides how many calls compute at a time, and how many images each of them takes at a time, within the memory that the
// neighbourhoods leave.
func (p *imagePlan[T]) share(flat bool, opt PlanOptions) error {
	calls := opt.Concurrency
	if calls == 0 {
		calls = 1
		if flat {
			calls = workers()
		}
	}
	images := min(budgetImages, p.mostImages())
	if !opt.Soft {
		left := opt.Memory - p.info.Bytes
		for calls > 1 && opt.Concurrency == 0 && int64(calls)*p.callBytes(images) > left {
			calls--
		}
		for images > 1 && int64(calls)*p.callBytes(images) > left {
			images--
		}
		if need := int64(calls) * p.callBytes(images); need > left {
			return fmt.Errorf("%w: neighbourhoods take %v and a call with one image %v, the limit is %v", ErrMemory,
				Bytes(p.info.Bytes), Bytes(need),
				Bytes(opt.Memory))
		}
	}
	p.most, p.info.Concurrency, p.info.CallBytes = images, calls, p.callBytes(images)
	return nil
}

// widen lets a call take more images at a time than its budget was made for, where that costs none of the memory that was promised.
func (p *imagePlan[T]) widen(opt PlanOptions) {
	most := p.mostImages()
	if opt.Soft {
		p.most = most
		return
	}
	left := opt.Memory - p.info.Bytes
	for p.most < most && int64(p.info.Concurrency)*p.callBytes(p.most+1) <= left {
		p.most++
	}
}

// intact returns an error if the plan is from a file that is damaged.
func (p *imagePlan[T]) intact() error {
	if p.file == nil {
		return nil
	}
	return p.file.Wait()
}
