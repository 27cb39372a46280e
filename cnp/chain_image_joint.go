package cnp

import (
	"context"

	"github.com/equivcnp/equivcnp/cnp/chain"
)

// imageJoint predicts the pixels of an image, each given the true values y [C, H·W] of those before it.
type imageJoint[T Float] struct {
	*imageChain[T]
	j *Joint[T]
	b int // the image
	y []T
}

// run takes the observed pixels first, given the context alone, and then the others in the order of the chain.
func (r *imageJoint[T]) run(ctx context.Context, opt SampleOptions) error {
	im := r.copies(r.b, 1)
	if err := r.observed(ctx, im); err != nil {
		return err
	}
	order, ends := r.order(r.b, opt)
	s, cheap, err := r.stepper(ctx, im)
	if err != nil {
		return err
	}
	if cheap {
		return r.steps(ctx, im, s, order, ends)
	}
	return r.wholes(ctx, order, ends)
}

// observed predicts the pixels that an image observes.
func (r *imageJoint[T]) observed(ctx context.Context, im *Images[T]) error {
	var seen []int32
	for i, ok := range im.Mask {
		if ok {
			seen = append(seen, int32(i))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	p, err := r.m.Complete(ctx, im)
	if err != nil {
		return err
	}
	n := im.H * im.W
	if err := r.note(ctx, p, seen, 0, func(ch, i int) int { return ch*n + int(seen[i]) }); err != nil {
		return err
	}
	r.done -= len(seen)
	return nil
}

// steps goes through blocks of pixels, which end there, one after the other.
func (r *imageJoint[T]) steps(ctx context.Context, im *Images[T], s pixelPredictor[T], order []int32, ends []int) error {
	var news []int32
	for k := range ends {
		lo, hi := chain.Block(ends, k)
		pixels := order[lo:hi]
		p, err := s.predict(ctx, pixels, news)
		if err != nil {
			return err
		}
		if err := r.note(ctx, p, pixels, lo, func(ch, i int) int { return ch*len(pixels) + i }); err != nil {
			return err
		}
		news = r.tell(im, 0, pixels)
	}
	return nil
}

// wholes predicts whole images, several at a time: what comes before each pixel is known in advance.
func (r *imageJoint[T]) wholes(ctx context.Context, order []int32, ends []int) error {
	n := r.im.H * r.im.W
	for first := 0; first < len(ends); {
		images := r.copies(r.b, min(taskChunk, len(ends)-first))
		for k := range images.B {
			lo, _ := chain.Block(ends, first+k)
			r.tell(images, k, order[:lo])
		}
		p, err := r.m.Complete(ctx, images)
		if err != nil {
			return err
		}
		for k := range images.B {
			lo, hi := chain.Block(ends, first+k)
			pixels := order[lo:hi]
			if err := r.note(ctx, p, pixels, lo, func(ch, i int) int { return (k*images.C+ch)*n + int(pixels[i]) }); err != nil {
				return err
			}
		}
		first += images.B
	}
	return nil
}

// tell sets pixels of an image to the truth, where all of it is known, and returns which these are.
func (r *imageJoint[T]) tell(im *Images[T], image int, pixels []int32) (news []int32) {
	n := im.H * im.W
	for _, at := range pixels {
		known := true
		for ch := range im.C {
			known = known && r.y[ch*n+int(at)] == r.y[ch*n+int(at)]
		}
		if !known {
			continue
		}
		for ch := range im.C {
			im.Pixels[(image*im.C+ch)*n+int(at)] = r.y[ch*n+int(at)]
		}
		im.Mask[image*n+int(at)] = true
		news = append(news, at)
	}
	return news
}

// note takes over the prediction of some pixels, value number place(channel, i) of p.
func (r *imageJoint[T]) note(ctx context.Context, p *Prediction[T], pixels []int32, before int, place func(ch, i int) int) error {
	n, channels, j := r.im.H*r.im.W, r.im.C, r.j
	for i, at := range pixels {
		for ch := range channels {
			own, from := ch*n+int(at), place(ch, i)
			j.take(r.b*channels*n+own, p, from)
			if r.y[own] != r.y[own] {
				continue
			}
			if err := p.usable(from, func() string { return describePixel(int(at), r.im.W, before) }); err != nil {
				return err
			}
			j.LogDensity[r.b*n+int(at)] += p.logDensity(from, r.y[own])
			j.values[r.b*n+int(at)]++
		}
	}
	r.done += len(pixels)
	r.report(min(r.done, r.total), r.total)
	return ctx.Err()
}
