package taskfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// Curves is a batch of regression tasks.
type Curves struct {
	Batch cnp.Batch[float32]
	Truth []float32 // [B, Nt, dy], NaN where a value is missing; nil where the file has no y_target
}

// Images is a batch of partly observed images.
type Images struct {
	Batch cnp.Images[float32]
	Truth []float32 // [B, C, H, W], nil where the file has no y_target
}

// Curves reads the tensors of a batch of regression tasks for a model of that configuration: of its coordinates, outputs, auxiliary inputs and static fields. NaN among outputs
// is a missing value: a context point without any does not count, and one with some has NaN for the others, if the model has Config.ChannelDensity; else that is
// an error. So is NaN among the auxiliary inputs of the context, and among those of targets it always is.
func (t *File) Curves(cfg *cnp.Config) (*Curves, error) {
	dx, dy, da, gaps := cfg.DimX, cfg.DimY, len(cfg.Auxiliary), cfg.ChannelDensity
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
	b.YContext = t.narrow(yc, "B Nc dy", b.B, b.Nc, dy)
	b.ContextMask = t.mask(t.find("context_mask", false, ""), "B Nc", b.B, b.Nc)
	b.TargetMask = t.mask(t.find("target_mask", false, ""), "B Nt", b.B, b.Nt)
	c.Truth = t.narrow(t.find("y_target", false, ""), "B Nt dy", b.B, b.Nt, dy)
	if da > 0 {
		purpose := fmt.Sprintf("the model has the auxiliary inputs %s, at the context and at the targets", strings.Join(cfg.Auxiliary, ", "))
		b.AuxContext = t.narrow(t.find("aux_context", true, purpose), "B Nc da", b.B, b.Nc, da)
		b.AuxTarget = t.narrow(t.find("aux_target", true, purpose), "B Nt da", b.B, b.Nt, da)
	}

	if ds := len(cfg.Static); ds > 0 {
		purpose := fmt.Sprintf("the model has the static fields %s, at places of their own", strings.Join(cfg.Static, ", "))
		x, y := t.find("x_static", true, purpose), t.find("y_static", true, purpose)
		b.XStatic = t.shaped(x, "B Ns dx", b.B, -1, dx)
		if t.err != nil {
			return nil, t.err
		}
		b.Ns = x.Shape[1]
		b.YStatic = t.narrow(y, "B Ns ds", b.B, b.Ns, ds)
		if t.err != nil {
			return nil, t.err
		}
		bounded(t, "y_static", b.YStatic, func(int) bool { return true })
		finite(t, "x_static", b.XStatic, func(i int) bool {
			return slices.ContainsFunc(b.YStatic[i/dx*ds:(i/dx+1)*ds], func(v float32) bool { return v == v })
		})
	}

	contextCounts := func(d int) func(int) bool {
		return func(i int) bool { return b.ContextMask == nil || b.ContextMask[i/d] }
	}
	targetCounts := func(d int) func(int) bool {
		return func(i int) bool { return b.TargetMask == nil || b.TargetMask[i/d] }
	}
	finite(t, "x_context", b.XContext, contextCounts(dx))
	bounded(t, "y_context", b.YContext, contextCounts(dy))
	finite(t, "x_target", b.XTarget, targetCounts(dx))
	bounded(t, "y_target", c.Truth, targetCounts(dy))
	if check := finite[float32]; da > 0 {
		check(t, "aux_target", b.AuxTarget, targetCounts(da))
		if gaps {
			check = bounded[float32]
		}
		check(t, "aux_context", b.AuxContext, contextCounts(da))
	}
	if t.err != nil {
		return nil, t.err
	}
	observed := func(v float32) bool { return v == v }
	for i := range b.B * b.Nc {
		if !contextCounts(1)(i) {
			continue
		}
		if y := b.YContext[i*dy : (i+1)*dy]; slices.ContainsFunc(y, observed) {
			if k := slices.IndexFunc(y, func(v float32) bool { return v != v }); k >= 0 && !gaps {
				t.fail(cnp.ErrValue, "tensor %q: %s = NaN, and the model needs all outputs of a context point, or none", "y_context", t.place("y_context", i*dy+k))
				return nil, t.err
			}
			continue
		}
		if b.ContextMask == nil {
			b.ContextMask = slices.Repeat([]bool{true}, b.B*b.Nc)
		}
		b.ContextMask[i] = false
	}
	return c, nil
}

// Images reads the tensors of a batch of images with that many channels.
func (t *File) Images(channels int) (*Images, error) {
	const purpose = "an image model needs image and mask"
	x, mk := t.find("image", true, purpose), t.find("mask", true, purpose)
	pixels := t.narrow(x, "B C H W", -1, channels, -1, -1)
	if t.err != nil {
		return nil, t.err
	}
	b, h, w := x.Shape[0], x.Shape[2], x.Shape[3]
	if h < 1 || w < 1 {
		t.fail(cnp.ErrShape, "tensor %q has shape %v: images need at least one pixel", "image", x.Shape)
		return nil, t.err
	}
	var mask []bool
	if len(mk.Shape) == 3 {
		mask = t.mask(mk, "B H W", b, h, w)
	} else {
		mask = t.mask(mk, "B 1 H W", b, 1, h, w)
	}
	truth := t.narrow(t.find("y_target", false, ""), "B C H W", b, channels, h, w)
	if t.err != nil {
		return nil, t.err
	}
	n := h * w
	finite(t, "image", pixels, func(i int) bool { return mask[i/(channels*n)*n+i%n] })
	finite(t, "y_target", truth, func(int) bool { return true })
	if t.err != nil {
		return nil, t.err
	}
	return &Images{Batch: cnp.Images[float32]{B: b, C: channels, H: h, W: w, Pixels: pixels, Mask: mask}, Truth: truth}, nil
}
