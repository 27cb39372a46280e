package cnp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// Paint sets a canvas [c, side, side] and its mask to the pixels [c, h, w] that are observed and lie on it: a cell is
// the mean of those in it.
func Paint[T Float](v *View, canvas []T, seen []bool, pixels []T, mask []bool, c, h, w int) {
	instance[func(*View, []T, []bool, []T, []bool, int, int, int)](&paintInstances)(v, canvas, seen, pixels, mask, c, h, w)
}

var paintInstances = instances{paint[float32], paint[float64]}

func paint[T Float](v *View, canvas []T, seen []bool, pixels []T, mask []bool, c, h, w int) {
	n := v.Side * v.Side
	clear(canvas[:c*n])
	clear(seen[:n])
	sum, count := make([]float64, c*n), make([]float64, n) // in float64, so that the pixels' order makes no difference
	for p, ok := range mask[:h*w] {
		if !ok {
			continue
		}
		y, x := v.At(float64(p/w)+0.5-float64(h)/2, float64(p%w)+0.5-float64(w)/2)
		if !(y >= 0 && x >= 0 && y < float64(v.Side) && x < float64(v.Side)) {
			continue
		}
		at := int(y)*v.Side + int(x)
		seen[at], count[at] = true, count[at]+1
		for ch := range c {
			sum[ch*n+at] += float64(pixels[ch*h*w+p])
		}
	}
	for at, k := range count {
		for ch := range c {
			if k > 0 {
				canvas[ch*n+at] = T(sum[ch*n+at] / k)
			}
		}
	}
}

// viewReader says how a view's cells make up the pixels of an image: pixel p is the sum over k of weight[k] times
// cell[k], k from from[p] to from[p+1].
type viewReader struct {
	from   []int32
	cell   []int32
	weight []float64
}

