package layers

import "github.com/equivcnp/equivcnp/simd"

// Float is the type of features: float32 or float64. Geometry is always float64.
type Float = simd.Float

// Param is a named array of a model's state: a weight that training changes or a buffer (running statistics, radius)
// that it maintains. Data is the live array, not a copy.
type Param[T Float] struct {
	Name   string // as in a PyTorch state_dict: "conv.0.linear.weight"
	Shape  []int
	Data   []T
	Buffer bool // no gradient
	// Unused marks arrays that a file must contain although no prediction reads them.
	Unused bool
}
