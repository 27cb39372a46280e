package weights

import (
	"fmt"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// Description describes a model file.
type Description struct {
	Path     string            `json:"path"`
	Format   Format            `json:"format"`
	Metadata map[string]string `json:"metadata,omitempty"`

	// Config is the configuration, and ConfigFrom says where it is from: "metadata", or "shapes" when it was recognised.
	// Both are empty, and Problem says why, where there is none.
	Config     *cnp.Config `json:"config,omitempty"`
	ConfigFrom string      `json:"config_from,omitempty"`
	Problem    string      `json:"problem,omitempty"`
	// Groups are the groups that the file fits: one, several to choose from, or none for models that have no group.
	Groups []string `json:"groups,omitempty"`

	// Parameters counts the numbers that training by gradients changes, Elements all.
	Parameters int `json:"parameters"`
	Elements   int `json:"elements"`
	// NonFinite counts NaNs and infinities.
	NonFinite int          `json:"non_finite"`
	Tensors   []TensorInfo `json:"tensors"`
}

// TensorInfo is one tensor in numbers. Min, Max and Mean are over its finite values, nil when there are none.
type TensorInfo struct {
	Name      string   `json:"name"`
	DType     DType    `json:"dtype"`
	Shape     []int    `json:"shape"`
	Min       *float64 `json:"min"`
	Max       *float64 `json:"max"`
	Mean      *float64 `json:"mean"`
	NonFinite int      `json:"non_finite"`
}

// Describe reads a file and says what it holds. That no model can be built from it is no error but a Problem.
func Describe(path string) (*Description, error) {
	s, err := ReadState(path)
	if err != nil {
		return nil, err
	}
	return DescribeState(path, s)
}

// DescribeState is Describe for a state that has been read; path is what Description.Path will be.
func DescribeState(path string, s *State) (*Description, error) {
	if s == nil {
		return nil, fmt.Errorf("%s: %w", path, errNoState)
	}
	d := &Description{Path: path, Format: s.Format, Metadata: s.Metadata, Elements: s.Elements(), Tensors: []TensorInfo{}}
	if c, groups, from, err := identify(s); err != nil {
		d.Problem = err.Error()
	} else {
		d.Config, d.ConfigFrom, d.Groups = &c, from, groups
		if groups == nil && c.Group != "" {
			d.Groups = []string{c.Group}
		}
	}
	for i := range s.Tensors {
		t := &s.Tensors[i]
		info, err := inspect(t)
		if err != nil {
			return nil, err
		}
		d.NonFinite += info.NonFinite
		d.Tensors = append(d.Tensors, info)
		if !isBuffer(t) {
			d.Parameters += t.Len()
		}
	}
	return d, nil
}

// isBuffer reports whether a tensor is kept up by the layers and not trained: running statistics, radii, counters.
func isBuffer(t *Tensor) bool {
	last := t.Name[strings.LastIndexByte(t.Name, '.')+1:]
	switch last {
	case "running_mean", "running_var", "num_batches_tracked":
		return true
	case "r":
		return len(t.Shape) == 0
	}
	return false
}

func inspect(t *Tensor) (TensorInfo, error) {
	info := TensorInfo{Name: t.Name, DType: t.DType, Shape: t.Shape}
	v, err := t.Float64s()
	if err != nil {
		return info, err
	}
	lo, hi, mean, n := math.Inf(1), math.Inf(-1), 0.0, 0
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			info.NonFinite++
			continue
		}
		n++
		lo, hi = min(lo, x), max(hi, x)
		mean += x/float64(n) - mean/float64(n) // a sum, or a difference, could overflow
	}
	if n > 0 {
		info.Min, info.Max, info.Mean = &lo, &hi, &mean
	}
	return info, nil
}
