package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/equivcnp/equivcnp/linalg"
)

func randomQuat(rng *rand.Rand) Quat {
	var q Quat
	for i := range q {
		q[i] = rng.NormFloat64()
	}
	return q.Unit()
}

func TestQuatMatrixAndRotateAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 500 {
		q, r := randomQuat(rng), randomQuat(rng)
		var mq, mr, mqr [9]float64
		q.Matrix(&mq)
		r.Matrix(&mr)
		q.Mul(r).Matrix(&mqr)
		requireClose(t, matmul(mq[:], mr[:], 3), mqr[:], 2e-15, "product")

		x := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		y := q.Rotate(x)
		want := make([]float64, 3)
		for i := range 3 {
			want[i] = mq[3*i]*x[0] + mq[3*i+1]*x[1] + mq[3*i+2]*x[2]
		}
		requireClose(t, want, y[:], 2e-15, "rotation")
		back := q.Conj().Rotate(y)
		requireClose(t, x[:], back[:], 3e-15, "inverse")

		// q and -q are one rotation, with one logarithm.
		var a, b [3]float64
		q.Log(&a)
		Quat{-q[0], -q[1], -q[2], -q[3]}.Log(&b)
		require.Equal(t, a, b)

		// The matrix gives the quaternion back, up to the sign.
		p := MatrixQuat(&mq)
		dot := p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3]
		require.InDelta(t, 1, math.Abs(dot), 1e-15)
	}
}

// Every branch of Shepperd's method, at its weakest: all four components nearly equal in size.
func TestMatrixQuatBranches(t *testing.T) {
	for bits := range 16 {
		for big := range 4 {
			q := Quat{0.5, 0.5, 0.5, 0.5}
			q[big] += 1e-6
			for c := range q {
				if bits>>c&1 == 1 {
					q[c] = -q[c]
				}
			}
			q = q.Unit()
			var m [9]float64
			q.Matrix(&m)
			p := MatrixQuat(&m)
			s := math.Copysign(1, p[0]*q[0])
			for c := range q {
				require.InDelta(t, q[c], s*p[c], 4e-16)
			}
		}
	}
}

// A quaternion that is not of length 1 has the logarithm of the one that is.
func TestQuatLogIgnoresLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for range 200 {
		q := randomQuat(rng)
		var a, b [3]float64
		q.Log(&a)
		Quat{3 * q[0], 3 * q[1], 3 * q[2], 3 * q[3]}.Log(&b)
		requireClose(t, a[:], b[:], 1e-15, "log")
	}
	require.Equal(t, Quat{1, 0, 0, 0}, Quat{}.Unit())
}

// TestSlerp wants the rotation vector of q⁻¹·slerp to be t times that of q⁻¹r, for angles from nearly none to nearly half a turn, between
// quaternions of either sign and beyond both ends.
func TestSlerp(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	for i := range 400 {
		q := randomQuat(rng)
		axis := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		angle := []float64{0, 1e-300, 1e-9, 1e-3, 1, 3, math.Pi - 1e-6}[i%7] / Norm(axis[:])
		way := [3]float64{axis[0] * angle, axis[1] * angle, axis[2] * angle}
		r := q.Mul(ExpQuat(&way))
		if i%2 == 0 {
			r = Quat{-r[0], -r[1], -r[2], -r[3]}
		}
		for _, u := range []float64{0, 0.25, 0.5, 1, -0.5, 1.03} {
			at := q.Slerp(r, u)
			want := q.Mul(ExpQuat(&[3]float64{u * way[0], u * way[1], u * way[2]}))
			requireClose(t, want[:], at[:], 4e-15, fmt.Sprintf("%v of the way to %v", u, way))
		}
		require.Equal(t, q, q.Slerp(r, 0))
		back := r.Slerp(q, 0.75)
		at := q.Slerp(r, 0.25)
		if i%2 == 0 {
			back = Quat{-back[0], -back[1], -back[2], -back[3]}
		}
		requireClose(t, back[:], at[:], 4e-15, "from the other end")
	}
	half := Quat{1, 0, 0, 0}.Slerp(Quat{0, 0, 0, 1}, 0.5) // of half a turn about z
	requireClose(t, []float64{math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}, half[:], 1e-15, "half a turn")
	at := Quat{1, 0, 0, 0}.Slerp(Quat{math.NaN(), 0, 0, 0}, 0.5)
	require.True(t, math.IsNaN(at[0]))
}

func TestMotions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		m := Motion2{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		x, y := m.Inverse().Apply(m.Apply(1, 2))
		requireClose(t, []float64{1, 2}, []float64{x, y}, 2e-15, "Motion2.Inverse")

		var a, b [6]float64
		for i := range a {
			a[i], b[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		p, q := ExpMotion3(&a), ExpMotion3(&b)
		pt := [3]float64{1, 2, 3}
		one, two := p.Mul(q).Apply(pt), p.Apply(q.Apply(pt))
		requireClose(t, one[:], two[:], 4e-15, "Motion3.Mul")
		rel := p.From(&q)
		one, two = p.Apply(rel.Apply(pt)), q.Apply(pt)
		requireClose(t, one[:], two[:], 4e-15, "Motion3.From")
		one = p.Inverse().Apply(p.Apply(pt))
		requireClose(t, pt[:], one[:], 8e-15, "Motion3.Inverse")

		var e, want [12]float64
		p.Matrix(&e)
		ExpSE3(&want, &a)
		requireClose(t, want[:], e[:], 2e-15, "Motion3.Matrix")
		one, two = MatrixMotion3(&e).Apply(pt), p.Apply(pt)
		requireClose(t, one[:], two[:], 4e-15, "MatrixMotion3")
	}
	m := ExpMotion3(&[6]float64{0.3, -2, 0.1, 4, 5, 6})
	require.Equal(t, m.From(&Motion3{Q: Quat{1, 0, 0, 0}}), m.Inverse())
	self := m.From(&m)
	require.Equal(t, [3]float64{}, self.P)
}

// TestUnitEverySize wants length 1, and the same logarithm, also where the length of the quaternion is subnormal or beyond the range.
func TestUnitEverySize(t *testing.T) {
	for _, e := range []int{-1072, -1064, -1000, -600, 0, 600, 1022} {
		q := Quat{math.Ldexp(3, e), math.Ldexp(-1, e), math.Ldexp(3, e), math.Ldexp(2, e)}
		u, want := q.Unit(), Quat{3, -1, 3, 2}.Unit()
		for i := range u {
			if !(math.Abs(u[i]-want[i]) <= 2e-16) {
				t.Errorf("2^%d: %v, want %v", e, u, want)
				break
			}
		}
		var a, b [3]float64
		q.Log(&a)
		want.Log(&b)
		requireClose(t, b[:], a[:], 1e-15, fmt.Sprintf("log at 2^%d", e))
	}
}
