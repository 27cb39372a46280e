package serve

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// A model with auxiliary inputs is served: its metadata name the tensors, requests bring them, together or alone, and one that does not is told so.
func TestAuxiliary(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Channels, c.Hidden, c.Mid, c.PointsPerUnit = []int{4, 6, 4}, 4, 4, 8
	c.Auxiliary, c.ChannelDensity = []string{"height", "hour"}, true
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "aux.safetensors")
	require.NoError(t, weights.Save(path, m, nil))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "aux", Path: path}} })
	meta := object(t, do(s, "GET", "/v2/models/aux", nil, nil).Body.Bytes())
	text, err := json.Marshal(meta["inputs"])
	require.NoError(t, err)
	for _, name := range []string{`{"datatype":"FP32","name":"aux_context","shape":[-1,-1,2]}`, `{"datatype":"FP32","name":"aux_target","shape":[-1,-1,2]}`} {
		require.Contains(t, string(text), name)
	}
	meta = object(t, do(s, "GET", "/v2/models/aux/config", nil, nil).Body.Bytes())
	require.Equal(t, []any{"height", "hour"}, meta["parameters"].(map[string]any)["auxiliary"])

	url, _ := listen(t, s, Limits{})
	cl := client.New(url, client.Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	b := &cnp.Batch[float32]{B: 2, Nc: 3, Nt: 2}
	for range 6 {
		b.XContext, b.YContext, b.AuxContext = append(b.XContext, rng.Float64()), append(b.YContext, rng.Float32()), append(b.AuxContext, rng.Float32(), rng.Float32())
	}
	for range 4 {
		b.XTarget, b.AuxTarget = append(b.XTarget, rng.Float64()), append(b.AuxTarget, rng.Float32(), rng.Float32())
	}
	want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
	require.NoError(t, err)
	got, err := cl.Predict(context.Background(), "aux", b, 1, 1)
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean)
	require.Equal(t, want.Std, got.Std)
	jobs := []*job{{curves: b}, {curves: &cnp.Batch[float32]{B: 1, Nc: 1, Nt: 1, XContext: []float64{1}, YContext: []float32{2}, XTarget: []float64{3}, AuxContext: []float32{4, 5}, AuxTarget: []float32{6, 7}}}}
	all := joinCurves(jobs, 1, 1, 2)
	require.Equal(t, append(append([]float32(nil), b.AuxContext...), 4, 5, 0, 0, 0, 0), all.AuxContext)
	require.Equal(t, append(append([]float32(nil), b.AuxTarget...), 6, 7, 0, 0), all.AuxTarget)

	b.AuxContext, b.AuxTarget = nil, nil
	_, err = cl.Predict(context.Background(), "aux", b, 1, 1)
	require.ErrorContains(t, err, `tensor "aux_context" is missing, the model has the auxiliary inputs height, hour`)
}
