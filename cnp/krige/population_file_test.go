package krige

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// planePopulation has every part that a document can have: anisotropy, a second scale, two seasons, and a period along axes.
func planePopulation() *Population {
	p := &Population{opt: Options{Dim: 2}, axial: true}
	p.frame = &frame{dim: 2, centre: []float64{1e6, -1. / 3}, unit: []float64{-0.1, 0.1}, y0: math.Pi, ys: 1e-7}
	for i, s := range []spec{{dim: 2, shape: matern32}, {dim: 2, shape: squared, second: rational, aniso: true},
		{dim: 2, shape: matern12, axial: 0.7, aniso: true}, {dim: 2, shape: matern52, period: 1.0 / 3, long: 1.5}} {
		k := populationKernel{spec: &s, theta: make([]float64, s.params())}
		for j := range k.theta {
			k.theta[j] = -math.Sqrt(float64(i+j+1)) / 3
		}
		k.kernel = s.kernel(k.theta)
		k.atoms = []atom{{0.125, 2, 1.0 / 3, 0}, {0.125, 1000, 999, 0.3}}
		p.kernels = append(p.kernels, k)
	}
	return p
}

// spacePopulation has anisotropy of any direction.
func spacePopulation() *Population {
	p := &Population{opt: Options{Dim: 3}}
	p.frame = &frame{dim: 3, centre: []float64{1, 2, 3}, unit: []float64{0.5, 0.5, 0.5}, y0: 1, ys: 2}
	s := &spec{dim: 3, shape: matern52, aniso: true, turned: true}
	k := populationKernel{spec: s, theta: []float64{-0.7, -2, -1, 0.3, -0.2, 0.5, -0.4, 0.1}}
	k.kernel, k.atoms = s.kernel(k.theta), []atom{{1, 3, 0.5, 0}}
	p.kernels = []populationKernel{k}
	return p
}

// A document gives back every bit of a population.
func TestPopulationDocument(t *testing.T) {
	for _, p := range []*Population{planePopulation(), spacePopulation(), learnedProcess(t), wavesKnown(), wavesLearned(),
		onScale(wavesKnown(), root, true), onScale(planePopulation(), logarithm, false), onScale(planePopulation(), straight, true)} {
		text, err := json.Marshal(p)
		require.NoError(t, err)
		q := new(Population)
		require.NoError(t, json.Unmarshal(text, q))
		require.Equal(t, p, q)
	}
}

// Whoever gives a population another field has to write it into documents, and to sample from it.
func TestPopulationDocumentIsWhole(t *testing.T) {
	for _, of := range []struct {
		value  any
		fields []string
	}{
		{Population{}, []string{"opt", "frame", "kernels", "axial", "waves", "bend", "amounts"}},
		{waves{}, []string{"dim", "forms", "narrow", "broad", "rare", "apart", "prior", "share"}},
		{waveform{}, []string{"lo", "hi", "off"}},
		{wavePrior{}, []string{"dim", "known", "isotropic", "width", "least", "most", "other"}},
		{populationKernel{}, []string{"spec", "theta", "kernel", "atoms"}},
		{spec{}, []string{"dim", "shape", "second", "period", "long", "axial", "aniso", "turned", "different", "wanders"}},
		{atom{}, []string{"share", "shape", "scale", "level2"}},
		{frame{}, []string{"dim", "sphere", "centre", "unit", "y0", "ys"}},
	} {
		var have []string
		for f := range reflect.TypeOf(of.value).NumField() {
			have = append(have, reflect.TypeOf(of.value).Field(f).Name)
		}
		require.Equal(t, of.fields, have, "%T: documents (population_file.go) and samples (population_sample.go) know these",
			of.value)
	}
	for s := noShape; s <= rational; s++ {
		found, err := shapeNamed(shapeNames[s])
		require.NoError(t, err)
		require.Equal(t, s, found)
	}
}

