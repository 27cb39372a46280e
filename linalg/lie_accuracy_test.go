package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/equivcnp/equivcnp/linalg"
)

// relativeCond is the condition number of f at x with respect to relative changes of the entries of x, for the entries
// index of the result: the norm of Σ|∂f/∂xᵢ·xᵢ| over that of f, by differences of relative size h.
func relativeCond(f func(y, x []float64), x []float64, size int, index []int, h float64) float64 {
	y, z := make([]float64, size), make([]float64, size)
	f(y, x)
	sum := make([]float64, len(index))
	for i := range x {
		p := append([]float64(nil), x...)
		p[i] *= 1 + h
		f(z, p)
		for j, k := range index {
			sum[j] += math.Abs(z[k]-y[k]) / h
		}
	}
	return Norm(sum) / Norm(pick(y, index))
}

// span returns lo .. hi-1.
func span(lo, hi int) (s []int) {
	for i := lo; i < hi; i++ {
		s = append(s, i)
	}
	return s
}

// TestJacobians compares with Σ adᵏ/(k+1)!, read off the exponential of [[ad, I], [0, 0]].
func TestJacobians(t *testing.T) { eachLevel(t, testJacobians) }

// jacobianOracle is the left Jacobian at a, its inverse and the adjoint of exp(a).
func jacobianOracle(c *compactGroup, a []float64) (j, inv, adjoint bigMat) {
	ad := c.ad(a)
	block := newBig(2 * c.g)
	for i := range c.g {
		for j := range c.g {
			block.v[2*c.g*i+j].SetFloat64(ad[c.g*i+j])
		}
		block.v[2*c.g*i+c.g+i].SetInt64(1)
	}
	full := block.exp()
	j, adjoint = newBig(c.g), newBig(c.g)
	for i := range c.g {
		for k := range c.g {
			j.v[c.g*i+k], adjoint.v[c.g*i+k] = full.v[2*c.g*i+c.g+k], full.v[2*c.g*i+k]
		}
	}
	return j, j.inverse(), adjoint
}

func testJacobians(t *testing.T) {
	count := 150
	if testing.Short() {
		count = 30
	}
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(34, uint64(c.k)))
		var w, inv, adj, w32, inv32, adj32 worst
		for range count {
			a := c.sample(rng)
			if rng.IntN(3) == 0 { // a large translation, so that the entries that contain it decide the error
				for i := c.rot; i < c.g; i++ {
					a[i] *= 1000
				}
			}
			what := func() string { return fmt.Sprint(a) }
			j, e := make([]float64, c.g*c.g), make([]float64, c.k)
			want, wantInv, wantAd := jacobianOracle(&c, a)
			c.jacobian(j, a)
			w.see(relErr(j, want.v), 1, what)
			c.jinv(j, a)
			inv.see(relErr(j, wantInv.v), Norm(want.float())*Norm(wantInv.float()), what)
			c.exp(e, a)
			c.adjoint(j, e)
			adj.see(relErr(j, wantAd.v), 1, what)

			a32, e32, j32 := make([]float32, c.g), make([]float32, c.k), make([]float32, c.g*c.g)
			narrow(a32, a)
			widen(a, a32)
			want, wantInv, wantAd = jacobianOracle(&c, a)
			c.jacobian32(j32, a32, 1)
			widen(j, j32)
			w32.see(relErr(j, want.v), 1, what)
			c.jinv32(j32, a32, 1)
			widen(j, j32)
			inv32.see(relErr(j, wantInv.v), Norm(want.float())*Norm(wantInv.float()), what)
			c.exp32(e32, a32, 1)
			c.adjoint32(j32, e32, 1)
			widen(j, j32)
			adj32.see(relErr(j, wantAd.v), 1, what)
		}
		w.require(t, "LeftJacobian"+c.name, 1e-15)
		inv.require(t, "LeftJacobianInv"+c.name, 1e-15)
		adj.require(t, "Adjoint"+c.name, 2e-15)
		w32.require(t, "LeftJacobian"+c.name+", float32", 2.5e-7)
		inv32.require(t, "LeftJacobianInv"+c.name+", float32", 2.5e-7)
		adj32.require(t, "Adjoint"+c.name+", float32", 5e-7)
	}
}
