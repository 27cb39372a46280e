package krige

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// wavesLearned is a population of the plane whose waves have every part that a document can have.
func wavesLearned() *Population {
	p := planePopulation()
	w := knownWaves(2, formOf(func(u float64) float64 { return math.Sin(2*math.Pi*u) / 3 }), 1.0/30)
	w.share, w.rare, w.broad, w.apart = 0.25, 0.1, 1.0/7, [waveExtras]float64{1.0 / 3, 0.1, 0.3}
	w.prior = learnWavePrior([]float64{1, 0.1, 1.1, 0.2, 0.9, -0.1, 1, 0.15, 1.05, 0.1, 0.95, 0.11}, 2)
	for _, k := range p.kernels {
		for i := range k.atoms {
			k.atoms[i].share *= 0.75
		}
	}
	p.waves = w
	return p
}

// What no waves are is refused, and the error says which field of which member.
func TestWavesDocumentDamaged(t *testing.T) {
	long := strings.Repeat("1,", 2*waveFileKnown) + "1,1"
	for _, c := range []struct {
		change func(w map[string]any)
		want   string
	}{
		{func(w map[string]any) { w["waveform"] = w["waveform"].([]any)[1:] }, "waves: waveform: 2047 numbers"},
		{func(w map[string]any) { delete(w, "waveform") }, "waves: waveform: 0 numbers"},
		{func(w map[string]any) { w["waveform"].([]any)[7] = 1e13 }, "waves: waveform: number 7"},
		{func(w map[string]any) { w["waveform"].([]any)[7] = nil }, ""}, // JSON's null is 0
		{func(w map[string]any) { w["waveform"].([]any)[7] = json.Number("1e400") }, "1e400"},
		{func(w map[string]any) { w["share"] = 0 }, "waves: share is 0"},
		{func(w map[string]any) { w["share"] = 0.3 }, "shares add up to 1.05"},
		{func(w map[string]any) { w["share"] = -0.25 }, "waves: share is -0.25"},
		{func(w map[string]any) { w["narrow"] = 0 }, "waves: narrow is 0"},
		{func(w map[string]any) { w["narrow"] = 1e-300 }, "waves: narrow is 1e-300"},
		{func(w map[string]any) { w["broad"] = 1e300 }, "waves: broad is 1e+300"},
		{func(w map[string]any) { w["rare"] = 1 }, "waves: rare is 1"},
		{func(w map[string]any) { w["level_deviation"] = -1 }, "waves: level_deviation is -1"},
		{func(w map[string]any) { w["gain_deviation"] = 11 }, "waves: gain_deviation is 11"},
		{func(w map[string]any) { w["noise_deviation"] = 1e-200 }, "waves: noise_deviation is 1e-200"},
		{func(w map[string]any) { w["other"] = 1 }, "unknown field"},
		{func(w map[string]any) { vectors(w)["known"] = []any{1, 2, 3} }, "3 numbers of known ones"},
		{func(w map[string]any) { vectors(w)["known"] = []any{} }, "0 numbers of known ones"},
		{func(w map[string]any) { vectors(w)["known"] = []any{0, 0} }, "mean length of 0"},
		{func(w map[string]any) { vectors(w)["known"] = []any{1, 1e13} }, "known: number 1 is 1e+13"},
		{func(w map[string]any) { vectors(w)["known"] = json.RawMessage("[" + long + "]") }, "514 numbers of known ones"},
		{func(w map[string]any) { vectors(w)["isotropic"] = true }, "known: number 5 is -0.1"},
		{func(w map[string]any) { vectors(w)["width"] = 0 }, "wave_vectors: width is 0"},
		{func(w map[string]any) { vectors(w)["width"] = 1e-12 }, "wave_vectors: width is 1e-12"},
		{func(w map[string]any) { vectors(w)["least"] = -1 }, "wave_vectors: least is -1"},
		{func(w map[string]any) { vectors(w)["least"] = 5 }, "wave_vectors: lengths from 5"},
		{func(w map[string]any) { vectors(w)["most"] = 1e300 }, "wave_vectors: most is 1e+300"},
		{func(w map[string]any) { vectors(w)["other"] = 0 }, "wave_vectors: other is 0"},
		{func(w map[string]any) { vectors(w)["other"] = 1 }, "share of 1 of others"},
	} {
		err := new(Population).UnmarshalJSON(damaged(t, wavesLearned(), func(members []any) []any {
			c.change(members[4].(map[string]any)["waves"].(map[string]any))
			return members
		}))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrFile)
		require.ErrorContains(t, err, c.want)
		if strings.HasPrefix(c.want, "waves") {
			require.ErrorContains(t, err, "member 4")
		}
	}
	for _, c := range []struct {
		change func(m []any) []any
		want   string
	}{
		{func(m []any) []any { return append(m, m[4]) }, "member 5: krige: population: waves: a population has them once"},
		{func(m []any) []any { m[0].(map[string]any)["waves"] = m[4].(map[string]any)["waves"]; return m }, "member 0"},
		{func(m []any) []any { m[4].(map[string]any)["shape"] = "squared"; return m }, "member 4: krige: population: waves: with fields"},
		{func(m []any) []any { delete(m[4].(map[string]any), "waves"); return m }, "member 4: krige: population: waves: need"},
		{func(m []any) []any {
			m[4].(map[string]any)["waves"].(map[string]any)["share"] = 1 - 1e-8
			return m[4:]
		}, "no covariance"},
	} {
		require.ErrorContains(t, new(Population).UnmarshalJSON(damaged(t, wavesLearned(), c.change)), c.want)
	}
	text := damaged(t, wavesLearned(), func(m []any) []any { return m })
	globe := strings.Replace(strings.Replace(string(text), `"dim":2`, `"dim":2,"sphere":true`, 1), `"centre":[`, `"centre":[1,`, 1)
	globe = strings.Replace(globe, `"unit":[`, `"unit":[1,`, 1)
	require.Error(t, new(Population).UnmarshalJSON([]byte(globe)))
}

