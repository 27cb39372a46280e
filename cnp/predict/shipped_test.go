package predict_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

var long = flag.Bool("long", false, "contexts of a million points for every shipped model")

// quick are the shipped models of curves that short tests look at: one of each kind.
var quick = []string{"rbf-equivcnp", "rbf-levels", "periodic-levels", "bench-mixture", "bench-eq-lowrank", "bench2-eq",
	"vectors-curl-free", "globe"}

// eachShipped runs a test for the shipped models of curves, as they predict in the units of data. A model with units of its own,
// as predprey, suits the tasks that it was trained on alone: its values are positive, and shifted ones are others.
func eachShipped(t *testing.T, test func(t *testing.T, s shipped)) {
	for _, name := range pretrained.Names() {
		if strings.HasPrefix(name, "digits") || testing.Short() && !slices.Contains(quick, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, err := pretrained.Load(name)
			require.NoError(t, err)
			if c := m.Config(); c.HasUnits() {
				return
			}
			test(t, shipped{name, m.Config(), cnp.Standardised(m.(cnp.Regressor[float32]))})
		})
	}
}

type shipped struct {
	name string
	cfg  cnp.Config
	m    cnp.Regressor[float32]
}

// places draws n places where the model was trained.
func (s *shipped) places(rng *rand.Rand, n int) (x []float64) {
	for len(x) < n*s.cfg.DimX {
		p, square := make([]float64, s.cfg.DimX), 0.0
		for d := range p {
			lo, hi := s.cfg.Trained.X[d].Min, s.cfg.Trained.X[d].Max
			if s.cfg.OnSphere() && d == 1 {
				lo, hi = -30, 30
			}
			p[d] = lo + (hi-lo)*rng.Float64()
			square += p[d] * p[d]
		}
		if s.cfg.Vectors() && square > 90 { // they were trained on a disc
			continue
		}
		x = append(x, p...)
	}
	return x
}

// values are those of a function of the kind that the model was trained on.
func (s *shipped) values(x []float64) (y []float32) {
	for i := 0; i < len(x); i += s.cfg.DimX {
		var v []float64
		switch a := x[i]; {
		case strings.Contains(s.name, "divergence"): // (dψ/dy, -dψ/dx) of ψ = sin a cos b + sin(a+b)
			a, b := a/4, x[i+1]/4
			v = []float64{-math.Sin(a)*math.Sin(b) + math.Cos(a+b), -math.Cos(a)*math.Cos(b) - math.Cos(a+b)}
		case s.cfg.Vectors(): // the gradient of ψ
			a, b := a/4, x[i+1]/4
			v = []float64{math.Cos(a)*math.Cos(b) + math.Cos(a+b), -math.Sin(a)*math.Sin(b) + math.Cos(a+b)}
		case s.cfg.OnSphere():
			u := cnp.UnitVector(a, x[i+1])
			v = []float64{math.Sin(3*u[0]+1) + math.Cos(4*u[1]) + math.Sin(3*u[2])}
		case strings.Contains(s.name, "sawtooth"):
			phase := 3*a + 0.2
			if s.cfg.DimX == 2 {
				phase = 1.8*a + 2.4*x[i+1] + 0.2
			}
			v = []float64{phase - math.Floor(phase)}
		case s.cfg.DimX == 2:
			v = []float64{math.Sin(2*a+x[i+1]) + math.Cos(2*x[i+1]-0.5*a)}
		case strings.HasPrefix(s.name, "periodic"):
			v = []float64{math.Sin(2*math.Pi*a) + 0.5*math.Cos(2*math.Pi*a+1)}
		default:
			v = []float64{math.Sin(2*a) + 0.5*math.Cos(3*a+1)}
		}
		for _, w := range v {
			y = append(y, float32(w))
		}
	}
	return y
}

// task is a task of n context points, with noise, and the true values at the targets.
func (s *shipped) task(seed uint64, n, targets int, noise float64) (*cnp.Batch[float32], []float32) {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &cnp.Batch[float32]{B: 1, Nc: n, Nt: targets, XContext: s.places(rng, n), XTarget: s.places(rng, targets)}
	b.YContext = s.values(b.XContext)
	for i := range b.YContext {
		b.YContext[i] += float32(noise * rng.NormFloat64())
	}
	return b, s.values(b.XTarget)
}

func (s *shipped) predict(t *testing.T, b *cnp.Batch[float32]) *cnp.Prediction[float32] {
	t.Helper()
	p, err := s.m.Predict(context.Background(), b)
	require.NoError(t, err)
	require.NoError(t, p.Check(nil))
	return p
}

// moved is a batch whose values are factor·y + offset.
func moved(b *cnp.Batch[float32], factor, offset float64) *cnp.Batch[float32] {
	out := *b
	out.YContext = make([]float32, len(b.YContext))
	for i, y := range b.YContext {
		out.YContext[i] = float32(factor*float64(y) + offset)
	}
	return &out
}

