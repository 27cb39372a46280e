package filetask_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/filetask"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestPredict: curves are predicted, sampled and scored; what the model does not read is noted.
func TestPredict(t *testing.T) {
	model, err := pretrained.Load("rbf-levels")
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, taskfile.Write(&file, "in.safetensors", []safetensors.Tensor{
		safetensors.FromFloat32s("x_context", []int{1, 2, 1}, []float32{-1, 1}),
		safetensors.FromFloat32s("y_context", []int{1, 2, 1}, []float32{0.5, -0.5}),
		safetensors.FromFloat32s("x_target", []int{1, 3, 1}, []float32{-1, 0, 1}),
		safetensors.FromFloat32s("y_target", []int{1, 3, 1}, []float32{0.5, 0, -0.5}),
		safetensors.FromFloat32s("other", []int{1}, []float32{1}),
	}))
	in, err := taskfile.Decode(file.Bytes(), "in")
	require.NoError(t, err)
	p, err := filetask.Predict(t.Context(), model, in, &filetask.Options{Name: "in", Standardise: true, Quantiles: []float64{0.5},
		Sample: func(tasks, context int) cnp.SampleOptions {
			require.Equal(t, [2]int{1, 2}, [2]int{tasks, context})
			return cnp.SampleOptions{Samples: 2, Chain: cnp.Chain{Seed: 1}}
		}})
	require.NoError(t, err)
	require.Equal(t, [3]int{1, 2, 3}, [3]int{p.Tasks, p.Context, p.Targets})
	shapes := map[string][]int{}
	for _, tensor := range p.Tensors {
		shapes[tensor.Name] = tensor.Shape
	}
	require.Equal(t, []int{1, 3, 1}, shapes["mean"])
	require.Equal(t, []int{2, 1, 3, 1}, shapes["samples"])
	require.Equal(t, 3, p.Values)
	require.Equal(t, "y_target", p.Of)
	require.Greater(t, *p.LogLikelihood, -2.)
	require.Contains(t, p.Notes.Notes[len(p.Notes.Notes)-1].String(), `["other"]`)
}
