package serve

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// withOutputs is a request in JSON with outputs and parameters.
func withOutputs(t *testing.T, b *cnp.Batch[float32], params map[string]any, outputs ...string) []byte {
	t.Helper()
	v := object(t, curvesJSON(t, b))
	v["parameters"] = params
	var list []any
	for _, o := range outputs {
		list = append(list, map[string]any{"name": o})
	}
	if list != nil {
		v["outputs"] = list
	}
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return out
}

// ownPlan is a model that must not be asked itself, since it would make a plan of its own.
type ownPlan struct{ cnp.Completer[float32] }

func (ownPlan) Complete(context.Context, *cnp.Images[float32]) (*cnp.Prediction[float32], error) {
	return nil, errors.New("a plan beside that of the server")
}

// TestAlonePlan: quantiles and samples of images come from the plan that the server has, within its memory.
func TestAlonePlan(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[:1] })
	m, err := s.find("digits", "")
	require.NoError(t, err)
	m.completer = ownPlan{m.completer}
	for _, params := range []map[string]any{{"quantiles": "0.5"}, {"samples": 1}, {"samples": 1, "function": true}, {}} {
		h, body := imagesBinary(t, params, images(rngOf(2), 1, 6, 6))
		w := do(s, "POST", "/v2/models/digits/infer", h, body)
		require.Equal(t, http.StatusOK, w.Code, "%v: %.200s", params, w.Body)
	}
}

// TestAlonePlanEnsemble: samples of an ensemble are those of its members, from their parts of the server's plan.
func TestAlonePlanEnsemble(t *testing.T) {
	names := []string{"digits-T2-small", "digits-T2"}
	file := filepath.Join(t.TempDir(), "both.ensemble")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(names, "\n")), 0o666))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "both", Path: file}} })
	m, err := s.find("both", "")
	require.NoError(t, err)
	var plain, own []cnp.Model[float32]
	for _, name := range names {
		plain = append(plain, shipped(t, name))
		own = append(own, ownPlan{shipped(t, name).(cnp.Completer[float32])})
	}
	both, err := cnp.Ensemble(plain...)
	require.NoError(t, err)
	guarded, err := cnp.Ensemble(own...)
	require.NoError(t, err)
	m.completer = guarded.(cnp.Completer[float32])
	im := images(rngOf(2), 1, 5, 5)
	for _, function := range []bool{false, true} {
		want, err := cnp.SampleImages(context.Background(), both.(cnp.Completer[float32]), im,
			cnp.SampleOptions{Samples: 3, Function: function, Chain: cnp.Chain{Seed: 4}})
		require.NoError(t, err)
		h, body := imagesBinary(t, map[string]any{"samples": 3, "seed": 4, "function": function}, im)
		w := do(s, "POST", "/v2/models/both/infer", h, body)
		require.Equal(t, http.StatusOK, w.Code, "%.200s", w.Body)
		sameBits(t, want, answerBinary(t, w.Header(), w.Body.Bytes())["samples"], "samples")
	}
}

