package linalg_test

import (
	"math"
	"math/big"

	. "github.com/equivcnp/equivcnp/linalg"
)

// A bigMat is an n×n matrix of 300-bit numbers, the slow reference of the general matrix functions.
type bigMat struct {
	n int
	v []*big.Float
}

const bigBits = 300

func bigNum(x float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(x) }

func newBig(n int) bigMat {
	m := bigMat{n, make([]*big.Float, n*n)}
	for i := range m.v {
		m.v[i] = bigNum(0)
	}
	return m
}

func bigOf(a []float64, n int) bigMat {
	m := newBig(n)
	for i, x := range a {
		m.v[i].SetFloat64(x)
	}
	return m
}

func bigIdentity(n int) bigMat {
	m := newBig(n)
	for i := range n {
		m.v[i*n+i].SetInt64(1)
	}
	return m
}

func (a bigMat) mul(b bigMat) bigMat {
	c, t := newBig(a.n), bigNum(0)
	for i := range a.n {
		for j := range a.n {
			s := c.v[i*a.n+j]
			for k := range a.n {
				s.Add(s, t.Mul(a.v[i*a.n+k], b.v[k*a.n+j]))
			}
		}
	}
	return c
}

// combine is f·a + g·b.
func (a bigMat) combine(f float64, b bigMat, g float64) bigMat {
	c, x, y := newBig(a.n), bigNum(f), bigNum(g)
	for i := range c.v {
		c.v[i].Add(bigNum(0).Mul(x, a.v[i]), bigNum(0).Mul(y, b.v[i]))
	}
	return c
}

func (a bigMat) ldexp(e int) bigMat {
	c := newBig(a.n)
	for i := range c.v {
		c.v[i].SetMantExp(a.v[i], e)
	}
	return c
}

func (a bigMat) over(k int) bigMat {
	c, d := newBig(a.n), bigNum(float64(k))
	for i := range c.v {
		c.v[i].Quo(a.v[i], d)
	}
	return c
}

// inverse is by Gauss and Jordan with pivoting.
func (a bigMat) inverse() bigMat {
	n := a.n
	u, r := a.combine(1, a, 0), bigIdentity(n)
	for c := range n {
		p := c
		for i := c; i < n; i++ {
			if bigNum(0).Abs(u.v[i*n+c]).Cmp(bigNum(0).Abs(u.v[p*n+c])) > 0 {
				p = i
			}
		}
		d := bigNum(0).Quo(bigNum(1), u.v[p*n+c])
		for j := range n {
			u.v[c*n+j], u.v[p*n+j] = u.v[p*n+j], u.v[c*n+j]
			r.v[c*n+j], r.v[p*n+j] = r.v[p*n+j], r.v[c*n+j]
		}
		for j := range n {
			u.v[c*n+j] = bigNum(0).Mul(u.v[c*n+j], d)
			r.v[c*n+j] = bigNum(0).Mul(r.v[c*n+j], d)
		}
		for i := range n {
			if i == c {
				continue
			}
			f := bigNum(0).Set(u.v[i*n+c])
			for j := range n {
				u.v[i*n+j] = bigNum(0).Sub(u.v[i*n+j], bigNum(0).Mul(f, u.v[c*n+j]))
				r.v[i*n+j] = bigNum(0).Sub(r.v[i*n+j], bigNum(0).Mul(f, r.v[c*n+j]))
			}
		}
	}
	return r
}

// exponent is the binary exponent of the largest entry; very small for zero.
func (a bigMat) exponent() int {
	e := -1 << 20
	for _, x := range a.v {
		if x.Sign() != 0 {
			e = max(e, x.MantExp(nil))
		}
	}
	return e
}

// known holds what exp and log gave: every instruction set level asks for the same, and the reference takes most of the tests' time.
var known = map[string]bigMat{}

// once returns f(), which must depend on a alone, computed once per name and a.
func (a bigMat) once(name string, f func() bigMat) bigMat {
	key := []byte(name)
	for _, x := range a.v {
		key = append(x.Append(key, 'p', 0), ' ')
	}
	if _, ok := known[string(key)]; !ok {
		known[string(key)] = f()
	}
	return known[string(key)]
}

func (a bigMat) exp() bigMat { return a.once("exp", a.expSeries) }
func (a bigMat) log() bigMat { return a.once("log", a.logSeries) }

// expSeries is the Taylor series of a/2ˢ, squared s times.
func (a bigMat) expSeries() bigMat {
	s := max(a.exponent()+12, 0)
	x := a.ldexp(-s)
	sum, term := bigIdentity(a.n), bigIdentity(a.n)
	for k := 1; term.exponent() > -bigBits; k++ {
		term = term.mul(x).over(k)
		sum = sum.combine(1, term, 1)
	}
	for range s {
		sum = sum.mul(sum)
	}
	return sum
}

