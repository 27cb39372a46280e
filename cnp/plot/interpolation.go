package plot

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// mapCells is the number of cells of the longer side of a map.
const mapCells = 140

// Axes returns the inputs of an interpolation along which a map of its targets extends. Of more than two these are the two that vary, as
// in a grid at one depth. Its error says why Interpolation cannot draw such targets. The interpolation need not be fitted.
func Axes(in *interpolate.Interpolation) (axes [2]int, err error) {
	switch {
	case in.Da() > 0 && in.Dx >= 2:
		return axes, fmt.Errorf("nobody knows %s at all places of the map", strings.Join(in.Auxiliary(), ", "))
	case in.Dx <= 2:
		return [2]int{0, 1}, nil
	}
	var vary []int
	for k := range in.Dx {
		for i := k; i < len(in.Asked.X); i += in.Dx {
			if in.Asked.X[i] != in.Asked.X[k] {
				vary = append(vary, k)
				break
			}
		}
	}
	if len(vary) != 2 {
		return axes, fmt.Errorf("%s has %d inputs; a curve needs one, a map two, or targets that vary in two alone, "+
			"as in a grid at one depth", in.Points.Name, in.Dx)
	}
	return [2]int(vary), nil
}

// Interpolation draws a table that was interpolated without a model: curves, a map of the plane or of a plane in space, or globes.
func Interpolation(ctx context.Context, w io.Writer, format, title string, in *interpolate.Interpolation) error {
	axes, err := Axes(in)
	if err != nil {
		return err
	}
	xs, ys := tabletask.Labels(in.Points, in.Observed.Columns.X, "x", in.Dx), in.Names()
	switch {
	case in.Sphere:
		return interpolatedGlobes(ctx, w, format, title, in)
	case in.Dx == 1:
		var curves []picture.Curve
		days := dates(in.Points, in.Observed.Columns.X)
		for c, p := range in.Predicted {
			x, y := in.Kept(c)
			curve := picture.Curve{XLabel: xs[0], YLabel: ys[c], X: in.Asked.X, Mean: p.Mean, Std: p.Std,
				ContextX: x, ContextY: y, Lower: p.Quantile(0.025), Upper: p.Quantile(0.975), Days: days}
			if in.Samples != nil {
				curve.Samples = in.Samples[c]
			}
			curves = append(curves, curve)
		}
		return picture.WriteCurves(w, format, title, curves)
	}
	m := &picture.Map{XLabel: xs[axes[0]], YLabel: xs[axes[1]], Label: ys[0], Columns: mapCells, Rows: mapCells}
	for k := range in.Dx {
		if k != axes[0] && k != axes[1] {
			at := fmt.Sprintf("%.10g", in.Asked.X[k])
			if days := dates(in.Points, in.Observed.Columns.X[k:k+1]); days != nil {
				at = time.Unix(int64(math.Round(days(in.Asked.X[k])*86400)), 0).UTC().Format("2006-01-02 15:04")
			}
			title = fmt.Sprintf("%s = %s, %s", xs[k], strings.TrimSuffix(at, " 00:00"), title)
		}
	}
	m.Title = ys[0] + ": " + title
	x, y := in.Kept(0)
	m.ContextX, m.Values = inPlane(in, axes, x, y)
	asked, _ := inPlane(in, axes, in.Asked.X, nil)
	m.Lo, m.Hi = mapExtent(asked, m.ContextX)
	var at []float64
	for places := picture.MapPlaces(m.Lo, m.Hi, m.Columns, m.Rows); len(places) > 0; places = places[2:] {
		place := make([]float64, in.Dx)
		copy(place, in.Asked.X)
		place[axes[0]], place[axes[1]] = places[0], places[1]
		at = append(at, place...)
	}
	p, err := in.Models[0].At(ctx, at)
	if err != nil {
		return err
	}
	m.Mean, m.Std = p.Mean, p.Std
	return picture.WriteMap(w, format, m)
}

// inPlane returns the coordinates along the axes of those places x [n, Dx] that lie in the plane of the targets, and their values y,
// unless these are nil.
func inPlane(in *interpolate.Interpolation, axes [2]int, x, y []float64) (at, values []float64) {
places:
	for i := 0; i < len(x); i += in.Dx {
		for k := range in.Dx {
			if k != axes[0] && k != axes[1] && x[i+k] != in.Asked.X[k] {
				continue places
			}
		}
		at = append(at, x[i+axes[0]], x[i+axes[1]])
		if y != nil {
			values = append(values, y[i/in.Dx])
		}
	}
	return at, values
}

// dates returns how the coordinates of a table become days since 1970, nil where they are no times.
func dates(t *table.Table, x []int) func(v float64) float64 {
	if len(x) != 1 {
		return nil
	}
	clock, err := t.Clock(x[0])
	if clock == nil || err != nil { // a unit that is no time
		return nil
	}
	return clock.Days
}

// mapExtent returns the corners of a rectangle around places in the plane.
func mapExtent(places ...[]float64) (lo, hi [2]float64) {
	first := true
	for _, x := range places {
		for i, v := range x {
			if k := i % 2; first && i < 2 {
				lo[k], hi[k] = v, v
			} else {
				lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
			}
		}
		first = first && len(x) == 0
	}
	sides := [2]float64{hi[0] - lo[0], hi[1] - lo[1]}
	longest := max(sides[0], sides[1])
	for k := range sides {
		pad := 0.02 * sides[k]
		if sides[k] == 0 {
			pad = max(longest, 1) / 2
		}
		lo[k], hi[k] = lo[k]-pad, hi[k]+pad
	}
	return lo, hi
}

// interpolatedGlobes draws a globe of each output.
func interpolatedGlobes(ctx context.Context, w io.Writer, format, title string, in *interpolate.Interpolation) error {
	var at []float64
	for _, p := range picture.GlobePlaces() {
		at = append(at, p[:]...)
	}
	names := in.Names()
	var globes []*picture.Globe
	for c, m := range in.Models {
		p, err := m.At(ctx, at)
		if err != nil {
			return err
		}
		x, y := in.Kept(c)
		g := &picture.Globe{Label: names[c], Mean: p.Mean, Std: p.Std, Values: y}
		for i := 0; i < len(x); i += 2 {
			g.Places = append(g.Places, [2]float64{x[i], x[i+1]})
		}
		globes = append(globes, g)
	}
	globes[0].Title = title
	return picture.WriteGlobes(w, format, globes...)
}
