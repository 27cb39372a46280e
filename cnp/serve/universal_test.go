package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/krige"
)

// planeRequest is a request for a task in the plane, whose values are factor·y + offset.
func planeRequest(t *testing.T, factor, offset float64, n int, params map[string]any) []byte {
	x, y := []float64{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.2}[:2*n], []float64{1, 2, 3, 2.5, 1.7}[:n]
	moved := make([]float64, n)
	for i, v := range y {
		moved[i] = factor*v + offset
	}
	v, err := json.Marshal(map[string]any{"inputs": []any{tensorJSON("x_context", "FP64", []int{1, n, 2}, x),
		tensorJSON("y_context", "FP32", []int{1, n, 1}, moved),
		tensorJSON("x_target", "FP64", []int{1, 2, 2}, []float64{0.5, 0.5, 0.1, 0.8})}, "parameters": params})
	require.NoError(t, err)
	return v
}

// answersOf returns the outputs of an answer by name.
func answersOf(t *testing.T, b []byte) map[string][]float64 {
	t.Helper()
	var answer struct {
		Outputs []struct {
			Name string
			Data []float64
		}
	}
	require.NoError(t, json.Unmarshal(b, &answer))
	out := map[string][]float64{}
	for _, o := range answer.Outputs {
		out[o.Name] = o.Data
	}
	return out
}

// TestUniversal: models that were not trained are served like others, in any units, also when many ask at a time, some
// without any values.
func TestUniversal(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-2", Path: "universal-2"}} })
	about := object(t, do(s, "GET", "/v2/models/universal-2", nil, nil).Body.Bytes())
	require.Contains(t, fmt.Sprint(about["properties"]), "trained_on:nothing")
	require.Contains(t, fmt.Sprint(about["inputs"]), "[-1 -1 2]")
	require.Equal(t, http.StatusOK, do(s, "GET", "/v2/models", nil, nil).Code)
	require.Equal(t, http.StatusOK, do(s, "GET", "/v2/models/universal-2/config", nil, nil).Code)

	const path = "/v2/models/universal-2/infer"
	w := do(s, "POST", path, nil, planeRequest(t, 1, 0, 5, nil))
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	first := answersOf(t, w.Body.Bytes())
	want, std, err := krige.Interpolate([]float64{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.2}, []float64{1, 2, 3, 2.5, float64(float32(1.7))},
		[]float64{0.5, 0.5, 0.1, 0.8})
	require.NoError(t, err)
	for i := range want {
		require.InDelta(t, want[i], first["mean"][i], 1e-6)
		require.InDelta(t, std[i], first["std"][i], 1e-6)
	}
	w = do(s, "POST", path, nil, planeRequest(t, 1000, 5000, 5, map[string]any{"samples": 2, "quantiles": "0.5", "check": true}))
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	all := answersOf(t, w.Body.Bytes())
	for i := range want {
		require.InDelta(t, 1000*first["mean"][i]+5000, all["mean"][i], 1)
		require.InDelta(t, 1000*first["std"][i], all["std"][i], 1)
	}
	require.Len(t, all["samples"], 4)
	require.Len(t, all["quantiles"], 2)

	var asking sync.WaitGroup
	for i := range 16 {
		asking.Go(func() {
			n := 5
			if i%4 == 3 {
				n = 0
			}
			w := do(s, "POST", path, nil, planeRequest(t, 1, 0, n, nil))
			if n == 0 {
				assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
				assert.Equal(t, map[string][]float64{"mean": {0, 0}, "std": {1, 1}}, answersOf(t, w.Body.Bytes()))
				return
			}
			assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			got := answersOf(t, w.Body.Bytes())
			assert.False(t, math.IsNaN(got["mean"][0]))
			assert.Equal(t, first, got)
		})
	}
	asking.Wait()
}
