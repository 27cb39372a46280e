package cnp_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// windowModel returns an untrained model that was trained on windows of length 4, and a table of 200 points on [0, 40].
func windowModel(t *testing.T, targets ...float64) (cnp.Regressor[float32], *cnp.Config, *cnp.Batch[float32]) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit = 8
	c.Trained = &cnp.Trained{X: []cnp.Range{{Min: 0, Max: 40, Mean: 20, Std: 10}}, Y: []cnp.Range{{Min: -3, Max: 3, Std: 1}}, Span: 4,
		Context: [2]int{1, 50}, Window: []float64{4},
		Units: &cnp.Scaler{X: []cnp.Affine{{Offset: 20, Factor: 0.5}}, Y: []cnp.Affine{{Factor: 1}}}}
	model, err := cnp.New[float32](c, 4)
	require.NoError(t, err)
	const n = 200
	b := &cnp.Batch[float32]{B: 1, Nc: n, Nt: len(targets), XTarget: targets}
	for i := range n {
		x := 40 * float64(i) / (n - 1)
		b.XContext, b.YContext = append(b.XContext, x), append(b.YContext, float32(math.Sin(x)))
	}
	return model.(cnp.Regressor[float32]), &c, b
}

// A model that was trained on windows predicts each target of a long table from the window around the target's cell, as
// if that were all there is. Targets do not depend on each other, nor on what lies in other windows.
func TestWindows(t *testing.T) {
	targets := []float64{17.3, 3.1, 17.9, 39, 55}
	model, c, b := windowModel(t, targets...)
	m := cnp.Standardised(model)
	got, err := m.Predict(t.Context(), b)
	require.NoError(t, err)
	for i, x := range targets {
		middle := math.Floor(x) + 0.5 // cells are 1 long, from 0 on
		one := &cnp.Batch[float32]{B: 1, Nt: 1, XTarget: []float64{x}}
		for k, v := range b.XContext {
			if math.Abs(v-middle) <= 2 {
				one.XContext, one.YContext = append(one.XContext, v), append(one.YContext, b.YContext[k])
			}
		}
		one.Nc = len(one.XContext)
		want, err := m.Predict(t.Context(), one)
		require.NoError(t, err)
		require.Equal(t, want.Mean[0], got.Mean[i], "x = %g of %d context points", x, one.Nc)
		require.Equal(t, want.Std[0], got.Std[i])
	}
	far := *b
	far.YContext = append([]float32(nil), b.YContext...)
	far.YContext[0] = 1e6
	moved, err := m.Predict(t.Context(), &far)
	require.NoError(t, err)
	require.Equal(t, got.Mean[0], moved.Mean[0])
	require.Contains(t, cnp.WindowNote(c, b), "1 of 1 tasks are longer than the windows of [4]")
	require.Len(t, cnp.Notes(c, b), 2)
	require.Contains(t, cnp.Notes(c, b)[1], "1 of 5 targets lie farther beyond the context", "55, of a context up to 40")
	seen, windows, err := cnp.Seen(c, b)
	require.NoError(t, err)
	require.Equal(t, 4, windows) // 17.3 and 17.9 share one
	require.Equal(t, 4, seen.B)
	require.LessOrEqual(t, seen.Nc, 21)
}

// Tasks of which a window holds the context are what they were, beside long ones; samples, which windows do not share,
// are an error that says so.
func TestWindowsBeside(t *testing.T) {
	model, c, b := windowModel(t, 1, 2)
	m := cnp.Standardised(model)
	short := *b
	short.Nc, short.XContext, short.YContext = 15, b.XContext[:15], b.YContext[:15]
	require.Empty(t, cnp.WindowNote(c, &short))
	want, err := m.Predict(t.Context(), &short)
	require.NoError(t, err)
	both := &cnp.Batch[float32]{B: 2, Nc: b.Nc, Nt: 2, XContext: append(append([]float64(nil), b.XContext...), b.XContext...),
		YContext: append(append([]float32(nil), b.YContext...), b.YContext...), XTarget: []float64{1, 2, 1, 2},
		ContextMask: make([]bool, 2*b.Nc)}
	for i := range both.ContextMask {
		both.ContextMask[i] = i < b.Nc || i < b.Nc+15
	}
	got, err := m.Predict(t.Context(), both)
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean[2:])
	require.Equal(t, want.Std, got.Std[2:])
	_, err = cnp.SampleCurves(t.Context(), m, b, cnp.SampleOptions{Samples: 2})
	require.ErrorIs(t, err, cnp.ErrWindow)
	_, _, err = cnp.Standardise(c, b)
	require.ErrorIs(t, err, cnp.ErrWindow)
}

// A window needs a side for each coordinate, and none that is negative.
func TestWindowsConfig(t *testing.T) {
	_, c, _ := windowModel(t)
	for _, sides := range [][]float64{{1, 2}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		trained := *c.Trained
		trained.Window, c.Trained = sides, &trained
		_, err := cnp.New[float32](*c, 1)
		require.ErrorIs(t, err, cnp.ErrConfig, "%v", sides)
	}
}

// Contexts that are much denser than those of training are an error where nothing thins them.
func TestCheckDensity(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Trained = &cnp.Trained{X: []cnp.Range{{Min: -2, Max: 2}}, Y: []cnp.Range{{Min: -3, Max: 3, Std: 1}}, Span: 4, Context: [2]int{3, 49}}
	batch := func(n int, length float64) *cnp.Batch[float32] {
		b := &cnp.Batch[float32]{B: 1, Nc: n, YContext: make([]float32, n)}
		for i := range n {
			b.XContext = append(b.XContext, length*float64(i)/float64(n-1))
		}
		return b
	}
	require.NoError(t, cnp.CheckDensity(&c, batch(1000, 4), true), "it is thinned")
	require.ErrorIs(t, cnp.CheckDensity(&c, batch(1000, 4), false), cnp.ErrRange)
	require.ErrorContains(t, cnp.CheckDensity(&c, batch(1000, 4), false), "the context of task 0 is as dense as one of 1000 points")
	require.NoError(t, cnp.CheckDensity(&c, batch(400, 4), false))
	require.NoError(t, cnp.CheckDensity(&c, batch(1000, 40), false), "long, and no denser than 100 points in 4 units")
	unknown, plane := c, c
	trained := *c.Trained
	trained.Span, unknown.Trained = 0, &trained
	_, _, err := cnp.Standardise(&unknown, batch(1000, 4))
	require.ErrorContains(t, err, "it cannot be thinned")
	plane.Trained = nil
	require.NoError(t, cnp.CheckDensity(&plane, batch(1000, 4), false))
}