func vectors(w map[string]any) map[string]any { return w["wave_vectors"].(map[string]any) }

// damaged is the document of a population with other members.
func damaged(t *testing.T, p *Population, change func(members []any) []any) []byte {
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var d map[string]any
	require.NoError(t, json.Unmarshal(text, &d))
	d["members"] = change(d["members"].([]any))
	text, err = json.Marshal(d)
	require.NoError(t, err)
	return text
}

// A document that is accepted predicts finite numbers in bounded time, however extreme it is.
func TestWavesDocumentExtreme(t *testing.T) {
	for _, deviation := range []float64{1e-9, waveFileApart} {
		for _, size := range []float64{waveFileLeast, 1, waveFileExtreme} {
			for _, far := range []float64{1e-3, waveFileLengths} {
				text := damaged(t, wavesLearned(), func(m []any) []any {
					w := m[4].(map[string]any)["waves"].(map[string]any)
					w["narrow"], w["broad"], w["rare"] = size, waveFileLeast, 0.5
					w["level_deviation"], w["gain_deviation"], w["noise_deviation"] = deviation, deviation, deviation
					form := w["waveform"].([]any)
					for i := range form {
						form[i] = waveFileExtreme * float64(i%3-1)
					}
					vectors(w)["known"], vectors(w)["width"] = []any{far, far}, far*1e-8
					return m
				})
				p := new(Population)
				require.NoError(t, p.UnmarshalJSON(text))
				x, y, targets := []float64{1e6, 0, 1e6, 0.1, -1e50, 3}, []float64{1, -1e20, 3}, []float64{1e6, 0, 0, 1e30}
				mean, std, err := p.Predict(t.Context(), x, y, targets)
				require.NoError(t, err)
				samples, err := p.Samples(t.Context(), x, y, targets, 3, 1, false)
				require.NoError(t, err)
				for i := range mean {
					require.False(t, math.IsNaN(mean[i]-mean[i]) || math.IsNaN(std[i]-std[i]) || !(std[i] > 0), "%g %g", mean, std)
					require.False(t, math.IsNaN(samples[0][i]-samples[0][i]))
				}
			}
		}
	}
}

