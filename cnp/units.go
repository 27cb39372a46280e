package cnp

import "math"

// Models whose file has no units of its own (Trained.Units) were trained on processes with one mean and one deviation.
// Their data are always standardised: each field by the moments of the task's context, so that values that are shifted
// or scaled have predictions that are shifted and scaled alike. Bounded values, such as those of sawtooth waves, change only
// where they lie beyond the range or fill little of it. Models with units know what their data are, and change
// only what lies beyond them.

// standardises reports whether values always get the trained moments. Where some values are never observed, the scales
// of observed and unobserved values belong together, and nobody can scale the latter.
func (c *Config) standardises() bool {
	return c.Trained.Units == nil && c.Unobserved() == nil
}

// least is the deviation, as a share of the largest value, that the rounding of float32 values explains.
const least = 4.0 / (1 << 24)

// deviation estimates the standard deviation of the process from n values whose squared distances from their mean sum
// to squares; largest is the largest value. It is 0 where the values are equal, to rounding.
//
// A few values lie closer together than the process spreads, because they may be neighbours and because their mean is
// their own. The variance is therefore (n+3)/(n-1) times the mean square: 5 times for two values, 1.4 times for ten,
// 1.04 times for a hundred. The factor depends on n alone, so that scaled values have a scaled deviation.
func deviation(squares float64, n int, largest float64) float64 {
	if n < 2 {
		return 0
	}
	std := math.Sqrt(squares / float64(n))
	if !(std > least*largest) || math.IsInf(std, 0) {
		return 0
	}
	return std * math.Sqrt(float64(n+3)/float64(n-1))
}

// within estimates the standard deviation of values within one task, of which Std is that over all tasks. The values of
// a task are neighbours: of a Gaussian process with length scale 1 on an interval of length 4, they have 0.72 times the
// deviation of the process. Values that fill a bounded range, such as those of sawtooth waves, do so in every task.
func (r Range) within() float64 {
	if r.bounded() {
		return r.Std
	}
	return share * r.Std
}

// bounded reports whether values fill a bounded range. Its length is then 3.5 deviations if they do so evenly, and 5.2 with
// the noise of the shipped model with the most; that of a thousand normal values is 6.5.
func (r Range) bounded() bool { return r.Max-r.Min < bounded*r.Std }

// holds reports whether bounded values y [n, dy] of column d are in the model's own units: none lies beyond the range, and several of
// them do not crowd into a small part of it. Where they have jumps, moments are no measure: a model that knows where a wave jumps
// is sure of the last thousandth of the range, and a deviation of twenty values is not known to a tenth.
func (r Range) holds(d, dy int, y []float64) bool {
	var m moments
	for i := d; i < len(y); i += dy {
		if y[i] == y[i] { // it was observed
			m.add(y[i])
		}
	}
	return m.n > 0 && !r.outside(m.min) && !r.outside(m.max) && (m.n < leastSpanPoints || m.max-m.min >= leastSpan*(r.Max-r.Min))
}

// bounded is how many deviations the range of values that fill it has at most, and share what of the deviation is left within a
// task of other values.
const (
	bounded = 5.5
	share   = 0.7
)

// fit returns the map that gives values y [n, dy] of column d the range's mean and deviation. A single value, or equal
// ones, have no scale of their own and keep theirs, and so do bounded values in the model's own units.
func (r Range) fit(d, dy int, y []float64) Affine {
	if r.bounded() && r.holds(d, dy, y) {
		return identity
	}
	var m moments
	for i := d; i < len(y); i += dy {
		if y[i] == y[i] { // it was observed
			m.add(y[i])
		}
	}
	if m.n == 0 {
		return identity
	}
	a := Affine{Offset: m.mean(), Factor: 1}
	// Squares about the mean are summed again: those about the first value lose it where the values lie far from that.
	squares := 0.0
	for i := d; i < len(y); i += dy {
		if y[i] == y[i] {
			squares += (y[i] - a.Offset) * (y[i] - a.Offset)
		}
	}
	if std := deviation(squares, m.n, max(math.Abs(m.min), math.Abs(m.max))); std > 0 && r.Std > 0 {
		a.Factor = r.within() / std
	}
	a.Offset -= r.Mean / a.Factor
	if !a.Usable() {
		return identity
	}
	return a
}

// fitVectors returns the maps of a vector's components that take away the mean vector of values y [n, dy] and give what
// is left the deviation of the trained ones. All components have one factor, so that turned vectors have turned
// predictions.
func (t *Trained) fitVectors(f Field, dy int, y []float64) []Affine {
	out := make([]Affine, f.Width)
	for d := range out {
		out[d] = identity
	}
	n := 0
	mean := make([]float64, f.Width)
	known := func(i int) bool {
		for _, v := range y[i : i+f.Width] {
			if v != v {
				return false
			}
		}
		return true
	}
	for i := f.First; i < len(y); i += dy {
		if known(i) {
			n++
			for d := range mean { // by steps, so that the sum cannot overflow
				mean[d] += (y[i+d] - mean[d]) / float64(n)
			}
		}
	}
	if n == 0 {
		return out
	}
	squares, largest := 0.0, 0.0
	for i := f.First; i < len(y); i += dy {
		if known(i) {
			for d, m := range mean {
				squares += (y[i+d] - m) * (y[i+d] - m) / float64(f.Width)
				largest = max(largest, math.Abs(y[i+d]))
			}
		}
	}
	factor, trained := 1.0, 0.0
	for _, r := range t.Y[f.First : f.First+f.Width] {
		trained += r.Std * r.Std / float64(f.Width) // fields of vectors extend over many of their lengths: nothing is lost within a task
	}
	if std := deviation(squares, n, largest); std > 0 && trained > 0 {
		factor = math.Sqrt(trained) / std
	}
	for d := range out {
		if a := (Affine{Offset: mean[d], Factor: factor}); a.Usable() {
			out[d] = a
		}
	}
	return out
}
