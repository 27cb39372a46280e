package linalg_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/equivcnp/equivcnp/linalg"
)

// oracleBits is the precision of the slow matrix exponential.
const oracleBits = 400

// bigExpm is the exponential of the n×n matrix m by the series Σ mᵏ/k! of m/2ˢ, squared s times: slow, and right to
// about 100 digits. It shares no formula with the package.
func bigExpm(m []float64, n int) []float64 {
	mul := func(a, b []*big.Float) []*big.Float {
		c := make([]*big.Float, n*n)
		t := new(big.Float).SetPrec(oracleBits)
		for i := range n {
			for j := range n {
				s := new(big.Float).SetPrec(oracleBits)
				for k := range n {
					s.Add(s, t.Mul(a[i*n+k], b[k*n+j]))
				}
				c[i*n+j] = s
			}
		}
		return c
	}
	norm := 0.0
	for _, x := range m {
		norm = max(norm, math.Abs(x))
	}
	_, e := math.Frexp(norm * float64(n))
	s := max(e+10, 0)
	x := make([]*big.Float, n*n)
	sum := make([]*big.Float, n*n)
	term := make([]*big.Float, n*n)
	for i := range x {
		x[i] = new(big.Float).SetPrec(oracleBits).SetFloat64(m[i])
		x[i].SetMantExp(x[i], -s)
		d := 0.0
		if i%(n+1) == 0 {
			d = 1
		}
		sum[i] = new(big.Float).SetPrec(oracleBits).SetFloat64(d)
		term[i] = new(big.Float).SetPrec(oracleBits).SetFloat64(d)
	}
	for k := 1; k <= 36; k++ { // (2⁻¹⁰)³⁶ = 2⁻³⁶⁰
		term = mul(term, x)
		for i := range term {
			term[i].Quo(term[i], new(big.Float).SetPrec(oracleBits).SetInt64(int64(k)))
			sum[i].Add(sum[i], term[i])
		}
	}
	for range s {
		sum = mul(sum, sum)
	}
	out := make([]float64, n*n)
	for i := range out {
		out[i], _ = sum[i].Float64()
	}
	return out
}

// A lieGroup ties the closed forms of one group to its matrices, so that every test runs over all groups.
type lieGroup struct {
	name  string
	g, n  int // algebra coordinates, matrix size
	angle int // number of leading (so2, se2, so3, se3) rotation coordinates; rxso2 is special
	hat   func(a []float64) []float64
	exp   func(a []float64) []float64
	log   func(m []float64) []float64
	mul   func(a, b []float64) []float64 // nil: the sum of coordinates
}

var lieGroups = []lieGroup{
	{
		"SO2", 1, 2, 1, groupOf("SO2").hatOf,
		func(a []float64) []float64 {
			var e [2]float64
			ExpSO2(&e, a[0])
			return []float64{e[0], -e[1], e[1], e[0]}
		},
		func(m []float64) []float64 { return []float64{LogSO2(&[2]float64{m[0], m[2]})} },
		func(a, b []float64) []float64 { return []float64{WrapAngle(a[0] + b[0])} },
	},
	{
		"RxSO2", 2, 2, 0, groupOf("RxSO2").hatOf,
		func(a []float64) []float64 {
			var e [2]float64
			ExpRxSO2(&e, (*[2]float64)(a))
			return []float64{e[0], -e[1], e[1], e[0]}
		},
		func(m []float64) []float64 { var a [2]float64; LogRxSO2(&a, &[2]float64{m[0], m[2]}); return a[:] },
		func(a, b []float64) []float64 {
			var c [2]float64
			ComposeRxSO2(&c, (*[2]float64)(a), (*[2]float64)(b))
			return c[:]
		},
	},
	{
		"SE2", 3, 3, 1, groupOf("SE2").hatOf,
		func(a []float64) []float64 { var e [4]float64; ExpSE2(&e, (*[3]float64)(a)); return matrixOf2(&e) },
		func(m []float64) []float64 { var a [3]float64; LogSE2(&a, elementOf2(m)); return a[:] },
		func(a, b []float64) []float64 {
			var c [3]float64
			ComposeSE2(&c, (*[3]float64)(a), (*[3]float64)(b))
			return c[:]
		},
	},
	{
		"Sim2", 4, 3, 0, groupOf("Sim2").hatOf,
		func(a []float64) []float64 { var e [4]float64; ExpSim2(&e, (*[4]float64)(a)); return matrixOf2(&e) },
		func(m []float64) []float64 { var a [4]float64; LogSim2(&a, elementOf2(m)); return a[:] },
		func(a, b []float64) []float64 {
			var c [4]float64
			ComposeSim2(&c, (*[4]float64)(a), (*[4]float64)(b))
			return c[:]
		},
	},
	{
		"SO3", 3, 3, 3, groupOf("SO3").hatOf,
		func(a []float64) []float64 { var m [9]float64; ExpSO3(&m, (*[3]float64)(a)); return m[:] },
		func(m []float64) []float64 { var a [3]float64; LogSO3(&a, (*[9]float64)(m)); return a[:] },
		func(a, b []float64) []float64 {
			var c [3]float64
			ComposeSO3(&c, (*[3]float64)(a), (*[3]float64)(b))
			return c[:]
		},
	},
	{
		"SE3", 6, 4, 3, groupOf("SE3").hatOf,
		func(a []float64) []float64 {
			var e [12]float64
			var m [16]float64
			ExpSE3(&e, (*[6]float64)(a))
			MatrixSE3(&m, &e)
			return m[:]
		},
		func(m []float64) []float64 { var a [6]float64; LogSE3(&a, (*[12]float64)(m)); return a[:] },
		func(a, b []float64) []float64 {
			var c [6]float64
			ComposeSE3(&c, (*[6]float64)(a), (*[6]float64)(b))
			return c[:]
		},
	},
}

