package cnp

import (
	"context"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/image"
	"github.com/equivcnp/equivcnp/layers"
)

// pixelRun predicts single pixels of images of which more and more is observed. It keeps the features of every layer, and knows for each
// pixel whether they are out of date. A pixel that is observed puts those out of date that depend on it; a pixel that is asked for has
// those computed again on which it depends, as far as they are out of date. What a pixel depends on, layer by layer, is a patch around it.
//
// It is for flat arrangements, whose rows are those of a pixel grid, and for images that observe the same pixels.
// Predictions have the bits of ImagePlan.Predict. Its plan must sum over pairs: of a sum by transforms, all pixels of
// the rows that a ball reaches decide how it is rounded.
type pixelRun[T Float] struct {
	plan   *imagePlan[T]
	im     *Images[T]
	layers [][]T // features [images, rows, width]: the embedding, and what each convolution makes of it
	// uses is the patch of pixels on which a pixel's last features depend, layer by layer, and used those that depend on an input.
	uses, used []image.Patch
	stale      []image.Set // of each layer
	need       image.Set

	input    imageRun[T]
	ws       layers.Workspace[T]
	runs     []layers.RowRun
	row      []T
	computed int // rows so far, of all layers
}

// stepwise reports whether pixelRun can be used for images of that size.
func (p *imagePlan[T]) stepwise(h, w int) bool {
	return p.layout != nil && p.layout.Flat() && p.m == 0 && p.apart.Stride == 0 && p.n == h*w
}

// transforms reports whether any layer goes by transforms.
func (p *imagePlan[T]) transforms() bool {
	for _, a := range p.arranged {
		if a.Algorithm() == layers.Transforms {
			return true
		}
	}
	return false
}

// patches returns the pixels that a pixel's features depend on: first in the embedding, then in each convolution.
func (p *imagePlan[T]) patches(w int) []image.Patch {
	p.near.Lock()
	defer p.near.Unlock()
	if p.near.patches != nil {
		return p.near.patches
	}
	pixel := make([]int32, p.rows) // of every row
	for i := range p.n {
		for l := range p.k {
			pixel[p.row(i, l)] = int32(i)
		}
	}
	known := map[*layers.Arrangement[T]]image.Patch{}
	of := func(a *layers.Arrangement[T]) image.Patch {
		if q, ok := known[a]; ok {
			return q
		}
		h := p.n / w
		q := image.Patch{Above: h - 1, Lo: slices.Repeat([]int{w}, 2*h-1), Hi: slices.Repeat([]int{-w}, 2*h-1)}
		q.Lo[q.Above], q.Hi[q.Above] = 0, 0
		for i := range a.Rows {
			y, x := int(pixel[i])/w, int(pixel[i])%w
			for _, j := range a.Row(i) {
				k, dx := int(pixel[j])/w-y+q.Above, int(pixel[j])%w-x
				q.Lo[k], q.Hi[k] = min(q.Lo[k], dx), max(q.Hi[k], dx)
			}
		}
		known[a] = q.Trim()
		return known[a]
	}
	out := []image.Patch{of(p.embedding.Arrangement())}
	for _, c := range p.conv {
		out = append(out, of(c.Arrangement()))
	}
	p.near.patches = out
	return out
}

// newPixelRun takes images, which may change where their pixels become observed.
func (p *imagePlan[T]) newPixelRun(im *Images[T]) *pixelRun[T] {
	width, near := p.cfg.Channels[0], p.patches(im.W)
	r := &pixelRun[T]{plan: p, im: im, need: image.NewSet(im.H, im.W), row: make([]T, width)}
	n := len(near)
	r.uses, r.used = make([]image.Patch, n), make([]image.Patch, n)
	r.uses[n-1], r.used[0] = image.Here, near[0].Back()
	for i := n - 2; i >= 0; i-- {
		r.uses[i] = r.uses[i+1].Then(near[i+1])
	}
	for i := 1; i < n; i++ {
		r.used[i] = r.used[i-1].Then(near[i].Back())
	}
	for range near {
		r.layers = append(r.layers, make([]T, im.B*p.rows*width))
		all := image.NewSet(im.H, im.W)
		all.Fill()
		r.stale = append(r.stale, all)
	}
	r.input = imageRun[T]{plan: p, im: im, input: make([]T, im.B*p.rows*2*p.cfg.DimY*p.cfg.Multiplicity)}
	r.input.embedSome(0, 0, im.B*p.n)
	return r
}