// newViewReader reads pixels in one place or, where a pixel is wider than three quarters of a cell, as the mean of
// four; between cells' middles linearly.
func newViewReader(v *View, h, w int) *viewReader {
	r := &viewReader{from: make([]int32, 1, h*w+1)}
	places := []float64{0}
	if 1/(v.Scale*v.Cell) > 0.75 {
		places = []float64{-0.25, 0.25}
	}
	for p := range h * w {
		first := len(r.cell)
		for _, dy := range places {
			for _, dx := range places {
				y, x := v.At(float64(p/w)+0.5+dy-float64(h)/2, float64(p%w)+0.5+dx-float64(w)/2)
				y, x = min(max(y-0.5, 0), float64(v.Side-1)), min(max(x-0.5, 0), float64(v.Side-1))
				y0, x0 := min(int(y), v.Side-2), min(int(x), v.Side-2)
				fy, fx := y-float64(y0), x-float64(x0)
				for k, weight := range [4]float64{(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx} {
					cell, part := int32((y0+k/2)*v.Side+x0+k%2), weight/float64(len(places)*len(places))
					if i := slices.Index(r.cell[first:], cell); i >= 0 {
						r.weight[first+i] += part
					} else if part > 0 {
						r.cell, r.weight = append(r.cell, cell), append(r.weight, part)
					}
				}
			}
		}
		r.from = append(r.from, int32(len(r.cell)))
	}
	return r
}

// readPixel is pixel p of an image, by one channel of the canvas.
func readPixel[T Float](r *viewReader, p int, canvas []T) (v float64) {
	for k := r.from[p]; k < r.from[p+1]; k++ {
		v += r.weight[k] * float64(canvas[r.cell[k]])
	}
	return v
}

// ImageViews is a model of images under Sim(2) that looks at an image in several Views.
type ImageViews[T Float] struct {
	cfg  Config
	sim  *group.Sim2
	base *ImageEquivCNP[T]

	plans planCache[T, *ViewsPlan[T]]
}

func newImageViews[T Float](c Config, g group.Group, seed uint64) (*ImageViews[T], error) {
	flat := c.viewsBase()
	if err := flat.Validate(); err != nil {
		return nil, err
	}
	plane, err := flat.group()
	if err != nil {
		return nil, err
	}
	base, err := newImageEquivCNP[T](flat, plane, newRand(seed))
	if err != nil {
		return nil, err
	}
	return &ImageViews[T]{cfg: c, sim: g.(*group.Sim2), base: base}, nil
}

// Config returns the model's configuration.
func (m *ImageViews[T]) Config() Config { return m.cfg }

// State lists the parameters, which are those of its network.
func (m *ImageViews[T]) State() []layers.Param[T] { return m.base.State() }

// Network returns the model that sees the views, and is trained: a model of images under translations that shares the parameters.
func (m *ImageViews[T]) Network() *ImageEquivCNP[T] { return m.base }

// ViewsPlan is an ImageViews compiled for images of one size. It is immutable, safe for concurrent use, and keeps the
// parameters that the model had.
type ViewsPlan[T Float] struct {
	cfg     Config
	shape   Shape
	h, w    int
	scales  []*imagePlan[T] // one for the views of each scale, which have canvases of one size
	views   []View          // [scales, angles]
	readers []*viewReader
}

// Plan compiles the model for images, which are predicted at their pixels. The plans of the scales share Memory.
func (m *ImageViews[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return asPlan[T](m.planShape(ctx, s, opt))
}

func (m *ImageViews[T]) planShape(ctx context.Context, s Shape, opt PlanOptions) (*ViewsPlan[T], error) {
	if err := s.checkPixels(&m.cfg, false); err != nil {
		return nil, err
	}
	h, w, scales := s.h, s.w, m.sim.Scales()
	p := &ViewsPlan[T]{cfg: m.cfg, shape: s, h: h, w: w, views: m.cfg.canvases(scales, h, w)}
	for _, v := range p.views {
		if v.Side > mostCells/v.Side {
			return nil, fmt.Errorf("%w: %d x %d pixels at scale %.3g are a canvas of %d x %d cells, more than %d", ErrMemory, h,
				w, v.Scale, v.Side, v.Side, mostCells)
		}
	}
	if opt.Memory > 0 {
		opt.Memory /= int64(scales)
	}
	for s := range scales {
		side := p.views[s*m.cfg.Lifts/scales].Side
		plan, err := m.base.planGeometry(ctx, Grid(side, side), opt)
		if err != nil {
			return nil, err
		}
		p.scales = append(p.scales, plan)
	}
	for i := range p.views {
		p.readers = append(p.readers, newViewReader(&p.views[i], h, w))
	}
	return p, nil
}

// Shape returns the shape of the images.
func (p *ViewsPlan[T]) Shape() Shape { return p.shape }

// NewPrediction returns a prediction with room for images.
func (p *ViewsPlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	return newPrediction[T](Normal, valuesOf[T](tasks, p.cfg.DimY, p.h*p.w))
}

// Info adds up what the plans of the scales say. ImageOps are those of an image that all views see.
func (p *ViewsPlan[T]) Info() PlanInfo {
	all := PlanInfo{Precision: p.scales[0].info.Precision, Algorithm: p.scales[0].info.Algorithm, Flat: true}
	views := float64(len(p.views) / len(p.scales))
	for _, plan := range p.scales {
		i := plan.info
		all.Rows, all.Pairs, all.Poses, all.Flat = all.Rows+i.Rows, all.Pairs+i.Pairs, all.Poses+i.Poses, all.Flat && i.Flat
		all.Stored, all.Evaluated, all.Rounded = all.Stored+i.Stored, all.Evaluated+i.Evaluated, all.Rounded.Or(i.Rounded)
		all.WeightBytes, all.Bytes, all.CallBytes = all.WeightBytes+i.WeightBytes, all.Bytes+i.Bytes, max(all.CallBytes, i.CallBytes)
		all.ImageOps, all.CallOps = all.ImageOps+3*views*i.ImageOps, all.CallOps+i.CallOps
		all.Concurrency, all.File, all.FileErr = max(all.Concurrency, i.Concurrency), i.File, errors.Join(all.FileErr, i.FileErr)
	}
	return all
}

// Complete predicts every pixel from the observed ones. The first call for an image size makes a plan, which later
// calls use as long as the parameters do not change.
func (m *ImageViews[T]) Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	out := m.base.family.newPrediction(len(im.Pixels))
	if im.B == 0 {
		return out, ctx.Err()
	}
	shape, opt := Pixels(im.H, im.W), implicitPlan(layers.Auto, cmp.Or(m.base.opt.Precision, Float32))
	p, err := m.plans.get(ctx, m.State(), shape, opt, func() (*ViewsPlan[T], error) { return m.planShape(ctx, shape, opt) })
	if err != nil {
		return nil, err
	}
	return out, p.Predict(ctx, out, im)
}

// Predict sets dst to the prediction of a batch of [Images]. An image's result does not depend on the rest of the batch.
func (p *ViewsPlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	im, err := imagesOf[T](p.shape, tasks)
	if err != nil {
		return err
	}
	if err := im.check(p.cfg.DimY); err != nil {
		return err
	}
	if im.H != p.h || im.W != p.w {
		return p.shape.refuse(im.Shape())
	}
	if err := dst.checkRoom("the batch of images", Normal, len(im.Pixels)); err != nil {
		return err
	}
	dst.Likelihood = Normal
	report, n := progress(ctx), im.C*im.H*im.W
	quiet := WithProgress(ctx, func(int, int) {})
	for b := range im.B {
		one := &Images[T]{B: 1, C: im.C, H: im.H, W: im.W, Pixels: im.Pixels[b*n : (b+1)*n], Mask: im.Mask[b*im.H*im.W : (b+1)*im.H*im.W]}
		if err := p.one(quiet, dst.Mean[b*n:(b+1)*n], dst.Std[b*n:(b+1)*n], one); err != nil {
			return err
		}
		report(b+1, im.B)
	}
	return dst.finite(nil)
}

// parity divides an image's pixels in two halves like a chessboard's squares: quarter turns and shifts leave or exchange them.
func parity(p, w int) int { return (p/w + p%w) % 2 }

// one predicts one image.
func (p *ViewsPlan[T]) one(ctx context.Context, mean, std []T, im *Images[T]) error {
	var halves [2]*Images[T]
	for f := range halves {
		half := *im
		half.Mask = slices.Clone(im.Mask)
		for i := range half.Mask {
			half.Mask[i] = half.Mask[i] && parity(i, im.W) == f
		}
		halves[f] = &half
	}
	all := make([]int, len(p.views))
	for i := range all {
		all[i] = i
	}
	evidence, n := make([]float64, len(p.views)), im.H*im.W
	for f, half := range halves {
		err := p.look(ctx, half, all, func(view int, m, s []T) {
			cells := len(m) / im.C
			for i, ok := range im.Mask {
				if !ok || parity(i, im.W) == f {
					continue
				}
				for ch := range im.C {
					mu, sd := readPixel(p.readers[view], i, m[ch*cells:]), readPixel(p.readers[view], i, s[ch*cells:])
					evidence[view] += normalLog(float64(im.Pixels[ch*n+i]), mu, sd)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	best, sum := slices.Max(evidence), 0.0
	var chosen []int
	weight := make([]float64, len(p.views))
	for i, e := range evidence {
		if weight[i] = math.Exp(p.cfg.Views.Trust * (e - best)); weight[i] >= leastWeight {
			chosen, sum = append(chosen, i), sum+weight[i]
		}
	}
	if !(sum > 0) {
		return fmt.Errorf("%w: the predictions of all views: values of the context, or parameters of the model, are beyond "+
			"what it can compute with", ErrValue)
	}
	first, second := make([]float64, im.C*n), make([]float64, im.C*n)
	err := p.look(ctx, im, chosen, func(view int, m, s []T) {
		cells := len(m) / im.C
		for i := range im.C * n {
			mu, sd := readPixel(p.readers[view], i%n, m[i/n*cells:]), readPixel(p.readers[view], i%n, s[i/n*cells:])
			// a cell is wider than the pixel, and knows its mean only; without a noise nothing says how far the pixel
			// is to be believed
			if noise := p.cfg.Floor; im.Mask[i%n] && noise > 0 {
				mu, sd = likelihood.Observed(mu, sd, float64(im.Pixels[i]), noise)
			}
			first[i] += weight[view] / sum * mu
			second[i] += weight[view] / sum * (sd*sd + mu*mu)
		}
	})
	for i, v := range first {
		mean[i], std[i] = T(v), T(max(math.Sqrt(max(second[i]-v*v, 0)), p.cfg.Floor))
	}
	return err
}

// leastWeight is what a view's weight must have beside the best one's for its prediction to be computed.
const leastWeight = 1e-3

func normalLog(y, mean, std float64) float64 {
	z := (y - mean) / std
	return -0.5*z*z - math.Log(std) - 0.5*math.Log(2*math.Pi)
}

// look calls f for each of the chosen views with the network's prediction [c, side, side] on its canvas, in their order.
func (p *ViewsPlan[T]) look(ctx context.Context, im *Images[T], chosen []int, f func(view int, mean, std []T)) error {
	per := len(p.views) / len(p.scales)
	for s, plan := range p.scales {
		var now []int
		for _, i := range chosen {
			if i/per == s {
				now = append(now, i)
			}
		}
		side := p.views[s*per].Side
		n := side * side
		for some := range slices.Chunk(now, max(1, viewCells/n)) {
			k := len(some)
			canvas := &Images[T]{B: k, C: im.C, H: side, W: side, Pixels: make([]T, k*im.C*n), Mask: make([]bool, k*n)}
			for j, i := range some {
				paint(&p.views[i], canvas.Pixels[j*im.C*n:(j+1)*im.C*n], canvas.Mask[j*n:(j+1)*n], im.Pixels, im.Mask, im.C, im.H, im.W)
			}
			out := &Prediction[T]{Mean: make([]T, len(canvas.Pixels)), Std: make([]T, len(canvas.Pixels)), Likelihood: Normal}
			if err := plan.predict(ctx, out, canvas); err != nil {
				return err
			}
			for j, i := range some {
				f(i, out.Mean[j*im.C*n:(j+1)*im.C*n], out.Std[j*im.C*n:(j+1)*im.C*n])
			}
		}
	}
	return nil
}

func (m *ImageViews[T]) with(opt Options) (Model[T], error) {
	sweepPlans(opt.Plans)
	base := m.base.view()
	base.opt = opt
	return &ImageViews[T]{cfg: m.cfg, sim: m.sim, base: base}, nil
}

func (m *ImageViews[T]) lieGroup() group.Group { return m.sim }
