package taskfile

import (
	"github.com/equivcnp/equivcnp/cnp"
)

// Curves is a batch of regression tasks.
type Curves struct {
	Batch cnp.Batch[float32]
	Truth []float32 // [B, Nt, dy], nil where the file has no y_target
}

// Images is a batch of partly observed images.
type Images struct {
	Batch cnp.Images[float32]
	Truth []float32 // [B, C, H, W], nil where the file has no y_target
}

// Curves reads the tensors of a batch of regression tasks with dx coordinates and dy outputs.
func (t *File) Curves(dx, dy int) (*Curves, error) {
	const purpose = "a curve model needs x_context, y_context and x_target"
	xt, xc, yc := t.find("x_target", true, purpose), t.find("x_context", true, purpose), t.find("y_context", true, purpose)
	c := &Curves{}
	b := &c.Batch
	b.XTarget = t.shaped(xt, "B Nt dx", -1, -1, dx)
	if t.err != nil {
		return nil, t.err
	}
	b.B, b.Nt = xt.Shape[0], xt.Shape[1]
	b.XContext = t.shaped(xc, "B Nc dx", b.B, -1, dx)
	if t.err != nil {
		return nil, t.err
	}
	b.Nc = xc.Shape[1]
	y := t.shaped(yc, "B Nc dy", b.B, b.Nc, dy)
	b.ContextMask = t.mask("context_mask", t.shaped(t.find("context_mask", false, ""), "B Nc", b.B, b.Nc))
	b.TargetMask = t.mask("target_mask", t.shaped(t.find("target_mask", false, ""), "B Nt", b.B, b.Nt))
	truth := t.shaped(t.find("y_target", false, ""), "B Nt dy", b.B, b.Nt, dy)

	contextCounts := func(d int) func(int) bool {
		return func(i int) bool { return b.ContextMask == nil || b.ContextMask[i/d] }
	}
	targetCounts := func(d int) func(int) bool {
		return func(i int) bool { return b.TargetMask == nil || b.TargetMask[i/d] }
	}
	t.finite("x_context", b.XContext, false, contextCounts(dx))
	t.finite("y_context", y, true, contextCounts(dy))
	t.finite("x_target", b.XTarget, false, targetCounts(dx))
	t.finite("y_target", truth, true, targetCounts(dy))
	if t.err != nil {
		return nil, t.err
	}
	b.YContext = singles(y)
	if truth != nil {
		c.Truth = singles(truth)
	}
	return c, nil
}

// Images reads the tensors of a batch of images with that many channels.
func (t *File) Images(channels int) (*Images, error) {
	const purpose = "an image model needs image and mask"
	x, mk := t.find("image", true, purpose), t.find("mask", true, purpose)
	pixels := t.shaped(x, "B C H W", -1, channels, -1, -1)
	if t.err != nil {
		return nil, t.err
	}
	b, h, w := x.Shape[0], x.Shape[2], x.Shape[3]
	if h < 1 || w < 1 {
		t.fail(cnp.ErrShape, "tensor %q has shape %v: images need at least one pixel", "image", x.Shape)
		return nil, t.err
	}
	var observed []float64
	if len(mk.Shape) == 3 {
		observed = t.shaped(mk, "B H W", b, h, w)
	} else {
		observed = t.shaped(mk, "B 1 H W", b, 1, h, w)
	}
	mask := t.mask("mask", observed)
	truth := t.shaped(t.find("y_target", false, ""), "B C H W", b, channels, h, w)
	if t.err != nil {
		return nil, t.err
	}
	n := h * w
	t.finite("image", pixels, true, func(i int) bool { return mask[i/(channels*n)*n+i%n] })
	t.finite("y_target", truth, true, func(int) bool { return true })
	if t.err != nil {
		return nil, t.err
	}
	im := &Images{Batch: cnp.Images[float32]{B: b, C: channels, H: h, W: w, Pixels: singles(pixels), Mask: mask}}
	if truth != nil {
		im.Truth = singles(truth)
	}
	return im, nil
}

// singles rounds values to float32.
func singles(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
