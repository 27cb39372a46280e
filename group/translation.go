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

// TranslationError implements TranslationInvariant. Errors are given in units of 2⁻⁵³·size, complex numbers are treated as
// vectors, and s in every coordinate is at most √2·s as a vector.
//
// Between lifts of different angles, the pose's translation is M(p_i - p_j) with |M| = h/sin h ≤ π/2, where h is half the
// relative angle and the p are the coordinates themselves. A change of the differences changes it by at most (π/2)·√2·s. Either
// difference of p is at most 2 in a coordinate and 2√2 as a vector, and rounded once. Products and their difference are rounded
// too, so a coordinate is off by (π/2)·3·2√2 = 13.4, and the difference of two poses by 26.7.
//
// Between lifts of one angle, the pose's translation is V(-θ)(t_i - t_j), where V(-θ) is, to the last bit, the conjugate of the
// V(θ) that computes p = V(θ)t. So it changes by V(θ) applied to the change of t_i - t_j: by √2·s in size, plus the rounding of
// four p. There a product is rounded by |V||t| ≤ √2, their sum by as much, so a vector p by √2·2·√2 = 4, and four of them by 16.
// The rounding of the pose itself is as above, with |V||t_i - t_j| ≤ 2√2: 3·2√2 = 8.5, and 17 for two poses. Together: 33.
//
// The bound uses 34, so that it also holds where the sizes themselves are rounded. Below the normal numbers roundings do not
// shrink any more, which the constant term covers.
func (g *SE2) TranslationError(s, size float64) float64 {
	return math.Pi/2*math.Sqrt2*s*(1+0x1p-40) + 0x1.1p-48*size + 0x1p-1000
}
