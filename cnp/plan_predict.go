package cnp

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// cached is how many images a call best takes through the layers at a time. Where few weights serve all images, a batch
// gains nothing from going through a layer together, but its features then come from memory instead of the second-level
// caches: on a CPU with 1 MB of these, batches of eight took a tenth longer, 64 x 64 and 28 x 28.
func (p *imagePlan[T]) cached() int {
	if !p.info.Flat || p.blocks != nil {
		return math.MaxInt
	}
	return max(1, workers()*cpu.DataCaches().L2/max(1, p.rows*p.cfg.Channels[0]*int(unsafe.Sizeof(T(0)))))
}

// imageRun is the memory of one call. Calls take it from the plan's pool.
type imageRun[T Float] struct {
	input, h, y []T
	ws          layers.Workspace[T]
	blocks      layers.BlocksWorkspace
	read        []readBuffers[T] // one per goroutine

	// The images of the call that are on their way, and the methods that goroutines run for them, bound once: handing them over
	// allocates nothing.
	plan      *imagePlan[T]
	dst       *Prediction[T]
	im        *Images[T]
	lo        int
	embedRows func(worker, lo, hi int)
	readRows  func(worker, chunk, _ int)
}

// readBuffers hold some rows on their way from features to the prediction.
type readBuffers[T Float] struct {
	lift, features, out []T
	value               []float64
}

// bytes returns the size of it.
func (r *imageRun[T]) bytes() int64 {
	n := cap(r.input) + cap(r.h) + cap(r.y)
	for _, b := range r.read {
		n += cap(b.lift) + cap(b.features) + cap(b.out)
	}
	return int64(n)*int64(unsafe.Sizeof(T(0))) + r.ws.Bytes() + r.blocks.Bytes()
}

// Predict is [ImagePlan.Predict].
func (p *imagePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	if err := p.predict(ctx, dst, tasks); err != nil {
		return err
	}
	return dst.finite(nil)
}

// predict is Predict, but that values may be NaN or infinite, where those observed are beyond what the network can compute with.
func (p *imagePlan[T]) predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	im, err := imagesOf[T](p.shape, tasks)
	if err != nil {
		return err
	}
	if err := im.check(p.cfg.DimY); err != nil {
		return err
	}
	switch h, w, grid := p.shape.Size(); {
	case grid && (im.H != h || im.W != w):
		return p.shape.refuse(im.Shape())
	case im.H*im.W != p.pixels():
		return fmt.Errorf("%w: the plan is for %d pixels, the images have %d x %d", ErrShape, p.pixels(), im.H, im.W)
	}
	want, ok := product(im.B, p.Values())
	if !ok {
		return fmt.Errorf("%w: %d images of %d values have more than can be counted", ErrShape, im.B, p.Values())
	}
	if err := dst.checkRoom("the batch of images", p.family.likelihood, want); err != nil {
		return err
	}
	dst.Likelihood = p.family.likelihood
	// Goroutines that wait to send are served in the order in which they came.
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	run := p.rent()
	defer p.giveBack(run)
	images := im.B * p.apart.parts()
	chunk := max(1, min(images, p.most, p.cached()))
	report, steps := progress(ctx), 1+len(p.conv)
	if p.blocks != nil {
		steps++
	}
	total := (images + chunk - 1) / chunk * steps
	for lo := 0; lo < images; lo += chunk {
		done := lo / chunk * steps
		if err := p.images(ctx, run, dst, im, lo, min(lo+chunk, images), func(i int) { report(done+i, total) }); err != nil {
			return err
		}
	}
	report(total, total)
	return p.intact()
}

// rent returns the memory of a call.
func (p *imagePlan[T]) rent() *imageRun[T] {
	if run := p.idle.Swap(nil); run != nil {
		return run
	}
	if run, ok := p.pool.Get().(*imageRun[T]); ok {
		return run
	}
	run := &imageRun[T]{plan: p}
	run.embedRows, run.readRows = run.embedSome, run.readSome
	return run
}