// sqrt is the principal square root, by E. D. Denman and A. N. Beavers' iteration.
func (a bigMat) sqrt() bigMat {
	y, z := a, bigIdentity(a.n)
	for range 2000 {
		yi, zi := y.inverse(), z.inverse()
		next := y.combine(0.5, zi, 0.5)
		d := next.combine(1, y, -1).exponent() - next.exponent()
		y, z = next, z.combine(0.5, yi, 0.5)
		if d < -bigBits/2-4 {
			break
		}
	}
	return y
}

// logSeries takes square roots until the rest is near I, and sums the series there.
func (a bigMat) logSeries() bigMat {
	one := bigIdentity(a.n)
	roots := 0
	for a.combine(1, one, -1).exponent() > -12 {
		a = a.sqrt()
		roots++
	}
	x := a.combine(1, one, -1)
	sum, power := newBig(a.n), one
	for k := 1; k == 1 || power.exponent() > -bigBits; k++ {
		power = power.mul(x)
		sum = sum.combine(1, power.over(k), float64(1-2*((k+1)%2)))
	}
	return sum.ldexp(roots)
}

// float rounds to float64.
func (a bigMat) float() []float64 {
	out := make([]float64, len(a.v))
	for i, x := range a.v {
		out[i], _ = x.Float64()
	}
	return out
}

// relErr is the Frobenius norm of got - want over that of want; both are scaled so that no square overflows.
func relErr(got []float64, want []*big.Float) float64 {
	var d, w []float64
	e := -1 << 20
	for _, x := range want {
		if x.Sign() != 0 {
			e = max(e, x.MantExp(nil))
		}
	}
	if e == -1<<20 {
		e = 0
	}
	for i, x := range want {
		if math.IsNaN(got[i]) || math.IsInf(got[i], 0) {
			return math.Inf(1)
		}
		t := bigNum(0).Sub(bigNum(got[i]), x)
		f, _ := t.SetMantExp(t, -e).Float64()
		g, _ := bigNum(0).SetMantExp(x, -e).Float64()
		d, w = append(d, f), append(w, g)
	}
	if Norm(w) == 0 {
		return Norm(d)
	}
	return Norm(d) / Norm(w)
}

// frechetMatrix is the n²×n² matrix of E -> L(a, E), column by column.
func frechetMatrix(a []float64, n int) []float64 {
	g := n * n
	k := make([]float64, g*g)
	for c := range g {
		e, l := make([]float64, g), make([]float64, g)
		e[c] = 1
		if n == 2 {
			ExpFrechet2x2((*[4]float64)(l), (*[4]float64)(a), (*[4]float64)(e))
		} else {
			ExpFrechet3x3((*[9]float64)(l), (*[9]float64)(a), (*[9]float64)(e))
		}
		for r := range g {
			k[r*g+c] = l[r]
		}
	}
	return k
}

// spectralNorm is the largest singular value of the g×g matrix k, by power iteration on kᵀk; a lower bound, close.
func spectralNorm(k []float64, g int) float64 {
	h := 0.0
	for _, v := range k {
		h = max(h, math.Abs(v))
	}
	if h == 0 || h != h {
		return h
	}
	x := make([]float64, g)
	for i := range x {
		x[i] = 1 + 0.1*float64(i)
	}
	s := 0.0
	for range 30 {
		y, z := make([]float64, g), make([]float64, g)
		for i := range g {
			for j := range g {
				y[i] += k[i*g+j] / h * x[j]
			}
		}
		for i := range g {
			for j := range g {
				z[j] += k[i*g+j] / h * y[i]
			}
		}
		s = Norm(y) / Norm(x)
		n := Norm(z)
		if n == 0 {
			break
		}
		for i := range z {
			x[i] = z[i] / n
		}
	}
	return s * h
}

// condExp is the condition number of the exponential at a in the Frobenius norm.
func condExp(a []float64, n int) float64 {
	e := bigOf(a, n).exp()
	f := e.float()
	return spectralNorm(frechetMatrix(a, n), n*n) * Norm(a) / Norm(f)
}

// condLog is the condition number of the logarithm at m, whose logarithm is x.
func condLog(m, x []float64, n int) float64 {
	g := n * n
	inv := bigOf(frechetMatrix(x, n), g).inverse().float()
	return spectralNorm(inv, g) * Norm(m) / Norm(x)
}
