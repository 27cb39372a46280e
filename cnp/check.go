package cnp

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// widths are how many numbers the points of a batch have: coordinates, outputs, auxiliary inputs and static fields.
// gaps says that outputs and auxiliary inputs of a context point may be NaN, which were not observed.
type widths struct {
	dx, dy, da, ds int
	gaps           bool
}

func (c *Config) widths() widths {
	return widths{c.DimX, c.DimY, len(c.Auxiliary), len(c.Static), c.ChannelDensity}
}

// Check refuses, as predictions do, shapes and values that no model of that configuration can predict from. Values at
// padding are not read.
func (b *Batch[T]) Check(c *Config) error {
	if c == nil {
		return errNoConfig
	}
	return b.check(c.widths())
}

// Check refuses, as predictions do, images that no model of that configuration can complete.
func (im *Images[T]) Check(c *Config) error {
	if c == nil {
		return errNoConfig
	}
	return im.check(c.DimY)
}

// check refuses shapes and values that no prediction can be made from, by a model of those widths. Values at padding are not read.
func (b *Batch[T]) check(w widths) error {
	dx, dy, da, ds, gaps := w.dx, w.dy, w.da, w.ds, w.gaps
	if b == nil {
		return fmt.Errorf("%w: the batch is nil", ErrShape)
	}
	if b.B < 0 || b.Nc < 0 || b.Nt < 0 || b.Ns < 0 {
		return fmt.Errorf("%w: batch of %d tasks with %d context points, %d targets and %d points of static fields", ErrShape,
			b.B, b.Nc, b.Nt, b.Ns)
	}
	for _, f := range []struct {
		name     string
		got      int
		want     [3]int // its product
		optional bool
	}{
		{"x_context", len(b.XContext), [3]int{b.B, b.Nc, dx}, false},
		{"y_context", len(b.YContext), [3]int{b.B, b.Nc, dy}, false},
		{"x_target", len(b.XTarget), [3]int{b.B, b.Nt, dx}, false},
		{"aux_context", len(b.AuxContext), [3]int{b.B, b.Nc, da}, false},
		{"aux_target", len(b.AuxTarget), [3]int{b.B, b.Nt, da}, false},
		{"x_static", len(b.XStatic), [3]int{b.B, b.Ns, dx}, ds == 0 && len(b.XStatic) == 0},
		{"y_static", len(b.YStatic), [3]int{b.B, b.Ns, ds}, false},
		{"the prediction", 0, [3]int{b.B, b.Nt, dy}, true},
		{"context_mask", len(b.ContextMask), [3]int{b.B, b.Nc, 1}, b.ContextMask == nil},
		{"target_mask", len(b.TargetMask), [3]int{b.B, b.Nt, 1}, b.TargetMask == nil},
	} {
		if want, ok := product(f.want[:]...); !ok {
			return fmt.Errorf("%w: a batch of %d tasks with %d context points and %d targets: %s has more values than can be counted",
				ErrShape, b.B, b.Nc, b.Nt, f.name)
		} else if f.got != want && !f.optional {
			if strings.HasPrefix(f.name, "aux") && da == 0 {
				return fmt.Errorf("%w: %s has %d values, and the model has no auxiliary inputs", ErrShape, f.name, f.got)
			}
			if strings.HasSuffix(f.name, "static") {
				if ds == 0 {
					return fmt.Errorf("%w: %s has %d values, and the model has no static fields", ErrShape, f.name, f.got)
				}
				return fmt.Errorf("%w: %s has %d values, a batch of %d tasks with %d points of static fields needs %d", ErrShape,
					f.name, f.got, b.B, b.Ns, want)
			}
			return fmt.Errorf("%w: %s has %d values, a batch of %d tasks with %d context points and %d targets needs %d",
				ErrShape, f.name, f.got, b.B, b.Nc, b.Nt, want)
		}
	}
	if b.Ns > 0 && ds == 0 {
		return fmt.Errorf("%w: a batch with %d points of static fields, and the model has no static fields", ErrShape, b.Ns)
	}
	if err := finite("x_context", b.XContext, b.ContextMask, b.Nc, dx, false); err != nil {
		return err
	}
	if err := finite("y_context", b.YContext, b.ContextMask, b.Nc, dy, gaps); err != nil {
		return err
	}
	if err := finite("x_target", b.XTarget, b.TargetMask, b.Nt, dx, false); err != nil {
		return err
	}
	if err := finite("aux_context", b.AuxContext, b.ContextMask, b.Nc, da, gaps); err != nil {
		return err
	}
	if err := finite("aux_target", b.AuxTarget, b.TargetMask, b.Nt, da, false); err != nil {
		return err
	}
	if err := finite("x_static", b.XStatic, b.staticMask(ds), b.Ns, dx, false); err != nil {
		return err
	}
	return finite("y_static", b.YStatic, nil, b.Ns, ds, true)
}

