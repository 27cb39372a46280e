package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestDimensions: models of three and of five coordinates are served, with a lattice and without one, and predict as they do at home.
func TestDimensions(t *testing.T) {
	levels := cnp.DefaultLevels(2, 3, 1)
	levels.Channels, levels.Kernel, levels.PointsPerUnit, levels.EncoderLength = []int{3, 4}, 3, 2, 0.4
	points := cnp.Default(cnp.EquivCNPCurve, "T(5)", 1)
	points.PointsPerUnit, points.Channels = 0, []int{4, 5, 4}
	for _, c := range []cnp.Config{levels, points} {
		t.Run(c.Group, func(t *testing.T) {
			m, err := cnp.New[float32](c, 1)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "m.safetensors")
			require.NoError(t, weights.Save(path, m, nil))
			s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "m", Path: path}} })
			b := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 2, YContext: []float32{1, -1, 0.5}}
			for i := range 3 * c.DimX {
				b.XContext = append(b.XContext, float64(i%7)/4)
			}
			for i := range 2 * c.DimX {
				b.XTarget = append(b.XTarget, float64(i%5)/3)
			}
			body, err := json.Marshal(map[string]any{"inputs": []any{tensorJSON("x_context", "FP64", []int{1, 3, c.DimX}, b.XContext),
				tensorJSON("y_context", "FP32", []int{1, 3, 1}, b.YContext),
				tensorJSON("x_target", "FP64", []int{1, 2, c.DimX}, b.XTarget)},
				"parameters": map[string]any{"standardise": false}})
			require.NoError(t, err)
			w := do(s, "POST", "/v2/models/m/infer", nil, body)
			require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			want, err := m.(cnp.Regressor[float32]).Predict(t.Context(), b)
			require.NoError(t, err)
			for i, v := range answersOf(t, w.Body.Bytes())["mean"] {
				require.InDelta(t, want.Mean[i], v, 1e-5, "target %d", i)
			}
			require.Contains(t, fmt.Sprint(object(t, do(s, "GET", "/v2/models/m", nil, nil).Body.Bytes())["inputs"]),
				fmt.Sprintf("[-1 -1 %d]", c.DimX))
		})
	}
}
