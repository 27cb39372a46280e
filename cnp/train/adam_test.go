package train

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// testGolden takes the authors' gradients of one training step, and wants their parameters after it.
func testGolden[T layers.Float](t *testing.T, file string) {
	g := testkit.OpenGolden(t, file)
	var lr float64
	g.Meta("lr", &lr)
	var params []layers.Param[T]
	for _, name := range g.Names("grad_f64.") {
		v, shape := g.F64("param." + name)
		p := layers.Param[T]{Name: name, Shape: shape}
		for _, x := range v {
			p.Data = append(p.Data, T(x))
		}
		params = append(params, p)
	}
	require.NotEmpty(t, params)
	grads := layers.NewGrads(params)
	for i, p := range params {
		v, _ := g.F64("grad_f64." + p.Name)
		for k, x := range v {
			grads.Data[i][k] = T(x)
		}
	}
	a, err := NewAdam(DefaultAdam(lr), params)
	require.NoError(t, err)
	require.NoError(t, a.Step(grads))
	_, is32 := any(T(0)).(float32)
	for _, p := range params {
		want, _ := g.F64("after_adam_f64." + p.Name)
		tol := 1e-7
		if is32 { // half a unit of the parameter's last place comes on top
			for _, x := range want {
				tol = max(tol, 1e-7+0x1p-24*math.Abs(x))
			}
		}
		testkit.Close(t, p.Name, p.Data, want, tol)
	}
}

func TestGoldenAdam(t *testing.T) {
	for _, f := range []string{"train_1d_rbf_equivcnp", "train_2d_small_T2", "train_2d_small_T2_bn", "train_2d_small_SO2_bn",
		"train_2d_small_RxSO2_bn", "train_2d_small_SE2_bn"} {
		t.Run(f+"/F64", func(t *testing.T) { testGolden[float64](t, f) })
		t.Run(f+"/F32", func(t *testing.T) { testGolden[float32](t, f) })
	}
}

// toy returns two parameters, a buffer and an unused parameter, and their gradients.
func toy(n int) ([]layers.Param[float64], *layers.Grads[float64]) {
	rng := testkit.Rand(70)
	ps := []layers.Param[float64]{
		{Name: "a", Shape: []int{n}, Data: testkit.Normal[float64](rng, n)},
		{Name: "r", Shape: []int{1}, Data: []float64{5}, Buffer: true},
		{Name: "b", Shape: []int{3}, Data: testkit.Normal[float64](rng, 3)},
		{Name: "u", Shape: []int{1}, Data: []float64{7}, Unused: true},
	}
	g := layers.NewGrads(ps)
	for _, d := range g.Data {
		copy(d, testkit.Normal[float64](rng, len(d)))
	}
	return ps, g
}

// TestAdamOptions compares ten steps with the formulas written out.
func TestAdamOptions(t *testing.T) {
	for _, c := range []AdamConfig{
		DefaultAdam(0.01),
		{Rate: 0.1, Beta1: 0, Beta2: 0.5, Epsilon: 1e-3},
		{Rate: 0.01, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, WeightDecay: 0.1},
		{Rate: 0.01, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, WeightDecay: 0.1, Decoupled: true},
		{Rate: 0.01, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, ClipNorm: 0.5},
		{Rate: 0.01, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, ClipNorm: 1e9,
			Schedule: Schedule{Kind: Cosine, Steps: 8, Warmup: 3, Factor: 0.1}},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			ps, _ := toy(20)
			var p, m, v []float64
			p = append(append(p, ps[0].Data...), ps[2].Data...)
			m, v = make([]float64, len(p)), make([]float64, len(p))
			a, err := NewAdam(c, ps)
			require.NoError(t, err)
			rng := testkit.Rand(71)
			for step := range 10 {
				_, g := toy(20)
				flat := testkit.Normal[float64](rng, len(p))
				copy(g.Data[0], flat)
				copy(g.Data[2], flat[20:])
				norm := 0.0
				for _, x := range flat {
					norm += x * x
				}
				norm = math.Sqrt(norm)
				rate := c.Rate * c.Schedule.At(step)
				require.Equal(t, rate, a.Rate())
				for i, d := range flat {
					if c.ClipNorm > 0 && norm > c.ClipNorm {
						d *= c.ClipNorm / norm
					}
					if c.Decoupled {
						p[i] -= rate * c.WeightDecay * p[i]
					} else {
						d += c.WeightDecay * p[i]
					}
					m[i], v[i] = c.Beta1*m[i]+(1-c.Beta1)*d, c.Beta2*v[i]+(1-c.Beta2)*d*d
					n := float64(step + 1)
					p[i] -= rate * m[i] / (1 - math.Pow(c.Beta1, n)) / (math.Sqrt(v[i]/(1-math.Pow(c.Beta2, n))) + c.Epsilon)
				}
				require.NoError(t, a.Step(g))
			}
			require.InDeltaSlice(t, p[:20], ps[0].Data, 1e-12)
			require.InDeltaSlice(t, p[20:], ps[2].Data, 1e-12)
			require.Equal(t, []float64{5}, ps[1].Data, "a buffer")
			require.Equal(t, []float64{7}, ps[3].Data, "an unused parameter")
		})
	}
}

