package taskfile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Curves is a batch of regression tasks.
type Curves struct {
	Batch cnp.Batch[float32]
	Truth []float32 // [B, Nt, dy], NaN where a value is missing; nil where the file has no y_target
}

// Images is a batch of partly observed images.
type Images struct {
	Batch cnp.Images[float32]
	Truth []float32 // [B, C, H, W], NaN where a value is missing; nil where the file has no y_target
	// Missing is the number of pixels that lack a value that would be observed otherwise: in image one of their channels is NaN.
	Missing int
	// Levels is what integers in image and y_target were divided by; 0: nothing was.
	Levels int
}

// Curves reads the tensors of a batch of regression tasks for a model of that configuration: of its coordinates,
// outputs, auxiliary inputs and static fields. NaN among outputs is a missing value: a context point without any does
// not count, and one with some has NaN for the others, if the model has Config.ChannelDensity; else that is an error.
// So is NaN among the auxiliary inputs of the context, and among those of targets it always is.
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
		purpose := fmt.Sprintf("the model has the auxiliary inputs %s, at the context and at the targets",
			strings.Join(cfg.Auxiliary, ", "))
		b.AuxContext = t.narrow(t.find("aux_context", true, purpose), "B Nc da", b.B, b.Nc, da)
		b.AuxTarget = t.narrow(t.find("aux_target", true, purpose), "B Nt da", b.B, b.Nt, da)
	}
	if len(cfg.Static) > 0 {
		if t.static(b, cfg); t.err != nil {
			return nil, t.err
		}
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
	if t.err == nil {
		t.single(yc, b.B, dy, contextCounts(dy))
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
				t.fail(cnp.ErrValue, "tensor %q: %s = NaN, and the model needs all outputs of a context point, or none",
					"y_context", t.place("y_context", i*dy+k))
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

// single refuses outputs [B, Nc, dy] whose values differ, in one of the tasks, by hardly more than float32 tells apart: rounded they would
// be others, or equal. Equal values stay equal.
func (t *File) single(x *safetensors.Tensor, tasks, dy int, counts func(i int) bool) {
	if slices.Contains([]safetensors.DType{safetensors.F32, safetensors.F16, safetensors.BF16}, x.DType) {
		return
	}
	all, err := x.Float64s()
	if err != nil {
		t.fail(err, "tensor %q", x.Name)
		return
	}
	of := make([]tabular.Single, dy)
	for lo := 0; lo < len(all); lo += len(all) / tasks { // of nothing there may be any number of tasks
		clear(of)
		for i, v := range all[lo : lo+len(all)/tasks] {
			if counts(lo + i) {
				of[i%dy].Add(v)
			}
		}
		for k := range of {
			if of[k].Loses() {
				mean, std := of[k].Moments()
				t.fail(cnp.ErrRange, "tensor %q: output %d of task %d has a standard deviation of %.3g around %.9g, which is too little "+
					"for float32: subtract a number from all of its values", x.Name, k, lo/(len(all)/tasks), std, mean)
				return
			}
		}
	}
}

// static reads the static fields of a batch whose other tensors are there.
func (t *File) static(b *cnp.Batch[float32], cfg *cnp.Config) {
	dx, ds := cfg.DimX, len(cfg.Static)
	purpose := fmt.Sprintf("the model has the static fields %s, at places of their own", strings.Join(cfg.Static, ", "))
	x, y := t.find("x_static", true, purpose), t.find("y_static", true, purpose)
	b.XStatic = t.shaped(x, "B Ns dx", b.B, -1, dx)
	if t.err != nil {
		return
	}
	b.Ns = x.Shape[1]
	b.YStatic = t.narrow(y, "B Ns ds", b.B, b.Ns, ds)
	if t.err != nil {
		return
	}
	bounded(t, "y_static", b.YStatic, func(int) bool { return true })
	finite(t, "x_static", b.XStatic, func(i int) bool {
		return slices.ContainsFunc(b.YStatic[i/dx*ds:(i/dx+1)*ds], func(v float32) bool { return v == v })
	})
}

// Images reads the tensors of a batch of images with that many channels. NaN in image and in y_target is a missing
// value. A pixel that lacks one in any channel is not observed, whatever mask says of it; an image that lacks some may
// leave mask out, and then all other pixels are observed. Integers that are levels ([Pixels]) are divided by the highest.
func (t *File) Images(channels int) (*Images, error) {
	const purpose = "an image model needs image and mask"
	x := t.find("image", true, purpose)
	if x != nil && len(x.Shape) == 3 && channels == 1 { // [B, H, W], as stacks of one channel often are
		flat := *x
		flat.Shape = []int{x.Shape[0], 1, x.Shape[1], x.Shape[2]}
		x = &flat
	}
	pixels := t.narrow(x, "B C H W", -1, channels, -1, -1)
	mk := t.find("mask", !slices.ContainsFunc(pixels, func(v float32) bool { return v != v }), purpose)
	if t.err != nil {
		return nil, t.err
	}
	b, h, w := x.Shape[0], x.Shape[2], x.Shape[3]
	if h < 1 || w < 1 {
		t.fail(cnp.ErrShape, "tensor %q has shape %v: images need at least one pixel", "image", x.Shape)
		return nil, t.err
	}
	var mask []bool
	if mk == nil {
		mask = slices.Repeat([]bool{true}, b*h*w)
	} else if len(mk.Shape) == 3 {
		mask = t.mask(mk, "B H W", b, h, w)
	} else {
		mask = t.mask(mk, "B 1 H W", b, 1, h, w)
	}
	y := t.find("y_target", false, "")
	truth := t.narrow(y, "B C H W", b, channels, h, w)
	if t.err != nil {
		return nil, t.err
	}
	levels := max(levelsOf(x, pixels), levelsOf(y, truth))
	divide(x, pixels, levels)
	divide(y, truth, levels)
	n, missing := h*w, 0
	for i, v := range pixels {
		if p := i/(channels*n)*n + i%n; v != v && mask[p] {
			mask[p] = false
			missing++
		}
	}
	finite(t, "image", pixels, func(i int) bool { return mask[i/(channels*n)*n+i%n] })
	bounded(t, "y_target", truth, func(int) bool { return true })
	if t.err != nil {
		return nil, t.err
	}
	return &Images{Batch: cnp.Images[float32]{B: b, C: channels, H: h, W: w, Pixels: pixels, Mask: mask}, Truth: truth,
		Missing: missing, Levels: levels}, nil
}

// Answer returns the values [B, C, H, W] by which predictions are judged, NaN where there is none, and the name of
// their tensor: y_target or, where the file has none, image itself. An image of which no hidden pixel is known says
// nothing then. nil: there are none.
func (im *Images) Answer() (y []float32, name string) {
	if im.Truth != nil {
		return im.Truth, "y_target"
	}
	b := &im.Batch
	if !slices.ContainsFunc(b.Pixels, func(v float32) bool { return v-v != 0 }) {
		return b.Pixels, "image"
	}
	n, known := b.H*b.W, false
	for k := range b.B {
		own, mask := b.Pixels[k*b.C*n:(k+1)*b.C*n], b.Mask[k*n:(k+1)*n]
		whole, hidden := true, false
		for i, v := range own {
			if v-v != 0 && v == v {
				return nil, "" // an infinity where the mask hides it is no answer
			}
			whole, hidden = whole && v == v, hidden || v == v && !mask[i%n]
		}
		if whole || hidden {
			y, known = append(y, own...), true
		} else {
			y = append(y, slices.Repeat([]float32{float32(math.NaN())}, len(own))...)
		}
	}
	if !known {
		return nil, ""
	}
	return y, "image"
}