// TestUnits: values that are shifted and scaled have predictions that are shifted and scaled, whatever the number of
// points; densities are those of the new units. Shifted coordinates change nothing. Values of sawtooth waves are in the models' own units
// where they lie in the trained range, and a few of them anywhere in it; others move along as for all models.
func TestUnits(t *testing.T) {
	eachShipped(t, func(t *testing.T, s shipped) {
		for _, n := range []int{1, 2, 4, 30} {
			b, y := s.task(uint64(n), n, 7, 0.05)
			bounded := strings.Contains(s.name, "sawtooth")
			if bounded {
				b = moved(b, 1, 50)
				for i := range y {
					y[i] += 50
				}
			}
			want := s.predict(t, b)
			for _, c := range [][2]float64{{1, 0.8}, {1, -300}, {0.01, 0}, {1000, 2e5}} {
				factor, offset := c[0], c[1]
				if bounded && n < 8 && factor < 1 {
					continue
				}
				if n == 1 && factor != 1 { // a single value has no scale of its own
					continue
				}
				got := s.predict(t, moved(b, factor, offset))
				rounding := 1e-6 * (math.Abs(offset) + factor) // of the values themselves, of float32, whose scale a few of them say
				for i := range got.Mean {
					std := float64(want.Std[i])
					require.InDelta(t, factor*float64(want.Mean[i])+offset, got.Mean[i], 0.02*factor*std+20*rounding,
						"%d points · %g + %g", n, factor, offset)
					require.InEpsilon(t, factor*std, got.Std[i], 0.03+50*rounding/factor, "%d points · %g + %g", n, factor, offset)
				}
				if offset == 0 {
					old, _ := want.LogDensity(y, nil)
					var scaled []float32
					for _, v := range y {
						scaled = append(scaled, float32(factor*float64(v)))
					}
					density, k := got.LogDensity(scaled, nil)
					require.InDelta(t, old-float64(k)*math.Log(factor), density, 0.02*math.Abs(old)+0.05)
				}
			}
			if s.cfg.OnSphere() {
				continue
			}
			far := *b
			far.XContext, far.XTarget = slices.Clone(b.XContext), slices.Clone(b.XTarget)
			for _, x := range [][]float64{far.XContext, far.XTarget} {
				for i := range x {
					x[i] += 1024
				}
			}
			got := s.predict(t, &far)
			for i := range got.Mean {
				require.InDelta(t, want.Mean[i], got.Mean[i], 0.02*float64(want.Std[i])+1e-4, "%d points elsewhere", n)
			}
		}
	})
}

// TestUnitsExample: four values about 3 have predictions about 3, which are 0.8 more where the values are.
func TestUnitsExample(t *testing.T) {
	for _, name := range []string{"rbf-equivcnp", "rbf-levels", "bench-eq"} {
		m, err := pretrained.Load(name)
		require.NoError(t, err)
		s := shipped{name, m.Config(), cnp.Standardised(m.(cnp.Regressor[float32]))}
		b := &cnp.Batch[float32]{B: 1, Nc: 4, Nt: 1, XContext: []float64{0, 0.5, 1, 1.5}, YContext: []float32{3, 3.1, 3.2, 3.15},
			XTarget: []float64{5}}
		near := s.predict(t, b)
		require.InDelta(t, 3.1, near.Mean[0], 0.15, name)
		require.InDelta(t, near.Mean[0]+0.8, s.predict(t, moved(b, 1, 0.8)).Mean[0], 1e-3, name)
	}
}

// TestWind: a vector field with a large mean is predicted better than by its mean.
func TestWind(t *testing.T) {
	eachShipped(t, func(t *testing.T, s shipped) {
		if !s.cfg.Vectors() {
			return
		}
		b, y := s.task(3, 40, 60, 0)
		for i := range b.YContext {
			b.YContext[i] = 0.6*b.YContext[i] + []float32{11, 5}[i%2]
		}
		p := s.predict(t, b)
		square, constant := 0.0, 0.0
		for i, v := range y {
			truth := 0.6*float64(v) + []float64{11, 5}[i%2]
			mean := 0.0
			for k := i % 2; k < len(b.YContext); k += 2 {
				mean += float64(b.YContext[k]) / 40
			}
			square, constant = square+(truth-float64(p.Mean[i]))*(truth-float64(p.Mean[i])), constant+(truth-mean)*(truth-mean)
		}
		require.Less(t, square, 0.5*constant)
	})
}

