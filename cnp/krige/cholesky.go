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

// cholesky replaces a positive definite matrix of n rows by its factor, and reports whether it was one. Diagonal elements of the
// factor are stored as their inverses. The rows before from are a factor already.
func cholesky(a []float64, n, from int) bool {
	for i := from; i < n; i++ {
		row := a[tri(i) : tri(i)+i+1]
		for j := range i {
			other := a[tri(j) : tri(j)+j+1]
			row[j] = (row[j] - dot(row, other, j)) * other[j]
		}
		s := row[i] - dot(row, row, i)
		if !(s > 1e-14) {
			return false
		}
		row[i] = 1 / math.Sqrt(s)
	}
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
	// m is the inverse of L, by rows: row i is (e_i - sum of l_ij row j) / l_ii.
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
	out := make([]float64, n*n)
	simd.GemmTNF64(out, n, m, n, m, n, 1, 0, n, n, n)
	return out
}