// Samples of a table that is a wave lie on one wave each, have the moments of Predict, and do not depend on the number of others. With
// -long, the joint density is asked of more of them.
func TestWavesSamples(t *testing.T) {
	p := wavesKnown()
	ctx := t.Context()
	table, _ := waveDraw(p.waves, rand.New(rand.NewPCG(21, 1)), 10)
	x, y, targets := table.x[:4], table.y[:4], []float64{-0.7, 0.2, 0.21, 0.9}
	const count = 4000
	samples, err := p.Samples(ctx, x, y, targets, count, 5, false)
	require.NoError(t, err)
	few, err := p.Samples(ctx, x, y, targets, 3, 5, false)
	require.NoError(t, err)
	require.Equal(t, samples[:3], few)
	mean, std, err := p.Predict(ctx, x, y, targets)
	require.NoError(t, err)
	for i := range targets {
		var m, v float64
		for _, s := range samples {
			m += s[i] / count
		}
		for _, s := range samples {
			v += (s[i] - m) * (s[i] - m) / count
		}
		require.InDelta(t, mean[i], m, 5*std[i]/math.Sqrt(count)+0.01)
		require.InDelta(t, std[i], math.Sqrt(v), 0.1*std[i]+0.01)
	}
	// Jointly: near targets agree within their residuals or are on either side of a jump, and the function has no residuals.
	functions, err := p.Samples(ctx, table.x, table.y, []float64{0.2, 0.2}, 50, 5, true)
	require.NoError(t, err)
	values, err := p.Samples(ctx, table.x, table.y, []float64{0.2, 0.2}, 50, 5, false)
	require.NoError(t, err)
	same, other := 0, 0
	for i, f := range functions {
		if f[0] == f[1] {
			same++
		}
		if math.Abs(values[i][0]-values[i][1]) > 0.01 {
			other++
		}
	}
	require.Greater(t, same, 40)
	require.Greater(t, other, 30)
	// The density of a sample of few targets, jointly, is far above that of the marginals: targets depend on each other.
	few = samples[:10]
	if *long {
		few = samples[:40]
	}
	var joint, each float64
	for _, s := range few {
		v, err := p.LogDensity(ctx, x, y, targets, s)
		require.NoError(t, err)
		joint += v / float64(len(few))
		all, err := p.LogDensities(ctx, x, y, targets, s)
		require.NoError(t, err)
		for _, v := range all {
			each += v / float64(len(few))
		}
	}
	t.Logf("%.3f nats jointly, %.3f each by itself", joint, each)
	require.Greater(t, joint, each-0.1)
}

// A model of waves comes back from its file with the same bits.
func TestWavesFile(t *testing.T) {
	m, err := NewPopulationRegressor(wavesKnown(), wavesKnown())
	require.NoError(t, err)
	table, _ := waveDraw(m.of[0].waves, rand.New(rand.NewPCG(22, 1)), 9)
	b := &cnp.Batch[float32]{B: 1, Nc: 9, Nt: 3, XContext: table.x, XTarget: []float64{-0.4, 0.1, 0.8}}
	for _, y := range table.y {
		b.YContext = append(b.YContext, float32(y), float32(-y))
	}
	want, err := m.Predict(t.Context(), b)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	require.NoError(t, weights.Save(path, cnp.Model[float32](m), map[string]string{}))
	read, err := weights.Load[float32](path, weights.Options{})
	require.NoError(t, err)
	require.Equal(t, m.of, read.(*PopulationRegressor[float32]).of)
	got, err := read.(cnp.Regressor[float32]).Predict(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, want, got)
	opt := cnp.SampleOptions{Samples: 3, Chain: cnp.Chain{Seed: 5}}
	first, err := m.SampleCurves(t.Context(), b, opt)
	require.NoError(t, err)
	second, err := read.(*PopulationRegressor[float32]).SampleCurves(t.Context(), b, opt)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Contains(t, fmt.Sprint(describePopulations(&m.cfg)), "waves")
}
