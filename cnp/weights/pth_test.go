package weights_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// requireSameTensors fails unless both files hold the same tensors, byte by byte, in whatever order.
func requireSameTensors(t *testing.T, want, got *weights.State) {
	t.Helper()
	require.Len(t, got.Tensors, len(want.Tensors))
	for _, w := range want.Tensors {
		g := got.Get(w.Name)
		require.NotNil(t, g, w.Name)
		require.Equal(t, w.DType, g.DType, w.Name)
		require.Equal(t, w.Shape, g.Shape, w.Name)
		require.Equal(t, w.Data, g.Data, w.Name)
	}
}

func readState(t *testing.T, path string) *weights.State {
	t.Helper()
	s, err := weights.ReadState(path)
	require.NoError(t, err)
	return s
}

// PyTorch's own files in every variant, against tensors written without PyTorch's format (testdata/make.py).
func TestFixtures(t *testing.T) {
	want := readState(t, "testdata/tensors.safetensors")
	assert.Equal(t, weights.SafeTensors, want.Format)
	for name, format := range map[string]weights.Format{
		"tensors_legacy.pth": weights.PyTorchLegacy, "tensors_legacy_p4.pth": weights.PyTorchLegacy,
		"tensors_zip.pth": weights.PyTorchZip, "tensors_zip_p4.pth": weights.PyTorchZip, "tensors_dict.pth": weights.PyTorchZip,
	} {
		t.Run(name, func(t *testing.T) {
			got := readState(t, filepath.Join("testdata", name))
			assert.Equal(t, format, got.Format)
			assert.NotNil(t, got.Metadata)
			requireSameTensors(t, want, got)
			assert.Equal(t, "linear.weight", got.Tensors[0].Name, "in the order of the state_dict")
		})
	}
}

// A state_dict may stand beside other facts of a training, and its names behind those of wrappers.
func TestWrapped(t *testing.T) {
	small := readState(t, "testdata/small.safetensors")
	requireSameTensors(t, small, readState(t, "testdata/nested.pth"))
	for _, prefix := range []string{"module.", "model.", "_orig_mod.module.", "module.model."} {
		f := &safetensors.File{}
		for _, tensor := range small.Tensors {
			tensor.Name = prefix + tensor.Name
			f.Tensors = append(f.Tensors, tensor)
		}
		b, err := safetensors.Encode(f)
		require.NoError(t, err)
		got, err := weights.DecodeState(b)
		require.NoError(t, err)
		requireSameTensors(t, small, got)
		if len(f.Tensors) > 1 {
			f.Tensors[0].Name = "a"
			b, err = safetensors.Encode(f)
			require.NoError(t, err)
			got, err = weights.DecodeState(b)
			require.NoError(t, err)
			require.NotNil(t, got.Get(f.Tensors[1].Name), "a prefix that not all have is a name")
		}
	}
}

func TestFixturesRefused(t *testing.T) {
	for name, want := range map[string]string{
		"evil_legacy.pth":   `refused the class "posix.system"`,
		"evil_zip.pth":      `refused the class "posix.system"`,
		"evil_zip_p4.pth":   `refused the class "posix.system"`,
		"list.pth":          "no dictionary",
		"module_zip.pth":    `refused the class "torch.nn.modules.activation.ReLU"`,
		"module_legacy.pth": `refused the class "torch.nn.modules.activation.ReLU"`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := weights.ReadState(filepath.Join("testdata", name))
			require.ErrorIs(t, err, weights.ErrFormat)
			assert.ErrorContains(t, err, want)
			assert.ErrorContains(t, err, name)
			assert.NoFileExists(t, "executed")
			assert.NoFileExists(t, "testdata/executed")
		})
	}
}

// Every checkpoint of the authors gives exactly the tensors of the plain copy beside it.
func TestAuthorsFiles(t *testing.T) {
	paths, err := filepath.Glob(testkit.Shared(t, "weights", "*", "*.pth"))
	require.NoError(t, err)
	require.Len(t, paths, 17)
	for _, path := range paths {
		t.Run(filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), func(t *testing.T) {
			got := readState(t, path)
			assert.Equal(t, weights.PyTorchLegacy, got.Format)
			requireSameTensors(t, readState(t, strings.TrimSuffix(path, ".pth")+".safetensors"), got)
		})
	}
}

// The format is found from the content, whatever the file is called.
func TestExtensionDoesNotMatter(t *testing.T) {
	for _, name := range []string{"small_legacy.pth", "small_zip.pth", "small.safetensors"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "model.txt")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		requireSameTensors(t, readState(t, "testdata/small.safetensors"), readState(t, path))
	}
}

func TestReadStateRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "text": "hello, this is not a model", "png": "\x89PNG\r\n\x1a\n0000", "zeros": strings.Repeat("\x00", 100),
		"pk": "PK\x03\x04", "proto": "\x80", "brace": "\x02\x00\x00\x00\x00\x00\x00\x00{",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := weights.ReadState(path)
		assert.ErrorIs(t, err, weights.ErrFormat, name)
		assert.ErrorContains(t, err, path)
	}
	_, err := weights.ReadState(filepath.Join(dir, "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "absent")
	_, err = weights.ReadState(dir)
	assert.Error(t, err)
}
