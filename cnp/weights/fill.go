package weights

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/layers"
)

// batchCounter ends the names of PyTorch's counters of batches. No formula here uses them: files may hold them or not.
const batchCounter = ".num_batches_tracked"

// fill copies the tensors of s into params, whose arrays are overwritten even where an error is returned. The error
// wraps ErrTensor and names every tensor that is unknown, missing, of another shape or type, or not finite, up to ten
// of each.
func fill[T cnp.Float](params []layers.Param[T], s *State) error {
	var faults faultList
	byName := make(map[string]*Tensor, len(s.Tensors))
	for i := range s.Tensors {
		byName[s.Tensors[i].Name] = &s.Tensors[i]
	}
	for _, p := range params {
		t, ok := byName[p.Name]
		delete(byName, p.Name)
		switch {
		case !ok && strings.HasSuffix(p.Name, batchCounter):
		case !ok:
			faults.add("missing", "%s", p.Name)
		case !slices.Equal(t.Shape, p.Shape):
			faults.add("misshapen", "%s is %v, need %v", p.Name, t.Shape, p.Shape)
		case !isFloat(t.DType) && !strings.HasSuffix(p.Name, batchCounter):
			faults.add("of no float type", "%s is %s", p.Name, t.DType)
		default:
			v, err := t.Float64s()
			if err != nil {
				return fmt.Errorf("%w: %w", ErrTensor, err)
			}
			for i, x := range v {
				p.Data[i] = T(x)
				if y := float64(p.Data[i]); math.IsNaN(y) || math.IsInf(y, 0) {
					faults.add("not finite", "%s%s = %g", p.Name, position(i, t.Shape), x)
					break
				}
			}
		}
	}
	for i := range s.Tensors { // in the file's order
		if t := &s.Tensors[i]; byName[t.Name] != nil && (!strings.HasSuffix(t.Name, batchCounter) || isFloat(t.DType)) {
			faults.add("unknown", "%s", short(t.Name))
		}
	}
	return faults.err()
}

func isFloat(d DType) bool { return d == F32 || d == F64 || d == F16 || d == BF16 }

// position writes the i-th element's indices, "[3 0]", or nothing for a scalar.
func position(i int, shape []int) string {
	if len(shape) == 0 {
		return ""
	}
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return fmt.Sprint(index)
}

// faultList collects what is wrong, kind by kind, in the order of first appearance.
type faultList struct {
	kinds []string
	names map[string][]string
}

func (f *faultList) add(kind, format string, args ...any) {
	if f.names == nil {
		f.names = map[string][]string{}
	}
	if f.names[kind] == nil {
		f.kinds = append(f.kinds, kind)
	}
	f.names[kind] = append(f.names[kind], fmt.Sprintf(format, args...))
}

func (f *faultList) err() error {
	if len(f.kinds) == 0 {
		return nil
	}
	const most = 10
	var parts []string
	for _, kind := range f.kinds {
		names := f.names[kind]
		text := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			text += fmt.Sprintf(" and %d more", len(names)-most)
		}
		parts = append(parts, kind+": "+text)
	}
	return fmt.Errorf("%w: %s", ErrTensor, strings.Join(parts, "; "))
}
