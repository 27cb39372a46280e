package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
)

// A model on the sphere (PlacementSphere) works with unit vectors: latitudes and longitudes become such, and vectors are brought to
// length 1, before anything else is computed. Its encoder knows the distances of points, which turn with the globe; all other layers
// the angles between points.
//
// Such a model has one lift. The lifts of a point are the rotations that take the north pole to it, and differ by a
// turn about the point. A weight that depends on the angle between two points alone is the same for all of them, so
// that K lifts would compute the same features K times. Weights that tell directions apart need a direction at every
// point of the lattice to begin with, and no field of directions on the sphere is continuous everywhere, nor does one
// turn with the globe: with K lifts such a model would be equivariant to about 1/K of a turn only, where this one is up
// to its lattice.

// OnSphere reports whether the model's points lie on the sphere.
func (c *Config) OnSphere() bool { return c.Placement == PlacementSphere }

// Degrees reports whether the model's points are latitudes and longitudes on the sphere.
func (c *Config) Degrees() bool { return c.OnSphere() && c.DimX == 2 }

// SpherePoints is the number of points of the finest lattice of a model on the sphere.
func (c *Config) SpherePoints() int {
	return int(min(math.Round(4*math.Pi*c.PointsPerUnit*c.PointsPerUnit), math.MaxInt32))
}

// DefaultSphere is DefaultLevels for points on the sphere, latitudes and longitudes, under its rotations.
func DefaultSphere(levels, dy int) Config {
	c := DefaultLevels(levels, 2, dy)
	c.Group, c.Placement, c.PointsPerUnit = "SO(3)", PlacementSphere, 10
	c.EncoderLength = 2 / c.PointsPerUnit
	for i := range c.Channels {
		c.Channels[i] = 32
	}
	return c
}

// leastSphere is the least number of points of a lattice on the sphere.
const leastSphere = 12

// validateSphere reports what makes no model on the sphere; its other fields are those of any model with levels.
func (c *Config) validateSphere(g group.Group) error {
	if _, ok := g.(*group.SO3); !ok || c.Lifts != 1 || c.Levels == 0 {
		return fmt.Errorf("placement %q is for group SO(3) with levels and one lift (lifts of a point would all be the same to convolutions that know the angles between points alone); "+
			"this is %s with %d levels and %d lifts", PlacementSphere, g.Name(), c.Levels, c.Lifts)
	}
	if c.DimX != 2 && c.DimX != 3 {
		return fmt.Errorf("dim_x = %d: points on the sphere have 2 coordinates, latitude and longitude in degrees, or the 3 of a unit vector", c.DimX)
	}
	n, limit := c.SpherePoints(), c.latticeLimit()
	if n > limit {
		return fmt.Errorf("points_per_unit = %g: %d points on the sphere, at most %d are allowed (max_lattice)", c.PointsPerUnit, n, limit)
	}
	for range c.Levels - 1 {
		n = (n + 2) / 4
	}
	if n < leastSphere {
		return fmt.Errorf("levels = %d with points_per_unit = %g: the coarsest lattice on the sphere has %d points, need at least %d", c.Levels, c.PointsPerUnit, n, leastSphere)
	}
	return nil
}

// UnitVector is the point of the unit sphere at a latitude, from -90 to 90 degrees, and a longitude, in degrees, whole turns of which are
// the same. The poles are (0, 0, ±1), at any longitude, and (1, 0, 0) is where both are 0.
func UnitVector(latitude, longitude float64) [3]float64 {
	if math.Abs(latitude) == 90 {
		return [3]float64{0, 0, latitude / 90}
	}
	s, c := math.Sincos(latitude * (math.Pi / 180))
	sin, cos := math.Sincos(math.Remainder(longitude, 360) * (math.Pi / 180))
	return [3]float64{float64(c * cos), float64(c * sin), s}
}

// LatLon are the latitude and the longitude, in degrees, of the direction of a vector; of the zero vector they are 0.
func LatLon(x [3]float64) (latitude, longitude float64) {
	return math.Atan2(x[2], math.Hypot(x[0], x[1])) * (180 / math.Pi), math.Atan2(x[1], x[0]) * (180 / math.Pi)
}

// unitSlack is by how much the length of a vector may differ from 1: coordinates may be rounded to two digits, but nobody's positions in
// kilometres are taken for directions.
const unitSlack = 0.02

