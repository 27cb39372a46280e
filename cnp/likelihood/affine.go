package likelihood

import "math"

// Affine maps a number v of the data to (v - Offset)·Factor in the model's units. Factor is positive.
type Affine struct {
	Offset float64 `json:"offset"`
	Factor float64 `json:"factor"`
}

// Apply returns (v - Offset)·Factor.
func (a Affine) Apply(v float64) float64 { return (v - a.Offset) * a.Factor }

// Undo returns the inverse of Apply.
func (a Affine) Undo(v float64) float64 { return v/a.Factor + a.Offset }

// Then returns the map of first a, then b.
func (a Affine) Then(b Affine) Affine {
	return Affine{Offset: a.Offset + b.Offset/a.Factor, Factor: a.Factor * b.Factor}
}

// Usable reports whether numbers survive the map without overflow or loss.
func (a Affine) Usable() bool {
	return a.Factor > 1e-300 && a.Factor < 1e300 && !math.IsNaN(a.Offset-a.Offset)
}
