package taskfile

import "github.com/equivcnp/equivcnp/internal/safetensors"

// Tensors are those of the file, in its order. They share its memory.
func (t *File) Tensors() []Tensor { return t.file.Tensors }

// Tensor is a named tensor of a file.
type Tensor = safetensors.Tensor

// Float32s returns the tensor of these values, row-major.
func Float32s(name string, shape []int, values []float32) Tensor {
	return safetensors.FromFloat32s(name, shape, values)
}

// Float64s returns the tensor of these values, row-major.
func Float64s(name string, shape []int, values []float64) Tensor {
	return safetensors.FromFloat64s(name, shape, values)
}