// TestAdamBits: the state continues a run bit for bit, whatever the number of goroutines.
func TestAdamBits(t *testing.T) {
	const n = 3*adamGrain + 17
	run := func(procs, stop int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		ps, g := toy(n)
		c := DefaultAdam(0.01)
		c.Schedule = Schedule{Kind: StepDown, Steps: 2, Factor: 0.5}
		a, err := NewAdam(c, ps)
		require.NoError(t, err)
		for step := range 6 {
			if step == stop {
				b, err := NewAdam(c, ps)
				require.NoError(t, err)
				for i := range a.M {
					copy(b.M[i], a.M[i])
					copy(b.V[i], a.V[i])
				}
				b.Count, a = a.Count, b
			}
			require.NoError(t, a.Step(g))
		}
		return ps[0].Data
	}
	want := run(1, -1)
	require.Equal(t, want, run(4, -1))
	require.Equal(t, want, run(4, 3))
}

// TestAdamRefuses: bad gradients change nothing and are named.
func TestAdamRefuses(t *testing.T) {
	ps, g := toy(5)
	a, err := NewAdam(DefaultAdam(0.01), ps)
	require.NoError(t, err)
	before := append([]float64(nil), ps[0].Data...)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		keep := g.Data[2][1]
		g.Data[2][1] = bad
		err := a.Step(g)
		require.ErrorIs(t, err, ErrNotFinite)
		require.ErrorContains(t, err, "step 1: b")
		g.Data[2][1] = keep
	}
	require.ErrorContains(t, a.Step(layers.NewGrads[float64](nil)), "gradients for 0 parameters, need 4")
	require.Equal(t, before, ps[0].Data)
	require.Zero(t, a.Count)
	g.Data[2][1] = 1e200 // large, and finite
	require.NoError(t, a.Step(g))

	for want, c := range map[string]AdamConfig{
		"rate = -1":               {Rate: -1},
		"rate = NaN":              {Rate: math.NaN()},
		"beta1 = 1":               {Beta1: 1},
		"beta2 = 2":               {Beta2: 2},
		"epsilon = +Inf":          {Epsilon: math.Inf(1)},
		"weight_decay = -1":       {WeightDecay: -1},
		"clip_norm = -2":          {ClipNorm: -2},
		"epsilon = 0, need a po":  {Rate: 1e-3, Beta1: 0.9, Beta2: 0.999}, // a gradient of 0 would make its parameter NaN
		`"linear" is not one of`:  {Epsilon: 1, Schedule: Schedule{Kind: "linear"}},
		"steps = 0":               {Epsilon: 1, Schedule: Schedule{Kind: Cosine}},
		"factor = 2, need 0 to 1": {Epsilon: 1, Schedule: Schedule{Kind: StepDown, Steps: 1, Factor: 2}},
		"warmup = -1":             {Epsilon: 1, Schedule: Schedule{Warmup: -1}},
	} {
		_, err := NewAdam(c, ps)
		require.ErrorContains(t, err, want)
	}
}

func TestSchedule(t *testing.T) {
	require.Equal(t, 1.0, Schedule{}.At(1000))
	c := Schedule{Kind: Cosine, Warmup: 4, Steps: 14, Factor: 0.2}
	for step, want := range map[int]float64{0: 0.25, 3: 1, 4: 1, 9: 0.6, 14: 0.2, 100: 0.2} {
		require.InDelta(t, want, c.At(step), 1e-15, "step %d", step)
	}
	s := Schedule{Kind: StepDown, Steps: 10, Factor: 0.5, Warmup: 2}
	for step, want := range map[int]float64{0: 0.5, 1: 1, 11: 1, 12: 0.5, 22: 0.25} {
		require.Equal(t, want, s.At(step), "step %d", step)
	}
	all := AdamConfig{Rate: 1e-3, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, WeightDecay: 1, Decoupled: true, ClipNorm: 2, Schedule: c}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	var back AdamConfig
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, all, back)
}
