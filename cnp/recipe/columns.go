package recipe

import (
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
)

// Columns names the columns of a table.
type Columns = tabletask.Columns

// taskFile opens a file of tensors.
func taskFile(path string, stdin io.Reader) (*taskfile.File, error) {
	return tabletask.Open(path, stdin, taskfile.Open, taskfile.Decode)
}

// Window makes a task of the rows around one of a table's rows, drawn at random: those within Lengths of it, by the inputs' names. An
// input without a length has no end. Points bounds the rows of a task; more are subsampled.
type Window struct {
	Lengths map[string]float64 `json:",omitempty"`
	Points  int
}

// of returns the lengths for tables whose inputs have these names, nil without any.
func (w *Window) of(inputs []string) ([]float64, error) {
	if len(w.Lengths) == 0 {
		return nil, nil
	}
	if w.Points < 1 {
		return nil, Errorf("{WindowPoints} %d: need at least 1", w.Points)
	}
	out := make([]float64, len(inputs))
	for _, name := range slices.Sorted(maps.Keys(w.Lengths)) {
		k, v := slices.Index(inputs, name), w.Lengths[name]
		if !(v > 0) || math.IsInf(v, 0) || k < 0 {
			return nil, Errorf("{Window} %s=%g: need an input of %s and a length, as in %s=2", name, v,
				strings.Join(inputs, ", "), inputs[0])
		}
		out[k] = v
	}
	return out, nil
}
