package fuzz

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	ourblas "github.com/equivcnp/equivcnp/linalg/blas"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzBLAS compares operations with gonum's. Sizes, flags, increments, leading dimensions and numbers come from the
// input. What is not finite must be so in both results; gonum may leave out products with 0, so there is none.
func FuzzBLAS(f *testing.F) {
	for k, seed := range seeds64() {
		f.Add(uint8(7*k), uint8(20+k), uint8(33-k), uint8(9*k), uint16(1000*k), seed)
	}
	f.Fuzz(func(t *testing.T, m8, n8, k8, pad uint8, flags uint16, numbers []byte) {
		m, n, k := int(m8)%90, int(n8)%90, int(k8)%90
		flag := func(bit int) bool { return flags>>bit&1 != 0 }
		pick := func(bit int, a, b byte) byte {
			if flag(bit) {
				return a
			}
			return b
		}
		ul, d, s := blas.Uplo(pick(0, 'U', 'L')), blas.Diag(pick(1, 'U', 'N')), blas.Side(pick(2, 'L', 'R'))
		tA, tB := blas.Transpose(pick(3, 'N', 'T')), blas.Transpose(pick(4, 'N', 'C'))
		incX, incY := []int{1, 2, -1, -3}[flags>>5&3], []int{1, 3, -1, -2}[flags>>7&3]
		alpha, beta := []float64{1, -0.5, 2, 0}[flags>>9&3], []float64{0, 1, 0.5, -1}[flags>>11&3]
		values := floats64(numbers)
		for i, v := range values {
			if v == 0 || math.Abs(v) < 1e-3 {
				values[i] = 1 + float64(i)
			} else if !math.IsInf(v, 0) && v == v {
				values[i] = math.Copysign(1+math.Remainder(math.Abs(v), 1), v)
			}
		}
		if len(values) == 0 {
			return
		}
		p := int(pad) % 5
		most := max(m, n, k, 1)
		ld := most + p
		side := func(shift int) []float64 { // a matrix of any use, or a vector of any increment
			x := fill(values, 3*most+most*ld+p)
			copy(x, x[min(shift%len(values), len(x)):])
			return x
		}
		run := func(b blas.Float64) [][]float64 {
			c1, c2, c3, c4, c5, v1, v2 := side(3), side(4), side(5), side(6), side(7), side(8), side(9)
			if beta == 0 { // gonum 0.17 multiplies C by it in Dsyrk, where the reference does not read C
				for i, v := range c3 {
					if v-v != 0 {
						c3[i] = 1
					}
				}
			}
			b.Dgemm(tA, tB, m, n, k, alpha, side(1), ld, side(2), ld, beta, c1, ld)
			b.Dsymm(s, ul, m, n, alpha, side(1), ld, side(2), ld, beta, c2, ld)
			b.Dsyrk(ul, tA, n, k, alpha, side(1), ld, beta, c3, ld)
			b.Dtrmm(s, ul, tA, d, m, n, alpha, side(1), ld, c4, ld)
			b.Dger(m, n, alpha, side(1), max(incX, -incX), side(2), max(incY, -incY), c5, ld) // gonum 0.17 is wrong for negative increments
			b.Dgemv(tA, m, n, alpha, side(1), ld, side(2), incX, beta, v1, incY)
			b.Dtrmv(ul, tA, d, n, side(1), ld, v2, incX)
			return append([][]float64{c1, c2, c3, c4, c5, v1, v2}, levelOne(b, m, alpha, side, incX, incY)...)
		}
		got, want := run(ourblas.Implementation{}), run(gonum.Implementation{})
		for r := range want {
			for i, w := range want[r] {
				g := got[r][i]
				if finite := w-w == 0; finite != (g-g == 0) {
					t.Fatalf("result %d[%d] = %g, gonum has %g", r, i, g, w)
				} else if finite && !(math.Abs(g-w) <= 1e-10*float64(most*most)) {
					t.Fatalf("result %d[%d] = %g, gonum has %g", r, i, g, w)
				}
			}
		}
	})
}

// levelOne calls what works on vectors.
func levelOne(b blas.Float64, n int, alpha float64, side func(shift int) []float64, incX, incY int) [][]float64 {
	inc := max(incX, -incX)
	scaled, added, x1, y1, x2, y2 := side(0), side(1), side(2), side(3), side(4), side(5)
	b.Dscal(n, alpha, scaled, inc)
	b.Daxpy(n, alpha, side(2), incX, added, incY)
	b.Dswap(n, x1, incX, y1, incY)
	b.Drot(n, x2, incX, y2, incY, 0.6, 0.8)
	at := b.Idamax(n, side(6), inc)
	return [][]float64{scaled, added, x1, y1, x2, y2,
		{b.Ddot(n, side(7), incX, side(8), incY), b.Dnrm2(n, side(9), inc), b.Dasum(n, side(10), inc), float64(at)}}
}

