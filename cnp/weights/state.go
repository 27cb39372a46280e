package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// ReadState reads a model file of any format, which it finds from the content. Errors name the file; those about its
// content wrap ErrFormat.
func ReadState(path string) (*State, error) {
	b, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := DecodeState(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// DecodeState is ReadState for bytes in memory. Tensors may alias b. A state_dict may stand in a dictionary beside other
// facts of a training, and have names that all begin with what a wrapper of the model writes before them, as "module.".
func DecodeState(b []byte) (*State, error) {
	s, err := decodeState(b)
	if err == nil && s.Metadata[metaConfig] == "" {
		s.unwrap()
	}
	return s, err
}

// unwrap takes prefixes away that all tensors have.
func (s *State) unwrap() {
	for again := len(s.Tensors) > 0; again; {
		again = false
		for _, prefix := range []string{"module.", "model.", "_orig_mod."} {
			if slices.ContainsFunc(s.Tensors, func(t Tensor) bool { return !strings.HasPrefix(t.Name, prefix) }) {
				continue
			}
			for i := range s.Tensors {
				s.Tensors[i].Name = strings.TrimPrefix(s.Tensors[i].Name, prefix)
			}
			again = true
		}
	}
}

func decodeState(b []byte) (*State, error) {
	switch format, err := sniff(b); {
	case err != nil:
		return nil, err
	case format == PyTorchZip:
		return decodeZip(b)
	case format == PyTorchLegacy:
		return decodeLegacy(b)
	}
	f, err := safetensors.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return &State{SafeTensors, f.Metadata, f.Tensors}, nil
}

// sniff tells the format from the first bytes: an archive begins with the magic number of a zip entry, a safetensors
// file has the brace of its JSON header at byte 8, and a pickle begins with the opcode PROTO. A safetensors header may
// have any length, so its length's first byte may be PROTO; no pickle of PyTorch has a brace there.
func sniff(b []byte) (Format, error) {
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return PyTorchZip, nil
	case len(b) > 8 && b[8] == '{' && binary.LittleEndian.Uint64(b) < 1<<40:
		return SafeTensors, nil
	case len(b) > 0 && b[0] == opProto:
		return PyTorchLegacy, nil
	}
	return "", fmt.Errorf("%w: %d bytes that begin with %q are neither safetensors nor a PyTorch file", ErrFormat, len(b),
		b[:min(len(b), 8)])
}
