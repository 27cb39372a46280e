package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Trained says what a model has seen in training. A model file stores it in its configuration. So users of the model learn when
// their data are of another kind (Config.Notes), and curves of another scale can be brought into the model's own (Config.Scaler).
type Trained struct {
	// X are the ranges of the coordinates of context and targets, Y those of the values.
	X []Range `json:"x,omitempty"`
	Y []Range `json:"y"`
	// Aux are the ranges of the auxiliary inputs.
	Aux []Range `json:"aux,omitempty"`
	// Static are those of the static fields.
	Static []Range `json:"static,omitempty"`
	// Span is the mean length of a task's context: of the longest side of the box around it. Spacing is the mean over tasks of
	// (volume of that box / number of context points)^(1/dx).
	Span    float64 `json:"span,omitempty"`
	Spacing float64 `json:"spacing,omitempty"`
	// Context is the least and the greatest number of context points of a task, or of observed pixels.
	Context [2]int `json:"context"`
	// Noise is the standard deviation of the noise that the values were assumed to have at the end of training, in the
	// model's units; 0 means none.
	Noise float64 `json:"noise,omitempty"`
	// Units brings data, whose ranges X and Y are, into the units that the model itself works in: training on a user's curves gives
	// them about 4 units of x and values with mean 0 and deviation 1. Standardise goes through it; the methods of a model do not. Nil
	// means that both are the same.
	Units *Scaler `json:"units,omitempty"`
}

// Range describes numbers that a model has seen.
type Range struct {
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
}

// check reports what no training has shown; coordinates, values, auxiliary inputs and static fields are the model's numbers of them.
func (t *Trained) check(coordinates, values, aux, static int) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: trained: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	if t == nil {
		return nil
	}
	if len(t.X) != coordinates || len(t.Y) != values {
		return bad("ranges of %d coordinates and %d values, the model has %d and %d", len(t.X), len(t.Y), coordinates, values)
	}
	if len(t.Aux) != aux {
		return bad("ranges of %d auxiliary inputs, the model has %d", len(t.Aux), aux)
	}
	if len(t.Static) != static {
		return bad("ranges of %d static fields, the model has %d", len(t.Static), static)
	}
	for i, r := range slices.Concat(t.X, t.Y, t.Aux, t.Static) {
		if !(r.Min <= r.Max && r.Std >= 0 && !math.IsInf(r.Max-r.Min, 0) && !math.IsInf(r.Std, 0) && !math.IsNaN(r.Mean-r.Mean)) {
			return bad("range %d is from %g to %g with mean %g and standard deviation %g", i, r.Min, r.Max, r.Mean, r.Std)
		}
	}
	if u := t.Units; u != nil {
		if len(u.X) != coordinates || len(u.Y) != values {
			return bad("units of %d coordinates and %d values, the model has %d and %d", len(u.X), len(u.Y), coordinates, values)
		}
		if len(u.Aux) != aux {
			return bad("units of %d auxiliary inputs, the model has %d", len(u.Aux), aux)
		}
		if len(u.Static) != static {
			return bad("units of %d static fields, the model has %d", len(u.Static), static)
		}
		for _, a := range slices.Concat(u.X, u.Y, u.Aux, u.Static) {
			if !a.usable() {
				return bad("units: offset %g, factor %g", a.Offset, a.Factor)
			}
		}
	}
	if !(t.Span >= 0 && t.Spacing >= 0 && t.Noise >= 0) || math.IsInf(t.Span+t.Spacing+t.Noise, 0) || t.Context[0] < 0 ||
		t.Context[1] < t.Context[0] {
		return bad("span %g, spacing %g, noise %g, %d to %d context points", t.Span, t.Spacing, t.Noise, t.Context[0], t.Context[1])
	}
	return nil
}

// Witness collects what tasks look like. The zero value has seen none.
type Witness struct {
	x, y, aux     []moments
	static        []moments
	span, spacing moments
	context       [2]int
	tasks         int
}

// moments are the least and the greatest of some numbers, and the sum and the sum of squares of their differences from the first, without
// which the squares would lose the deviation where the mean is large.
type moments struct {
	n                       int
	first, min, max, s1, s2 float64
}