// matrixOf2 is the homogeneous matrix of an element of SE(2) or Sim(2), elementOf2 the way back.
func matrixOf2(e *[4]float64) []float64 { var m [9]float64; MatrixSE2(&m, e); return m[:] }

func elementOf2(m []float64) *[4]float64 { return &[4]float64{m[0], m[3], m[2], m[5]} }

// sample draws an element whose rotation angle is angle (its log r for RxSO2's first coordinate is of that order too),
// with translations of the given size.
func (l *lieGroup) sample(rng *rand.Rand, angle, size float64) []float64 {
	a := make([]float64, l.g)
	for i := range a {
		a[i] = size * rng.NormFloat64()
	}
	switch {
	case l.name == "RxSO2" || l.name == "Sim2":
		a[0], a[1] = math.Min(angle, 30)*(2*rng.Float64()-1), angle*float64(1-2*rng.IntN(2))
	case l.angle == 1:
		a[0] = angle * float64(1-2*rng.IntN(2))
	case l.angle == 3:
		var w [3]float64
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		n := Norm(w[:])
		for i := range w {
			a[i] = w[i] * (angle / n)
		}
	}
	return a
}

// diff is the largest difference of x and y over the largest entry of both, or over 1.
func diff(x, y []float64) float64 {
	d, s := 0.0, 1.0
	for i := range x {
		s = max(s, math.Abs(x[i]), math.Abs(y[i]))
	}
	for i := range x {
		d = max(d, math.Abs(x[i]-y[i])/s)
	}
	return d
}

func requireClose(t *testing.T, want, got []float64, tol float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	if d := diff(want, got); !(d <= tol) {
		t.Fatalf("%s: difference %.3g > %.3g\nwant %v\ngot  %v", what, d, tol, want, got)
	}
}

// decades are rotation angles from subnormal squares to both sides of π.
func decades() []float64 {
	a := []float64{0, 5e-324, 1e-300, 1e-160}
	for e := -16; e <= -1; e++ {
		a = append(a, math.Pow(10, float64(e)), 3*math.Pow(10, float64(e)))
	}
	a = append(a, 0.4999999999, 0.5, 0.5000000001, 1, 1.5, math.Pi/2, 2, 2.5, 3)
	for e := -2; e >= -15; e-- {
		a = append(a, math.Pi-math.Pow(10, float64(e)))
	}
	return a
}

func TestExpAgainstOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, l := range lieGroups {
		t.Run(l.name, func(t *testing.T) {
			angles := append(decades(), math.Pi, 3.5, 5, 6.2831, 2*math.Pi, 6.284, 9, 20)
			for _, th := range angles {
				for _, size := range []float64{1, 1e-9, 1e9} {
					a := l.sample(rng, th, size)
					requireClose(t, bigExpm(l.hat(a), l.n), l.exp(a), 2e-15, l.name)
				}
			}
		})
	}
}

// The logarithm undoes the oracle's exponential, rounded to float64, at every angle below π; the translation is
// compared relative to its size. The rotation of a matrix with entries rounded to 2⁻⁵³ is known to a few 2⁻⁵³.
func TestLogAgainstOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, l := range lieGroups {
		t.Run(l.name, func(t *testing.T) {
			for _, th := range decades() {
				if th > math.Pi-1e-14 {
					continue // the sign of the rotation is lost in the rounding of the matrix
				}
				for _, size := range []float64{1, 1e-9, 1e9} {
					a := l.sample(rng, th, size)
					requireClose(t, a, l.log(bigExpm(l.hat(a), l.n)), 4e-15, l.name)
				}
			}
		})
	}
}

