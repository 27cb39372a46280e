package predict_test

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestOpen: files, shipped models, interpolations, lists and several of them are opened alike, and say what they are.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	image, err := pretrained.Load("digits-T2-small")
	require.NoError(t, err)
	require.NoError(t, weights.Save(path("image.safetensors"), image, map[string]string{pretrained.KeyBFloat16: "it  loses\nmuch"}))
	require.NoError(t, os.WriteFile(path("two.ensemble"), []byte("rbf-levels\n# and\nrbf-equivcnp\n"), 0o666))

	for _, c := range []struct {
		paths []string
		says  string
	}{
		{[]string{"rbf-levels"}, "rbf-levels: "},
		{[]string{"universal-2"}, "universal-2: krige"},
		{[]string{path("image.safetensors")}, "image.safetensors: equivcnp-image, "},
		{[]string{path("two.ensemble")}, "rbf-levels and 1 more: "},
		{[]string{"rbf-levels", "rbf-equivcnp"}, "rbf-levels and 1 more: "},
	} {
		m, err := predict.Open(t.Context(), predict.OpenOptions{}, c.paths...)
		require.NoError(t, err)
		require.Contains(t, m.String(), c.says)
		_, curves := m.Regressor()
		_, images := m.Completer()
		require.True(t, (curves == nil) != (images == nil), "%v, %v", curves, images)
		if images == nil {
			require.ErrorIs(t, curves, predict.ErrKind)
			require.Len(t, m.Unsuited, 1)
			require.Contains(t, m.Unsuited[0], "says: it loses much")
		} else {
			require.ErrorIs(t, images, predict.ErrKind)
		}
		require.Equal(t, c.says == "universal-2: krige", predict.IsUniversal(m.Model))
	}
	_, err = predict.OpenCompleter(t.Context(), predict.OpenOptions{}, "rbf-levels")
	require.ErrorIs(t, err, predict.ErrKind)
	_, err = predict.OpenRegressor(t.Context(), predict.OpenOptions{}, "rbf-levels")
	require.NoError(t, err)
	_, err = predict.Open(t.Context(), predict.OpenOptions{}, "nobody")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "shipped models: ")
	require.NotContains(t, err.Error(), "did you mean")
	begun := filepath.Join(t.TempDir(), "own.safetensors")
	require.NoError(t, os.WriteFile(strings.TrimSuffix(begun, ".safetensors")+".checkpoint", nil, 0o600))
	_, err = predict.Open(t.Context(), predict.OpenOptions{}, begun)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "own.checkpoint is there: a training writes its model at the end")
	for typo, meant := range map[string]string{"digits-T2-smal": "digits-T2-small", "rbf_levels": "rbf-levels",
		"univresal-2": "universal-2"} {
		_, err = predict.Open(t.Context(), predict.OpenOptions{}, typo)
		require.ErrorContains(t, err, `did you mean "`+meant+`"?`)
	}
	_, err = predict.ReadState(t.Context(), "universal-2", nil) // a name that is right, of what is no file
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "the model universal-2 interpolates the data that it is given")
	require.NotContains(t, err.Error(), "did you mean")
	_, err = predict.Open(t.Context(), predict.OpenOptions{})
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = predict.Open(t.Context(), predict.OpenOptions{Precision: cnp.BFloat16}, "rbf-levels")
	require.ErrorIs(t, err, cnp.ErrConfig)
	require.ErrorContains(t, err, "rbf-levels: precision bfloat16")
	_, err = predict.Open(t.Context(), predict.OpenOptions{}, "rbf-levels", "digits-T2")
	require.ErrorIs(t, err, cnp.ErrConfig)
}

// TestOpenNothing: no path at all is said to be none, where a list of paths would stand.
func TestOpenNothing(t *testing.T) {
	_, err := predict.Open(t.Context(), predict.OpenOptions{})
	require.EqualError(t, err, "predict: "+cnp.ErrConfig.Error()+": no path of a model")
}

// TestUniversalOf: the number of inputs and outputs names an interpolation, or there is none.
func TestUniversalOf(t *testing.T) {
	for _, c := range []struct {
		inputs, outputs int
		sphere          bool
		name            string
	}{{1, 1, false, "universal-1"}, {3, 2, false, "universal-3"}, {2, 1, true, "universal-globe"}} {
		m, err := predict.Universal(c.inputs, c.outputs, c.sphere)
		require.NoError(t, err)
		require.Equal(t, []string{c.name}, m.Paths)
		require.Equal(t, []int{c.inputs, c.outputs}, []int{m.Config().DimX, m.Config().DimY})
	}
	for _, c := range [][3]int{{0, 1, 0}, {9, 1, 0}, {1, 0, 0}, {3, 1, 1}} {
		_, err := predict.Universal(c[0], c[1], c[2] == 1)
		require.ErrorIs(t, err, cnp.ErrConfig)
	}
}

