package cnp

import "math"

// Witness collects what tasks look like. The zero value has seen none.
type Witness struct {
	x, y, aux     []moments
	static        []moments
	span, spacing moments
	context       [2]int
	tasks         int
}

// saw counts a task with that many context points.
func (w *Witness) saw(context int) {
	if w.tasks == 0 {
		w.context = [2]int{context, context}
	}
	w.tasks++
	w.context = [2]int{min(w.context[0], context), max(w.context[1], context)}
}

// Trained describes the tasks; it returns nil if there were no tasks.
func (w *Witness) Trained() *Trained {
	if w.tasks == 0 {
		return nil
	}
	t := &Trained{Span: w.span.mean(), Spacing: w.spacing.mean(), Context: w.context}
	for i := range w.x {
		t.X = append(t.X, w.x[i].summary())
	}
	for i := range w.y {
		t.Y = append(t.Y, w.y[i].summary())
	}
	for i := range w.aux {
		t.Aux = append(t.Aux, w.aux[i].summary())
	}
	for i := range w.static {
		t.Static = append(t.Static, w.static[i].summary())
	}
	return t
}

// AddCurves takes tasks of dx coordinates and dy values into account, with the true values y [B, Nt, dy] at their
// targets, NaN where one is missing.
func AddCurves[T Float](w *Witness, b *Batch[T], y []T, dx, dy int) {
	instance[func(*Witness, *Batch[T], []T, int, int)](&addCurvesInstances)(w, b, y, dx, dy)
}

var addCurvesInstances = instances{addCurves[float32], addCurves[float64]}

func addCurves[T Float](w *Witness, b *Batch[T], y []T, dx, dy int) {
	if w.x == nil {
		w.x, w.y, w.aux = make([]moments, dx), make([]moments, dy),
			make([]moments, max(len(b.AuxContext)/max(1, b.B*b.Nc), len(b.AuxTarget)/max(1, b.B*b.Nt)))
	}
	if len(w.static) == 0 {
		w.static = make([]moments, len(b.YStatic)/max(1, b.B*b.Ns))
	}
	for i, v := range b.YStatic {
		if v == v {
			w.static[i%len(w.static)].add(float64(v))
		}
	}
	da := len(w.aux)
	for t := range b.B {
		box, n := make([]moments, dx), 0
		point := func(x []float64, y, aux []T) {
			for d, v := range x {
				w.x[d].add(v)
			}
			for d, v := range y {
				if v == v { // it is not missing
					w.y[d].add(float64(v))
				}
			}
			for d, v := range aux {
				if v == v {
					w.aux[d].add(float64(v))
				}
			}
		}
		for i := range b.Nc {
			if b.contextOK(t, i) {
				at := t*b.Nc + i
				point(b.XContext[at*dx:(at+1)*dx], b.YContext[at*dy:(at+1)*dy], b.AuxContext[at*da:(at+1)*da])
				for d := range dx {
					box[d].add(b.XContext[at*dx+d])
				}
				n++
			}
		}
		for i := range b.Nt {
			if b.targetOK(t, i) {
				at := t*b.Nt + i
				point(b.XTarget[at*dx:(at+1)*dx], y[at*dy:(at+1)*dy], b.AuxTarget[at*da:(at+1)*da])
			}
		}
		w.saw(n)
		if n > 1 {
			longest, volume := 0.0, 1.0
			for _, m := range box {
				longest, volume = max(longest, m.max-m.min), volume*(m.max-m.min)
			}
			w.span.add(longest)
			w.spacing.add(math.Pow(volume/float64(n), 1/float64(dx)))
		}
	}
}

// AddImages takes images with all their true pixels y [B, C, H, W] into account, NaN where one is missing.
func AddImages[T Float](w *Witness, im *Images[T], y []T) {
	instance[func(*Witness, *Images[T], []T)](&addImagesInstances)(w, im, y)
}

var addImagesInstances = instances{addImages[float32], addImages[float64]}

func addImages[T Float](w *Witness, im *Images[T], y []T) {
	if w.y == nil {
		w.y = make([]moments, im.C)
	}
	n := im.H * im.W
	for b := range im.B {
		observed := 0
		for _, ok := range im.Mask[b*n : (b+1)*n] {
			if ok {
				observed++
			}
		}
		w.saw(observed)
		for c := range im.C {
			for _, v := range y[(b*im.C+c)*n : (b*im.C+c+1)*n] {
				if v == v {
					w.y[c].add(float64(v))
				}
			}
		}
	}
}

// auxiliary is what auxiliary input d of da is at context points and targets.
func (b *Batch[T]) auxiliary(d, da int) (m moments) {
	for _, p := range []struct {
		v  []T
		n  int
		ok func(t, i int) bool
	}{{b.AuxContext, b.Nc, b.contextOK}, {b.AuxTarget, b.Nt, b.targetOK}} {
		for i := d; i < len(p.v); i += da {
			if at := i / da; p.v[i] == p.v[i] && p.ok(at/p.n, at%p.n) {
				m.add(float64(p.v[i]))
			}
		}
	}
	return m
}
