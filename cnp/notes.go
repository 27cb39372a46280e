package cnp

import (
	"fmt"
	"slices"
)

// withoutContext says which of several tasks have no context, while others have one. It reads nothing but a mask that fits.
func (b *Batch[T]) withoutContext() []string {
	if b.Nc < 1 || len(b.ContextMask)%b.Nc != 0 || len(b.ContextMask)/b.Nc != b.B {
		return nil
	}
	first, n := 0, 0
	for task := b.B - 1; task >= 0; task-- {
		if !slices.Contains(b.ContextMask[task*b.Nc:(task+1)*b.Nc], true) {
			first, n = task, n+1
		}
	}
	switch {
	case n == 0 || n == b.B:
		return nil
	case n == 1:
		return []string{fmt.Sprintf("task %d has no context: its prediction is the prior", first)}
	}
	return []string{fmt.Sprintf("%d of %d tasks have no context, the first is task %d: their predictions are the prior", n, b.B, first)}
}

// Notes says, by name, how a batch differs from what the model was trained on, and which of several tasks have no context. It
// is empty if the batch does not differ, or if that is unknown.
func Notes[T Float](c *Config, b *Batch[T]) (notes []string) {
	return instance[func(*Config, *Batch[T]) []string](&notesInstances)(c, b)
}

var notesInstances = instances{notes[float32], notes[float64]}

func notes[T Float](c *Config, b *Batch[T]) (notes []string) {
	notes = b.withoutContext()
	t := c.Trained
	if t == nil || len(t.X) != c.DimX || len(t.Y) != c.DimY || b.Nc == 0 {
		return notes
	}
	seen, spans := Witness{}, moments{}
	for task := range b.B {
		x, y := b.context(task, c.DimX, c.DimY)
		one := Witness{}
		for _, w := range []*Witness{&seen, &one} {
			addCurves(w, &Batch[T]{B: 1, Nc: len(x) / c.DimX, XContext: x, YContext: y}, nil, c.DimX, c.DimY)
		}
		if !c.OnSphere() && t.otherSpan(one.span.max, len(x)/c.DimX) {
			spans.add(one.span.max)
		}
	}
	for d, r := range t.Y {
		if len(seen.y) == 0 || seen.y[d].n == 0 {
			continue
		}
		if m := seen.y[d]; r.outside(m.min) || r.outside(m.max) {
			notes = append(notes, fmt.Sprintf("y%s of the context reaches from %.4g to %.4g, the model was trained on %.4g to %.4g",
				ordinal(d, c.DimY), m.min, m.max, r.Min, r.Max))
		}
	}
	if note := windowNote(c, b); note != "" {
		notes = append(notes, note)
	}
	if spans.n > 0 && t.Window == nil {
		notes = append(notes, fmt.Sprintf("x of the context spans %.4g, the model was trained on spans of about %.4g", spans.max, t.Span))
	}
	if n, all := b.farTargets(c); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d targets lie farther beyond the context than a task of the training was long, %.4g: "+
			"the model has seen no such target", n, all, t.Span))
	}
	if seen.tasks > 0 && t.Window == nil && t.Context[1] > 0 && seen.context[1] > mostContext*t.Context[1] {
		notes = append(notes, fmt.Sprintf("a context of %d points, the model was trained on %d to %d", seen.context[1],
			t.Context[0], t.Context[1]))
	}
	if len(seen.x) > 0 && c.placed(seen.x) {
		for d, r := range t.X {
			if m := seen.x[d]; r.outside(m.min) || r.outside(m.max) {
				notes = append(notes, fmt.Sprintf(
					"x%s of the context reaches from %.4g to %.4g, and the model, which sees where points are, was trained on %.4g to %.4g",
					ordinal(d, c.DimX), m.min, m.max, r.Min, r.Max))
			}
		}
	}
	for d, r := range t.Aux {
		if m := b.auxiliary(d, len(t.Aux)); m.n > 0 && (r.outside(m.min) || r.outside(m.max)) {
			notes = append(notes, fmt.Sprintf("%s reaches from %.4g to %.4g, the model was trained on %.4g to %.4g",
				c.Auxiliary[d], m.min, m.max, r.Min, r.Max))
		}
	}
	for d, r := range t.Static {
		var m moments
		for i := d; i < len(b.YStatic); i += len(t.Static) {
			if v := float64(b.YStatic[i]); v == v {
				m.add(v)
			}
		}
		if m.n > 0 && (r.outside(m.min) || r.outside(m.max)) {
			notes = append(notes, fmt.Sprintf(
				"the static field %s reaches from %.4g to %.4g, the model was trained on %.4g to %.4g", c.Static[d], m.min, m.max,
				r.Min, r.Max))
		}
	}
	return notes
}

// farTargets counts the targets that lie farther beyond the box around their task's context than the trained contexts were
// long, in the units to which the task is scaled, and all targets.
func (b *Batch[T]) farTargets(c *Config) (far, all int) {
	if c.OnSphere() || !(c.Trained.Span > 0) || len(b.XTarget) != b.B*b.Nt*c.DimX {
		return 0, 0
	}
	for task := range b.B {
		x, y := b.wideContext(task, c.DimX, c.DimY)
		reach, box := c.Trained.Span/c.intoRange(x, y).X[0].Factor, make([]moments, c.DimX)
		for i, v := range x {
			box[i%c.DimX].add(v)
		}
		for i := range b.Nt {
			if !b.targetOK(task, i) {
				continue
			}
			all++
			for d, m := range box {
				if v := b.XTarget[(task*b.Nt+i)*c.DimX+d]; m.n > 0 && (v < m.min-reach || v > m.max+reach) {
					far++
					break
				}
			}
		}
	}
	return far, all
}

// ImageNotes is like Notes for images.
func ImageNotes[T Float](c *Config, im *Images[T]) (notes []string) {
	return instance[func(*Config, *Images[T]) []string](&imageNotesInstances)(c, im)
}

var imageNotesInstances = instances{imageNotes[float32], imageNotes[float64]}

func imageNotes[T Float](c *Config, im *Images[T]) (notes []string) {
	n := im.H * im.W
	if t := c.Trained; t != nil && len(t.Y) == im.C {
		for ch, r := range t.Y {
			var m moments
			for i, ok := range im.Mask {
				if ok {
					m.add(float64(im.Pixels[(i/n*im.C+ch)*n+i%n]))
				}
			}
			if m.n > 0 && (r.outside(m.min) || r.outside(m.max)) {
				notes = append(notes, fmt.Sprintf(
					"channel %d of the observed pixels reaches from %.4g to %.4g, the model was trained on %.4g to %.4g",
					ch, m.min, m.max, r.Min, r.Max))
			}
		}
	}
	if s := c.ImageSize; s != [2]int{} && s != [2]int{im.H, im.W} {
		note := fmt.Sprintf("%d x %d pixels, the model was trained on %d x %d: they are laid %.3g times as far apart", im.H, im.W,
			s[0], s[1], c.pitch(im.H, im.W))
		if c.pitch(im.H, im.W) < mostFiner && c.Architecture == EquivCNPImage {
			note += ", and the image is completed in several coarser parts"
		}
		if im.H*s[1] != im.W*s[0] {
			note += "; no image of this shape was seen in training"
			if c.Group == "SO(2)" { // measured: 1.6 per pixel on 48 x 80 instead of 1.9 on 64 x 64; under R>0xSO(2) nothing is lost
				note += ", and models under SO(2) predict worse there"
			}
		}
		notes = append(notes, note)
	}
	return notes
}
