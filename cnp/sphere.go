package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
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

// UnitVector returns the point of the unit sphere at a latitude, from -90 to 90 degrees, and a longitude in degrees, of any
// number of turns. The poles are (0, 0, ±1), at any longitude, and (1, 0, 0) is where both are 0.
func UnitVector(latitude, longitude float64) [3]float64 {
	if math.Abs(latitude) == 90 {
		return [3]float64{0, 0, latitude / 90}
	}
	s, c := math.Sincos(latitude * (math.Pi / 180))
	sin, cos := math.Sincos(math.Remainder(longitude, 360) * (math.Pi / 180))
	return [3]float64{float64(c * cos), float64(c * sin), s}
}

// LatLon returns the latitude and the longitude, in degrees, of the direction of a vector; of the zero vector they are 0.
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
				return nil, fmt.Errorf("%w: %s[%d, %d] = %v has length %g, need a unit vector: its direction from the "+
					"centre of the sphere", ErrRange, name, p/n, p%n, at, l)
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
	if c.DimX != 2 && c.DimX != 3 {
		panic(fmt.Sprintf("cnp: Turned: points of %d coordinates, need 2 or 3", c.DimX))
	}
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