// finite reports the first NaN or infinity of v [b, n, d] at a point that the mask [b, n] does not exclude; with gaps, the first infinity.
func finite[T Float](name string, v []T, mask []bool, n, d int, gaps bool) error {
	for i, x := range v {
		if f := float64(x); math.IsNaN(f-f) && !(gaps && f != f) { // NaN for NaN and both infinities
			if p := i / d; mask == nil || mask[p] {
				return fmt.Errorf("%w: %s[%d, %d, %d] = %v", ErrValue, name, p/n, p%n, i%d, x)
			}
		}
	}
	return nil
}

// contextOK and targetOK report whether point i of task t counts.
func (b *Batch[T]) contextOK(t, i int) bool { return b.ContextMask == nil || b.ContextMask[t*b.Nc+i] }

func (b *Batch[T]) targetOK(t, i int) bool { return b.TargetMask == nil || b.TargetMask[t*b.Nt+i] }

// context returns the context points of task t that count, x [n, dx] and y [n, dy].
func (b *Batch[T]) context(t, dx, dy int) (x []float64, y []T) {
	if b.ContextMask == nil {
		return b.XContext[t*b.Nc*dx : (t+1)*b.Nc*dx], b.YContext[t*b.Nc*dy : (t+1)*b.Nc*dy]
	}
	for i := range b.Nc {
		if p := t*b.Nc + i; b.ContextMask[p] {
			x = append(x, b.XContext[p*dx:(p+1)*dx]...)
			y = append(y, b.YContext[p*dy:(p+1)*dy]...)
		}
	}
	return x, y
}

// targets returns the targets [nt, dx] of task t, padding at the origin.
func (b *Batch[T]) targets(t, dx int) []float64 {
	x := make([]float64, b.Nt*dx)
	for i := range b.Nt {
		if b.targetOK(t, i) {
			copy(x[i*dx:(i+1)*dx], b.XTarget[(t*b.Nt+i)*dx:])
		}
	}
	return x
}

// maxTasks bounds a batch that is differentiated. Tasks without points take no memory of the caller's, but each takes some in the
// pass.
const maxTasks = 1 << 24

// checkPass is check for a batch that is differentiated.
func (b *Batch[T]) checkPass(w widths) error {
	if err := b.check(w); err != nil {
		return err
	}
	if b.B > maxTasks {
		return fmt.Errorf("%w: a batch of %d tasks, need at most %d", ErrShape, b.B, maxTasks)
	}
	return nil
}

// check refuses what cannot be completed; channels is the model's number.
func (im *Images[T]) check(channels int) error {
	if im == nil {
		return fmt.Errorf("%w: the images are nil", ErrShape)
	}
	if im.B < 0 || im.H < 1 || im.W < 1 || im.H > maxPixels/im.W {
		return fmt.Errorf("%w: %d images of %d x %d pixels", ErrShape, im.B, im.H, im.W)
	}
	if im.C != channels {
		return fmt.Errorf("%w: the images have %d channels, the model has %d", ErrShape, im.C, channels)
	}
	n := im.H * im.W
	if _, ok := product(im.B, im.C, n); !ok {
		return fmt.Errorf("%w: %d images of %d x %d pixels have more values than can be counted", ErrShape, im.B, im.H, im.W)
	}
	if len(im.Pixels) != im.B*im.C*n {
		return fmt.Errorf("%w: image has %d values, [%d, %d, %d, %d] needs %d",
			ErrShape, len(im.Pixels), im.B, im.C, im.H, im.W, im.B*im.C*n)
	}
	if len(im.Mask) != im.B*n {
		return fmt.Errorf("%w: mask has %d values, [%d, 1, %d, %d] needs %d", ErrShape, len(im.Mask), im.B, im.H, im.W, im.B*n)
	}
	for i, x := range im.Pixels {
		if f := float64(x); math.IsNaN(f - f) {
			b, c, p := i/(im.C*n), i/n%im.C, i%n
			if im.Mask[b*n+p] {
				return fmt.Errorf("%w: image[%d, %d, %d, %d] = %v", ErrValue, b, c, p/im.W, p%im.W, x)
			}
		}
	}
	return nil
}

// staticMask [B, Ns] says which points of static fields count: those that have a value. It is nil if all do.
func (b *Batch[T]) staticMask(ds int) (mask []bool) {
	if ds == 0 {
		return nil
	}
	known := func(v T) bool { return v == v }
	for i := range b.B * b.Ns {
		if !slices.ContainsFunc(b.YStatic[i*ds:(i+1)*ds], known) {
			if mask == nil {
				mask = slices.Repeat([]bool{true}, b.B*b.Ns)
			}
			mask[i] = false
		}
	}
	return mask
}

// wideContext returns a task's context in float64.
func (b *Batch[T]) wideContext(t, dx, dy int) (x, y []float64) {
	x, values := b.context(t, dx, dy)
	y = make([]float64, len(values))
	for i, v := range values {
		y[i] = float64(v)
	}
	return x, y
}
