package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/words"
)

// config says what a configuration fixes.
func config(r *lines, c *cnp.Config, groups []string) {
	switch {
	case c.Group != "" && c.Alpha != 0:
		r.add("group", "%s, alpha %g", c.Group, c.Alpha)
	case c.Group != "":
		r.add("group", "%s", c.Group)
	case len(groups) > 0:
		r.add("group", "one of %s: say which with --group", strings.Join(groups, ", "))
	}
	if c.Architecture.Image() {
		r.add("images", "%s", words.Plural(c.DimY, "channel"))
	} else {
		r.add("curves", "%s, %s", words.Plural(c.DimX, "input"), words.Plural(c.DimY, "output"))
	}
	if len(c.Auxiliary) > 0 {
		r.add("auxiliary inputs", "%s: known at the context and at the targets, not predicted; tensors aux_context and aux_target",
			strings.Join(c.Auxiliary, ", "))
	}
	if len(c.Static) > 0 {
		r.add("static fields", "%s: known at places of their own, not predicted; tensors x_static and y_static",
			strings.Join(c.Static, ", "))
	}
	fields(r, c)
	s := fmt.Sprintf("channels %d", c.Channels)
	if c.Blocks > 0 {
		s += ", " + words.Plural(c.Blocks, "residual block")
		if c.BlockBatchNorm {
			s += " with batch normalisation"
		}
	}
	if c.Levels > 0 {
		s += fmt.Sprintf(" each way on %s", words.Plural(c.Levels, "level"))
	}
	if c.Kernel > 0 {
		s += fmt.Sprintf(", kernel %d", c.Kernel)
	}
	if own := c.Network(); own != "" {
		s = "none: " + own
	}
	r.add("network", "%s", s)
	if v := c.Views; v != nil {
		r.add("views", "every lift sees the image turned and scaled, things from %g to %g times as large as in training, on cells of "+
			"%g pixels; the better a view predicts some observed pixels from others, the more it counts", v.Min, v.Max, v.Cell)
	}
	if c.OnSphere() {
		r.add("lattice", "%d nearly even points on the sphere, %g per radian; points are %s", c.SpherePoints(), c.PointsPerUnit,
			map[bool]string{true: "latitude and longitude in degrees", false: "unit vectors"}[c.Degrees()])
	} else if c.PointsPerUnit > 0 {
		r.add("lattice", "%g points per unit, margin %g", c.PointsPerUnit, c.Margin)
	}
	if c.Window != "" {
		r.add("window", "%s: how much a neighbour counts by its distance", c.Window)
	}
	if c.KeepObserved {
		r.add("observed", "pixels keep their values, with a noise of %.3g", c.Floor)
	}
	if c.CoordinateFeature {
		r.add("coordinate", "is a feature, so this model is not equivariant")
	}
	if d := c.Departure; d != nil {
		s := fmt.Sprintf("%d learned inputs of the place, so this model is equivariant approximately", d.Channels)
		if d.Off {
			s = fmt.Sprintf("%d learned inputs of the place, switched off", d.Channels)
		}
		r.add("departure", "%s", s)
	}
	family(r, c)
	if c.Likelihood == "" {
		r.add("second output", "%s", c.Output)
	}
}

// fields says what types the values have, and what lifts do.
func fields(r *lines, c *cnp.Config) {
	if len(c.Outputs) > 0 {
		var parts []string
		hidden := c.Unobserved()
		for _, f := range c.Fields() {
			columns := fmt.Sprintf("column %d", f.First+1)
			if f.Width > 1 {
				columns = fmt.Sprintf("columns %d to %d", f.First+1, f.First+f.Width)
			}
			if hidden != nil && hidden[f.First] {
				columns += ", never observed"
			}
			parts = append(parts, fmt.Sprintf("%s (%s)", f.Type, columns))
		}
		r.add("values", "%s", strings.Join(parts, ", "))
		if c.Vectors() {
			r.add("", "a vector turns when places turn; its prediction has a full covariance that turns along")
		}
	}
	g, err := group.Parse(c.Group, c.Alpha)
	if err != nil || g.MaxLifts() == 1 {
		return
	}
	s := fmt.Sprintf("%d for every place", c.Lifts)
	switch g := g.(type) {
	case *group.Sim2:
		angles := max(1, c.Lifts/g.Scales())
		s = fmt.Sprintf("%d for every place: angles %.4g degrees apart, each at %s, powers of 2", c.Lifts,
			360/float64(angles), words.Plural(g.Scales(), "scale"))
	case *group.SE2:
		if s = fmt.Sprintf("%d for every place: angles %.4g degrees apart", c.Lifts, 360/float64(max(1, c.Lifts))); c.Levels > 0 {
			s += "; turns by one of them are exact"
		}
	case *group.SE3:
		switch {
		case c.LiftSamples == cnp.SamplesRandom:
			s = fmt.Sprintf("%d random lifts with seed %d, resampled for every batch of the training",
				c.Lifts, c.LiftSeed)
		case c.Levels > 0 && slices.Contains([]int{4, 12, 24, 60}, c.Lifts):
			s += ", a group of rotations; turns by one of them are exact"
		}
	}
	r.add("lifts", "%s", s)
}

// family says what a likelihood other than the normal one gives.
func family(r *lines, c *cnp.Config) {
	if c.Likelihood == "" {
		return
	}
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return
	}
	s := fmt.Sprintf("%s, %d numbers a value", l.Name(), l.Outputs())
	if k, ok := l.(cnp.JointLikelihood); ok {
		s += fmt.Sprintf(", a joint covariance of rank %d", k.Rank())
	}
	if _, ok := l.(cnp.Noisy); ok {
		s += ", function told from noise"
	}
	r.add("likelihood", "%s", s)
	if w := c.Waves; w != nil {
		r.add("waves", "%d frequencies along a coordinate, up to %g radians per unit: features are their amplitudes, and values go "+
			"together even without a context", w.Count, w.Fastest)
	}
}
