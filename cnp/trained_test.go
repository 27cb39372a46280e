package cnp

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo predicts the nearest context value, with the distance to it as the deviation: it moves and scales with the data.
type echo struct {
	Regressor[float64]
	cfg Config
	saw *Batch[float64]
}

func (e *echo) Config() Config { return e.cfg }

func (e *echo) Predict(_ context.Context, b *Batch[float64]) (*Prediction[float64], error) {
	e.saw = b
	p := newPrediction[float64](Normal, b.B*b.Nt)
	for t := range b.B {
		for i := range b.Nt {
			best := math.Inf(1)
			for k := range b.Nc {
				if d := math.Abs(b.XContext[t*b.Nc+k] - b.XTarget[t*b.Nt+i]); d < best && b.contextOK(t, k) {
					best = d
					p.Mean[t*b.Nt+i], p.Std[t*b.Nt+i] = b.YContext[t*b.Nc+k], 0.5
				}
			}
		}
	}
	return p, nil
}

// trainedCurves is a configuration that knows tasks on [-2, 2] with standard normal values.
func trainedCurves(t *testing.T) Config {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var w Witness
	for range 50 {
		b := &Batch[float64]{B: 2, Nc: 20, Nt: 30, XContext: make([]float64, 40), YContext: make([]float64, 40),
			XTarget: make([]float64, 60)}
		y := make([]float64, 60)
		for _, x := range [][]float64{b.XContext, b.XTarget} {
			for i := range x {
				x[i] = 4*rng.Float64() - 2
			}
		}
		for _, v := range [][]float64{b.YContext, y} {
			for i := range v {
				v[i] = rng.NormFloat64()
			}
		}
		AddCurves(&w, b, y, 1, 1)
	}
	c := Default(EquivCNPCurve, "T(1)", 1)
	c.Trained = w.Trained()
	require.NoError(t, c.Validate())
	return c
}

// TestWitness: what tasks look like, and that a model file keeps it.
func TestWitness(t *testing.T) {
	c := trainedCurves(t)
	got := c.Trained
	assert.InDelta(t, 0, got.Y[0].Mean, 0.1)
	assert.InDelta(t, 1, got.Y[0].Std, 0.05)
	assert.InDelta(t, -2, got.X[0].Min, 0.01)
	assert.InDelta(t, 4*19.0/21, got.Span, 0.1) // the mean extent of 20 uniform points
	assert.Equal(t, [2]int{20, 20}, got.Context)
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var back Config
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, c, back)
	assert.Nil(t, (&Witness{}).Trained())

	for name, spoil := range map[string]func(*Trained){
		"no values":      func(t *Trained) { t.Y = nil },
		"coordinates":    func(t *Trained) { t.X = append(t.X, t.X[0]) },
		"upside down":    func(t *Trained) { t.Y[0].Min = t.Y[0].Max + 1 },
		"NaN":            func(t *Trained) { t.Y[0].Mean = math.NaN() },
		"deviation":      func(t *Trained) { t.X[0].Std = -1 },
		"infinite span":  func(t *Trained) { t.Span = math.Inf(1) },
		"NaN noise":      func(t *Trained) { t.Noise = math.NaN() },
		"context":        func(t *Trained) { t.Context = [2]int{3, 2} },
		"infinite range": func(t *Trained) { t.X[0].Max = math.Inf(1) },
	} {
		c := trainedCurves(t)
		spoil(c.Trained)
		assert.ErrorIs(t, c.Validate(), ErrConfig, name)
	}
}

