package krige

import (
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// Matrices are lower triangles, packed by rows: row i begins at tri(i).

func tri(i int) int { return i * (i + 1) / 2 }

// dot is the scalar product of the first n numbers of two slices.
func dot(a, b []float64, n int) float64 {
	if n < 12 {
		var s float64
		for i, v := range a[:n] {
			s += v * b[i]
		}
		return s
	}
	return simd.DotF64(a[:n], b[:n])
}

// square is working memory of factorizations.
type square struct{ rows, column []float64 }

// panel is how many columns are factored between two matrix products.
const panel = 32

// cholesky replaces a positive definite matrix of n rows by its factor L, and each row b of right-hand sides [rows, n] by the solution of
// L z = b. It reports whether the matrix was positive definite; otherwise nothing has changed. Diagonal elements of the factor are stored
// as their inverses.
//
// The right-hand sides are further rows of the matrix: what makes rows of the factor makes solutions of them.
func cholesky(a []float64, n int, right []float64, w *square) bool {
	all := n
	if n > 0 {
		all += len(right) / n
	}
	if cap(w.rows) < all*n || cap(w.column) < all {
		w.rows, w.column = make([]float64, all*n), make([]float64, all)
	}
	s := w.rows[:all*n]
	for i := range n {
		clear(s[i*n+copy(s[i*n:], a[tri(i):tri(i)+i+1]) : (i+1)*n])
	}
	copy(s[n*n:], right)
	for lo := 0; lo < n; lo += panel {
		hi := min(lo+panel, n)
		if lo > 0 {
			simd.GemmNTF64(s[lo*n+lo:], n, s[lo*n:], n, s[lo*n:], n, -1, 1, all-lo, hi-lo, lo)
		}
		for j := lo; j < hi; j++ {
			column := w.column[:all-j]
			for i := range column {
				column[i] = s[(j+i)*n+j]
			}
			if k := j - lo; k > 0 {
				simd.GemvF64(column, s[j*n+lo:(all-1)*n+j], n, s[j*n+lo:j*n+j], -1, 1, len(column), k)
			}
			if !(column[0] > 1e-14) {
				return false
			}
			inverse := 1 / math.Sqrt(column[0])
			s[j*n+j] = inverse
			for i := 1; i < len(column); i++ {
				s[(j+i)*n+j] = column[i] * inverse
			}
		}
	}
	for i := range n {
		copy(a[tri(i):tri(i)+i+1], s[i*n:])
	}
	copy(right, s[n*n:])
	return true
}

// forward replaces b by the solution of L z = b.
func forward(l, b []float64, n int) {
	for i := range n {
		row := l[tri(i) : tri(i)+i+1]
		b[i] = (b[i] - dot(row, b, i)) * row[i]
	}
}

// backward replaces b by the solution of L' z = b.
func backward(l, b []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		row := l[tri(i) : tri(i)+i+1]
		b[i] *= row[i]
		if v := -b[i]; i < 12 {
			for j := range i {
				b[j] += v * row[j]
			}
		} else {
			simd.AxpyF64(b[:i], v, row[:i])
		}
	}
}

// inverse returns the inverse [n, n] of the matrix whose factor is l.
func inverse(l []float64, n int) []float64 {
	m := lowerInverse(l, n)
	out := make([]float64, n*n)
	simd.GemmTNF64(out, n, m, n, m, n, 1, 0, n, n, n)
	return out
}

// lowerInverse returns the inverse [n, n] of a factor L, by rows: row i is (e_i - sum of l_ij row j) / l_ii.
func lowerInverse(l []float64, n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		row := l[tri(i) : tri(i)+i+1]
		mi := m[i*n : i*n+i+1]
		for j := range i {
			simd.AxpyF64(mi[:j+1], -row[j], m[j*n:j*n+j+1])
		}
		simd.ScaleF64(mi, row[i], mi)
		mi[i] = row[i]
	}
	return m
}
