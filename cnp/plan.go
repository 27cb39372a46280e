package cnp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/frozen"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Precision is how a plan computes.
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
	// pairs (simd.HaveDots), features that are multiplied with such weights are rounded as well, and where weights are
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

// defaultMemory is what a plan and its calls may take by default. Together with the program itself, and with garbage that has not
// been collected yet, a process then stays below 1 GB. budgetImages is the number of images of a call that is assumed.
const (
	defaultMemory = 9e8
	budgetImages  = 16
)

// maxConcurrency bounds the calls of a plan that compute at a time.
const maxConcurrency = 1 << 16

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
	// Precision is what numbers may be rounded to; empty means that of the model's Options, or Float32.
	Precision Precision
	// Plans is a folder that keeps plans, as Options.Plans says; empty means that of the model's Options, or none.
	Plans string
	// Algorithm is how depthwise convolutions are computed on a grid; empty chooses the faster one. Any other is one of float32.
	Algorithm layers.Algorithm
	// Concurrency is how many calls compute at the same time; the others wait, and run in the order in which they came. 0 means
	// one call where weights pass through the caches in slices, because several calls would push each other's slices out, and
	// otherwise as many as there are threads. Each takes the memory of a call (PlanInfo.CallBytes).
	Concurrency int
}

// ImagePlan is an ImageEquivCNP compiled for one geometry: neighbourhoods, poses, folded normalisation and, as far as memory
// allows, the convolution weights of every pose. It is immutable, safe for concurrent use, and keeps the parameters that the
// model had when it was made.
type ImagePlan[T Float] struct {
	cfg     Config
	shape   Shape
	n, m, k int         // points, targets (0: the points), lifts
	apart   Interleaved // zero: every image is one
	rows    int         // (n + m)·k
	rank    []int32     // natural row → row of the plan; nil: the same

	arranged  map[float64]*layers.Arrangement[T] // by radius
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
		patches []patch
	}
	// turn is a semaphore with one place for every call that computes.
	turn chan struct{}
	// idle is the memory of a call, kept permanently for the next one. Concurrent calls take theirs from the pool, which the
	// garbage collector empties.
	idle atomic.Pointer[imageRun[T]]
	pool sync.Pool // *imageRun[T]
}

// PlanInfo describes a plan.
type PlanInfo struct {
	// Live says that there was nothing to compute in advance: the plan follows the model's parameters, and all that follows is 0.
	Live bool

	Rows  int  // lifted points and targets
	Pairs int  // of a residual layer
	Poses int  // distinct ones among them
	Flat  bool // one small table of weights serves all rows
	// Algorithm is how the residual layers' depthwise convolutions are computed, in float32.
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
	// File is where the plan was read from or written to, empty if neither. FileErr is why it could not be written.
	File    string
	FileErr error
	// Multiply-adds of one image, and of computing the weights of one call (0 where all are kept).
	ImageOps, CallOps float64
	// Interpolated says that a layer's weights come from its WeightNet at the nodes of a grid, with an error like that
	// of float32: under groups whose poses have two coordinates, where there are many poses.
	Interpolated bool
}

// Info describes the plan.
func (p *ImagePlan[T]) Info() PlanInfo { return p.info }

// Shape is that of the geometry that the plan was made for: Scattered, where that does not say how its points lie.
func (p *ImagePlan[T]) Shape() Shape { return p.shape }

// NewPrediction returns a prediction with room for images.
func (p *ImagePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	return p.family.newPrediction(valuesOf[T](tasks, 1, p.Values()))
}

// Values is the number of values that Predict sets for each image in Mean and in Std: channels times targets.
func (p *ImagePlan[T]) Values() int {
	if p.m > 0 {
		return p.cfg.DimY * p.m
	}
	return p.cfg.DimY * p.pixels()
}

// pixels is the number of pixels of an image.
func (p *ImagePlan[T]) pixels() int {
	if p.apart.Stride > 0 {
		return p.apart.H * p.apart.W
	}
	return p.n
}

// outputs is the number of places that are predicted, of each coarse image where images are taken apart.
func (p *ImagePlan[T]) outputs() int {
	if p.m > 0 {
		return p.m
	}
	return p.n
}

