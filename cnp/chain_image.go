package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/chain"
	"github.com/equivcnp/equivcnp/layers"
)

// ImagePredictor has what the chain rule needs of a model of images.
type ImagePredictor[T Float] interface {
	// Complete returns mean and standard deviation [B, C, H, W], as a Completer does.
	Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error)
}

// SampleImages completes each image several times, [S, B, C, H, W], by the chain rule: unobserved pixels are drawn one
// after another, observed ones stay as they are. With SampleOptions.Function all pixels are means given what was drawn,
// the observed ones too, and Knots are unobserved pixels that the seed picks. A sample depends on the image, the seed
// and the sample's number, bit for bit, and neither on the other images of a batch nor on the number of threads.
//
// A model under translations is not run anew for every pixel: of its features those are computed again which depend on a pixel that was
// drawn and which the next one depends on.
func SampleImages[T Float](ctx context.Context, m ImagePredictor[T], im *Images[T], opt SampleOptions) ([]T, error) {
	return instance[func(context.Context, ImagePredictor[T], *Images[T], SampleOptions) ([]T, error)](&sampleImagesInstances)(
		ctx, m, im, opt)
}

var sampleImagesInstances = instances{sampleImages[float32], sampleImages[float64]}

func sampleImages[T Float](ctx context.Context, m ImagePredictor[T], im *Images[T], opt SampleOptions) ([]T, error) {
	if e, ok := m.(*ImageEnsemble[T]); ok {
		return sampleByMember(len(e.members), opt,
			func(k int, own SampleOptions) ([]T, error) { return sampleImages(ctx, e.members[k], im, own) })
	}
	if err := checkImages(m, im, opt.Chain); err != nil {
		return nil, err
	}
	if err := checkSamples(&opt, im.B, len(im.Pixels)); err != nil {
		return nil, err
	}
	out := make([]T, opt.Samples*len(im.Pixels))
	n := im.H * im.W
	per := im.C * n
	c := imageChain[T]{m: m, im: im, report: progress(ctx)}
	for b := range im.B {
		c.total += c.length(b, opt) * opt.Samples
	}
	for b := range im.B {
		order, ends := c.order(b, opt)
		for lo, hi := 0, 0; lo < opt.Samples; lo = hi {
			hi = min(opt.Samples, lo+c.together())
			images := c.copies(b, hi-lo)
			if err := c.sample(quiet(ctx), images, opt, opt.SeedOf(b), order, ends, lo); err != nil {
				return nil, err
			}
			drawn := images.Pixels
			if opt.Function {
				p, err := m.Complete(quiet(ctx), images)
				if err != nil {
					return nil, err
				}
				drawn = p.Mean
			}
			for s := lo; s < hi; s++ {
				copy(out[(s*im.B+b)*per:][:per], drawn[(s-lo)*per:])
			}
		}
	}
	c.report(c.total, c.total)
	return out, ctx.Err()
}

// JointImages predicts each unobserved pixel given the observed ones and the true values y [B, C, H, W] of the pixels
// before it, and says how likely they are. Observed pixels are predicted given the context alone, as if they were seen
// once more. NaN is a missing value: it does not count, and no other pixel is told of its pixel.
func JointImages[T Float](ctx context.Context, m ImagePredictor[T], im *Images[T], y []T, order Chain) (*Joint[T], error) {
	return instance[func(context.Context, ImagePredictor[T], *Images[T], []T, Chain) (*Joint[T], error)](&jointImagesInstances)(
		ctx, m, im, y, order)
}

var jointImagesInstances = instances{jointImages[float32], jointImages[float64]}

func jointImages[T Float](ctx context.Context, m ImagePredictor[T], im *Images[T], y []T, order Chain) (*Joint[T], error) {
	if err := checkImages(m, im, order); err != nil {
		return nil, err
	}
	if len(y) != len(im.Pixels) {
		return nil, fmt.Errorf("%w: y has %d values, the images have %d", ErrShape, len(y), len(im.Pixels))
	}
	for i, v := range y {
		if math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%w: value %d of y = %v", ErrValue, i, v)
		}
	}
	n := im.H * im.W
	j := newJoint[T](len(y), im.B*n)
	if im.B == 0 {
		return j, ctx.Err()
	}
	c := imageChain[T]{m: m, im: im, report: progress(ctx)}
	opt := SampleOptions{Chain: order}
	for b := range im.B {
		c.total += c.length(b, opt)
	}
	for b := range im.B {
		c.report(c.done, c.total)
		one := imageJoint[T]{imageChain: &c, j: j, b: b, y: y[b*im.C*n : (b+1)*im.C*n]}
		if err := one.run(quiet(ctx), opt); err != nil {
			return nil, err
		}
	}
	c.report(c.total, c.total)
	return j, ctx.Err()
}

