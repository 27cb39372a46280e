package testkit

import "math"

// Grid is the square grid of n × n points of the plane from lo to hi, [n·n, 2].
func Grid(lo, hi float64, n int) []float64 {
	at := make([]float64, n)
	for i := range at { // counted from the nearer end, as PyTorch's linspace does
		step := (hi - lo) / float64(n-1)
		if at[i] = lo + float64(step*float64(i)); i >= n/2 {
			at[i] = hi - float64(step*float64(n-1-i))
		}
	}
	var x []float64
	for _, a := range at {
		for _, b := range at {
			x = append(x, a, b)
		}
	}
	return x
}

// Triangles is the triangular lattice of the plane around the origin, with the points nearer than r, [points, 2].
func Triangles(r float64) []float64 {
	var x []float64
	n := int(2 * r)
	for i := -n; i <= n; i++ {
		for j := -n; j <= n; j++ {
			a, b := float64(i)+0.5*float64(j), math.Sqrt(3)/2*float64(j)
			if math.Hypot(a, b) < r {
				x = append(x, a, b)
			}
		}
	}
	return x
}