// TestSamples: the samples of the library, of curves and images, with the same seed.
func TestSamples(t *testing.T) {
	s := newServer(t, nil)
	ctx := context.Background()
	b := curves(rngOf(1), 2, 5, 6)
	want, err := cnp.SampleCurves(ctx, cnp.Standardised(shipped(t, "rbf-equivcnp").(cnp.Regressor[float32])), b,
		cnp.SampleOptions{Samples: 3, Chain: cnp.Chain{Seed: 7, Block: 2}})
	require.NoError(t, err)
	w := do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, b, map[string]any{"samples": 3, "seed": 7, "block": 2}))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	got := answerJSON(t, w.Body.Bytes())
	require.Len(t, got, 3)
	sameBits(t, want, got["samples"], "samples")
	sameBits(t, wantCurves(t, b).Mean, got["mean"], "mean")
	require.Contains(t, w.Body.String(), `"shape":[3,2,6,1]`)

	im := images(rngOf(2), 1, 6, 6)
	want, err = cnp.SampleImages(ctx, shipped(t, "digits-T2-small").(cnp.Completer[float32]), im, cnp.SampleOptions{Samples: 2})
	require.NoError(t, err)
	h, body := imagesBinary(t, map[string]any{"samples": 2}, im)
	w = do(s, "POST", "/v2/models/digits/infer", h, body)
	require.Equal(t, 200, w.Code, "%s", w.Body)
	sameBits(t, want, answerBinary(t, w.Header(), w.Body.Bytes())["samples"], "samples")

	for _, params := range []map[string]any{{"samples": 1e6}, {"samples": 1.5}, {"samples": 1, "order": "backwards"},
		{"samples": 1, "knots": 3}, {"samples": 1, "growth": -1}, {"samples": 1, "seed": -1}, {"samples": 1, "seed": int64(1) << 53},
		// without samples, too: what is said later should have been right before
		{"order": "backwards"}, {"growth": -1}, {"block": -1}, {"knots": "many"}, {"seed": -1}, {"seed": "a"},
		{"quantiles": "0.5", "seed": 1.5}} {
		require.Equal(t, 400, do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, b, params)).Code, "%v", params)
	}
	require.Equal(t, 400, do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, b, nil, "covariance")).Code,
		"its values are independent")
	require.Zero(t, s.bytes.used)
}

// TestSelfCheck: whoever asks learns whether the model suits the data; others do not pay for it.
func TestSelfCheck(t *testing.T) {
	s := newServer(t, nil)
	rng := rngOf(3)
	b := &cnp.Batch[float32]{B: 1, Nc: 40, Nt: 1, XTarget: []float64{0}}
	for range 40 {
		x := 4*rng.Float64() - 2
		b.XContext, b.YContext = append(b.XContext, x), append(b.YContext, float32(math.Sin(2*x)+0.3*rng.NormFloat64()))
	}
	plain := object(t, do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, b, nil)).Body.Bytes())
	require.Nil(t, plain["parameters"])
	w := do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, b, map[string]any{"check": true}))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	params := object(t, w.Body.Bytes())["parameters"].(map[string]any)
	require.Contains(t, params["note"], "do not trust")
	require.Contains(t, params["check"], `"coverage":`)
	require.Equal(t, 400, do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, b, map[string]any{"check": "yes"})).Code)
}

// TestCovariance: a model whose values are jointly normal answers with their covariance, whole and in factors.
func TestCovariance(t *testing.T) {
	cfg := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	cfg.Likelihood = "lowrank:3"
	m, err := cnp.New[float32](cfg, 1)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "joint.safetensors")
	require.NoError(t, weights.Save(path, m, nil))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "joint", Path: path}} })
	require.Contains(t, do(s, "GET", "/v2/models/joint", nil, nil).Body.String(),
		`{"name":"cov_factor","datatype":"FP32","shape":[-1,-1,1,3]}`)
	b := curves(rngOf(1), 2, 5, 4)
	p, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
	require.NoError(t, err)
	w := do(s, "POST", "/v2/models/joint/infer", nil, withOutputs(t, b, map[string]any{"samples": 2}, "covariance", "cov_factor",
		"cov_diag", "mean", "samples"))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	got := answerJSON(t, w.Body.Bytes())
	require.Len(t, got, 5)
	sameBits(t, p.Mean, got["mean"], "mean")
	for task := range 2 {
		for i, v := range p.Task(task, 2).Covariance() {
			require.InDelta(t, v, got["covariance"][task*16+i], 1e-6)
			row, col, sum := i/4, i%4, 0.0
			for k := range 3 {
				sum += float64(got["cov_factor"][(task*4+row)*3+k]) * float64(got["cov_factor"][(task*4+col)*3+k])
			}
			if row == col {
				sum += float64(got["cov_diag"][task*4+row])
			}
			require.InDelta(t, v, sum, 1e-5)
		}
	}
	require.Len(t, got["samples"], 2*2*4)
	w = do(s, "POST", "/v2/models/joint/infer", nil, withOutputs(t, b, nil)) // covariances are there for who names them
	require.Len(t, answerJSON(t, w.Body.Bytes()), 2)
}
