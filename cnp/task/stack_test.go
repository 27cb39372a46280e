package task

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// A stack whose array is called image is one, with a mask or without, of three axes or four.
func TestStackOfImage(t *testing.T) {
	pixels := make([]float32, 2*3*4)
	for i := range pixels {
		pixels[i] = float32(i) / 24
	}
	seen := safetensors.Tensor{Name: "mask", DType: safetensors.Bool, Shape: []int{2, 3, 4}, Data: make([]byte, 24)}
	for i := range seen.Data {
		seen.Data[i] = byte(i % 2)
	}
	for _, shape := range [][]int{{2, 3, 4}, {2, 1, 3, 4}} {
		image := safetensors.FromFloat32s("image", shape, pixels)
		other := safetensors.FromFloat32s("elevation", []int{3, 4}, pixels[:12])
		for _, tensors := range [][]safetensors.Tensor{{image}, {other, image}, {image, seen}} {
			for _, channels := range []int{0, 1} {
				s, err := StackOf(taskfile.Of("a.nc", tensors), "", channels)
				require.NoError(t, err)
				require.Equal(t, []int{2, 1, 3, 4}, []int{s.N, s.C, s.H, s.W})
				require.Equal(t, pixels, s.Pix)
			}
			_, err := StackOf(taskfile.Of("a.nc", tensors), "", 3)
			require.Error(t, err)
		}
		images, err := taskfile.Of("a.npz", []safetensors.Tensor{image, seen}).Images(1)
		require.NoError(t, err)
		require.Equal(t, 3, images.Batch.H)
	}
}
