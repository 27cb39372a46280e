package taskfile

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Endings are the names of the formats that files of tensors are written in.
const Endings = ".safetensors .npz .nc"

// decode reads the tensors of a file, whose first bytes say which format it has. left says why others of it are not read.
func decode(b []byte) (f *safetensors.File, left map[string]error, err error) {
	switch {
	case npy.Is(b), npy.IsZip(b):
		tensors, err := npy.Decode(b)
		return &safetensors.File{Tensors: tensors}, nil, err
	case netcdf.Is(b), netcdf.IsHDF5(b):
		return variables(b)
	}
	f, err = safetensors.Decode(b)
	return f, nil, err
}

// perByte bounds the tensors of a NetCDF file: a byte may become a float64, and no part of a file should belong to many variables. What is
// compressed becomes no more than mostExpanded bytes of float64s.
const (
	perByte      = 8
	mostExpanded = 1 << 30
)

// variables makes tensors of a NetCDF file's variables of numbers.
func variables(b []byte) (*safetensors.File, map[string]error, error) {
	f, err := netcdf.Decode(b)
	if err != nil {
		return nil, nil, err
	}
	out := &safetensors.File{}
	left := max(perByte*len(b), min(perByte*f.Most(), mostExpanded))
	for i := range f.Vars {
		v := &f.Vars[i]
		if v.IsText() {
			continue
		}
		if left -= 8 * f.Len(v); left < 0 {
			return nil, nil, fmt.Errorf("%w: its variables overlap, or have more values than are read of a file of this size",
				netcdf.ErrFormat)
		}
		if err := f.Check(v); err != nil {
			return nil, nil, err
		}
		values := f.Values(v)
		if v.Type != netcdf.Float || v.Attr("scale_factor") != nil || v.Attr("add_offset") != nil {
			out.Tensors = append(out.Tensors, safetensors.FromFloat64s(v.Name, f.Shape(v), values))
			continue
		}
		narrow := make([]float32, len(values))
		for k, x := range values {
			narrow[k] = float32(x)
		}
		out.Tensors = append(out.Tensors, safetensors.FromFloat32s(v.Name, f.Shape(v), narrow))
	}
	return out, f.Left, nil
}

// Write writes tensors as the file's name says: safetensors, .npz, or .nc with a dimension for every length.
func Write(w io.Writer, path string, tensors []Tensor) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		return npy.Encode(w, tensors)
	case ".nc":
		f := &netcdf.File{}
		for i := range tensors {
			x := &tensors[i]
			v, err := x.Float64s()
			if err != nil {
				return err
			}
			kind := netcdf.Double
			if x.DType == safetensors.F32 {
				kind = netcdf.Float
			}
			var dims []int
			for k, n := range x.Shape {
				d := netcdf.Dim{Name: fmt.Sprintf("axis%d_%d", k, n), Len: n, Record: n == 0 && k == 0}
				at := slices.Index(f.Dims, d)
				if at < 0 {
					if n == 0 && k > 0 {
						return fmt.Errorf("netcdf: tensor %q has shape %v: only the first axis of a file can be empty", x.Name, x.Shape)
					}
					at = len(f.Dims)
					f.Dims = append(f.Dims, d)
				}
				dims = append(dims, at)
			}
			if err := f.Add(x.Name, kind, dims, v); err != nil {
				return err
			}
		}
		return netcdf.Encode(w, f, 2)
	}
	b, err := safetensors.Encode(&safetensors.File{Tensors: tensors})
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
