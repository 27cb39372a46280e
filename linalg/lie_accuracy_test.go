package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
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

// withTranslation multiplies the entries index of v by 2ᵏ.
func withTranslation(v []float64, index []int, k int) []float64 {
	out := append([]float64(nil), v...)
	for _, i := range index {
		out[i] = math.Ldexp(out[i], k)
	}
	return out
}

// TestClosedFormExpAccuracy holds the linear part and the translation of every exponential to their bounds separately,
// each relative to its own size: translations are scaled by up to 1e±290, which a correct function does not notice.
func TestClosedFormExpAccuracy(t *testing.T) { eachLevel(t, testClosedFormExpAccuracy) }

func testClosedFormExpAccuracy(t *testing.T) {
	count := sample(4000, 1000, 400)
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(31, uint64(c.k)))
		var lin, tra, lin32, tra32 worst
		linear, translation, at := c.entries()
		for range count {
			a := c.sample(rng)
			what := func() string { return fmt.Sprint(a) }
			m := make([]float64, c.n*c.n)
			c.hat(m, a)
			want := pick(bigOf(m, c.n).exp().v, at)
			shift := rng.IntN(1921) - 960
			e := make([]float64, c.k)
			c.exp(e, withTranslation(a, span(c.rot, c.g), shift))
			e = withTranslation(e, translation, -shift)
			lin.see(relErr(pick(e, linear), pick(want, linear)), relativeCond(c.exp, a, c.k, linear, 1e-6), what)
			if translation != nil {
				tra.see(relErr(pick(e, translation), pick(want, translation)), relativeCond(c.exp, a, c.k, translation, 1e-6), what)
			}

			a32, e32 := make([]float32, c.g), make([]float32, c.k)
			narrow(a32, a)
			c.exp32(e32, a32, 1)
			widen(a, a32)
			widen(e, e32)
			c.hat(m, a)
			want = pick(bigOf(m, c.n).exp().v, at)
			lin32.see(relErr(pick(e, linear), pick(want, linear)), 1, what)
			if translation != nil {
				tra32.see(relErr(pick(e, translation), pick(want, translation)), 1, what)
			}
		}
		lin.require(t, "Exp"+c.name+" linear part", 4e-16)
		tra.require(t, "Exp"+c.name+" translation", 4e-16)
		lin32.require(t, "Exp"+c.name+" linear part, float32", 2.5e-7)
		tra32.require(t, "Exp"+c.name+" translation, float32", 2.5e-7)
	}
}

// TestClosedFormLogAccuracy compares logarithms of rounded elements with the exact logarithm of the nearest element of the
// group.
func TestClosedFormLogAccuracy(t *testing.T) { eachLevel(t, testClosedFormLogAccuracy) }

func testClosedFormLogAccuracy(t *testing.T) {
	count := sample(300, 150, 25)
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(32, uint64(c.k)))
		var rot, tra, rot32, tra32 worst
		_, translation, at := c.entries()
		rotation, moved := span(0, c.rot), span(c.rot, c.g)
		for range count {
			a := c.sample(rng)
			m := make([]float64, c.n*c.n)
			c.hat(m, a)
			e := pick(bigOf(m, c.n).exp().float(), at)
			what := func() string { return fmt.Sprint(a) }
			see := func(rot, tra *worst, e, got []float64, shift int) {
				want := c.vee(c.matrix(e).log())
				rot.see(relErr(pick(got, rotation), pick(want, rotation)), 1, what)
				if len(moved) > 0 {
					// A difference across the cut at angle π says nothing: take one that is shorter than the way to it.
					cond := math.Inf(1)
					for h := 1e-6; cond > 30 && h > 1e-15; h /= 100 {
						cond = relativeCond(c.log, e, c.g, moved, h)
					}
					if cond > 30 {
						cond = 1
					}
					tra.see(relErr(withTranslation(pick(got, moved), span(0, len(moved)), -shift), pick(want, moved)), cond, what)
				}
			}
			shift := rng.IntN(1921) - 960
			got := make([]float64, c.g)
			c.log(got, withTranslation(e, translation, shift))
			see(&rot, &tra, e, got, shift)

			e32, got32 := make([]float32, c.k), make([]float32, c.g)
			narrow(e32, e)
			if th := Norm(a[:c.rot]); th > 3.14159 || (th != 0 && th < 1e-30) {
				continue // rounding to float32 decides the sign, or leaves its range
			}
			c.log32(got32, e32, 1)
			widen(e, e32)
			widen(got, got32)
			see(&rot32, &tra32, e, got, 0)
		}
		rot.require(t, "Log"+c.name+" rotation and scale", 4e-16)
		tra.require(t, "Log"+c.name+" translation", 4e-16)
		rot32.require(t, "Log"+c.name+" rotation and scale, float32", 2.5e-7)
		tra32.require(t, "Log"+c.name+" translation, float32", 2.5e-7)
	}
}

// TestLogSO3Everywhere goes over (0, π] densely: the rotation vector comes back from the rounded matrix within 5e-16 of its
// length, at π up to its sign.
func TestLogSO3Everywhere(t *testing.T) { eachLevel(t, testLogSO3Everywhere) }

func testLogSO3Everywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 1))
	var w worst
	count := sample(20000, 5000, 2000)
	for i := range count {
		th := math.Pi * float64(i+1) / float64(count)
		switch i % 4 {
		case 1:
			th = math.Pi - math.Pow(10, -17*rng.Float64())
		case 2:
			th = math.Pow(10, -20*rng.Float64())
		}
		var a, got [3]float64
		for k := range a {
			a[k] = rng.NormFloat64()
			if rng.IntN(5) == 0 {
				a[k] *= 1e-9
			}
		}
		n := Norm(a[:])
		for k := range a {
			a[k] *= th / n
		}
		r := bigOf(groupOf("SO3").hatOf(a[:]), 3).exp().float()
		batch.Log(batch.SO3, got[:], r, 1)
		err := relErr(got[:], bigVector(a[:]))
		if th > math.Pi-1e-14 {
			neg := [3]float64{-got[0], -got[1], -got[2]}
			err = min(err, relErr(neg[:], bigVector(a[:])))
		}
		w.see(err, 1, func() string { return fmt.Sprint(a) })
	}
	w.require(t, "LogSO3 over (0, π]", 5e-16)
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
