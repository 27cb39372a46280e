package cnp

import "math"

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

// outside reports whether a value lies beyond the range.
func (r Range) outside(v float64) bool {
	room := beyondValues * (r.Max - r.Min)
	return !(v >= r.Min-room && v <= r.Max+room)
}

// bring returns the map that gives values y [n, dy] of column d the range's mean and deviation, if they lie beyond it.
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
	if !a.Usable() {
		return identity
	}
	return a
}

// otherSpan reports whether a context of n points and that length lies beyond the trained ones.
func (t *Trained) otherSpan(length float64, n int) bool {
	return t.Span > 0 && (length > mostSpan*t.Span || n >= leastSpanPoints && length > 0 && length < leastSpan*t.Span)
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

// Length returns the root mean square of a vector's components, whose ranges these are.
func Length(components []Range) float64 {
	s := 0.0
	for _, r := range components {
		s += r.Mean*r.Mean + r.Std*r.Std
	}
	return math.Sqrt(s / float64(max(1, len(components))))
}
