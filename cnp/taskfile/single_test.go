package taskfile

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestSingle: values in float64 that float32 would make equal are refused by output and task. Equal ones are read, and so are those whose
// mask leaves the others out.
func TestSingle(t *testing.T) {
	nan := math.NaN()
	cfg := &cnp.Config{DimX: 1, DimY: 2, ChannelDensity: true}
	for name, c := range map[string]struct {
		y    []float64 // [2, 3, 2]
		mask []float64
		want string
	}{
		"far apart": {y: []float64{1, 1, 2, 2, 3, 3, 1e8, 1e8, 2e8, 2e8, 3e8, 3e8}},
		"equal":     {y: []float64{1e8 + 1, 0.1, 1e8 + 1, 0.1, 1e8 + 1, 0.1, 0, 0, 0, 0, nan, 0}},
		"close": {y: []float64{1, 1, 2, 2, 3, 3, 1, 1e8, 2, 1e8 + 1, nan, 1e8 + 2},
			want: `tensor "y_context": output 1 of task 1 has a standard deviation of 0.816 around 100000001, which is too little`},
		"masked": {y: []float64{1, 1, 2, 2, 3, 3, 1, 1e8, 2, 1e8 + 1, 3, 3e8},
			mask: []float64{1, 1, 1, 1, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			tensors := []Tensor{safetensors.FromFloat64s("x_context", []int{2, 3, 1}, make([]float64, 6)),
				safetensors.FromFloat64s("y_context", []int{2, 3, 2}, c.y),
				safetensors.FromFloat64s("x_target", []int{2, 1, 1}, make([]float64, 2))}
			if c.mask != nil {
				tensors = append(tensors, safetensors.FromFloat64s("context_mask", []int{2, 3}, c.mask))
			}
			_, err := Of("inputs", tensors).Curves(cfg)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, cnp.ErrRange)
			require.ErrorContains(t, err, c.want)
		})
	}
}
