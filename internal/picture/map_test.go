package picture

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// newMap is a map of a wave, with one cell that has no value.
func newMap() *Map {
	m := &Map{Title: "zinc", XLabel: "east", YLabel: "north", Label: "mg/kg", Lo: [2]float64{100, 200}, Hi: [2]float64{300, 400},
		Columns: 30, Rows: 20}
	places := MapPlaces(m.Lo, m.Hi, m.Columns, m.Rows)
	for i := range m.Columns * m.Rows {
		m.Mean, m.Std = append(m.Mean, math.Sin(places[2*i]/30)), append(m.Std, 0.1)
	}
	m.Mean[7] = math.NaN()
	m.ContextX, m.Values = []float64{150, 250, 180, 390}, []float64{0.5, 3}
	return m
}

func TestWriteMap(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteMap(&b, "png", newMap()))
	im, err := png.Decode(&b)
	require.NoError(t, err)
	require.Greater(t, im.Bounds().Dx(), 2*im.Bounds().Dy()-1)
	b.Reset()
	require.NoError(t, WriteMap(&b, "svg", newMap()))
	require.Contains(t, b.String(), "zinc")
	require.Contains(t, b.String(), "standard deviation")
	require.Contains(t, b.String(), "north")
}

func TestMapRefuses(t *testing.T) {
	require.ErrorContains(t, WriteMap(&bytes.Buffer{}, "png", nil), "nil")
	for want, change := range map[string]func(m *Map){
		"29 x 20 cells":            func(m *Map) { m.Columns = 29 },
		"from 300 to 300":          func(m *Map) { m.Lo[0] = 300 },
		"number 1 of a map's":      func(m *Map) { m.ContextX[1] = math.NaN() },
		"4 coordinates of 1 value": func(m *Map) { m.Values = m.Values[:1] },
		"no plot format":           nil,
	} {
		m, format := newMap(), "png"
		if change == nil {
			format = "gif"
		} else {
			change(m)
		}
		require.ErrorContains(t, WriteMap(&bytes.Buffer{}, format, m), want)
	}
	flat := newMap() // one value everywhere, and none seen
	for i := range flat.Mean {
		flat.Mean[i] = 2
	}
	flat.ContextX, flat.Values = nil, nil
	require.NoError(t, WriteMap(&bytes.Buffer{}, "png", flat))
}
