package weights

import (
	"errors"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Errors that callers may want to tell apart. All are wrapped with the file's name and the case at hand.
var (
	// ErrFormat means that the bytes are not a file of a known format, or a damaged or hostile one.
	ErrFormat = errors.New("not a readable model file")
	// ErrTensor means that tensors are unknown, missing, of a wrong shape, or hold values that are not finite.
	ErrTensor = errors.New("the tensors do not fit the model")
	// ErrGroup means that the group is missing where the shapes leave a choice, or contradicts the file.
	ErrGroup = errors.New("the group does not fit the model")
	// ErrArchitecture means that the tensors are not those of a known architecture.
	ErrArchitecture = errors.New("unknown architecture")

	errNoState = errors.New("no state of a model")
)

// Tensor is one named array: Name, DType, Shape and Data, the last little-endian and row-major. Its methods Len,
// Float64s and Float32s count and convert.
type Tensor = safetensors.Tensor

// DType is the type of a tensor's elements.
type DType = safetensors.DType

// The element types.
const (
	F64  = safetensors.F64
	F32  = safetensors.F32
	F16  = safetensors.F16
	BF16 = safetensors.BF16
	I64  = safetensors.I64
	I32  = safetensors.I32
	I16  = safetensors.I16
	I8   = safetensors.I8
	U64  = safetensors.U64
	U32  = safetensors.U32
	U16  = safetensors.U16
	U8   = safetensors.U8
	Bool = safetensors.Bool
)

// Format names a file's format.
type Format string

// The formats.
const (
	SafeTensors   Format = "safetensors"
	PyTorchLegacy Format = "pytorch-legacy" // torch.save before 1.6, or with _use_new_zipfile_serialization=False
	PyTorchZip    Format = "pytorch-zip"    // torch.save from 1.6 on
)

// State is the content of a model file: its tensors in the file's order, and its metadata (never nil; PyTorch's formats
// have none).
type State struct {
	Format   Format
	Metadata map[string]string
	Tensors  []Tensor
}

// Get returns the tensor of that name, or nil.
func (s *State) Get(name string) *Tensor {
	for i := range s.Tensors {
		if s.Tensors[i].Name == name {
			return &s.Tensors[i]
		}
	}
	return nil
}

// Elements is the number of elements of all tensors together.
func (s *State) Elements() int {
	n := 0
	for i := range s.Tensors {
		n += s.Tensors[i].Len()
	}
	return n
}