// table is a task of two outputs, the second one 10 times the first one and 3 more, with gaps.
func table() *cnp.Batch[float32] {
	b := &cnp.Batch[float32]{B: 1, Nc: 6, Nt: 3, XContext: []float64{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.2, 0.3, 0.9},
		XTarget: []float64{0.5, 0.5, 0.1, 0.7, 3, 3}}
	for _, v := range []float32{1, 2, 3, 2.5, 1.7, 2.9} {
		b.YContext = append(b.YContext, v, 10*v+3)
	}
	return b
}

// TestPreparedUniversal: outputs are interpolated each on its own, as if it were alone; values that are missing in one
// are not in the other. Predictions, quantiles and samples move with the units.
func TestPreparedUniversal(t *testing.T) {
	m, err := predict.Universal(2, 2, false)
	require.NoError(t, err)
	run := func(m cnp.Model[float32], b *cnp.Batch[float32]) *predict.Result {
		p, err := predict.PrepareCurves(m, b, predict.Options{Quantiles: []float64{0.1, 0.9},
			Sample: &cnp.SampleOptions{Samples: 3, Chain: cnp.Chain{Seed: 4}}})
		require.NoError(t, err)
		require.Positive(t, p.Need.Bytes())
		res, err := p.Run(t.Context())
		require.NoError(t, err)
		require.NoError(t, res.Check())
		return res
	}
	res := run(m, table())
	tensors, err := res.Tensors()
	require.NoError(t, err)
	var names []string
	for _, o := range tensors {
		names = append(names, o.Name)
	}
	require.Equal(t, []string{"mean", "std", "quantiles", "samples"}, names)
	require.Equal(t, []int{3, 1, 3, 2}, tensors[3].Shape)
	for i := range 3 {
		require.InDelta(t, 10*res.Prediction.Mean[2*i]+3, res.Prediction.Mean[2*i+1], 1e-3)
		require.InDelta(t, 10*res.Prediction.Std[2*i], res.Prediction.Std[2*i+1], 1e-3)
	}
	one, err := predict.Universal(2, 1, false)
	require.NoError(t, err)
	b := table()
	b.YContext = nil
	for i := range 6 {
		b.YContext = append(b.YContext, table().YContext[2*i])
	}
	alone := run(one, b)
	for i := range 3 {
		require.Equal(t, res.Prediction.Mean[2*i], alone.Prediction.Mean[i])
		require.Equal(t, res.Samples[2*i], alone.Samples[i])
	}
	// A gap in the second output changes nothing of the first one.
	gap := table()
	gap.YContext[3] = float32(math.NaN())
	other := run(m, gap)
	require.Equal(t, res.Prediction.Mean[0], other.Prediction.Mean[0])
	require.NotEqual(t, res.Prediction.Mean[1], other.Prediction.Mean[1])

	p, err := predict.PrepareCurves(m, &cnp.Batch[float32]{B: 1, Nt: 1, XTarget: []float64{0, 0}}, predict.Options{})
	require.NoError(t, err)
	res, err = p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0}, res.Prediction.Mean)
	require.Equal(t, []float32{1, 1}, res.Prediction.Std)
	_, err = predict.PrepareCurves(m, table(), predict.Options{Memory: 1000})
	require.ErrorIs(t, err, cnp.ErrMemory)
	images := &cnp.Images[float32]{B: 1, C: 1, H: 2, W: 2, Pixels: make([]float32, 4), Mask: make([]bool, 4)}
	_, err = predict.PrepareImages(m, images, predict.Options{})
	require.ErrorIs(t, err, predict.ErrKind)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err = predict.PrepareCurves(m, table(), predict.Options{})
	require.NoError(t, err)
	_, err = p.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestInterpolate: the three lines of README do what the model of that name does.
func TestInterpolate(t *testing.T) {
	mean, std, err := predict.Interpolate([]float64{0, 1, 2, 3}, []float64{1, 3, 2, 4}, []float64{1.5})
	require.NoError(t, err)
	m, err := predict.OpenRegressor(t.Context(), predict.OpenOptions{}, "universal-1")
	require.NoError(t, err)
	p, err := m.Predict(t.Context(), &cnp.Batch[float32]{B: 1, Nc: 4, Nt: 1, XContext: []float64{0, 1, 2, 3},
		YContext: []float32{1, 3, 2, 4},
		XTarget:  []float64{1.5}})
	require.NoError(t, err)
	require.Equal(t, []float32{float32(mean[0]), float32(std[0])}, []float32{p.Mean[0], p.Std[0]})
	_, _, err = predict.Interpolate([]float64{0, 1, 2}, []float64{1, 3}, nil)
	require.Error(t, err)
}