// TestScaler: values get the trained moments, by their context alone, and predictions come back; coordinates stay to
// the bit unless they are of another scale. Values of a model that was trained on data stay, too.
func TestScaler(t *testing.T) {
	c := trainedCurves(t)
	rng := rand.New(rand.NewPCG(3, 4))
	task := func(x0, dx, y0, dy float64) *Batch[float64] {
		b := &Batch[float64]{B: 1, Nc: 12, Nt: 12, XContext: make([]float64, 12), YContext: make([]float64, 12)}
		for i := range 12 {
			b.XContext[i], b.YContext[i] = x0+dx*float64(i), y0+dy*rng.NormFloat64()
		}
		b.XTarget = append([]float64{}, b.XContext...)
		return b
	}
	for _, k := range []struct {
		name           string
		x0, dx, y0, dy float64
		notes          int
		scaled         bool
	}{
		{"as trained", -1.5, 0.25, 0, 1, 0, false},
		{"elsewhere, which translations do not see", 100, 0.25, 0, 1, 0, false},
		{"values about 20", -1.5, 0.25, 20, 1, 1, true},
		{"huge values", -1.5, 0.25, 1e30, 1e29, 1, true},
		{"years", 1990, 3, 0, 1, 1, true},
		{"nanoseconds and kelvin", 1.7e18, 1e9, 290, 5, 2, true},
		{"a microscope", 0, 1e-6, 0, 1, 1, true},
	} {
		b := task(k.x0, k.dx, k.y0, k.dy)
		assert.Len(t, Notes(&c, b), k.notes, k.name)
		e := &echo{cfg: c}
		p, err := Standardised[float64](e).Predict(context.Background(), b)
		require.NoError(t, err)
		for i, y := range b.YContext {
			assert.InEpsilon(t, y, p.Mean[i], 1e-9, k.name)
		}
		assert.Equal(t, k.scaled, OtherScale(&c, b) == 1, k.name)
		if !k.scaled {
			assert.Equal(t, b.XContext, e.saw.XContext, k.name)
			known := trainedCurves(t)
			known.Trained.Units = &Scaler{X: []Affine{identity}, Y: []Affine{identity}}
			own := &echo{cfg: known}
			_, err := Standardised[float64](own).Predict(context.Background(), b)
			require.NoError(t, err)
			assert.Same(t, b, own.saw, k.name)
			continue
		}
		assert.Empty(t, Notes(&c, e.saw), "%s: what the model sees is what it was trained on", k.name)
		// The deviation has the data's unit.
		s := c.Scaler(b.XContext, b.YContext)
		assert.InEpsilon(t, 0.5/s.Y[0].Factor, p.Std[0], 1e-12)
		// One target alone gets the same bits.
		one := *b
		one.Nt, one.XTarget = 1, b.XTarget[3:4]
		alone, err := Standardised[float64](e).Predict(context.Background(), &one)
		require.NoError(t, err)
		assert.Equal(t, p.Mean[3], alone.Mean[0])
		assert.Equal(t, p.Std[3], alone.Std[0])
	}
	assert.True(t, c.Scaler(nil, nil).Identity(), "an empty context")
	assert.Equal(t, identity, c.Scaler([]float64{0, 0.001, 0.002}, []float64{0, 1, 0}).X[0], "a few points close together")
	same := c.Scaler(make([]float64, 9), []float64{50, 50, 50, 50, 50, 50, 50, 50, 50})
	assert.Equal(t, Affine{Offset: 50 - c.Trained.Y[0].Mean, Factor: 1}, same.Y[0], "equal values have no scale of their own")
	c.Trained = nil
	assert.True(t, c.Scaler([]float64{0, 1e9}, []float64{1e9, 0}).Identity(), "a model that does not know")

	seen := trainedCurves(t)
	seen.CoordinateFeature = true
	b := task(100, 0.25, 0, 1)
	assert.Len(t, Notes(&seen, b), 1, "a model that sees where points are")
	s := seen.Scaler(b.XContext, b.YContext)
	assert.Equal(t, 1.0, s.X[0].Factor)
	assert.InDelta(t, 0, s.X[0].Apply(100+0.25*5.5), 0.05)
}

// TestImageNotes: pixels of another range and images of another size are named.
func TestImageNotes(t *testing.T) {
	c := Default(EquivCNPImage, "T(2)", 1)
	c.ImageSize = [2]int{16, 16}
	im := &Images[float32]{B: 1, C: 1, H: 16, W: 16, Pixels: make([]float32, 256), Mask: make([]bool, 256)}
	for i := range im.Pixels {
		im.Pixels[i], im.Mask[i] = float32(i)/255, i%2 == 0
	}
	var w Witness
	AddImages(&w, im, im.Pixels)
	c.Trained = w.Trained()
	require.NoError(t, c.Validate())
	assert.Equal(t, [2]int{128, 128}, c.Trained.Context)
	assert.Empty(t, ImageNotes(&c, im))
	for i := range im.Pixels {
		im.Pixels[i] *= 255
	}
	im.H, im.W = 8, 32
	notes := ImageNotes(&c, im)
	require.Len(t, notes, 2)
	assert.Contains(t, notes[0], "channel 0")
	assert.Contains(t, notes[1], "8 x 32 pixels, the model was trained on 16 x 16")
	assert.Contains(t, notes[1], "no image of this shape")
	im.H, im.W = 16, 16
	c.ImageSize = [2]int{8, 8}
	assert.NotContains(t, ImageNotes(&c, im)[1], "shape")
}

