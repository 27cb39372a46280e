package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestGemv compares products of a matrix and a vector with sums in float64 or longer, in memory that ends at an
// unreadable page, and wants the bits of an element whatever is computed beside it.
func TestGemv(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGemv[float32])
		t.Run("F64", testGemv[float64])
	})
}

func testGemv[T Float](t *testing.T) {
	rng := testkit.Rand(80)
	eps := 0x1p-23
	if any(T(0)) == any(float64(0)) {
		eps = 0x1p-52
	}
	sizes := append(lengths(), 100, 131, 257)
	for i := range 120 {
		m, n := sizes[rng.IntN(len(sizes))], sizes[i%len(sizes)]
		lda := n + rng.IntN(3)
		alpha, beta := []T{1, -0.5}[i%2], []T{0, 1, 0.25}[i%3]
		a := testkit.CopyAtEnd(t, testkit.Normal[T](rng, max(0, (m-1)*lda+n)))
		for _, trans := range []bool{false, true} {
			lx, ly := n, m
			f := Gemv[T]
			if trans {
				lx, ly, f = m, n, GemvT[T]
			}
			x, y := testkit.CopyAtEnd(t, testkit.Normal[T](rng, lx)), testkit.CopyAtEnd(t, testkit.Normal[T](rng, ly))
			before := append([]T(nil), y...)
			if beta == 0 {
				for j := range y {
					y[j] = T(math.NaN())
				}
			}
			f(y, a, lda, x, alpha, beta, m, n)
			for j := range y {
				sum, size := testkit.DD{}, 0.0
				term := func(v, w T) {
					sum = sum.Add(testkit.Product(float64(v), float64(w)))
					size += math.Abs(float64(v) * float64(w))
				}
				for k := range x {
					if trans {
						term(a[k*lda+j], x[k]*alpha)
					} else {
						term(a[j*lda+k]*alpha, x[k])
					}
				}
				if beta != 0 {
					term(before[j], beta)
				}
				diff := sum.Sub(testkit.Wide(float64(y[j]))).Hi
				if tol := float64(lx+8) * eps * size; !(math.Abs(diff) <= tol) {
					t.Fatalf("%d x %d, transposed %v: y[%d] is off by %g > %g", m, n, trans, j, diff, tol)
				}
			}
			// One element alone.
			if lx > 0 && ly > 0 {
				j := rng.IntN(ly)
				one := []T{before[j]}
				if trans {
					f(one, a[j:], lda, x, alpha, beta, m, 1)
				} else {
					f(one, a[j*lda:], lda, x, alpha, beta, 1, n)
				}
				if !testkit.SameBits(one, y[j:j+1]) {
					t.Fatalf("%d x %d, transposed %v: y[%d] = %v, alone %v", m, n, trans, j, y[j], one[0])
				}
			}
		}
	}
}

func TestGemvPanics(t *testing.T) {
	x := make([]float64, 12)
	for want, f := range map[string]func(){
		"simd: GemvF64: len(x) = 4, need 3":       func() { GemvF64(x[:4], x, 3, x[:4], 1, 0, 4, 3) },
		"simd: GemvF64: len(y) = 3, need 4":       func() { GemvF64(x[:3], x, 3, x[:3], 1, 0, 4, 3) },
		"simd: GemvF64: lda = 2, need at least 3": func() { GemvF64(x[:4], x, 2, x[:3], 1, 0, 4, 3) },
		"simd: GemvTF64: len(x) = 3, need 4":      func() { GemvTF64(x[:3], x, 3, x[:3], 1, 0, 4, 3) },
		"simd: GemvTF64: m = -1, need at least 0": func() { GemvTF64(x[:3], x, 3, x[:3], 1, 0, -1, 3) },
		"simd: GemvTF64: len(a) = 12, need 15":    func() { GemvTF64(x[:3], x, 3, x[:5], 1, 0, 5, 3) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}