// checkImages refuses what the chain rule cannot go through.
func checkImages[T Float](m ImagePredictor[T], im *Images[T], order Chain) error {
	if m == nil {
		return errNoModel
	}
	if im == nil {
		return fmt.Errorf("%w: the images are nil", ErrShape)
	}
	if e, ok := m.(*ImageEquivCNP[T]); ok && e.opt.Precision == BFloat16 {
		return fmt.Errorf("%w: the chain rule computes in %s, and the model's precision is %s", ErrConfig, Float32, BFloat16)
	}
	channels := im.C
	if model, ok := m.(interface{ Config() Config }); ok {
		channels = model.Config().DimY
	}
	if err := im.check(channels); err != nil {
		return err
	}
	return order.Check(im.B)
}

// imageChain goes through the pixels of images.
type imageChain[T Float] struct {
	m           ImagePredictor[T]
	im          *Images[T]
	report      func(done, total int)
	done, total int
}

// pixelPredictor predicts some pixels of images that observe the same ones.
type pixelPredictor[T Float] interface {
	// predict returns the prediction [images, C, pixels], given what the images observe now; news are the pixels that
	// they did not observe in the last call.
	predict(ctx context.Context, pixels, news []int32) (*Prediction[T], error)
}

// length returns the number of pixels of image b that a chain goes through.
func (c *imageChain[T]) length(b int, opt SampleOptions) (n int) {
	for _, ok := range c.im.Mask[b*c.im.H*c.im.W : (b+1)*c.im.H*c.im.W] {
		if !ok {
			n++
		}
	}
	if opt.Knots > 0 {
		n = min(n, opt.Knots)
	}
	return n
}

// order returns the unobserved pixels of image b in the order of a chain, and where its blocks end.
func (c *imageChain[T]) order(b int, opt SampleOptions) (order []int32, ends []int) {
	n := c.im.H * c.im.W
	var hidden, seen []int32
	for i, ok := range c.im.Mask[b*n : (b+1)*n] {
		if ok {
			seen = append(seen, int32(i))
		} else {
			hidden = append(hidden, int32(i))
		}
	}
	if opt.Knots > 0 && opt.Knots < len(hidden) {
		rng := rand.New(rand.NewPCG(chain.Scramble(opt.SeedOf(b)), chain.Scramble(0x6b6e6f7473))) // "knots"
		rng.Shuffle(len(hidden), func(i, j int) { hidden[i], hidden[j] = hidden[j], hidden[i] })
		hidden = hidden[:opt.Knots]
		slices.Sort(hidden)
	}
	if opt.Order == OrderSpread {
		order, ends = opt.Spread(pixelPlaces(seen, c.im.W), pixelPlaces(hidden, c.im.W), 2, opt.SeedOf(b))
	} else {
		order = opt.Arrange(len(hidden), opt.SeedOf(b), func(i, j int32) int { return int(i) - int(j) })
		ends = opt.Blocks(len(seen), len(order))
	}
	for i, k := range order {
		order[i] = hidden[k]
	}
	return order, ends
}

// pixelPlaces returns row and column [n, 2] of pixels of an image of that width.
func pixelPlaces(pixels []int32, width int) []float64 {
	out := make([]float64, 0, 2*len(pixels))
	for _, i := range pixels {
		out = append(out, float64(int(i)/width), float64(int(i)%width))
	}
	return out
}

// together is how many samples of an image are drawn at a time.
func (c *imageChain[T]) together() int {
	const most = 16
	if m, ok := c.m.(*ImageEquivCNP[T]); ok {
		width := 2*m.cfg.DimY*m.cfg.Multiplicity + (1+2*len(m.blocks))*m.cfg.Channels[0]
		return max(1, min(most, runBytes/(8*width*c.im.H*c.im.W*m.cfg.Lifts)))
	}
	return most
}

