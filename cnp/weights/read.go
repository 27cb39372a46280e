package weights

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// ReadState reads a model file of any format, which it finds from the content. Errors name the file; those about its
// content wrap ErrFormat.
func ReadState(path string) (*State, error) {
	b, err := safetensors.ReadOf(path, func(head []byte) error {
		_, err := sniff(head)
		return err
	})
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
	return "", fmt.Errorf("%w: what begins with %q is neither a safetensors nor a PyTorch file", ErrFormat, b[:min(len(b), 8)])
}
