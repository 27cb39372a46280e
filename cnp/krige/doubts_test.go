package krige

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestDoubts: tasks without values or with equal ones are counted, as are targets outside the ranges of their own tasks; rows and targets
// that are masked, or lack a value or a column, count for nothing.
func TestDoubts(t *testing.T) {
	nan := float32(math.NaN())
	b := &cnp.Batch[float32]{B: 3, Nc: 3, Nt: 2, XContext: make([]float64, 9), XTarget: make([]float64, 6),
		YContext:    []float32{1, 2, 9, 5, 5, 9, nan, 1, 9},
		AuxContext:  []float32{10, 20, 90, 30, 40, 90, 10, nan, 90},
		ContextMask: []bool{true, true, false, true, true, false, true, true, false},
		AuxTarget:   []float32{9, 20, 41, 99, 0, 99},
		TargetMask:  []bool{true, true, true, false, true, true}}
	d := NewDoubts(1, []string{"height"})
	d.Add(b)
	const beyond = "auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: height, "
	require.Equal(t, []string{
		"1 of 3 tasks have no values: nothing is known of them, and predictions are 0 with a deviation of 1, whatever the unit",
		"1 of 3 tasks have one value, or equal ones: their spread is not known",
		beyond + "2 targets outside the ranges of their tasks"}, d.Texts())

	// One task in several pieces.
	one := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 1, XContext: make([]float64, 3), XTarget: make([]float64, 1),
		YContext: []float32{1, 2, 3, 4, nan, nan}, AuxContext: []float32{10, 20, 30}, AuxTarget: []float32{31}}
	r, err := NewRegressor(Options{Dim: 2, Drift: 1})
	require.NoError(t, err)
	d = r.Outputs(2).Doubts()
	require.Empty(t, d.Texts())
	d.Add(one)
	d.Add(one)
	require.Equal(t, []string{"auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: " +
		"aux1, 2 targets outside 10 to 20"}, d.Texts())
	for i := range one.YContext {
		one.YContext[i] = nan
	}
	d = r.Outputs(2).Doubts()
	d.Add(one)
	require.Equal(t, []string{"there are no values of an output: nothing is known, and predictions are 0 with a deviation of 1, whatever " +
		"the unit"}, d.Texts())
}
