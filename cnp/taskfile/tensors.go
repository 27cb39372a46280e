package taskfile

import "github.com/equivcnp/equivcnp/internal/safetensors"

// Tensors are those of the file, in its order. They share its memory.
func (t *File) Tensors() []safetensors.Tensor { return t.file.Tensors }