// FuzzBLAS32 compares float32, with leading dimensions and increments that differ from each other, and what FuzzBLAS leaves out: ranks
// one and two, triangles that are solved, and an alpha or beta that is NaN or infinite.
func FuzzBLAS32(f *testing.F) {
	for k, seed := range seeds64() {
		f.Add(uint8(7*k), uint8(20+k), uint8(33-k), uint16(977*k), uint32(77777*k), seed)
	}
	f.Fuzz(func(t *testing.T, m8, n8, k8 uint8, pads uint16, flags uint32, numbers []byte) {
		values := floats32(numbers)
		if len(values) == 0 {
			return
		}
		for i, v := range values { // gonum leaves out products with 0
			switch a := math.Abs(float64(v)); {
			case v == 0 || a < 1e-3:
				values[i] = 1 + float32(i%9)
			case v-v == 0:
				values[i] = float32(math.Copysign(1+math.Remainder(a, 1), float64(v)))
			}
		}
		m, n, k := int(m8)%80, int(n8)%80, int(k8)%80
		most := max(m, n, k, 1)
		ld := func(at int) int { return most + int(pads>>at&7) }
		inc := func(at int) int { return []int{1, 1, 2, 5, -1, -1, -2, -3}[flags>>at&7] }
		flag := func(at int, a, b byte) byte { return [2]byte{a, b}[flags>>at&1] }
		ul, d, s := blas.Uplo(flag(0, 'U', 'L')), blas.Diag(flag(1, 'U', 'N')), blas.Side(flag(2, 'L', 'R'))
		tA, tB := blas.Transpose(flag(3, 'N', 'T')), blas.Transpose(flag(4, 'N', 'C'))
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		alpha := []float32{1, -0.5, 2, 0, 1, 0.25, nan, inf}[flags>>5&7]
		beta := []float32{0, 1, 0.5, -1, 0, 1, nan, inf}[flags>>8&7]
		data := func(shift int) []float32 { // a matrix of any leading dimension, or a vector of any increment
			x := wrap(values, most*(most+8)+5*most)
			return append(x[shift%len(x):], x[:shift%len(x)]...)
		}
		solvable := func(shift, ld int) []float32 { // a triangular matrix whose solutions stay small
			x := data(shift)
			for i := range x {
				x[i] /= float32(4 * most)
			}
			for i := range most {
				x[i*ld+i] = 2
			}
			return x
		}
		run := func(b blas.Float32) [][]float32 {
			var all [][]float32
			out := func(shift int) []float32 {
				x := data(shift)
				if beta == 0 { // gonum 0.17 multiplies C by it in Ssyrk, where the reference does not read C
					for i, v := range x {
						if v-v != 0 {
							x[i] = 1
						}
					}
				}
				all = append(all, x)
				return x
			}
			incX, incY := inc(11), inc(14)
			up, uq := max(incX, -incX), max(incY, -incY) // gonum 0.17 is wrong for negative increments of GER
			lda, ldb, ldc := ld(0), ld(3), ld(6)
			b.Sgemm(tA, tB, m, n, k, alpha, data(1), lda, data(2), ldb, beta, out(3), ldc)
			b.Ssymm(s, ul, m, n, alpha, data(1), lda, data(2), ldb, beta, out(4), ldc)
			b.Ssyrk(ul, tA, n, k, alpha, data(1), lda, beta, out(5), ldc)
			b.Ssyr2k(ul, tA, n, k, alpha, data(1), lda, data(2), ldb, beta, out(6), ldc)
			ly := m
			if tA != blas.NoTrans {
				ly = n
			}
			// gonum 0.17 clears what is behind y.
			b.Sgemv(tA, m, n, alpha, data(1), lda, data(2), incX, beta, out(7)[:max(1, (ly-1)*uq+1)], incY)
			b.Ssymv(ul, n, alpha, data(1), lda, data(2), incX, beta, out(8), incY)
			b.Sger(m, n, alpha, data(1), up, data(2), uq, out(9), lda)
			b.Ssyr(ul, n, alpha, data(1), incX, out(10), lda)
			b.Ssyr2(ul, n, alpha, data(1), incX, data(2), incY, out(11), lda)
			b.Strmm(s, ul, tA, d, m, n, alpha, data(1), lda, out(12), ldb)
			b.Strmv(ul, tA, d, n, data(1), lda, out(13), incX)
			b.Strsm(s, ul, tA, d, m, n, alpha, solvable(1, lda), lda, out(14), ldb)
			b.Strsv(ul, tA, d, n, solvable(1, lda), lda, out(15), incX)
			b.Scopy(m, data(1), incX, out(16), incY)
			b.Sswap(m, out(17), incX, out(18), incY)
			b.Srot(m, out(19), incX, out(20), incY, 0.6, 0.8)
			b.Saxpy(m, alpha, data(1), incX, out(21), incY)
			b.Sscal(m, alpha, out(22), up)
			return append(all, []float32{b.Sdot(m, data(1), incX, data(2), incY), b.Snrm2(m, data(1), up), b.Sasum(m, data(1), up),
				float32(b.Isamax(m, data(1), up))})
		}
		want := run(gonum.Implementation{})
		atLevels(t, func(l simd.Level) {
			for r, got := range run(ourblas.Implementation{}) {
				for i, g := range got {
					w := want[r][i]
					if finite := w-w == 0; finite != (g-g == 0) || finite && !(math.Abs(float64(g-w)) <= 1e-5*float64(most*most)) {
						t.Fatalf("%v: result %d[%d] = %g, gonum has %g", l, r, i, g, w)
					}
				}
			}
		})
	})
}
