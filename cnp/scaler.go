package cnp

import (
	"math"
	"slices"
)

// Scaler returns the scaler for a context of coordinates x [n, dx] and values y [n, dy]. It depends on the context
// alone, so targets do not influence each other. Values get the trained mean and standard deviation, by the moments of
// the context, with more spread where there are few; of a vector the mean is taken away and the length scaled. Shifted
// or scaled values so have shifted or scaled predictions, but that single or equal values have no scale. Values that filled
// a bounded range in training, such as those of sawtooth waves, are not changed where they lie in that range, and eight
// or more of them fill a fifth of it. Values of a model that was trained on data (Trained.Units) change only where one lies beyond the
// trained range. Coordinates whose
// extent is within 0.2 to 2.5 times the trained ones are not changed; others get the trained span around the middle of
// the trained range. Units of x that bring the extent out of that band therefore change nothing; within it the extent
// is taken for what the data are, since a process of the model's length scale on it is what training had. Under
// Trained.Window coordinates never change. Then Trained.Units brings both into the model's units. For a model that does
// not know what it was trained on, the scaler is the identity.
func (c *Config) Scaler(x, y []float64) Scaler {
	s := c.intoRange(x, y)
	if t := c.Trained; t != nil && t.Units != nil && len(t.Units.X) == c.DimX && len(t.Units.Y) == c.DimY {
		s.Aux, s.Static = t.Units.Aux, t.Units.Static
		for d, u := range t.Units.X {
			s.X[d] = s.X[d].Then(u)
		}
		for d, u := range t.Units.Y {
			s.Y[d] = s.Y[d].Then(u)
		}
	}
	return s
}

// HasUnits reports whether the model works in other units than its data: Trained.Units.
func (c *Config) HasUnits() bool { return c.Trained != nil && c.Trained.Units != nil }

// intoRange returns the part of Scaler that changes tasks of another scale than the trained ones.
func (c *Config) intoRange(x, y []float64) Scaler {
	s := Scaler{X: slices.Repeat([]Affine{identity}, c.DimX), Y: slices.Repeat([]Affine{identity}, c.DimY)}
	t := c.Trained
	if t == nil || len(t.X) != c.DimX || len(t.Y) != c.DimY || c.DimX == 0 || absolute[c.Architecture] {
		return s
	}
	l, err := ParseLikelihood(c)
	if err == nil && movable(l) { // values from 0 to 1, for example, are what they are
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
	if c.OnSphere() || t.Window != nil {
		return s // a globe has no other scale, and the sides of windows say what the units are
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
		if a := (Affine{Offset: m.min + (m.max-m.min)/2 - middle/factor, Factor: factor}); a.Usable() {
			s.X[d] = a
		}
	}
	return s
}

// vectorIntoRange returns the map that gives vectors of values y [n, dy] the length of the trained ones, if one of their
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
	if !away || !a.Usable() {
		return identity
	}
	return a
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

// placed reports whether a context lies beyond the trained coordinates of a model that sees where points are.
func (c *Config) placed(box []moments) bool {
	if !c.placesPoints() && c.Architecture == EquivCNPCurve {
		return false
	}
	for d, m := range box {
		if m.n > 0 && (c.Trained.X[d].outside(m.min) || c.Trained.X[d].outside(m.max)) {
			return true
		}
	}
	return false
}

// OtherScale returns the number of a batch's tasks whose scale is not that of training.
func OtherScale[T Float](c *Config, b *Batch[T]) (tasks int) {
	return instance[func(*Config, *Batch[T]) int](&otherScaleInstances)(c, b)
}

var otherScaleInstances = instances{otherScale[float32], otherScale[float64]}

func otherScale[T Float](c *Config, b *Batch[T]) (tasks int) {
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

// movable reports whether the values of a likelihood may be brought to units with another zero, which positive ones may not.
func movable(l Likelihood) bool {
	_, rescaled := l.(Rescaler)
	lo, _ := l.Support()
	return rescaled && !(lo >= 0)
}
