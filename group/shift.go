package group

import "math"

// Shifter is implemented by groups some of whose relative poses depend on the difference of coordinates alone, as those of
// translations do.
type Shifter interface {
	Group
	// ShiftCoords returns the coordinates of a lift, a part of a or q, and its kind. Say that four lifts are of one kind, none
	// of their coordinates is larger than size, and the coordinates of a less those of b are within s of those of c less
	// those of d. Then the pose of a relative to b is within ShiftError(s, size) of that of c relative to d in every
	// coordinate, rounding included. NaN is no kind.
	ShiftCoords(a, q []float64) (coords []float64, kind float64)
	// ShiftError is at least s, and NaN or +Inf where either argument is.
	ShiftError(s, size float64) float64
}

// ShiftCoords implements Shifter.
func (g *T) ShiftCoords(a, _ []float64) ([]float64, float64) { return a, 0 }

// ShiftError implements Shifter. A difference is rounded by at most 2⁻⁵³ of 2·size, and two of them are compared.
func (g *T) ShiftError(s, size float64) float64 { return s*(1+0x1p-50) + 0x1p-51*size }

// ShiftCoords implements Shifter. The kind is the angle: the pose of two lifts of one angle θ is (0, V(-θ)(t - t')).
func (g *SE2) ShiftCoords(a, _ []float64) ([]float64, float64) { return a[1:3], a[0] }

// ShiftError implements Shifter.
//
// V(θ) is a turn by θ/2 times sin(θ/2)/(θ/2), which is at most 1. So a coordinate of V(-θ)d changes by no more than √2·s, and with
// |d| ≤ 2·size in either coordinate, which is rounded once, and products and their difference, which are rounded too, it is
// off by at most 3·√2·2⁻⁵³·2·size; two of them are compared: 8.5·2⁻⁵²·size. The bound has 11 for 8.5, which covers
// that V's size is rounded, too.
func (g *SE2) ShiftError(s, size float64) float64 { return math.Sqrt2*s*(1+0x1p-40) + 0x1.6p-49*size }
