package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
)

// worst remembers the largest ratio of an error to its bound and what it belongs to.
type worst struct {
	ratio, err, cond float64
	what             string
	seen             bool
}

func (w *worst) see(err, cond float64, what func() string) {
	r := err / max(1, cond)
	if !(r <= w.ratio) || !w.seen {
		*w = worst{r, err, cond, what(), true}
	}
}

func (w *worst) require(t *testing.T, name string, bound float64) {
	t.Helper()
	if !w.seen {
		return
	}
	t.Logf("%s: worst error %.3g at condition %.3g, %.3g per condition, at %s", name, w.err, w.cond, w.ratio, w.what)
	if !(w.ratio <= bound) {
		t.Errorf("%s: %.3g exceeds %.3g per condition", name, w.ratio, bound)
	}
}

// hardMatrices are n×n matrices of every kind that makes exponentials hard.
func hardMatrices(n int, rng *rand.Rand, count int) [][]float64 {
	var out [][]float64
	random := func(size float64) []float64 {
		m := make([]float64, n*n)
		for i := range m {
			m[i] = size * rng.NormFloat64()
		}
		return m
	}
	for range count {
		size := math.Pow(10, 10*rng.Float64()-7)
		m := random(size)
		switch rng.IntN(9) {
		case 0: // symmetric
			for i := range n {
				for j := range i {
					m[i*n+j] = m[j*n+i]
				}
			}
		case 1: // skew
			for i := range n {
				m[i*n+i] = 0
				for j := range i {
					m[i*n+j] = -m[j*n+i]
				}
			}
		case 2: // nilpotent
			for i := range n {
				for j := range i + 1 {
					m[i*n+j] = 0
				}
			}
		case 3: // one eigenvalue, defective
			d := rng.NormFloat64() * min(size, 20)
			for i := range n {
				for j := range i {
					m[i*n+j] = 0
				}
				m[i*n+i] = d
			}
		case 4: // nearly defective
			d, gap := rng.NormFloat64()*min(size, 20), math.Pow(10, -16*rng.Float64())
			for i := range n {
				for j := range i {
					m[i*n+j] *= gap
				}
				m[i*n+i] = d + gap*rng.NormFloat64()
			}
		case 5: // a large negative trace
			for i := range n {
				m[i*n+i] -= 50 * rng.Float64()
			}
		case 6: // far from normal
			m[1] *= 1e4
		}
		out = append(out, m)
	}
	out = append(out, make([]float64, n*n))
	return out
}

func expOf(m []float64, n int) []float64 {
	out := make([]float64, n*n)
	if n == 2 {
		batch.Exp2x2(out, m, 1)
	} else {
		batch.Exp3x3(out, m, 1)
	}
	return out
}

func logOf(m []float64, n int) ([]float64, bool) {
	out, ok := make([]float64, n*n), []bool{false}
	if n == 2 {
		batch.Log2x2(out, ok, m, 1)
	} else {
		batch.Log3x3(out, ok, m, 1)
	}
	return out, ok[0]
}

// wideTurns are logarithms of matrices with complex eigenvalues in the left half-plane.
func wideTurns(n int) (out [][]float64) {
	for _, th := range []float64{1.6, 1.7, 2, 2.5, 3, 3.1, 3.14} {
		for _, stretch := range []float64{1, 3} {
			a := make([]float64, n*n)
			a[0], a[1], a[n], a[n+1] = 0.3, -th*stretch, th/stretch, 0.3
			if n == 3 {
				a[2], a[8] = 0.5, -0.2
			}
			out = append(out, a)
		}
	}
	return out
}

// The oracle of the derivative is the exponential of [[a, e], [0, a]], whose upper right block it is.
func frechetOracle(a, e []float64, n int) (l bigMat, exponent int) {
	block := newBig(2 * n)
	for i := range n {
		for j := range n {
			block.v[2*n*i+j].SetFloat64(a[n*i+j])
			block.v[2*n*(n+i)+n+j].SetFloat64(a[n*i+j])
			block.v[2*n*i+n+j].SetFloat64(e[n*i+j])
		}
	}
	full := block.exp()
	l = newBig(n)
	for i := range n {
		for j := range n {
			l.v[n*i+j] = full.v[2*n*i+n+j]
		}
	}
	return l, full.exponent()
}

