package group

import "math"

// TranslationDim implements TranslationInvariant.
func (g *T) TranslationDim() int { return g.n }

// TranslationCoords implements TranslationInvariant.
func (g *T) TranslationCoords(x, kind, a, _ []float64) {
	copy(x, a)
	clear(kind)
}

// TranslationError implements TranslationInvariant. A difference is rounded by at most 2⁻⁵³ of 2·size, and two of them are compared.
func (g *T) TranslationError(s, size float64) float64 { return s*(1+0x1p-50) + 0x1p-51*size }

// TranslationDim implements TranslationInvariant.
func (g *SE2) TranslationDim() int { return 2 }

// TranslationCoords implements TranslationInvariant. The coordinates are the point V(θ)t, and the kind is the angle θ.
func (g *SE2) TranslationCoords(x, kind, a, _ []float64) {
	var views se2Views
	for i := range kind {
		a, x := a[3*i:][:3], x[2*i:][:2]
		v := views.of(0, a[0])
		kind[i] = a[0]
		x[0], x[1] = mulComplex(v.vr, v.vi, a[1], a[2])
	}
}

// TranslationError implements TranslationInvariant. In units of 2⁻⁵³·size, with vectors for complex numbers and s as a vector at most √2·s:
//
// Of two angles, the pose's translation is M(p_i - p_j) with |M| = h/sin h ≤ π/2, h half the relative angle, and the p are the
// coordinates themselves. It changes by no more than (π/2)·√2·s. Either difference of p is at most 2 in a coordinate and
// 2√2 as a vector, and rounded once; with products and their difference, which are rounded too, a coordinate is off by
// (π/2)·3·2√2 = 13.4, that of two poses by 26.7.
//
// Of one angle it is V(-θ)(t_i - t_j), where V(-θ) is, to the last bit, the conjugate of the V(θ) that p = V(θ)t is made by. So
// the change is V(θ) applied to that of t_i - t_j, in size: √2·s, and the rounding of four p. A product there is rounded by
// |V||t| ≤ √2, their sum by as much, a vector p by √2·2·√2 = 4: 16 in all. Rounding of the pose itself is as above, with
// |V||t_i - t_j| ≤ 2√2: 3·2√2 = 8.5, and 17 for two: 33.
//
// The bound has 34, which covers that of what is rounded the sizes are, too. Below normal numbers roundings do not shrink.
func (g *SE2) TranslationError(s, size float64) float64 {
	return math.Pi/2*math.Sqrt2*s*(1+0x1p-40) + 0x1.1p-48*size + 0x1p-1000
}
