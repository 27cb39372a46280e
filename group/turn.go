package group

import (
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// Turner is a group whose motions turn vectors, such as wind, as well as places: the vector v at x becomes r·v at exp(a)·x. A model
// of vectors needs it, to see them from a lift and to turn what it predicts there back.
type Turner interface {
	Group
	// Turn writes the rotation r [d, d] of exp(a), row by row: an orthogonal matrix. Of motions that also scale it is the
	// rotation alone, so that vectors keep their lengths.
	Turn(r, a []float64)
}

// Turners lists names of groups that turn vectors, or leave them as they are, for messages.
const Turners = "T(n), trivial(n), SO(2), R>0xSO(2), SE(2), Sim(2), SO(3), SE(3)"

// CanTurn reports whether g turns vectors.
func CanTurn(g Group) bool { _, ok := g.(Turner); return ok }

// identity writes the matrix [n, n] that turns nothing.
func identity(r []float64, n int) {
	clear(r[:n*n])
	for i := range n {
		r[i*n+i] = 1
	}
}

// Turn writes the identity: translations turn nothing.
func (g *T) Turn(r, _ []float64) { identity(r, g.n) }

// Turn writes the identity.
func (g *Trivial) Turn(r, _ []float64) { identity(r, g.n) }

// Turn writes the rotation by a.
func (g *SO2) Turn(r, a []float64) { turnPlane(r, a[0]) }

// Turn writes the rotation, without the scale.
func (g *RxSO2) Turn(r, a []float64) { turnPlane(r, a[1]) }

// Turn writes the rotation.
func (g *SE2) Turn(r, a []float64) { turnPlane(r, a[0]) }

// Turn writes the rotation by the vector a.
func (g *SO3) Turn(r, a []float64) { turnSpace(r, linalg.ExpQuat((*[3]float64)(a))) }

// Turn writes the rotation.
func (g *SE3) Turn(r, a []float64) { turnSpace(r, linalg.ExpQuat((*[3]float64)(a))) }

// turnPlane writes the rotation by th; quarter turns are exact.
func turnPlane(r []float64, th float64) {
	s, c := math.Sincos(th)
	s, c = exact(s), exact(c)
	r[0], r[1], r[2], r[3] = c, -s, s, c
}

func turnSpace(r []float64, q linalg.Quat) {
	for j := range 3 {
		var e [3]float64
		e[j] = 1
		for i, v := range q.Rotate(e) {
			r[3*i+j] = exact(v)
		}
	}
}

// exact is v, or 0 or ±1 if that differs by no more than the rounding of an angle.
func exact(v float64) float64 {
	if n := math.Round(v); math.Abs(v-n) < 1e-15 {
		return n + 0
	}
	return v
}
