package task

import (
	"encoding/binary"
	"math"
	"strings"
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

// TestStackNames: a set is named by its array, where that has a name, and says whose masks it goes by.
func TestStackNames(t *testing.T) {
	pixels := []float32{0, 1, 2, 3, 4, 5}
	seen := safetensors.Tensor{Name: "mask", DType: safetensors.Bool, Shape: []int{1, 2, 3}, Data: make([]byte, 6)}
	for want, tensors := range map[string][]safetensors.Tensor{
		"1 images of 3 x 2 pixels, upright, from a.npy, in order, 0.01 to 0.5 of the pixels context": {
			safetensors.FromFloat32s("", []int{1, 2, 3}, pixels)},
		"1 images of 3 x 2 pixels, upright, from t2m of a.npy, in order, 0.01 to 0.5 of the pixels context": {
			safetensors.FromFloat32s("t2m", []int{1, 2, 3}, pixels)},
		"1 images of 3 x 2 pixels, upright, from a.npy, in order, observed where their masks say": {
			safetensors.FromFloat32s("image", []int{1, 2, 3}, pixels), seen},
	} {
		s, err := StackOf(taskfile.Of("a.npy", tensors), "", 0)
		require.NoError(t, err)
		source := ImageSource[float32]{Pictures: Moved{ImageSet: s, Motions: Upright}, Rates: PaperRates, InOrder: true}
		require.Equal(t, want, source.String())
	}
	last := safetensors.FromFloat32s("", []int{2, 6, 5, 3}, make([]float32, 180))
	_, err := StackOf(taskfile.Of("a.npy", []safetensors.Tensor{last}), "", 3)
	require.ErrorContains(t, err, "a.npy: not usable as data: the array [2 6 5 3] has its channels last: need [N, C, H, W]")
	pixels[4] = float32(math.Inf(1))
	_, err = StackOf(taskfile.Of("a.npy", []safetensors.Tensor{safetensors.FromFloat32s("", []int{1, 2, 3}, pixels)}), "", 0)
	require.ErrorContains(t, err, "a.npy: not usable as data: the array is +Inf in image 0")
}

// TestStackLevels: integers that are levels are what an image file of them is, whether the stack has a mask or none;
// others stay as they are.
func TestStackLevels(t *testing.T) {
	u16s := func(v ...uint16) (out []byte) {
		for _, x := range v {
			out = binary.LittleEndian.AppendUint16(out, x)
		}
		return out
	}
	all := []byte{1, 1, 1, 1}
	for _, c := range []struct {
		name   string
		dtype  safetensors.DType
		data   []byte
		levels int
		want   []float32
	}{
		{"bytes", safetensors.U8, []byte{0, 51, 102, 9}, 255, []float32{0, 0.2, 0.4, 9. / 255}},
		{"two values", safetensors.U8, []byte{0, 1, 1, 0}, 0, []float32{0, 1, 1, 0}},
		{"bytes in more room", safetensors.I16, u16s(0, 51, 255, 9), 255, []float32{0, 0.2, 1, 9. / 255}},
		{"counts", safetensors.I16, u16s(0, 51, 102, 9), 0, []float32{0, 51, 102, 9}},
		{"deep", safetensors.U16, u16s(0, 13107, 65535, 257), 65535, []float32{0, 0.2, 1, 1. / 255}},
		{"heights", safetensors.U16, u16s(0, 8848, 300, 257), 0, []float32{0, 8848, 300, 257}},
		{"negative", safetensors.I16, u16s(0, 65535, 200, 2), 0, []float32{0, -1, 200, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			image := safetensors.Tensor{Name: "image", DType: c.dtype, Shape: []int{1, 1, 2, 2}, Data: c.data}
			mask := safetensors.Tensor{Name: "mask", DType: safetensors.U8, Shape: []int{1, 2, 2}, Data: all}
			for _, tensors := range [][]safetensors.Tensor{{image}, {image, mask}} {
				s, err := StackOf(taskfile.Of("a.npz", tensors), "", 1)
				require.NoError(t, err)
				require.Equal(t, c.want, s.Pix)
				require.Equal(t, c.levels, s.Levels)
				require.Equal(t, c.levels > 0, strings.Contains(s.Name, "in levels of "), s.Name)
			}
			truth := image // a dark image takes the levels of the whole one
			truth.Name = "y_target"
			image.Data = make([]byte, len(c.data))
			images, err := taskfile.Of("a.npz", []safetensors.Tensor{image, mask, truth}).Images(1)
			require.NoError(t, err)
			require.Equal(t, c.want, images.Truth)
			require.Equal(t, c.levels, images.Levels)
		})
	}
}
