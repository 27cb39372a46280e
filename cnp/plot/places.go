package plot

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/design/places"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Places draws the context, the candidates and the chosen places, which lower that goal, with what the interpolation knows:
// of one input or of two.
func Places(ctx context.Context, w io.Writer, format, goal string, d *places.Choosing) error {
	if d.Da() > 0 {
		return fmt.Errorf("nobody knows %s at all places of the picture", strings.Join(d.Auxiliary(), ", "))
	}
	chart := &picture.Chart{Title: fmt.Sprintf("%s that lower the %s most", words.Plural(len(d.Chosen), "place"), goal)}
	axes := tabletask.Labels(d.Points, d.Observed.Columns.X, "x", d.Dx)
	chart.XLabel = axes[0]
	of := func(x []float64) (s picture.Series) {
		for i := 0; i < len(x); i += d.Dx {
			s.X, s.Y = append(s.X, x[i]), append(s.Y, x[i+d.Dx-1])
		}
		return s
	}
	picked := d.Picked()
	if d.Dx == 2 {
		return drawPlaces(ctx, w, format, chart.Title, axes, d)
	}
	_, std, err := d.Models[0].Predict(ctx, d.Places.X)
	if err != nil {
		return err
	}
	_, at, err := d.Models[0].Predict(ctx, picked)
	if err != nil {
		return err
	}
	candidates, chosen := of(d.Places.X), of(picked)
	candidates.Name, candidates.Y = "candidates", std
	chosen.Name, chosen.Y = "chosen", at
	chart.YLabel, chart.Series = "standard deviation", []picture.Series{candidates, chosen}
	return picture.WriteCharts(w, format, chart)
}

// drawPlaces draws the map of the interpolation, on which the chosen places are points of their order.
func drawPlaces(ctx context.Context, w io.Writer, format, title string, axes []string, d *places.Choosing) error {
	picked := d.Picked()
	mean, _, err := d.Models[0].Predict(ctx, picked)
	if err != nil {
		return err
	}
	m := &picture.Map{Title: title, XLabel: axes[0], YLabel: axes[1], Label: tabletask.Labels(d.Points, d.Observed.Columns.Y, "y", 1)[0],
		ContextX: picked, Values: mean}
	for k := range 2 {
		m.Lo[k], m.Hi[k] = math.Inf(1), math.Inf(-1)
		for _, x := range [][]float64{d.All, d.X[0]} {
			for i := k; i < len(x); i += 2 {
				m.Lo[k], m.Hi[k] = min(m.Lo[k], x[i]), max(m.Hi[k], x[i])
			}
		}
		pad := 0.02 * (m.Hi[k] - m.Lo[k])
		if pad == 0 {
			pad = 0.5
		}
		m.Lo[k], m.Hi[k] = m.Lo[k]-pad, m.Hi[k]+pad
	}
	m.Columns, m.Rows = mapCells, mapCells
	p, err := d.Models[0].At(ctx, picture.MapPlaces(m.Lo, m.Hi, m.Columns, m.Rows))
	if err != nil {
		return err
	}
	m.Mean, m.Std = p.Mean, p.Std
	return picture.WriteMap(w, format, m)
}