func (p *imagePlan[T]) giveBack(run *imageRun[T]) {
	run.dst, run.im = nil, nil // they belong to the caller
	if !p.idle.CompareAndSwap(nil, run) {
		p.pool.Put(run)
	}
}

// imageBytes is what one image of a call needs: its input and two sets of features, or one where blocks keep theirs.
func (p *imagePlan[T]) imageBytes() int64 {
	values := 2*p.cfg.Channels[0] + 2*p.cfg.DimY*p.cfg.Multiplicity
	if p.blocks != nil {
		values -= p.cfg.Channels[0]
	}
	return int64(p.rows) * int64(values) * int64(unsafe.Sizeof(T(0)))
}

// images predicts images lo to hi or, if images are divided, coarse images lo to hi.
func (p *imagePlan[T]) images(ctx context.Context, run *imageRun[T], dst *Prediction[T], im *Images[T], lo, hi int, step func(int)) error {
	b, width := hi-lo, p.cfg.Channels[0]
	in := 2 * p.cfg.DimY * p.cfg.Multiplicity
	run.input = reuse.Sized(run.input, b*p.rows*in)
	run.h = reuse.Sized(run.h, b*p.rows*width)
	if p.blocks == nil {
		run.y = reuse.Sized(run.y, b*p.rows*width)
	}
	run.dst, run.im, run.lo = dst, im, lo

	// Encoder, and the linear map that mixes density and signal.
	step(0)
	parallel.ForWorkers(b*p.n, embedGrain, workers(), run.embedRows)
	if err := run.embed(ctx, b); err != nil {
		return err
	}
	// Residual blocks.
	if p.blocks != nil {
		step(1)
		if err := p.blocks.Forward(ctx, any(run.h).([]float32), b, &run.blocks); err != nil {
			return err
		}
	}
	for i, conv := range p.conv {
		step(i + 1)
		from, to := run.h, run.y
		if i%2 == 1 {
			from, to = to, from
		}
		if err := run.convolve(ctx, conv, to, from, b, i%2 == 1); err != nil {
			return err
		}
	}
	threads := workers()
	for len(run.read) < threads {
		run.read = append(run.read, readBuffers[T]{make([]T, width), make([]T, readGrain*width),
			make([]T, readGrain*p.family.numbers()*p.cfg.DimY), p.family.buffer()})
	}
	parallel.ForWorkers(b*p.readChunks(), 1, threads, run.readRows)
	return ctx.Err()
}

// embed computes the features h of the embedding.
func (r *imageRun[T]) embed(ctx context.Context, batch int) error {
	if r.plan.slabs {
		return r.plan.embedding.ForwardSlabs(ctx, r.h, r.input, batch, &r.ws)
	}
	return r.plan.embedding.Forward(ctx, r.h, r.input, batch, &r.ws)
}

// convolve returns a layer's Forward.
func (r *imageRun[T]) convolve(ctx context.Context, l *layers.PlannedSeparable[T], dst, f []T, batch int, add bool) error {
	if r.plan.slabs {
		return l.ForwardSlabs(ctx, dst, f, batch, add, &r.ws)
	}
	return l.Forward(ctx, dst, f, batch, add, &r.ws)
}

// row returns the plan's row of lift 0 of a point or, with n added, of a target; rank says where the other lifts are.
func (p *imagePlan[T]) row(i, lift int) int {
	r := i*p.k + lift
	if p.rank != nil {
		return int(p.rank[r])
	}
	return r
}

// embedGrain is how many points a goroutine embeds at a time: some microseconds.
const embedGrain = 512