// predict implements pixelPredictor.
func (r *pixelRun[T]) predict(ctx context.Context, pixels, news []int32) (*Prediction[T], error) {
	p, im := r.plan, r.im
	for _, at := range news {
		for b := range im.B {
			r.input.embedSome(0, b*p.n+int(at), b*p.n+int(at)+1)
		}
		for i := range r.stale {
			r.stale[i].Add(int(at), r.used[i])
		}
	}
	for i, dst := range r.layers {
		r.need.Clear()
		for _, at := range pixels {
			r.need.Add(int(at), r.uses[i])
		}
		runs := r.rows(&r.stale[i])
		for _, run := range runs {
			r.computed += run.Hi - run.Lo
		}
		if len(runs) == 0 {
			continue
		}
		var err error
		switch {
		case i == 0:
			err = p.embedding.ForwardRows(ctx, dst, r.input.input, im.B, runs, &r.ws)
		case i%2 == 1:
			err = p.conv[i-1].ForwardRows(ctx, dst, r.layers[i-1], nil, im.B, runs, &r.ws)
		default:
			err = p.conv[i-1].ForwardRows(ctx, dst, r.layers[i-1], r.layers[i-2], im.B, runs, &r.ws)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.intact(); err != nil {
		return nil, err
	}
	return r.read(pixels), ctx.Err()
}

// Rows are computed eight at a time where they begin at a multiple of eight, and a goroutine takes at most stepRows.
const stepRows = 64

// rows returns the plan's rows of the needed pixels that are out of date, and takes them from those. Runs of rows are longer than those
// of pixels, since rows beside those that are wanted come for nothing; they remain out of date if they were.
func (r *pixelRun[T]) rows(stale *image.Set) []layers.RowRun {
	p := r.plan
	pixels := stale.Take(r.runs[:0], &r.need)
	runs, first := pixels, len(pixels)
	for l := range p.k {
		for i := range first {
			lo := p.row(pixels[i].Lo, l)
			hi := min((lo+pixels[i].Hi-pixels[i].Lo+7)&^7, p.rows)
			lo &^= 7
			for lo < hi {
				if last := &runs[len(runs)-1]; len(runs) > first && lo < last.Hi {
					lo = last.Hi
					continue
				}
				to := min(hi, (lo/stepRows+1)*stepRows)
				runs = append(runs, layers.RowRun{Lo: lo, Hi: to})
				lo = to
			}
		}
	}
	r.runs = runs
	return runs[first:]
}

// read returns the prediction [images, channels, pixels] at pixels whose features are up to date.
func (r *pixelRun[T]) read(pixels []int32) *Prediction[T] {
	p, im := r.plan, r.im
	width, c, n, h := p.cfg.Channels[0], p.cfg.DimY, len(pixels), r.layers[len(r.layers)-1]
	numbers := p.family.numbers()
	mean, y, buffer := make([]T, n*width), make([]T, n*numbers*c), p.family.buffer()
	dst := p.family.newPrediction(im.B * c * n)
	for b := range im.B {
		f := h[b*p.rows*width : (b+1)*p.rows*width]
		for i, at := range pixels {
			p.meanLift(mean[i*width:(i+1)*width], r.row, f, int(at))
		}
		p.last.Forward(y, mean, n)
		for ch := range c {
			to := (b*c + ch) * n
			p.family.link.channel(&p.family, dst, to, ch, y, seenPixels[T]{}, buffer)
		}
	}
	return dst
}