// Plan compiles the model for images, whose pixels it places by [ImageEquivCNP.Geometry], or reads the plan from the folder of the options.
func (m *ImageEquivCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return asPlan[T](m.planShape(ctx, s, opt))
}

// asPlan keeps a nil pointer from becoming a non-nil interface.
func asPlan[T Float, P Plan[T]](p P, err error) (Plan[T], error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (m *ImageEquivCNP[T]) planShape(ctx context.Context, s Shape, opt PlanOptions) (*ImagePlan[T], error) {
	if err := s.checkPixels(&m.cfg, true); err != nil {
		return nil, err
	}
	g, err := m.Geometry(s.h, s.w, s.scale)
	if err != nil {
		return nil, err
	}
	p, err := m.PlanGeometry(ctx, g, opt)
	if err == nil {
		p.shape = s
	}
	return p, err
}

// PlanGeometry is Plan for pixels and targets at places of one's own.
func (m *ImageEquivCNP[T]) PlanGeometry(ctx context.Context, g Geometry, opt PlanOptions) (*ImagePlan[T], error) {
	opt.Precision, opt.Plans = cmp.Or(opt.Precision, m.opt.Precision), cmp.Or(opt.Plans, m.opt.Plans)
	if opt.Plans != "" {
		return m.keptPlan(ctx, g, opt)
	}
	return m.makePlan(ctx, g, opt)
}

// checkPlan refuses a geometry and options of which there is no plan, and sets options that are left to choose.
func checkPlan(g Geometry, opt *PlanOptions) error {
	if len(g.Points)%2 != 0 || len(g.Targets)%2 != 0 || len(g.Points) == 0 {
		return fmt.Errorf("%w: %d coordinates of points, %d of targets: need pairs, and at least one point",
			ErrShape, len(g.Points), len(g.Targets))
	}
	if max := 2 * maxPixels; len(g.Points) > max || len(g.Targets) > max-len(g.Points) {
		return fmt.Errorf("%w: %d points and targets, need at most %d", ErrRange, (len(g.Points)+len(g.Targets))/2, max/2)
	}
	for name, x := range map[string][]float64{"points": g.Points, "targets": g.Targets} {
		for i, v := range x {
			if math.IsNaN(v - v) {
				return fmt.Errorf("%w: %s[%d, %d] = %v", ErrValue, name, i/2, i%2, v)
			}
		}
	}
	if g.H|g.W != 0 && (g.H < 1 || g.W < 1 || g.H > maxPixels/g.W || g.H*g.W != len(g.Points)/2) {
		return fmt.Errorf("%w: the geometry has %d points, and a grid of %d x %d", ErrShape, len(g.Points)/2, g.H, g.W)
	}
	if err := g.Interleaved.check(len(g.Points)/2, len(g.Targets)/2); err != nil {
		return err
	}
	if err := opt.Precision.check(); err != nil {
		return err
	}
	if !slices.Contains(layers.Algorithms, opt.Algorithm) {
		return fmt.Errorf("%w: algorithm %q is none of %q", ErrConfig, opt.Algorithm, layers.Algorithms)
	}
	if opt.Concurrency < 0 || opt.Concurrency > maxConcurrency {
		return fmt.Errorf("%w: concurrency = %d, need 0 to %d", ErrConfig, opt.Concurrency, maxConcurrency)
	}
	opt.Soft = opt.Soft || opt.Memory <= 0
	if opt.Memory == 0 {
		opt.Memory = min(defaultMemory, cpu.Memory()/4)
	}
	return nil
}

// makePlan is Plan without files.
func (m *ImageEquivCNP[T]) makePlan(ctx context.Context, g Geometry, opt PlanOptions) (*ImagePlan[T], error) {
	if err := checkPlan(g, &opt); err != nil {
		return nil, err
	}
	points := group.LiftPoints(m.group, g.Points, m.cfg.Lifts, m.cfg.LiftSeed)
	points.Across = g.across()
	queries, all := points, g.Points
	if len(g.Targets) > 0 {
		all = append(append([]float64(nil), g.Points...), g.Targets...)
		queries = group.LiftPoints(m.group, all, m.cfg.Lifts, m.cfg.LiftSeed)
	}
	p := m.newPlan(g)
	if err := p.compile(ctx, m, queries, points, repeatRows(all, 2, m.cfg.Lifts), opt); err != nil {
		return nil, err
	}
	return p, nil
}

// newPlan returns a plan that is not compiled.
func (m *ImageEquivCNP[T]) newPlan(g Geometry) *ImagePlan[T] {
	n, targets, k := len(g.Points)/2, len(g.Targets)/2, m.cfg.Lifts
	return &ImagePlan[T]{cfg: m.cfg, shape: g.image(), apart: g.Interleaved, n: n, m: targets, k: k, rows: (n + targets) * k}
}

// blockRadii are those of the residual layers' convolutions.
func (m *ImageEquivCNP[T]) blockRadii() (radii []float64) {
	for _, block := range m.blocks {
		for _, conv := range block.Conv {
			radii = append(radii, conv.Depthwise.Radius())
		}
	}
	return radii
}

// compile makes the plan; x [rows, 2] are the positions of the queries.
func (p *ImagePlan[T]) compile(ctx context.Context, m *ImageEquivCNP[T], queries, points *group.Lifted, x []float64,
	opt PlanOptions) error {
	// One neighbourhood for each radius, the smaller ones cut out of the largest. The residual layers, almost all of the work,
	// decide the order of rows.
	radii := m.blockRadii()
	stop := func() bool { return ctx.Err() != nil }
	limit := opt.Memory
	if opt.Soft {
		limit = MemoryLimit()
	}
	if arranged := m.arrangeGrid(queries, points, radii, opt); arranged != nil {
		return p.assemble(ctx, m, arranged, opt, nil)
	}
	near, flat := map[float64]*neighbor.Neighborhood{}, true
	largest := slices.Max(append(radii, m.psi.Radius()))
	for _, r := range append([]float64{largest}, append(radii, m.psi.Radius())...) {
		if near[r] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if near[largest] != nil && m.cfg.MaxNeighbors == 0 {
			if near[r] = near[largest].ShrinkUntil(stop, queries, points, r); near[r] == nil {
				return ctx.Err()
			}
		} else {
			n, err := neighbor.Ball(queries, points, neighbor.Options{Radius: r, MaxBytes: limit, Stop: stop,
				MaxNeighbors: m.cfg.MaxNeighbors, Seed: m.cfg.NeighborSeed})
			switch {
			case errors.Is(err, neighbor.ErrStopped):
				return ctx.Err()
			case errors.Is(err, neighbor.ErrTooManyPairs):
				return fmt.Errorf("%w: %v", ErrMemory, err)
			case err != nil:
				return err
			}
			near[r] = n
			if need := 2 * n.Bytes(); !opt.Soft && need > opt.Memory { // beside its arrangement
				return fmt.Errorf("%w: neighbourhoods take %v while they are arranged, the limit is %v", ErrMemory, Bytes(need),
					Bytes(opt.Memory))
			}
			if !opt.Soft {
				runtime.GC() // what the search left would come on top of what follows
			}
		}
		flat = flat && layers.Flat(near[r])
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	order := layers.Order(near[radii[0]], x, p.k, flat, stop)
	if err := ctx.Err(); err != nil {
		return err
	}
	arranged, err := m.arrange(near, order, flat, radii, stop, opt)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if order != nil {
		p.rank = make([]int32, len(order))
		for i, from := range order {
			p.rank[from] = int32(i)
		}
	}
	return p.assemble(ctx, m, arranged, opt, nil)
}

// assemble makes the layers, given an arrangement for each radius. file, if not nil, has their weights.
func (p *ImagePlan[T]) assemble(ctx context.Context, m *ImageEquivCNP[T], arranged map[float64]*layers.Arrangement[T],
	opt PlanOptions, file *frozen.File) error {
	stop := func() bool { return ctx.Err() != nil }
	width, embed := m.cfg.Channels[0], arranged[m.psi.Radius()]
	p.arranged, p.half = arranged, opt.Precision == BFloat16
	for _, a := range arranged {
		a.ForgetPairs()
	}
	// Weights are stored first where they save the most work per byte: the embedding's, which are few per pose.
	for _, a := range arranged {
		p.info.Bytes += a.Bytes()
		if p.half {
			kept, _ := a.PairedBytes(width, 1)
			p.info.Bytes += kept
		}
	}
	radii := m.blockRadii()
	p.info.Precision = Float32
	if opt.Precision == BFloat16 && opt.Algorithm == layers.Auto &&
		!slices.ContainsFunc(radii, func(r float64) bool { return r != radii[0] }) {
		if p.blocks = layers.PlanBlocks(m.blocks, arranged[radii[0]]); p.blocks != nil {
			p.info.Precision = BFloat16
		}
	}
	if err := p.share(embed.Flat(), opt); err != nil {
		return err
	}
	p.turn = make(chan struct{}, p.info.Concurrency)
	left := max(opt.Memory-p.info.Bytes-int64(p.info.Concurrency)*p.info.CallBytes, 0)
	half := p.half
	// planned counts what a layer keeps.
	planned := func(a *layers.Arrangement[T], kept layers.Kept) {
		p.info.WeightBytes += kept.Bytes
		p.info.Rounded = p.info.Rounded.Or(kept.Rounded)
		p.info.CallOps += kept.MulAdds
		p.info.Interpolated = p.info.Interpolated || kept.Interpolated
		if kept.Evaluations == 0 {
			p.info.Stored++
		} else {
			p.info.Evaluated++
		}
		if !a.Flat() {
			left -= kept.Bytes
		}
	}
	keep := storage(left, layers.StorageBytes(embed, m.psi.WeightNet.Out(), half), half, stop)
	keep.File = file
	p.embedding = m.psi.PlanEmbedding(embed, keep, 2, m.first)
	planned(embed, p.embedding.Kept())
	rows := float64(p.rows)
	p.info.ImageOps = float64(embed.Pairs()*2*m.psi.Linear.In) + rows*float64(2*m.psi.Linear.In*width)
	all := int64(0)
	for _, block := range m.blocks {
		for _, conv := range block.Conv {
			all += layers.StorageBytes(arranged[conv.Depthwise.Radius()], width, half)
		}
	}
	keep = storage(left, all, half, stop)
	keep.File, keep.BF16Dense = file, half && opt.Algorithm == layers.Auto && embed.Flat()
	made := make([]*layers.PlannedSeparable[T], 2*len(m.blocks))
	if p.blocks != nil {
		made = nil
	}
	one := func(i, _ int) {
		if conv := m.blocks[i/2].Conv[i%2]; !stop() && (file == nil || file.Err() == nil) {
			made[i] = conv.Plan(arranged[conv.Depthwise.Radius()], keep)
		}
	}
	if embed.Flat() && file == nil { // the weights of a layer are too few for several goroutines
		parallel.For(len(made), 1, one)
	} else {
		for i := range made {
			one(i, i+1)
		}
	}
	if file != nil && file.Err() != nil {
		return file.Err()
	}
	if err := ctx.Err(); err != nil {
		return err // a layer that was stopped lacks weights
	}
	if p.blocks != nil {
		p.info.WeightBytes += p.blocks.Bytes()
		p.info.Stored += len(radii)
		p.info.Rounded = layers.Rounded{Weights: true, Features: true, Dense: true}
	}
	for i, r := range radii {
		a := arranged[r]
		if p.blocks == nil {
			planned(a, made[i].Kept())
			p.conv = append(p.conv, made[i])
		}
		p.layout = a
		p.info.ImageOps += float64(a.Pairs()*width) + rows*float64(width*width)
		p.info.Pairs, p.info.Poses, p.info.Flat, p.info.Algorithm = a.Pairs(), a.Poses(), a.Flat(), a.Algorithm()
	}
	p.slabs = p.k == 1 && p.rank == nil && p.embedding.Slabs() && len(p.conv) > 0
	for _, conv := range p.conv {
		p.slabs = p.slabs && conv.Slabs()
	}
	p.last = m.last.Plan()
	p.family = m.family.clone()
	p.info.ImageOps += float64(p.outputs() * width * m.last.Out)
	p.info.Rows = p.rows
	p.info.Bytes += p.info.WeightBytes
	p.widen(opt)
	if !opt.Soft {
		debug.FreeOSMemory() // what the making left lies in pieces, and would come on top of the large arrays of calls
	}
	return nil
}

// windowing is the window of balls of radius r, nil where it is a box.
func (m *ImageEquivCNP[T]) windowing(r float64) *layers.Windowing {
	if m.cfg.Window == "" || m.cfg.Window == layers.WindowBox {
		return nil
	}
	return &layers.Windowing{Window: m.cfg.Window, Group: m.group, Radius: r}
}

// algorithmOf is the algorithm for the neighbourhood of a radius; depthwise are the radii of separable convolutions.
func algorithmOf(r float64, depthwise []float64, opt PlanOptions) layers.Algorithm {
	switch {
	case slices.Contains(depthwise, r):
		return opt.Algorithm
	case opt.Algorithm == layers.Direct:
		return layers.NoDepthwise
	}
	return layers.TransformsOnly
}

// arrangeGrid is arrange, and the search before it, where all neighbourhoods follow from the grid that the points stand
// on. Otherwise it returns nil.
func (m *ImageEquivCNP[T]) arrangeGrid(queries, points *group.Lifted, depthwise []float64,
	opt PlanOptions) map[float64]*layers.Arrangement[T] {
	if queries != points || m.cfg.MaxNeighbors > 0 {
		return nil
	}
	arranged := map[float64]*layers.Arrangement[T]{}
	for _, r := range append([]float64{m.psi.Radius()}, depthwise...) {
		if arranged[r] != nil {
			continue
		}
		if m.windowing(r) != nil {
			return nil
		}
		if arranged[r] = layers.ArrangeGrid[T](points, r, algorithmOf(r, depthwise, opt)); arranged[r] == nil {
			return nil
		}
	}
	return arranged
}

// arrange arranges the neighbourhood of each radius; depthwise are the radii of separable convolutions. Where memory is limited, it goes
// from one to the next and lets go of what it has arranged, since a neighbourhood is as large as its arrangement.
func (m *ImageEquivCNP[T]) arrange(near map[float64]*neighbor.Neighborhood, order []int32, flat bool, depthwise []float64, stop func() bool,
	opt PlanOptions) (map[float64]*layers.Arrangement[T], error) {
	distinct := slices.Sorted(maps.Keys(near))
	slices.Reverse(distinct)
	made := make([]*layers.Arrangement[T], len(distinct))
	one := func(i, _ int) {
		r := distinct[i]
		made[i] = layers.Arrange[T](near[r], order, flat, algorithmOf(r, depthwise, opt), m.windowing(r), stop)
	}
	if opt.Soft {
		parallel.For(len(distinct), 1, one)
	} else {
		live := int64(0)
		for _, n := range near {
			live += n.Bytes()
		}
		for i, r := range distinct {
			if need := live + near[r].Bytes(); need > opt.Memory {
				return nil, fmt.Errorf("%w: neighbourhoods take %v while they are arranged, the limit is %v", ErrMemory,
					Bytes(need), Bytes(opt.Memory))
			}
			runtime.GC()
			one(i, i+1)
			if stop() {
				return nil, nil
			}
			live += made[i].Bytes() - near[r].Bytes()
			delete(near, r)
		}
		runtime.GC()
	}
	if !flat && !stop() {
		layers.Agree(made)
	}
	arranged := map[float64]*layers.Arrangement[T]{}
	for i, r := range distinct {
		arranged[r] = made[i]
	}
	return arranged, nil
}

// share decides how many calls compute at a time, and how many images each of them takes at a time, within the memory that the
// neighbourhoods leave.
func (p *ImagePlan[T]) share(flat bool, opt PlanOptions) error {
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

// mostImages is how many images a call may ever take at a time.
func (p *ImagePlan[T]) mostImages() int { return int(max(1, runBytes/p.imageBytes())) }

// callBytes is what a call needs that takes so many images at a time.
func (p *ImagePlan[T]) callBytes(images int) int64 {
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

// widen lets a call take more images at a time than its budget was made for, where that costs none of the memory that was promised.
func (p *ImagePlan[T]) widen(opt PlanOptions) {
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

// storage returns which share of that many bytes of weights fits into a budget.
func storage(left, all int64, half bool, stop func() bool) layers.Storage {
	return layers.Storage{Share: min(1, float64(left)/float64(max(all, 1))), BF16: half, Stop: stop}
}