// TestDense: predictions from contexts far denser than those of training are as good as those of training, and know it. Without -long, one
// model of each kind has a million points, and the others have up to 100,000.
func TestDense(t *testing.T) {
	sizes := []int{300, 1000, 10_000, 100_000, 1_000_000}
	if testing.Short() {
		sizes = []int{1000, 100_000}
	}
	eachShipped(t, func(t *testing.T, s shipped) {
		for _, n := range sizes {
			if n == 1_000_000 && !*long && !slices.Contains(quick, s.name) {
				continue
			}
			var z []float64
			for seed := range uint64(3) { // of the targets of several tasks: one wave may be an unlikely one
				b, y := s.task(seed+1, n, 100, 0)
				p := s.predict(t, b)
				for i := range y {
					z = append(z, math.Abs(float64(y[i]-p.Mean[i]))/float64(p.Std[i]))
				}
			}
			slices.Sort(z)
			t.Logf("%d points: median deviation %.2f", n, z[len(z)/2])
			require.Less(t, z[len(z)/2], 2.0, "%d points", n)
		}
	})
}

// TestTiny: contexts of hardly any points, or of equal ones, have predictions.
func TestTiny(t *testing.T) {
	eachShipped(t, func(t *testing.T, s shipped) {
		for n := range 4 {
			b, _ := s.task(uint64(n), n, 5, 0)
			s.predict(t, b)
			for i := range b.YContext {
				b.YContext[i] = 7
			}
			p := s.predict(t, b)
			for i := range p.Mean {
				if n > 0 && s.name != "bench-mixture" && !strings.Contains(s.name, "sawtooth") {
					require.InDelta(t, 7, p.Mean[i], 3*float64(p.Std[i])+0.5)
				}
			}
		}
	})
}

// TestCheckWarns: a model without noise says that it does not suit noisy data, and is content with clean ones.
func TestCheckWarns(t *testing.T) {
	for _, name := range []string{"rbf-equivcnp", "rbf-levels", "matern-equivcnp"} {
		m, err := pretrained.Load(name)
		require.NoError(t, err)
		r := cnp.Standardised(m.(cnp.Regressor[float32]))
		for seed := range uint64(4) {
			for _, noise := range []float64{0, 0.3} {
				rng := rand.New(rand.NewPCG(seed, 9))
				b := &cnp.Batch[float32]{B: 1, Nc: 40, YContext: make([]float32, 40)}
				for i := range 40 {
					b.XContext = append(b.XContext, 4*rng.Float64()-2)
					b.YContext[i] = float32(math.Sin(2*b.XContext[i]) + noise*rng.NormFloat64())
				}
				c, err := predict.Check(context.Background(), r, b)
				require.NoError(t, err)
				require.Equal(t, 40, c.Values)
				said := fmt.Sprintf("%s, seed %d, noise %g: %+v", name, seed, noise, *c)
				t.Log(said)
				if noise > 0 {
					require.Contains(t, c.Warning, "do not trust", said)
					require.Contains(t, c.Warning, "calibrate", said)
				} else {
					assert.Empty(t, c.Warning, said)
					require.Less(t, c.Model.SquaredError, c.Constant.SquaredError)
				}
			}
		}
	}
}

// TestCheckEqual: of equal values a constant without deviation would say everything, and is no score; a score is JSON, whatever it is.
func TestCheckEqual(t *testing.T) {
	b := &cnp.Batch[float32]{B: 1, Nc: 40, YContext: make([]float32, 40)}
	for i := range 40 {
		b.XContext = append(b.XContext, float64(i)/10)
	}
	check := func() *predict.Checked {
		c, err := predict.Check(t.Context(), krige.Named("universal-1"), b)
		require.NoError(t, err)
		_, err = json.Marshal(c)
		require.NoError(t, err)
		return c
	}
	c := check()
	require.Zero(t, c.Values)
	require.Empty(t, c.Warning)
	b.YContext[7] = 1 // the fold without it is equal
	c = check()
	require.Equal(t, 32, c.Values)
	require.False(t, math.IsNaN(c.Constant.LogDensity+c.Model.LogDensity+c.InverseDistance.LogDensity))
	text, err := json.Marshal(predict.Score{LogDensity: math.Inf(-1), SquaredError: math.NaN(), Coverage: 0.5})
	require.NoError(t, err)
	require.JSONEq(t, `{"log_density": null, "squared_error": null, "coverage": 0.5}`, string(text))
}

// TestCheckBounds: a check is bounded, whatever the context; few points say nothing.
func TestCheckBounds(t *testing.T) {
	eachShipped(t, func(t *testing.T, s shipped) {
		for _, n := range []int{0, 4, 6, 20_000} {
			b, _ := s.task(5, n, 0, 0)
			c, err := predict.Check(context.Background(), s.m, b, b)
			require.NoError(t, err)
			switch {
			case n < 5:
				require.Zero(t, c.Values)
				require.Empty(t, c.Warning)
			default:
				require.Equal(t, 2, c.Tasks)
				require.Equal(t, 2*min(n*s.cfg.DimY, 200), c.Values)
			}
		}
	})
}