func testFrechetAccuracy(t *testing.T, n int) {
	batches := map[int]struct {
		f64, adjoint64 func(dst, a, e []float64, n int)
		f32, adjoint32 func(dst, a, e []float32, n int)
	}{
		2: {batch.ExpFrechet2x2[float64], batch.ExpFrechetAdjoint2x2[float64], batch.ExpFrechet2x2[float32],
			batch.ExpFrechetAdjoint2x2[float32]},
		3: {batch.ExpFrechet3x3[float64], batch.ExpFrechetAdjoint3x3[float64], batch.ExpFrechet3x3[float32],
			batch.ExpFrechetAdjoint3x3[float32]},
	}[n]
	rng := rand.New(rand.NewPCG(13, uint64(n)))
	var w, adj, w32, adj32 worst
	count := 200
	if testing.Short() {
		count = 40
	}
	for _, a := range hardMatrices(n, rng, count) {
		e := make([]float64, n*n)
		for i := range e {
			e[i] = rng.NormFloat64()
		}
		what := func() string { return fmt.Sprint(a, e) }
		// see compares results at a and at its transpose with the derivative of a.
		see := func(w, adj *worst, got, gotAdjoint []float64, a, e []float64, want bigMat) {
			size := Norm(want.float()) / (spectralNorm(frechetMatrix(a, n), n*n) * Norm(e))
			cond := max(Norm(a), condExp(a, n))
			w.see(relErr(got, want.v)*size, cond, what)
			adj.see(relErr(gotAdjoint, want.v)*size, cond, what)
		}
		transposed := func(a []float64) []float64 {
			m := make([]float64, n*n)
			for i := range m {
				m[i] = a[i%n*n+i/n]
			}
			return m
		}
		want, exponent := frechetOracle(a, e, n)
		if exponent > 900 || exponent < -900 {
			continue
		}
		got, got2 := make([]float64, n*n), make([]float64, n*n)
		batches.f64(got, a, e, 1)
		batches.adjoint64(got2, transposed(a), e, 1)
		see(&w, &adj, got, got2, a, e, want)
		if exponent > 100 || exponent < -80 {
			continue
		}
		a32, e32, t32, got32 := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		narrow(a32, a)
		narrow(e32, e)
		widen(a, a32)
		widen(e, e32)
		narrow(t32, transposed(a))
		batches.f32(got32, a32, e32, 1)
		widen(got, got32)
		batches.adjoint32(got32, t32, e32, 1)
		widen(got2, got32)
		want, _ = frechetOracle(a, e, n)
		see(&w32, &adj32, got, got2, a, e, want)
	}
	for _, c := range []struct {
		name  string
		w     *worst
		bound float64
	}{
		{"ExpFrechet%dx%d float64", &w, 2e-15}, {"ExpFrechetAdjoint%dx%d float64", &adj, 2e-15},
		{"ExpFrechet%dx%d float32", &w32, 5e-7}, {"ExpFrechetAdjoint%dx%d float32", &adj32, 5e-7},
	} {
		c.w.require(t, fmt.Sprintf(c.name, n, n), c.bound)
	}
}

func TestExpFrechet2x2Accuracy(t *testing.T) {
	eachLevel(t, func(t *testing.T) { testFrechetAccuracy(t, 2) })
}

func TestExpFrechet3x3Accuracy(t *testing.T) {
	eachLevel(t, func(t *testing.T) { testFrechetAccuracy(t, 3) })
}

// TestLog3x3AtBorders compares logarithms with the oracle on both sides of the borders up to which kernels compute
// them: detRatio, where the determinant is 2⁻²⁰ of the cube of the norm, and invariantMin, where the trace or the
// second invariant of a matrix of determinant about 1 is 1/4.
func TestLog3x3AtBorders(t *testing.T) { eachLevel(t, testLog3x3AtBorders) }

func testLog3x3AtBorders(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 3))
	count := 60
	if testing.Short() {
		count = 15
	}
	var det, trace, second worst
	for i := range count {
		near := math.Exp2(2*rng.Float64() - 1) // half to twice the border
		see := func(w *worst, m []float64) {
			q := randomBasis(rng)
			var inv [9]float64
			if !Inverse3x3(&inv, &q) {
				t.Fatal("a basis without inverse")
			}
			var a [9]float64
			Mul3x3(&a, &q, (*[9]float64)(m))
			Mul3x3(&a, &a, &inv)
			for k := range a {
				a[k] = math.Ldexp(a[k], i%7-3)
			}
			got, ok := logOf(a[:], 3)
			if !ok {
				t.Fatalf("no logarithm of %v", a)
			}
			want := bigOf(a[:], 3).log()
			w.see(relErr(got, want.v), condLog(a[:], want.float(), 3), func() string { return fmt.Sprint(a) })
		}
		small := math.Sqrt(near * 0x1p-20)
		see(&det, []float64{1, 0, 0, 0, small * 3, 0, 0, 0, small / 3})
		// A pair of eigenvalues e^±iθ and one that takes i₁ or i₂ to the border; both are positive for θ up to 2π/3.
		s, c := math.Sincos(1.65 + 0.35*rng.Float64())
		see(&trace, []float64{-2*c + near*0x1p-2, 0, 0, 0, c, -s, 0, s, c})
		see(&second, []float64{(1 - near*0x1p-2) / (-2 * c), 0, 0, 0, c, -s, 0, s, c})
	}
	det.require(t, "Log3x3 where the determinant is small", 1e-15)
	trace.require(t, "Log3x3 where the trace is small", 1e-15)
	second.require(t, "Log3x3 where the second invariant is small", 1e-15)
}

// randomBasis is a matrix of condition about 10 at most.
func randomBasis(rng *rand.Rand) (q [9]float64) {
	for i := range q {
		q[i] = 0.4 * rng.NormFloat64() / math.Sqrt(3)
		if i%4 == 0 {
			q[i]++
		}
	}
	return q
}