// What no population has is refused, and the error says where.
func TestPopulationDocumentDamaged(t *testing.T) {
	text, err := json.Marshal(planePopulation())
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{`"version":1`, `"version":2`, "version 2"},
		{`"dim":2`, `"dim":3`, "2 centres"},
		{`"dim":2`, `"dim":0`, "0 coordinates"},
		{`"dim":2`, `"dim":9`, "9 coordinates"},
		{`"dim":2`, `"dim":2,"sphere":true`, "2 centres"},
		{`"dim":2`, `"dim":2,"other":true`, "other"},
		{`-0.1,0.1`, `-0.1,0`, "coordinate 1"},
		{`1e-7`, `0`, "deviation 0"},
		{`1e-7`, `1e400`, "1e400"},
		{`"dim":2`, `"dim":2,"scale":"cube root"`, `scale "cube root"`},
		{`"dim":2`, `"dim":2,"scale":"square root"`, "no amounts"},
		{`"kind":"covariance"`, `"kind":"tides"`, `member 0: krige: population: kind "tides"`},
		{`"shape":"matern32"`, `"shape":"matern33"`, `shape "matern33"`},
		{`"shape":"matern32",`, ``, "no shape"},
		{`"shape":"matern32","parameters":[`, `"shape":"matern32","parameters":[1,`, "member 0: krige: population: 4 parameters"},
		{`"shape":"matern32","parameters":[`, `"shape":"matern32","parameters":[1e9,2,3],"parameters":[`, ""},
		{`"share":0.125`, `"share":0.2`, "add up"},
		{`"share":0.125`, `"share":-0.125`, "atom 0"},
		{`"share":0.125,"shape":2`, `"share":0.125,"shape":1`, "atom 0"},
		{`"share":0.125,"shape":2`, `"share":0.125,"shape":1e7`, "atom 0"},
		{`"level_variance":0.3`, `"level_variance":1e31`, "atom 1"},
		{`"axial":0.7`, `"axial":-0.7`, "period of -0.7"},
		{`"long_period":1.5`, `"long_period":0.3`, "season of 0.3 beside one of 0.333"},
		{`"second":"rational"`, `"second":"none"`, `shape "none"`},
		{`"anisotropic":true`, `"anisotropic":true,"turned":true`, "turned anisotropy in 2 dimensions"},
	} {
		damaged := strings.Replace(string(text), c.old, c.new, 1)
		require.NotEqual(t, string(text), damaged, "%s is not in %s", c.old, text)
		q := planePopulation()
		err := json.Unmarshal([]byte(damaged), q)
		if c.want == "" { // the last of two equal names counts
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.Equal(t, planePopulation(), q)
	}
	long := fmt.Sprintf(`"parameters":[%s]`, "800,1,1")
	err = json.Unmarshal([]byte(strings.Replace(string(text), `"parameters":[`, long+`,"was":[`, 1)), new(Population))
	require.Error(t, err)
	require.Error(t, new(Population).UnmarshalJSON([]byte(`{"version":1}{`)))
}