// TestPredictionCheck: what is no distribution is an error that says which value.
func TestPredictionCheck(t *testing.T) {
	good := &Prediction[float32]{Mean: []float32{1, 2}, Std: []float32{0.1, 3}}
	require.NoError(t, good.Check(nil))
	for _, bad := range []Prediction[float32]{
		{Mean: []float32{1, float32(math.NaN())}, Std: []float32{1, 1}}, {Mean: []float32{1, 2}, Std: []float32{1, 0}},
		{Mean: []float32{1, 2}, Std: []float32{1, float32(math.Inf(1))}}, {Mean: []float32{1, 2}, Std: []float32{1, float32(math.NaN())}},
		{Mean: []float32{1, float32(math.Inf(-1))}, Std: []float32{1, 1}}, {Mean: []float32{1, 1}, Std: []float32{1, -1}},
	} {
		err := bad.Check(nil)
		require.ErrorIs(t, err, ErrValue)
		assert.ErrorContains(t, err, "value 1")
		assert.NoError(t, bad.Check(func(i int) bool { return i == 0 }), "padding")
	}
}

// TestConfigOwn: a model keeps its configuration, whatever becomes of the one that it was made from.
func TestConfigOwn(t *testing.T) {
	c := Default(EquivCNPCurve, "T(1)", 1)
	c.Trained = &Trained{X: []Range{{Min: -2, Max: 2, Std: 1}}, Y: []Range{{Min: -1, Max: 1, Std: 1}},
		Units: &Scaler{X: []Affine{{Factor: 2}}, Y: []Affine{{Factor: 2}}}}
	text, err := json.Marshal(c)
	require.NoError(t, err)
	m, err := New[float32](c, 1)
	require.NoError(t, err)
	c.Channels[0], c.Trained.X[0].Max, c.Trained.Units.X[0].Factor = 1, 7, 3
	got, err := json.Marshal(m.Config())
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(got))
}

// TestScalerBounded: values that fill a bounded range keep their units where they fill it, and get the trained ones elsewhere.
func TestScalerBounded(t *testing.T) {
	c := trainedCurves(t)
	c.Trained.Y = []Range{{Min: 0, Max: 1, Mean: 0.5, Std: 0.29}}
	x := []float64{-1, -0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6}
	wave := []float64{0.1, 0.4, 0.7, 1, 0.3, 0.6, 0.9, 0.2, 0.5}
	of := func(a, b float64) Affine {
		y := make([]float64, len(wave))
		for i, v := range wave {
			y[i] = a + b*v
		}
		return c.Scaler(x, y).Y[0]
	}
	require.Equal(t, identity, of(0, 1))
	require.Equal(t, identity, of(0.02, 1), "noise at the ends")
	require.Equal(t, identity, of(0.2, 0.5))
	require.Equal(t, identity, c.Scaler(x[:2], []float64{0.5, 0.51}).Y[0], "two values say nothing of their scale")
	for _, other := range []Affine{{Offset: 3, Factor: 1}, {Factor: 100}, {Factor: 0.1}, {Offset: -1, Factor: 1}} {
		a := of(other.Offset, other.Factor)
		require.NotEqual(t, identity, a)
		require.InDelta(t, 0.5, a.Apply(other.Offset+other.Factor*0.522), 0.01)
		require.InDelta(t, 0.85, a.Factor*other.Factor, 0.15)
	}
	c.Trained.Y = []Range{{Min: -3.5, Max: 3.5, Mean: 0, Std: 1}}
	require.NotEqual(t, identity, of(0, 1), "values without bounds")
}
