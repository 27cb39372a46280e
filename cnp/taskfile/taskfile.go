// Package taskfile reads files of tasks, safetensors, numpy's npz, NetCDF or HDF5: curves with their context and
// targets, or partly observed images. Everything that a file can get wrong is an error that names the file, the tensor
// and the place.
package taskfile

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// ErrMissing is wrapped by the error of a file that lacks a tensor.
var ErrMissing = errors.New("not these tasks")

// File is a file of tasks with the checks that its tensors need. Inside, the first error sticks, so that a
// reader can take all its tensors and look once.
type File struct {
	path string
	file *safetensors.File
	left map[string]error // why some of its tensors are not read, by their names
	used []string
	err  error
}

// Open reads a file.
func Open(path string) (*File, error) {
	b, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(b, path)
}

// Decode is Open for the bytes of a file, which errors call by that name.
func Decode(b []byte, name string) (*File, error) {
	f, left, err := decode(b)
	if err != nil {
		switch ending := strings.ToLower(filepath.Ext(name)); ending {
		case ".npz", ".npy", ".nc":
			if errors.Is(err, safetensors.ErrFormat) { // what no other format's first bytes were found in
				return nil, fmt.Errorf("%s: its first bytes are not those of a %s file, and it is %w", name, ending, err)
			}
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &File{path: name, file: f, left: left}, nil
}

// Of is Decode for tensors in memory, whose data the tasks may alias.
func Of(name string, tensors []Tensor) *File {
	return &File{path: name, file: &safetensors.File{Tensors: tensors}}
}

// Axis is the length of an axis of a tensor, 0 if there is none.
func (t *File) Axis(tensor string, axis int) int {
	if x := t.file.Get(tensor); x != nil && axis < len(x.Shape) {
		return x.Shape[axis]
	}
	return 0
}

// Tensor is the tensor of that name, nil without one.
func (t *File) Tensor(name string) *Tensor { return t.file.Get(name) }

// Name is that of the file.
func (t *File) Name() string { return t.path }

func (t *File) fail(is error, format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("%s: %w: %s", t.path, is, fmt.Sprintf(format, args...))
	}
}

// find returns a tensor of that name, or nil after noting that a required one is missing, or that one cannot be read.
func (t *File) find(name string, required bool, purpose string) *safetensors.Tensor {
	t.used = append(t.used, name)
	if err := t.left[name]; err != nil {
		if t.err == nil {
			t.err = fmt.Errorf("%s: %w", t.path, err)
		}
		return nil
	}
	x := t.file.Get(name)
	if x == nil && required {
		var have []string
		for i := range t.file.Tensors {
			have = append(have, t.file.Tensors[i].Name)
		}
		t.fail(ErrMissing, "tensor %q is missing, %s; there are %q", name, purpose, have)
	}
	return x
}

// shaped checks a tensor's shape against want, whose negative entries may be anything, and returns its values; letters
// name the axes in errors. It returns nil after an error.
func (t *File) shaped(x *safetensors.Tensor, letters string, want ...int) []float64 {
	return values(t, x, (*safetensors.Tensor).Float64s, letters, want)
}

// narrow is shaped for features, which are float32. They may alias the tensor's data.
func (t *File) narrow(x *safetensors.Tensor, letters string, want ...int) []float32 {
	return values(t, x, (*safetensors.Tensor).SharedFloat32s, letters, want)
}

// values is shaped for what convert makes of the tensor.
func values[T cnp.Float](t *File, x *safetensors.Tensor, convert func(*safetensors.Tensor) ([]T, error), letters string, want []int) []T {
	if x == nil || t.err != nil {
		return nil
	}
	ok := len(x.Shape) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = want[i] < 0 || x.Shape[i] == want[i]
	}
	if !ok {
		t.fail(cnp.ErrShape, "tensor %q has shape %v, need %s", x.Name, x.Shape, shapeWords(letters, want))
		return nil
	}
	v, err := convert(x)
	if err != nil {
		t.fail(err, "tensor %q", x.Name)
		return nil
	}
	return v
}

// shapeWords writes a wanted shape with its letters: "[B, Nc, dx = 1]".
func shapeWords(letters string, want []int) string {
	axes := strings.Fields(letters)
	for i := range axes {
		if n := strconv.Itoa(want[i]); want[i] >= 0 && axes[i] != n {
			axes[i] += " = " + n
		}
	}
	return "[" + strings.Join(axes, ", ") + "]"
}

// mask turns a tensor of that shape into booleans; other values than 0 and 1 are errors.
func (t *File) mask(x *safetensors.Tensor, letters string, want ...int) []bool {
	convert := (*safetensors.Tensor).Float64s
	if x != nil && x.DType.Size() == 1 { // bytes, which say 0 and 1 alike in every type
		convert = func(x *safetensors.Tensor) ([]float64, error) { return nil, nil }
	}
	v := values(t, x, convert, letters, want)
	if x == nil || t.err != nil {
		return nil
	}
	out := make([]bool, x.Len())
	for i := range out {
		var is, known bool
		if v == nil {
			is, known = x.Data[i] == 1, x.Data[i] <= 1
		} else {
			is, known = v[i] == 1, v[i] == 0 || v[i] == 1
		}
		if !known {
			t.fail(cnp.ErrRange, "tensor %q: %s = %g, a mask holds 0 and 1", x.Name, t.place(x.Name, i), t.value(x.Name, i))
			return nil
		}
		out[i] = is
	}
	return out
}

// finite refuses NaN and infinities, those that a feature became as float32 among them, where counts(i) says that value i counts.
func finite[T cnp.Float](t *File, name string, v []T, counts func(i int) bool) {
	for i, x := range v {
		if f := float64(x); math.IsNaN(f-f) && counts(i) {
			t.fail(cnp.ErrValue, "tensor %q: %s = %g", name, t.place(name, i), t.value(name, i))
			return
		}
	}
}

// bounded is finite for values that may be missing, which NaN says.
func bounded[T cnp.Float](t *File, name string, v []T, counts func(i int) bool) {
	finite(t, name, v, func(i int) bool { return v[i] == v[i] && counts(i) })
}

// value is element i of a tensor, as the file says it.
func (t *File) value(name string, i int) float64 {
	x := *t.file.Get(name)
	size := x.DType.Size()
	x.Shape, x.Data = []int{1}, x.Data[i*size:(i+1)*size]
	v, err := x.Float64s()
	if err != nil {
		return math.NaN()
	}
	return v[0]
}

// place names element i of a tensor, "[0, 3, 1]".
func (t *File) place(name string, i int) string {
	shape := t.file.Get(name).Shape
	at := make([]string, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k], i = strconv.Itoa(i%shape[k]), i/shape[k]
	}
	return "[" + strings.Join(at, ", ") + "]"
}

// Unused lists the tensors that nothing asked for.
func (t *File) Unused() []string {
	var out []string
	for i := range t.file.Tensors {
		if n := t.file.Tensors[i].Name; !slices.Contains(t.used, n) {
			out = append(out, n)
		}
	}
	return out
}
