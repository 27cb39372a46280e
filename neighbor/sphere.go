package neighbor

import (
	"fmt"
	"math"
)

// maxSphere bounds the points of a lattice on the sphere.
const maxSphere = 1 << 26

// SphereLattice returns n nearly even points [n, 3] on the unit sphere: the Fibonacci lattice (R. Swinbank and R. J.
// Purser, Fibonacci Grids, Quarterly Journal of the Royal Meteorological Society 132, 2006; Á. González, Measurement of
// Areas on a Sphere Using Fibonacci and Latitude-Longitude Lattices, Mathematical Geosciences 42, 2010). The points lie
// on a spiral from the north pole to the south pole, each turned by the golden angle from the one before, and each in
// the middle of its own n-th part of the polar axis, so that all stand for equal areas. Unlike a grid made from an
// icosahedron, whose cells differ by a third in area, it exists for every n.
//
// Neighbours of a point are found by a tree over these coordinates: the distance of two points through the sphere grows with the angle
// between them, see Chord2.
func SphereLattice(n int) []float64 {
	if n > maxSphere {
		panic(fmt.Sprintf("neighbor: SphereLattice: n = %d, need at most %d", n, maxSphere))
	}
	x := make([]float64, 0, 3*max(0, n))
	for i := range n {
		z := 1 - float64(2*i+1)/float64(n)
		turn := float64(i) / math.Phi
		sin, cos := math.Sincos(2 * math.Pi * (turn - math.Floor(turn)))
		r := math.Sqrt((1 - z) * (1 + z))
		x = append(x, float64(r*cos), float64(r*sin), z)
	}
	return x
}

// SphereStep returns the distance, as an angle, of neighbouring points of a lattice of n points on the sphere: the root of a
// point's share of the area.
func SphereStep(n int) float64 { return math.Sqrt(4 * math.Pi / float64(n)) }

// Chord2 returns the squared distance, through the unit sphere, of points an angle apart; for angles of half a turn and
// more, and NaN, it is more than that of any two points. So KDTree.Ball finds all points within an angle.
func Chord2(angle float64) float64 {
	if !(angle < math.Pi) {
		return 5
	}
	s := 2 * math.Sin(angle/2)
	return s * s
}

// Angle returns the angle between two points on the unit sphere whose squared distance is chord2.
func Angle(chord2 float64) float64 { return 2 * math.Asin(min(1, math.Sqrt(chord2)/2)) }