// FuzzPopulation: any bytes are an error, or a population that predicts numbers, and that is written and read back.
func FuzzPopulation(f *testing.F) {
	text, err := json.Marshal(planePopulation())
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"version":1,"dim":1,"centre":[0],"unit":[1],"level":0,"deviation":1,"members":[{"kind":"covariance","shape":"squared",` +
		`"parameters":[0,0,0],"atoms":[{"share":1,"shape":2,"scale":1}]}]}`))
	f.Add([]byte(`{"version":1,"dim":2,"sphere":true,"centre":[0,0,0],"unit":[1,1,1],"deviation":1,"members":[{"kind":"covariance",` +
		`"shape":"squared","parameters":[-60,-60,60],"atoms":[{"share":1,"shape":1.1,"scale":1e30,"level_variance":1e30}]}]}`))
	for _, p := range []*Population{spacePopulation(), wavesKnown(), wavesLearned()} {
		text, err := json.Marshal(p)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := new(Population)
		if p.UnmarshalJSON(text) != nil {
			return
		}
		again, err := json.Marshal(p)
		require.NoError(t, err)
		q := new(Population)
		require.NoError(t, q.UnmarshalJSON(again))
		require.Equal(t, p, q)
		d := p.opt.Dim
		x := make([]float64, 3*d)
		for i := range x {
			x[i] = float64(i%7) / 3
		}
		_, _ = p.LogDensity(t.Context(), x[:2*d], []float64{1, 2}, x[2*d:], []float64{3})
		mean, std, err := p.Predict(t.Context(), x[:2*d], []float64{1, 2}, x)
		for i := range mean {
			if !(std[i] >= 0) || math.IsNaN(mean[i]-mean[i]) {
				t.Errorf("%g ± %g without an error (%v)", mean[i], std[i], err)
			}
		}
		samples, err := p.Samples(t.Context(), x[:2*d], []float64{1, 2}, x, 2, 3, false)
		for _, s := range samples {
			for _, v := range s {
				if math.IsNaN(v - v) {
					t.Errorf("a sample of %g without an error (%v)", v, err)
				}
			}
		}
	})
}

// Samples have the means, deviations and covariances of the process, and do not depend on the number of others.
func TestPopulationSamples(t *testing.T) {
	p := learnedProcess(t)
	ctx := t.Context()
	x, y, targets := []float64{0.3, 1.1, 4}, []float64{2, 2.5, 5}, []float64{1.4, 2.5, 2.7, 5.5}
	mean, std, err := p.Predict(ctx, x, y, targets)
	require.NoError(t, err)
	const count = 20000
	some, err := p.Samples(ctx, x, y, targets, count, 7, false)
	require.NoError(t, err)
	few, err := p.Samples(ctx, x, y, targets, 3, 7, false)
	require.NoError(t, err)
	require.Equal(t, some[:3], few)
	moment := func(of func(v []float64) float64) (m, e float64) {
		var sum, squares float64
		for _, v := range some {
			f := of(v)
			sum, squares = sum+f, squares+f*f
		}
		m = sum / count
		return m, math.Sqrt((squares/count - m*m) / count)
	}
	for i := range targets {
		m, e := moment(func(v []float64) float64 { return v[i] })
		require.InDelta(t, mean[i], m, 5*e)
		v, e := moment(func(v []float64) float64 { return (v[i] - mean[i]) * (v[i] - mean[i]) })
		require.InDelta(t, std[i]*std[i], v, 5*e)
	}
	// The mean of the second of two near targets given the first is linear only in each covariance; averaged over the first it is its mean
	// again, and its covariance with the first is that of the conditional mean.
	want, got := 0.0, 0.0
	rng := rand.New(rand.NewPCG(1, 1))
	const pairs = 400
	for range pairs {
		s := some[rng.IntN(count)]
		m, _, err := p.Predict(ctx, append(x[:3:3], targets[1]), append(y[:3:3], s[1]), targets[2:3])
		require.NoError(t, err)
		want += (s[1] - mean[1]) * (m[0] - mean[2]) / pairs
		got += (s[1] - mean[1]) * (s[2] - mean[2]) / pairs
	}
	require.InDelta(t, want, got, 0.25*std[1]*std[2])
	require.Greater(t, got, 0.5*std[1]*std[2])

	// Functions have no noise: two targets at one place have one value.
	functions, err := p.Samples(ctx, x, y, []float64{2.5, 2.5}, 50, 7, true)
	require.NoError(t, err)
	values, err := p.Samples(ctx, x, y, []float64{2.5, 2.5}, 50, 7, false)
	require.NoError(t, err)
	var f, v float64
	for s := range functions {
		f += math.Abs(functions[s][0]-functions[s][1]) / 50
		v += math.Abs(values[s][0]-values[s][1]) / 50
	}
	require.Less(t, f, 0.02)
	require.Greater(t, v, 0.1)

	prior, err := p.Samples(ctx, nil, nil, targets, 2000, 1, false)
	require.NoError(t, err)
	mean, std, err = p.Predict(ctx, nil, nil, targets[:1])
	require.NoError(t, err)
	var m, s2 float64
	for _, s := range prior {
		m, s2 = m+s[0]/2000, s2+(s[0]-mean[0])*(s[0]-mean[0])/2000
	}
	require.InDelta(t, mean[0], m, 0.15*std[0])
	require.InDelta(t, std[0], math.Sqrt(s2), 0.1*std[0])
	_, err = p.Samples(ctx, x, y, make([]float64, populationDrawn), 1, 1, false)
	require.ErrorIs(t, err, ErrInput)
	_, err = p.Samples(ctx, x, y, []float64{math.NaN()}, 1, 1, false)
	require.ErrorIs(t, err, ErrInput)
}

// gamma has the moments of its distribution.
func TestGamma(t *testing.T) {
	for _, shape := range []float64{1, 2.5, 1000, populationShape} {
		rng := rand.New(rand.NewPCG(4, 4))
		const n = 40000
		var m, v float64
		for range n {
			g := gamma(rng, shape)
			m, v = m+g/n, v+(g-shape)*(g-shape)/n
		}
		require.InDelta(t, shape, m, 5*math.Sqrt(shape/n))
		require.InDelta(t, 1, v/shape, 0.08)
	}
}

// A model of populations predicts what they predict, output by output, keeps nothing from one task to the next, and comes back from a file
// with the same bits.
func TestPopulationRegressor(t *testing.T) {
	p := learnedProcess(t)
	_, err := NewPopulationRegressor()
	require.Error(t, err)
	_, err = NewPopulationRegressor(p, nil)
	require.ErrorIs(t, err, ErrInput)
	_, err = NewPopulationRegressor(p, planePopulation())
	require.ErrorIs(t, err, cnp.ErrConfig)
	m, err := NewPopulationRegressor(p, p)
	require.NoError(t, err)
	nan := float32(math.NaN())
	b := &cnp.Batch[float32]{B: 3, Nc: 2, Nt: 2, XContext: []float64{0, 1, 2, 3, 4, 5},
		YContext: []float32{1, 2, 3, nan, 5, 6, 7, 8, 9, 9, 9, 9}, ContextMask: []bool{true, true, true, true, false, false},
		XTarget: []float64{0.5, 1.5, 2.5, 3.5, 4.5, 5.5}}
	got, err := m.Predict(t.Context(), b)
	require.NoError(t, err)
	for _, of := range []struct {
		x, y, targets []float64
		task, output  int
	}{
		{[]float64{0, 1}, []float64{1, 3}, []float64{0.5, 1.5}, 0, 0},
		{[]float64{0}, []float64{2}, []float64{0.5, 1.5}, 0, 1},
		{[]float64{2, 3}, []float64{6, 8}, []float64{2.5, 3.5}, 1, 1},
		{nil, nil, []float64{4.5, 5.5}, 2, 0},
	} {
		mean, std, err := p.Predict(t.Context(), of.x, of.y, of.targets)
		require.NoError(t, err)
		for i := range mean {
			at := (of.task*2+i)*2 + of.output
			require.Equal(t, [2]float32{float32(mean[i]), float32(std[i])}, [2]float32{got.Mean[at], got.Std[at]})
		}
	}
	path := filepath.Join(t.TempDir(), "p.safetensors")
	require.NoError(t, weights.Save(path, cnp.Model[float32](m), map[string]string{"tasks": "some"}))
	read, err := weights.Load[float32](path, weights.Options{})
	require.NoError(t, err)
	again, err := read.(cnp.Regressor[float32]).Predict(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, got, again)
	wide, err := weights.Load[float64](path, weights.Options{})
	require.NoError(t, err)
	require.Equal(t, m.Populations(), wide.(*PopulationRegressor[float64]).Populations())

	opt := cnp.SampleOptions{Samples: 2, Chain: cnp.Chain{Seed: 5}}
	samples, err := cnp.SampleCurves(t.Context(), read.(cnp.Regressor[float32]), b, opt)
	require.NoError(t, err)
	want, err := p.Samples(t.Context(), []float64{2, 3}, []float64{6, 8}, []float64{2.5, 3.5}, 2, 5+1, false)
	require.NoError(t, err)
	require.InDelta(t, want[1][1], samples[(1*6+1*2+1)*2+1], 1e-5)
	b.YContext[0] = float32(math.Inf(1))
	_, err = m.Predict(t.Context(), b)
	require.ErrorIs(t, err, cnp.ErrValue)
}

// Numbers that no metric can be made of are refused.
func TestPopulationDocumentTurned(t *testing.T) {
	text, err := json.Marshal(spacePopulation())
	require.NoError(t, err)
	for _, numbers := range []string{"1e308,1e308,0,0,0", "0,0,1e200,-1e200,3", "900,0,0,0,0", "0,0,900,900,900"} {
		damaged := strings.Replace(string(text), "0.3,-0.2,0.5,-0.4,0.1", numbers, 1)
		require.NotEqual(t, string(text), damaged)
		require.ErrorIs(t, json.Unmarshal([]byte(damaged), new(Population)), ErrFile, numbers)
	}
}
