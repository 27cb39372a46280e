// Package plot draws what the other packages below cnp compute: predictions of tables as curves, maps, globes and arrows,
// and the logs of trainings. Formats are "png" and "svg".
package plot

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// Suits refuses a model of that configuration whose predictions no plot shows.
func Suits(cfg *cnp.Config) error {
	switch {
	case cfg.DimX == 1 || cfg.OnSphere() || arrows(cfg):
		return nil
	case cfg.DimX != 2:
		return fmt.Errorf("the model has %d input coordinates; a curve needs one, a map two", cfg.DimX)
	case len(cfg.Auxiliary) > 0:
		return fmt.Errorf("nobody knows %s at all places of the map", strings.Join(cfg.Auxiliary, ", "))
	}
	return nil
}

// arrows reports whether predictions are vectors in the plane.
func arrows(cfg *cnp.Config) bool { return cfg.DimX == 2 && cfg.Vectors() }

// Prediction returns what draws the prediction of a task: curves with their band and samples, arrows, or a map of the plane or globes,
// for which it predicts at all places of a map.
func Prediction(ctx context.Context, t *tabletask.Task, p *tabletask.Prediction) (func(w io.Writer, format, title string) error, error) {
	cfg := p.Model.Config()
	switch {
	case cfg.OnSphere():
		globes, err := globes(ctx, t, p.Model, &cfg)
		return func(w io.Writer, format, title string) error {
			globes[0].Title = title
			return picture.WriteGlobes(w, format, globes...)
		}, err
	case arrows(&cfg):
		return func(w io.Writer, format, title string) error {
			return picture.WriteArrows(w, format, arrowsOf(t, &cfg, title, p.Prediction))
		}, nil
	case cfg.DimX == 2:
		m, err := planeMap(ctx, t, p.Model)
		return func(w io.Writer, format, title string) error {
			m.Title = m.Label + ": " + title
			return picture.WriteMap(w, format, m)
		}, err
	}
	return func(w io.Writer, format, title string) error {
		return Curves(w, format, title, t, p.Prediction, p.Samples)
	}, nil
}

// Curves draws a prediction of a task with one coordinate, one curve per output, with samples [S, n, dy].
func Curves(w io.Writer, format, title string, t *tabletask.Task, p *cnp.Prediction[float32], samples []float32) error {
	x := tabletask.Labels(t.Points, t.Observed.Columns.X, "x", 1)
	y := tabletask.Labels(t.Points, t.Observed.Columns.Y, "y", t.Dy)
	return batchCurves(w, format, title, &picture.Curve{XLabel: x[0], Days: dates(t.Points, t.Observed.Columns.X)}, y, t.Batch, p, samples)
}

// BatchCurves draws a prediction of a batch of one task, with the names of its coordinate and its outputs.
func BatchCurves(w io.Writer, format, title, x string, y []string, b *cnp.Batch[float32], p *cnp.Prediction[float32],
	samples []float32) error {
	return batchCurves(w, format, title, &picture.Curve{XLabel: x}, y, b, p, samples)
}

// batchCurves draws a prediction on axes like that of a curve.
func batchCurves(w io.Writer, format, title string, like *picture.Curve, y []string, b *cnp.Batch[float32], p *cnp.Prediction[float32],
	samples []float32) error {
	dy := len(y)
	out := make([]picture.Curve, dy)
	for c := range out {
		out[c] = *like
		out[c].YLabel = y[c]
		if len(samples) > 0 {
			out[c].Samples = make([][]float64, len(samples)/(b.Nt*dy))
		}
		for i := range b.Nt {
			if m := p.Mean[i*dy+c]; m != m {
				continue // it lies outside, and has no prediction
			}
			addValue(&out[c], b.XTarget[i], p, i*dy+c)
			for s := range out[c].Samples {
				out[c].Samples[s] = append(out[c].Samples[s], float64(samples[(s*b.Nt+i)*dy+c]))
			}
		}
		for i := range b.Nc {
			if y := float64(b.YContext[i*dy+c]); y == y { // it was observed
				out[c].ContextX, out[c].ContextY = append(out[c].ContextX, b.XContext[i]), append(out[c].ContextY, y)
			}
		}
	}
	return picture.WriteCurves(w, format, title, out)
}

// bandShare is how much of a distribution that is not normal the band of a drawing holds: as much as two standard
// deviations of a normal one.
const bandShare = 0.9545

// addValue adds value i of a prediction to a curve that is drawn.
func addValue(c *picture.Curve, x float64, p *cnp.Prediction[float32], i int) {
	c.X, c.Mean, c.Std = append(c.X, x), append(c.Mean, float64(p.Mean[i])), append(c.Std, float64(p.Std[i]))
	if _, normal := p.Distribution().(cnp.Rescaler); !normal {
		c.Lower, c.Upper = append(c.Lower, p.QuantileAt(i, (1-bandShare)/2)), append(c.Upper, p.QuantileAt(i, (1+bandShare)/2))
	}
}