// placed returns a batch as the network of a model needs it: on the sphere with unit vectors.
func placed[T Float](c *Config, b *Batch[T]) (*Batch[T], error) {
	if !c.OnSphere() {
		return b, nil
	}
	if err := b.check(c.widths()); err != nil {
		return nil, err
	}
	return b.onSphere(c)
}

// onSphere returns the batch with unit vectors, for coordinates [.., dx] that have been checked to be finite.
func (b *Batch[T]) onSphere(c *Config) (*Batch[T], error) {
	out, dx := *b, c.DimX
	var err error
	if out.XContext, err = unitVectors("x_context", b.XContext, b.ContextMask, b.Nc, dx); err != nil {
		return nil, err
	}
	if out.XTarget, err = unitVectors("x_target", b.XTarget, b.TargetMask, b.Nt, dx); err != nil || len(c.Static) == 0 {
		return &out, err
	}
	out.XStatic, err = unitVectors("x_static", b.XStatic, b.staticMask(len(c.Static)), b.Ns, dx)
	return &out, err
}

// unitVectors returns x [b, n, dx] as unit vectors. Padding becomes (1, 0, 0).
func unitVectors(name string, x []float64, mask []bool, n, dx int) ([]float64, error) {
	out := make([]float64, 0, len(x)/dx*3)
	for p := range len(x) / dx {
		v := [3]float64{1, 0, 0}
		switch at := x[p*dx : (p+1)*dx]; {
		case mask != nil && !mask[p]:
		case dx == 2:
			if !(math.Abs(at[0]) <= 90) {
				return nil, fmt.Errorf("%w: %s[%d, %d] = %v: latitude %g, need -90 to 90 degrees (the longitude comes second)",
					ErrRange, name, p/n, p%n, at, at[0])
			}
			v = UnitVector(at[0], at[1])
		default:
			l := math.Sqrt(at[0]*at[0] + at[1]*at[1] + at[2]*at[2])
			if !(math.Abs(l-1) <= unitSlack) {
				return nil, fmt.Errorf("%w: %s[%d, %d] = %v has length %g, need a unit vector: its direction from the centre of the sphere", ErrRange, name, p/n, p%n, at, l)
			}
			v = [3]float64{at[0] / l, at[1] / l, at[2] / l}
		}
		out = append(out, v[:]...)
	}
	return out, nil
}

// Turned returns points [n, 2] or [n, 3] on the sphere after a rotation of the globe by a rotation vector. Those with two coordinates are
// latitudes and longitudes.
func (c *Config) Turned(x []float64, rotation [3]float64) []float64 {
	g, out := group.NewSO3(0), make([]float64, 0, len(x))
	for i := 0; i+c.DimX <= len(x); i += c.DimX {
		var v [3]float64
		copy(v[:], x[i:i+c.DimX])
		if c.DimX == 2 {
			v = UnitVector(x[i], x[i+1])
		}
		g.Act(v[:], rotation[:], v[:])
		if c.DimX == 2 {
			lat, lon := LatLon(v)
			out = append(out, lat, lon)
		} else {
			out = append(out, v[:]...)
		}
	}
	return out
}

// estimateSphere is estimateLevels on the sphere.
func (c *Config) estimateSphere(w Work) (features, parameters float64) {
	rows, taps, last := float64(c.SpherePoints()), float64(c.Kernel), float64(1+c.Multiplicity*c.contextValues())
	for _, width := range c.Channels {
		v := float64(width)
		features += 2 * rows * v * float64(4+6*c.Blocks)
		parameters += float64(4*c.Blocks+3)*(v*v+v*taps) + last*v
		rows, last = rows/4, v
	}
	near := math.Pi * float64((c.Kernel/2+1)*(c.Kernel/2+1))
	return features + float64(w.Targets)*near*(float64(c.Channels[0])+taps), parameters
}

// sphereNeed is about how much memory the lattices on the sphere take, with their pairs, in bytes.
func (c *Config) sphereNeed() float64 {
	r := float64(c.Kernel/2+1) * neighbor.SphereStep(c.SpherePoints())
	near := min(1, (1-math.Cos(min(r, math.Pi)))/2) * float64(c.SpherePoints())
	const lattices, bytes = 4.0 / 3 * 2.5, 40.0 // same, down and up; offsets, indices, poses, transposed and planned
	return float64(c.SpherePoints()) * near * lattices * bytes
}