// copies returns so many copies of image b.
func (c *imageChain[T]) copies(b, samples int) *Images[T] {
	im, n := c.im, c.im.H*c.im.W
	return &Images[T]{B: samples, C: im.C, H: im.H, W: im.W, Pixels: slices.Repeat(im.Pixels[b*im.C*n:(b+1)*im.C*n], samples),
		Mask: slices.Repeat(im.Mask[b*n:(b+1)*n], samples)}
}

// stepper returns what predicts pixels of images.
func (c *imageChain[T]) stepper(ctx context.Context, im *Images[T]) (s pixelPredictor[T], cheap bool, err error) {
	switch m := c.m.(type) {
	case *ImageEquivCNP[T]:
		p, err := m.cached(ctx, im.H, im.W, layers.Auto, Float32)
		if err == nil && p.stepwise(im.H, im.W) && p.transforms() {
			p, err = m.cached(ctx, im.H, im.W, layers.Direct, Float32) // see pixelRun
		}
		if err != nil {
			return nil, false, err
		}
		if p.stepwise(im.H, im.W) {
			return p.newPixelRun(im), true, nil
		}
	case *ImageCNP[T]:
		return &pixelsOfCNP[T]{m, im, unitGrid(im.H, im.W)}, true, nil
	}
	return &pixelsOfAll[T]{c.m, im}, false, nil
}

// sample draws the pixels of images that are samples of one, the first of them number first.
func (c *imageChain[T]) sample(ctx context.Context, im *Images[T], opt SampleOptions, seed uint64, order []int32, ends []int,
	first int) error {
	s, _, err := c.stepper(ctx, im)
	if err != nil {
		return err
	}
	n, rng := im.H*im.W, chain.NewNoise()
	var news []int32
	for k := range ends {
		lo, hi := chain.Block(ends, k)
		c.report(c.done, c.total)
		if err := ctx.Err(); err != nil {
			return err
		}
		pixels := order[lo:hi]
		p, err := s.predict(ctx, pixels, news)
		if err != nil {
			return err
		}
		for b := range im.B {
			for i, at := range pixels {
				source := rng.At(seed, first+b, int(at))
				for ch := range im.C {
					v := (b*im.C+ch)*len(pixels) + i
					if err := p.usable(v, func() string { return describePixel(int(at), im.W, lo) }); err != nil {
						return err
					}
					im.Pixels[(b*im.C+ch)*n+int(at)] = p.draw(v, source)
				}
				im.Mask[b*n+int(at)] = true
			}
		}
		news = pixels
		c.done += len(pixels) * im.B
	}
	return nil
}

// describePixel names a pixel.
func describePixel(at, w, before int) string {
	return fmt.Sprintf("row %d, column %d, given %d pixels before it", at/w, at%w, before)
}

// pixelsOfAll predicts whole images.
type pixelsOfAll[T Float] struct {
	m  ImagePredictor[T]
	im *Images[T]
}

func (s *pixelsOfAll[T]) predict(ctx context.Context, pixels, _ []int32) (*Prediction[T], error) {
	p, err := s.m.Complete(ctx, s.im)
	if err != nil {
		return nil, err
	}
	n, k := s.im.H*s.im.W, len(pixels)
	dst := newPrediction[T](Normal, s.im.B*s.im.C*k)
	for i := range dst.Mean {
		dst.take(i, p, i/k*n+int(pixels[i%k]))
	}
	return dst, nil
}

// pixelsOfCNP decodes the pixels that are asked for.
type pixelsOfCNP[T Float] struct {
	m    *ImageCNP[T]
	im   *Images[T]
	grid []float64
}

func (s *pixelsOfCNP[T]) predict(ctx context.Context, pixels, _ []int32) (*Prediction[T], error) {
	var targets []float64
	for _, at := range pixels {
		targets = append(targets, s.grid[2*at:2*at+2]...)
	}
	c, k := s.im.C, len(pixels)
	dst := s.m.core.newPrediction(s.im.B * c * k)
	for b := range s.im.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := s.im.observed(b, s.grid)
		s.m.core.link.pixels(&s.m.core.family, dst, nil, k, b, b+1, s.m.core.predict(targets, x, y).numbers())
	}
	return dst, nil
}