func (m *moments) add(v float64) {
	if m.n == 0 {
		m.first, m.min, m.max = v, v, v
	}
	m.n++
	m.min, m.max = min(m.min, v), max(m.max, v)
	v -= m.first
	m.s1 += v
	m.s2 += v * v
}

func (m *moments) mean() float64 { return m.first + m.s1/float64(max(m.n, 1)) }

func (m *moments) summary() Range {
	n, from := float64(max(m.n, 1)), m.s1/float64(max(m.n, 1))
	return Range{Min: m.min, Max: m.max, Mean: m.mean(), Std: math.Sqrt(max(0, m.s2/n-from*from))}
}

// saw counts a task with that many context points.
func (w *Witness) saw(context int) {
	if w.tasks == 0 {
		w.context = [2]int{context, context}
	}
	w.tasks++
	w.context = [2]int{min(w.context[0], context), max(w.context[1], context)}
}

// AddCurves takes tasks of dx coordinates and dy values into account, with the true values y [B, Nt, dy] at their
// targets, NaN where one is missing.
func AddCurves[T Float](w *Witness, b *Batch[T], y []T, dx, dy int) {
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

// Trained is what the tasks looked like; nil if there were none.
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

// How far data may lie beyond what a model was trained on before somebody is told, and curves are brought back: a value by a tenth of
// the trained range beyond its ends, the length of a context by these factors of the trained one. That a few points lie close together
// says nothing of their units.
const (
	beyondValues        = 0.1
	mostSpan, leastSpan = 2.5, 0.2
	leastSpanPoints     = 8
	mostContext         = 4
)

// otherSpan reports whether a context of n points and that length lies beyond the trained ones.
func (t *Trained) otherSpan(length float64, n int) bool {
	return t.Span > 0 && (length > mostSpan*t.Span || n >= leastSpanPoints && length > 0 && length < leastSpan*t.Span)
}

// outside reports whether a value lies beyond the range.
func (r Range) outside(v float64) bool {
	room := beyondValues * (r.Max - r.Min)
	return !(v >= r.Min-room && v <= r.Max+room)
}

// HasUnits reports whether the model works in other units than its data: Trained.Units.
func (c *Config) HasUnits() bool { return c.Trained != nil && c.Trained.Units != nil }

// Affine maps a number v of the data to (v - Offset)·Factor in the model's units. Factor is positive.
type Affine struct {
	Offset float64 `json:"offset"`
	Factor float64 `json:"factor"`
}

var identity = Affine{0, 1}

// Scaler brings the coordinates and values of one task into the range that a model was trained on, and predictions back. All coordinates
// have the same factor, and so have the components of a vector, whose offset is their mean: angles stay what they are.
type Scaler struct {
	X []Affine `json:"x"`
	Y []Affine `json:"y"`
	// Aux are those of the auxiliary inputs, Static those of the static fields, which have one scale for all tasks: the trained one.
	Aux    []Affine `json:"aux,omitempty"`
	Static []Affine `json:"static,omitempty"`
}

// Identity reports whether the scaler changes nothing.
func (s Scaler) Identity() bool {
	return !slices.ContainsFunc(slices.Concat(s.X, s.Y, s.Aux, s.Static), func(a Affine) bool { return a != identity })
}

// Scaler returns the scaler for a context of coordinates x [n, dx] and values y [n, dy]. It depends on the context
// alone, so targets do not influence each other. Values get the trained mean and standard deviation, by the moments of
// the context, with more spread where there are few; of a vector the mean is taken away and the length scaled. Shifted
// or scaled values so have shifted or scaled predictions, but that single or equal values have no scale. Values of a
// model that was trained on data (Trained.Units) change only where one lies beyond the trained range. Coordinates whose
// extent is within 0.2 to 2.5 times the trained ones are not changed; others get the trained span around the middle of
// the trained range. Then Trained.Units brings both into the model's units. For a model that does not know what it was
// trained on, the scaler is the identity.
func (c *Config) Scaler(x, y []float64) Scaler {
	s := c.intoRange(x, y)
	if t := c.Trained; t != nil && t.Units != nil && len(t.Units.X) == c.DimX && len(t.Units.Y) == c.DimY {
		s.Aux, s.Static = t.Units.Aux, t.Units.Static
		for d, u := range t.Units.X {
			s.X[d] = s.X[d].then(u)
		}
		for d, u := range t.Units.Y {
			s.Y[d] = s.Y[d].then(u)
		}
	}
	return s
}

// intoRange is the part of Scaler that changes tasks of another scale than the trained ones.
func (c *Config) intoRange(x, y []float64) Scaler {
	s := Scaler{X: slices.Repeat([]Affine{identity}, c.DimX), Y: slices.Repeat([]Affine{identity}, c.DimY)}
	t := c.Trained
	if t == nil || len(t.X) != c.DimX || len(t.Y) != c.DimY || c.DimX == 0 {
		return s
	}
	l, err := ParseLikelihood(c)
	if _, rescaled := l.(Rescaler); err == nil && rescaled { // values from 0 to 1, for example, are what they are
		always := c.standardises()
		for _, f := range c.Fields() {
			switch {
			case always && f.Type == Vector:
				copy(s.Y[f.First:], t.fitVectors(f, c.DimY, y))
				continue
			case always:
				s.Y[f.First] = t.Y[f.First].fit(f.First, c.DimY, y)
				continue
			}
			if f.Type == Vector {
				a := t.vectorIntoRange(f, c.DimY, y)
				for d := range f.Width {
					s.Y[f.First+d] = a
				}
				continue
			}
			s.Y[f.First] = t.Y[f.First].bring(f.First, c.DimY, y)
		}
	}
	longest := 0.0
	if c.OnSphere() {
		return s // a globe has no other scale
	}
	box := make([]moments, c.DimX)
	for i, v := range x {
		box[i%c.DimX].add(v)
	}
	for _, m := range box {
		longest = max(longest, m.max-m.min)
	}
	factor := 1.0
	if t.otherSpan(longest, len(x)/c.DimX) {
		factor = t.Span / longest
	} else if !c.placed(box) {
		return s
	}
	for d, m := range box {
		middle := (t.X[d].Min + t.X[d].Max) / 2
		if a := (Affine{Offset: m.min + (m.max-m.min)/2 - middle/factor, Factor: factor}); a.usable() {
			s.X[d] = a
		}
	}
	return s
}

// bring is the map that gives values y [n, dy] of column d the range's mean and deviation, if they lie beyond it.
func (r Range) bring(d, dy int, y []float64) Affine {
	var m moments
	away := false
	for i := d; i < len(y); i += dy {
		if y[i] == y[i] { // it was observed
			m.add(y[i])
			away = away || r.outside(y[i])
		}
	}
	if !away || m.n == 0 {
		return identity
	}
	a := Affine{Offset: m.mean(), Factor: 1}
	// The deviation about the mean is computed again, about the mean: sums of squares lose it where the mean is large.
	sum := 0.0
	for i := d; i < len(y); i += dy {
		if y[i] == y[i] {
			sum += (y[i] - a.Offset) * (y[i] - a.Offset)
		}
	}
	if std := math.Sqrt(sum / float64(m.n)); m.n > 1 && std > 0 && r.Std > 0 && !math.IsInf(std, 0) {
		a.Factor = r.Std / std
	}
	a.Offset -= r.Mean / a.Factor
	if !a.usable() {
		return identity
	}
	return a
}

// Length is the root mean square of a vector's components, whose ranges these are.
func Length(components []Range) float64 {
	s := 0.0
	for _, r := range components {
		s += r.Mean*r.Mean + r.Std*r.Std
	}
	return math.Sqrt(s / float64(max(1, len(components))))
}

// vectorIntoRange is the map that gives vectors of values y [n, dy] the length of the trained ones, if one of their
// components lies beyond the range. All components have one factor and no offset, so that directions stay what they
// are.
func (t *Trained) vectorIntoRange(f Field, dy int, y []float64) Affine {
	trained := t.Y[f.First : f.First+f.Width]
	sum, n, away, most := 0.0, 0, false, 0.0
	for _, r := range trained {
		most = max(most, math.Abs(r.Min), math.Abs(r.Max))
	}
	for i := f.First; i < len(y); i += dy {
		square := 0.0
		for _, v := range y[i : i+f.Width] {
			square += v * v
		}
		if square != square { // it was not observed
			continue
		}
		away = away || math.Sqrt(square) > (1+2*beyondValues)*math.Sqrt(float64(f.Width))*most
		sum, n = sum+square, n+f.Width
	}
	a := Affine{Factor: Length(trained) / math.Sqrt(sum/float64(max(1, n)))}
	if !away || !a.usable() {
		return identity
	}
	return a
}

// placed reports whether a context lies beyond the trained coordinates of a model that sees where points are.
func (c *Config) placed(box []moments) bool {
	if !c.CoordinateFeature && c.Architecture == EquivCNPCurve {
		return false
	}
	for d, m := range box {
		if m.n > 0 && (c.Trained.X[d].outside(m.min) || c.Trained.X[d].outside(m.max)) {
			return true
		}
	}
	return false
}

// usable reports whether numbers survive the map without overflow or loss.
func (a Affine) usable() bool {
	return a.Factor > 1e-300 && a.Factor < 1e300 && !math.IsNaN(a.Offset-a.Offset)
}

// Apply is (v - Offset)·Factor.
func (a Affine) Apply(v float64) float64 { return (v - a.Offset) * a.Factor }

// then is the map of first a, then b.
func (a Affine) then(b Affine) Affine {
	return Affine{Offset: a.Offset + b.Offset/a.Factor, Factor: a.Factor * b.Factor}
}

// Undo is the inverse of Apply.
func (a Affine) Undo(v float64) float64 { return v/a.Factor + a.Offset }

// Standardised is a regressor that brings tasks into the range that m was trained on, by Standardise, and predictions back.
// Log-likelihoods are in the data's own units.
func Standardised[T Float](m Regressor[T]) Regressor[T] {
	if e, ok := m.(*CurveEnsemble[T]); ok { // each knows a range of its own
		out := &CurveEnsemble[T]{}
		for _, member := range e.members {
			out.members = append(out.members, Standardised(member))
		}
		return out
	}
	return standardised[T]{m}
}

type standardised[T Float] struct{ Regressor[T] }

// Predict implements Regressor.
func (s standardised[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	c := s.Config()
	in, undo, err := Standardise(&c, b)
	if err != nil {
		return nil, err
	}
	p, err := s.Regressor.Predict(ctx, in)
	if p != nil {
		undo(p)
	}
	if in != b {
		err = outsideOf(b, c.DimX, err)
	}
	return p, err
}

// outsideOf returns an error of a prediction for a scaled copy of b; an OutsideError gets the coordinates that b has.
func outsideOf[T Float](b *Batch[T], dx int, err error) error {
	var scaled *OutsideError
	if !errors.As(err, &scaled) {
		return err
	}
	own := &OutsideError{Where: scaled.Where + " in the model's units"}
	for _, p := range scaled.Points {
		x, n := b.XTarget, b.Nt
		switch p.Tensor {
		case "x_context":
			x, n = b.XContext, b.Nc
		case "x_static":
			x, n = b.XStatic, b.Ns
		}
		p.X = slices.Clone(x[(p.Task*n+p.Point)*dx:][:dx])
		own.Points = append(own.Points, p)
	}
	return own
}

// Standardise returns a copy of a batch whose tasks each went through their own Scaler, and what brings a prediction for it back to the
// batch's units, standard deviations included. What no scaler changes is the batch itself.
func Standardise[T Float](c *Config, b *Batch[T]) (scaled *Batch[T], undo func(*Prediction[T]), err error) {
	scaled, scalers, err := scaleTasks(c, b)
	if err != nil {
		return nil, nil, err
	}
	return scaled, func(p *Prediction[T]) {
		var buffer []float64
		for t, k := range scalers {
			if k.Identity() {
				continue
			}
			for i := range b.Nt * c.DimY {
				if at, a := t*b.Nt*c.DimY+i, k.Y[i%c.DimY]; b.targetOK(t, i/c.DimY) {
					buffer = p.rescale(at, a, buffer)
				}
			}
		}
	}, nil
}

// StandardiseTasks is Standardise for tasks with their true values y [B, Nt, dy], which it returns in the model's units, too.
func StandardiseTasks[T Float](c *Config, b *Batch[T], y []T) (scaled *Batch[T], truth []T, err error) {
	scaled, scalers, err := scaleTasks(c, b)
	if err != nil {
		return nil, nil, err
	}
	if want := b.B * b.Nt * c.DimY; len(y) != want {
		return nil, nil, fmt.Errorf("%w: %d true values, need %d", ErrShape, len(y), want)
	}
	return scaled, scaleTruth(scalers, y, b.Nt*c.DimY, c.DimY), nil
}

// scaleTruth brings the values of tasks, per of them each, into the model's units.
func scaleTruth[T Float](scalers []Scaler, y []T, per, dy int) []T {
	if scalers == nil {
		return y
	}
	out := make([]T, len(y))
	for i, v := range y {
		out[i] = T(scalers[i/per].Y[i%dy].Apply(float64(v)))
	}
	return out
}

// OtherScale is the number of a batch's tasks that are of another scale than the trained ones.
func OtherScale[T Float](c *Config, b *Batch[T]) (tasks int) {
	if b.Nc == 0 || c.Trained == nil { // of nothing there may be any number of tasks
		return 0
	}
	for t := range b.B {
		if c.otherScale(b.wideContext(t, c.DimX, c.DimY)) {
			tasks++
		}
	}
	return tasks
}

// otherScale reports whether a context of coordinates x and values y has values beyond the trained range, or
// coordinates that Scaler changes.
func (c *Config) otherScale(x, y []float64) bool {
	s, t := c.intoRange(x, y), c.Trained
	if len(t.Y) != c.DimY {
		return false
	}
	for _, a := range s.X {
		if a != identity {
			return true
		}
	}
	for _, f := range c.Fields() {
		if f.Type == Vector && t.vectorIntoRange(f, c.DimY, y) != identity {
			return true
		}
		if f.Type != Vector && s.Y[f.First] != identity && t.Y[f.First].bring(f.First, c.DimY, y) != identity {
			return true
		}
	}
	return false
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

// scaleTasks returns a copy of a batch whose tasks each went through their own scaler; where no scaler changes
// anything, the batch itself and no scalers.
func scaleTasks[T Float](c *Config, b *Batch[T]) (scaled *Batch[T], scalers []Scaler, err error) {
	if err := b.check(c.widths()); err != nil {
		return nil, nil, err
	}
	if c.Trained == nil || b.Nc+b.Nt == 0 || b.Nc == 0 && c.Trained.Units == nil { // of nothing there may be any number of tasks
		return b, nil, nil
	}
	b = b.whole(c)
	b, dense := thin(c, b)
	in, changed := *b, dense > 0
	in.XContext, in.YContext, in.XTarget = slices.Clone(b.XContext), slices.Clone(b.YContext), slices.Clone(b.XTarget)
	in.AuxContext, in.AuxTarget = slices.Clone(b.AuxContext), slices.Clone(b.AuxTarget)
	in.XStatic, in.YStatic = slices.Clone(b.XStatic), slices.Clone(b.YStatic)
	da, ds := len(c.Auxiliary), len(c.Static)
	scalers = make([]Scaler, b.B)
	for t := range b.B {
		k := c.Scaler(b.wideContext(t, c.DimX, c.DimY))
		scalers[t] = k
		if k.Identity() {
			continue
		}
		changed = true
		for i := range b.Nc * c.DimX {
			at := t*b.Nc*c.DimX + i
			in.XContext[at] = k.X[i%c.DimX].Apply(in.XContext[at])
		}
		for i := range b.Nc * c.DimY {
			at := t*b.Nc*c.DimY + i
			in.YContext[at] = T(k.Y[i%c.DimY].Apply(float64(in.YContext[at])))
		}
		for i := range b.Nt * c.DimX {
			at := t*b.Nt*c.DimX + i
			in.XTarget[at] = k.X[i%c.DimX].Apply(in.XTarget[at])
		}
		if ds > 0 {
			for i := t * b.Ns * c.DimX; i < (t+1)*b.Ns*c.DimX; i++ {
				in.XStatic[i] = k.X[i%c.DimX].Apply(in.XStatic[i])
			}
		}
		if k.Static != nil {
			for i := t * b.Ns * ds; i < (t+1)*b.Ns*ds; i++ {
				in.YStatic[i] = T(k.Static[i%ds].Apply(float64(in.YStatic[i])))
			}
		}
		for _, aux := range [][]T{in.AuxContext[t*b.Nc*da : (t+1)*b.Nc*da], in.AuxTarget[t*b.Nt*da : (t+1)*b.Nt*da]} {
			for i, v := range aux {
				if k.Aux != nil {
					aux[i] = T(k.Aux[i%da].Apply(float64(v)))
				}
			}
		}
	}
	if !changed {
		return b, nil, nil
	}
	return &in, scalers, nil
}

// sample is SampleCurves in the range that the model was trained on: the context alone decides how each task gets there, and not what
// is drawn.
func (s standardised[T]) sample(ctx context.Context, b *Batch[T], opt SampleOptions) ([]T, error) {
	c := s.Config()
	in, scalers, err := scaleTasks(&c, b)
	if err != nil {
		return nil, err
	}
	y, err := SampleCurves(ctx, s.Regressor, in, opt)
	for i := range y {
		if per := b.Nt * c.DimY; scalers != nil && b.targetOK(i/per%b.B, i%per/c.DimY) {
			y[i] = T(scalers[i/per%b.B].Y[i%c.DimY].Undo(float64(y[i])))
		}
	}
	return y, err
}

// joint is JointCurves likewise; densities are those of the data's own units.
func (s standardised[T]) joint(ctx context.Context, b *Batch[T], y []T, chain Chain) (*Joint[T], error) {
	c := s.Config()
	in, scalers, err := scaleTasks(&c, b)
	if err != nil {
		return nil, err
	}
	if scalers == nil || len(y) != b.B*b.Nt*c.DimY { // the latter is an error
		return JointCurves(ctx, s.Regressor, in, y, chain)
	}
	per := b.Nt * c.DimY
	j, err := JointCurves(ctx, s.Regressor, in, scaleTruth(scalers, y, per, c.DimY), chain)
	if j == nil {
		return nil, err
	}
	clear(j.LogDensity)
	var buffer []float64
	for i := range y {
		target := i / c.DimY
		if !b.targetOK(target/b.Nt, target%b.Nt) {
			continue
		}
		a := scalers[i/per].Y[i%c.DimY]
		buffer = j.rescale(i, a, buffer)
		if j.values[target] > 0 && y[i] == y[i] {
			j.LogDensity[target] += j.logDensity(i, y[i])
		}
	}
	return j, err
}

// Notes says, by name, how a batch differs from what the model was trained on. It is empty if the batch does not differ, or if
// that is unknown.
func Notes[T Float](c *Config, b *Batch[T]) (notes []string) {
	t := c.Trained
	if t == nil || len(t.X) != c.DimX || len(t.Y) != c.DimY || b.Nc == 0 {
		return nil
	}
	seen, spans := Witness{}, moments{}
	for task := range b.B {
		x, y := b.context(task, c.DimX, c.DimY)
		one := Witness{}
		for _, w := range []*Witness{&seen, &one} {
			AddCurves(w, &Batch[T]{B: 1, Nc: len(x) / c.DimX, XContext: x, YContext: y}, nil, c.DimX, c.DimY)
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
	if spans.n > 0 {
		notes = append(notes, fmt.Sprintf("x of the context spans %.4g, the model was trained on spans of about %.4g", spans.max, t.Span))
	}
	if seen.tasks > 0 && t.Context[1] > 0 && seen.context[1] > mostContext*t.Context[1] {
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

// ordinal numbers one of several, from 1.
func ordinal(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprint(i + 1)
}

// ImageNotes is Notes for images.
func ImageNotes[T Float](c *Config, im *Images[T]) (notes []string) {
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