// embedSome sets input [b, rows, 2, K, c] to density (the mask) and signal (the powers of the observed values) at points from ..
// to-1 of all images. Unobserved values are never read. The rows of targets are not set: they are never read.
func (r *imageRun[T]) embedSome(_, from, to int) {
	p, im := r.plan, r.im
	n, c, pixels, parts := p.n, im.C*p.cfg.Multiplicity, p.pixels(), p.apart.parts()
	for i := from; i < to; i++ {
		b, point := i/n, i%n
		image, pixel := (r.lo+b)/parts, p.apart.pixel((r.lo+b)%parts, point)
		for l := range p.k {
			row := r.input[(b*p.rows+p.row(point, l))*2*c:][:2*c]
			if pixel < 0 || !im.Mask[image*pixels+pixel] {
				clear(row)
				continue
			}
			for ch := range im.C {
				v, power := im.Pixels[(image*im.C+ch)*pixels+pixel], T(1)
				for k := range p.cfg.Multiplicity {
					power *= v
					row[k*im.C+ch], row[c+k*im.C+ch] = 1, power
				}
			}
		}
	}
}

// readGrain is how many places are read at a time.
const readGrain = 256

func (p *imagePlan[T]) readChunks() int { return (p.outputs() + readGrain - 1) / readGrain }

// readSome maps the features of some wanted rows of an image to mean and standard deviation.
func (r *imageRun[T]) readSome(worker, i, _ int) {
	p, buf := r.plan, &r.read[worker]
	width, c, outs, first := p.cfg.Channels[0], p.cfg.DimY, p.outputs(), 0
	if p.m > 0 {
		first = p.n
	}
	b, from := i/p.readChunks(), i%p.readChunks()*readGrain
	to := min(from+readGrain, outs)
	y := buf.out[:(to-from)*p.family.numbers()*c]
	h := r.h[b*p.rows*width : (b+1)*p.rows*width]
	switch {
	case p.slabs:
		f := buf.features[:(to-from)*width]
		layers.GatherSlabs(f, h, width, first+from, first+to)
		p.last.Forward(y, f, to-from)
	case p.layout.Flat() && p.rank == nil && p.k == 1:
		p.last.Forward(y, h[(first+from)*width:(first+to)*width], to-from)
	default:
		// The mean of a point's lifts.
		row, mean := buf.lift, buf.features[:(to-from)*width]
		for t := from; t < to; t++ {
			p.meanLift(mean[(t-from)*width:][:width], row, h, first+t)
		}
		p.last.Forward(y, mean, to-from)
	}
	if p.apart.Stride > 0 {
		r.scatter(y, buf.value, b, from)
		return
	}
	for ch := range c {
		at := ((r.lo+b)*c+ch)*outs + from
		var seen seenPixels[T]
		if p.family.noise > 0 && p.m == 0 {
			image := (r.lo + b) * p.n
			seen = seenPixels[T]{r.im.Pixels[at : at+to-from], r.im.Mask[image+from : image+to]}
		}
		p.family.link.channel(&p.family, r.dst, at, ch, y, seen, buf.value)
	}
}

// scatter sets the prediction for rows y from point from on of coarse image b, whose pixels lie apart.
func (r *imageRun[T]) scatter(y []T, buffer []float64, b, from int) {
	p := r.plan
	c, pixels, parts := p.cfg.DimY, p.pixels(), p.apart.parts()
	image, part := (r.lo+b)/parts, (r.lo+b)%parts
	row := c * p.family.numbers()
	for t := range len(y) / row {
		pixel := p.apart.pixel(part, from+t)
		if pixel < 0 {
			continue
		}
		for ch := range c {
			at := (image*c+ch)*pixels + pixel
			var seen seenPixels[T]
			if p.family.noise > 0 {
				seen = seenPixels[T]{r.im.Pixels[at : at+1], r.im.Mask[image*pixels+pixel:][:1]}
			}
			p.family.link.channel(&p.family, r.dst, at, ch, y[t*row:(t+1)*row], seen, buffer)
		}
	}
}

// meanLift sets m to the mean of the features f of a point's lifts; row is scratch.
func (p *imagePlan[T]) meanLift(m, row, f []T, point int) {
	p.layout.Gather(m, f, p.row(point, 0))
	for l := 1; l < p.k; l++ {
		p.layout.Gather(row, f, p.row(point, l))
		simd.Add(m, m, row)
	}
	if p.k > 1 {
		simd.Scale(m, 1/T(p.k), m)
	}
}