// Small rotations keep all their digits, not only those above 2⁻⁵³ of 1.
func TestSmallAnglesAreRelativelyAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, l := range lieGroups {
		k := l.angle
		if l.name == "RxSO2" || l.name == "Sim2" {
			continue // its angle stands second, and is tested as SO2's
		}
		for e := -300; e < -3; e += 9 {
			a := l.sample(rng, math.Pow(10, float64(e)), 1)
			got := l.log(l.exp(a))
			for i := range k {
				if !(math.Abs(got[i]-a[i]) <= 4e-15*math.Abs(a[i])) {
					t.Fatalf("%s: coordinate %d of %v came back as %v", l.name, i, a, got)
				}
			}
		}
	}
}

// At an angle of π, or an ulp from it, either sign of the rotation is right; the exponential must agree.
func TestLogAtPi(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, l := range lieGroups {
		for _, th := range []float64{math.Pi, math.Nextafter(math.Pi, 0), math.Nextafter(math.Pi, 4), math.Pi + 1e-9, 4, 7} {
			for range 20 {
				a := l.sample(rng, th, 1)
				m := bigExpm(l.hat(a), l.n)
				b := l.log(m)
				requireClose(t, m, bigExpm(l.hat(b), l.n), 4e-15, l.name)
				if l.angle > 0 && !(Norm(b[:l.angle]) <= math.Pi*(1+4e-16)) {
					t.Fatalf("%s: log has angle %v > π", l.name, Norm(b[:l.angle]))
				}
			}
		}
	}
	// Half turns about the axes, exactly.
	for c := range 3 {
		m := [9]float64{-1, 0, 0, 0, -1, 0, 0, 0, -1}
		m[4*c] = 1
		var w [3]float64
		LogSO3(&w, &m)
		require.InDelta(t, math.Pi, math.Abs(w[c]), 0)
		require.Zero(t, w[(c+1)%3])
		require.Zero(t, w[(c+2)%3])
	}
}

func TestComposeIsAHomomorphism(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, l := range lieGroups {
		for range 50 {
			a, b, c := l.sample(rng, 3*rng.Float64(), 1), l.sample(rng, 3*rng.Float64(), 1), l.sample(rng, 3*rng.Float64(), 1)
			ab := l.mul(a, b)
			requireClose(t, matmul(l.exp(a), l.exp(b), l.n), l.exp(ab), 1e-14, l.name+": exp(a)·exp(b)")
			requireClose(t, l.exp(l.mul(ab, c)), l.exp(l.mul(a, l.mul(b, c))), 1e-13, l.name+": associativity")
		}
	}
}

func matmul(a, b []float64, n int) []float64 {
	c := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return c
}

func TestNaNInNaNOut(t *testing.T) {
	hasNaN := func(v []float64) bool {
		for _, x := range v {
			if math.IsNaN(x) {
				return true
			}
		}
		return false
	}
	rng := rand.New(rand.NewPCG(6, 1))
	for _, l := range lieGroups {
		for _, th := range []float64{0, 1e-200, 0.1, 1, 3, math.Pi} {
			a := l.sample(rng, th, 1)
			for i := range a {
				b := append([]float64(nil), a...)
				b[i] = math.NaN()
				require.True(t, hasNaN(l.exp(b)), "%s: exp(%v) = %v", l.name, b, l.exp(b))
			}
			m := l.exp(a)
			_, _, at := groupOf(l.name).entries()
			for _, i := range at { // what an element has of the matrix
				b := append([]float64(nil), m...)
				b[i] = math.NaN()
				require.True(t, hasNaN(l.log(b)), "%s: log(%v) = %v", l.name, b, l.log(b))
			}
		}
		// Whatever the values, nothing panics.
		odd := []float64{0, math.Copysign(0, -1), 1, -1, math.Pi, 5e-324, 1e-300, 1e300, math.MaxFloat64, math.Inf(1),
			math.Inf(-1), math.NaN()}
		for range 2000 {
			a, m := make([]float64, l.g), make([]float64, l.n*l.n)
			for i := range a {
				a[i] = odd[rng.IntN(len(odd))]
			}
			for i := range m {
				m[i] = odd[rng.IntN(len(odd))]
			}
			l.exp(a)
			l.log(m)
			l.mul(a, a)
		}
	}
}