// modelCells is the number of cells of a side of a map that a model predicts, which may be a large network.
const modelCells = 64

// planeMap predicts a map of the first output around the context and the targets.
func planeMap(ctx context.Context, t *tabletask.Task, model cnp.Regressor[float32]) (*picture.Map, error) {
	xs, ys := tabletask.Labels(t.Points, t.Observed.Columns.X, "x", 2), tabletask.Labels(t.Points, t.Observed.Columns.Y, "y", t.Dy)
	m := &picture.Map{XLabel: xs[0], YLabel: xs[1], Label: ys[0], Columns: modelCells, Rows: modelCells}
	m.Lo, m.Hi = mapExtent(t.Batch.XTarget, t.Batch.XContext)
	b := *t.Batch
	b.XTarget, b.Nt = picture.MapPlaces(m.Lo, m.Hi, m.Columns, m.Rows), m.Columns*m.Rows
	need, err := cnp.EstimateModel(model, b.Work(t.Dx))
	if err == nil {
		err = need.Check(cnp.MemoryLimit())
	}
	if err != nil {
		return nil, fmt.Errorf("the map: %w", err)
	}
	p, err := model.Predict(ctx, &b)
	var outside predict.Notes // which the map shows
	if _, err = outside.Answered(p, err, b.Nt, t.Dy); err != nil {
		return nil, fmt.Errorf("the map: %w", err)
	}
	for i := range b.Nt {
		m.Mean, m.Std = append(m.Mean, float64(p.Mean[i*t.Dy])), append(m.Std, float64(p.Std[i*t.Dy]))
	}
	for i := range b.Nc {
		if y := float64(b.YContext[i*t.Dy]); y == y { // it was observed
			m.ContextX, m.Values = append(m.ContextX, b.XContext[2*i:2*i+2]...), append(m.Values, y)
		}
	}
	return m, nil
}

// globes predicts maps of what a model on the sphere says, one of each output.
func globes(ctx context.Context, t *tabletask.Task, m cnp.CurvePredictor[float32], cfg *cnp.Config) ([]*picture.Globe, error) {
	if len(cfg.Auxiliary) > 0 {
		return nil, settings.Hintf("{Plot}: nobody knows %s at all places of the globe", strings.Join(cfg.Auxiliary, ", "))
	}
	b := *t.Batch
	b.XTarget = tabletask.OnSphere(cfg, picture.GlobePlaces())
	b.Nt = len(b.XTarget) / t.Dx
	p, err := m.Predict(ctx, &b)
	if err != nil {
		return nil, err
	}
	var out []*picture.Globe
	for c, label := range tabletask.Labels(t.Points, t.Observed.Columns.Y, "y", t.Dy) {
		g := &picture.Globe{Label: label, Places: tabletask.LatLon(cfg, b.XContext)}
		for i := range b.Nt {
			g.Mean, g.Std = append(g.Mean, float64(p.Mean[i*t.Dy+c])), append(g.Std, float64(p.Std[i*t.Dy+c]))
		}
		for i := range b.Nc {
			g.Values = append(g.Values, float64(b.YContext[i*t.Dy+c]))
		}
		out = append(out, g)
	}
	return out, nil
}

// arrowsOf is the first vector of a prediction in the plane.
func arrowsOf(t *tabletask.Task, cfg *cnp.Config, title string, p *cnp.Prediction[float32]) *picture.Arrows {
	names := tabletask.Labels(t.Points, t.Observed.Columns.X, "x", 2)
	a := &picture.Arrows{Title: title, XLabel: names[0], YLabel: names[1], ContextX: t.Batch.XContext}
	fields, dy, cov := cfg.Fields(), cfg.DimY, p.TargetCovariances()
	f := fields[slices.IndexFunc(fields, func(f cnp.Field) bool { return f.Type == cnp.Vector })]
	for i := range t.Batch.Nt {
		at := i*dy + f.First
		if p.Mean[at] != p.Mean[at] {
			continue // it lies outside, and has no prediction
		}
		a.X = append(a.X, t.Batch.XTarget[2*i:2*i+2]...)
		a.V = append(a.V, float64(p.Mean[at]), float64(p.Mean[at+1]))
		for r := range 2 {
			if cov != nil {
				a.Covariance = append(a.Covariance, cov[(at+r)*dy+f.First], cov[(at+r)*dy+f.First+1])
			}
		}
	}
	for i := range t.Batch.Nc {
		a.ContextV = append(a.ContextV, float64(t.Batch.YContext[i*dy+f.First]), float64(t.Batch.YContext[i*dy+f.First+1]))
	}
	return a
}
