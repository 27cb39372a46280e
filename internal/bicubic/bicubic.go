// Package bicubic interpolates between the nodes of a grid, many channels at a time, and back: its transpose. Only
// layers/internal/nodal needs it, whose weights are functions of two coordinates.
package bicubic

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// level is what the dispatchers switch on.
var level cpu.Level

func init() { cpu.Follow(&level) }

// Plan says where the values between the nodes of a grid are wanted, for Interpolate and Gradient. Making
// it checks all places. It then serves any number of channels and of grids of that size, and is only read, by any
// number of goroutines.
//
// Between four by four nodes the interpolation is cubic in either coordinate (Lagrange's polynomial through four nodes,
// of which the value lies between the second and the third). For a function f whose nodes lie h apart it is at most
// some 0.024·h⁴·(|∂⁴f/∂x⁴| + |∂⁴f/∂y⁴|) from f: halving h takes 15 of 16 parts of it away.
type Plan struct {
	rows, cols, n int
	// code has ten entries for each place, in the order of the nodes around them: the first of 4 by 4 nodes, the number
	// of the place, and, as the bits of float32, what its four rows of nodes and the four nodes of each row are
	// multiplied by. So nodes of neighbouring places come from the first-level cache.
	code []int32
}

const (
	lanes    = 16         // numbers of a line of the caches; kernels take one or two at a time
	side     = 4          // along each side of the nodes that a value depends on
	entryLen = 2 + 2*side // numbers of a place in the code
	// callPlaces is how many places a kernel goes through at a time.
	callPlaces = 1 << 12
)

// New takes at [n, 2], places in a grid of rows by cols nodes, in steps of nodes: node (i, j) lies at (i,
// j). It panics if a place is NaN, below 1, or has fewer than two nodes behind it in either direction: need 1 ≤ at <
// rows-2 and cols-2.
func New(at []float64, rows, cols int) *Plan {
	const fn = "New"
	checkSize(fn, "rows", rows)
	checkSize(fn, "cols", cols)
	if len(at)%2 != 0 {
		panic(fmt.Sprintf("bicubic: %s: len(at) = %d, need an even number", fn, len(at)))
	}
	if rows > 0 && cols > math.MaxInt32/rows || len(at)/2 > math.MaxInt32 {
		panic(fmt.Sprintf("bicubic: %s: %d places in %d by %d nodes, more than int32 counts", fn, len(at)/2, rows, cols))
	}
	p := &Plan{rows: rows, cols: cols, n: len(at) / 2, code: make([]int32, entryLen*len(at)/2)}
	before := make([]int32, rows*cols) // how many places have an earlier node
	for i := range p.n {
		x, y := at[2*i], at[2*i+1]
		if !(x >= 1 && x < float64(rows-2) && y >= 1 && y < float64(cols-2)) {
			panic(fmt.Sprintf("bicubic: %s: place %d at (%g, %g), need 1 to (%d, %d), which is too much", fn, i, x, y, rows-2, cols-2))
		}
		before[int(x)*cols+int(y)]++
	}
	sum := int32(0)
	for k, n := range before {
		before[k] = sum
		sum += n
	}
	for i := range p.n {
		x, y := at[2*i], at[2*i+1]
		k := int(x)*cols + int(y)
		entry := (*[entryLen]int32)(p.code[entryLen*int(before[k]):])
		before[k]++
		entry[0], entry[1] = int32(k-cols-1), int32(i)
		setFactors((*[side]int32)(entry[2:]), x)
		setFactors((*[side]int32)(entry[2+side:]), y)
	}
	return p
}

// setFactors sets what the four nodes from one before x to two behind it are multiplied by for a value at x, as the bits of float32.
func setFactors(to *[side]int32, x float64) {
	u := x - float64(int(x))
	a, b, c := u+1, u-1, u-2
	for k, v := range [side]float64{-u * b * c / 6, a * b * c / 2, -a * u * c / 2, a * u * b / 6} {
		to[k] = int32(math.Float32bits(float32(v)))
	}
}

// Len returns the number of places.
func (p *Plan) Len() int { return p.n }

// Interpolate sets every row of dst to the interpolation between the nodes around its place.
//
//   - Shape: dst is [plan.Len(), c], nodes is [rows, cols, c].
//   - Aliasing: dst must not overlap nodes.
//   - Errors: panics if a length does not match or c is negative.
//   - Accuracy: at most 8·eps times the sum of the absolute values of the 16 nodes from the exact value of the interpolation.
func Interpolate(dst, nodes []float32, plan *Plan, c int) {
	const fn = "Interpolate"
	checkSize(fn, "c", c)
	checkElements(fn, "dst", len(dst), plan.n, c)
	checkElements(fn, "nodes", len(nodes), plan.rows, plan.cols, c)
	if c == 0 {
		return
	}
	plan.announce(nodes, dst)
	for from := 0; from < plan.n; from += callPlaces {
		code := plan.code[entryLen*from : entryLen*min(from+callPlaces, plan.n)]
		for j := 0; j < c; {
			n := channelsAtOnce(c - j)
			interpolate(dst[j:], nodes[j:], code, n, plan.cols, c)
			j += n
		}
	}
}

// Gradient adds to the gradient to the nodes, given the gradient to the results of Interpolate: it is its
// transpose. Some channels of the results may go by themselves to nodes of so many channels, which are then few enough
// for a nearer cache.
//
//   - Shape: dnodes is [rows, cols, width], d is [plan.Len(), c]; channels from to from+width of d are taken.
//   - Aliasing: dnodes must not overlap d.
//   - Errors: panics if a length does not match, a size is negative, or d has no such channels.
//   - Accuracy: at most (n+8)·eps·Σ|d| from the exact value, over the n places around a node.
func Gradient(dnodes, d []float32, plan *Plan, from, width, c int) {
	const fn = "Gradient"
	checkSize(fn, "width", width)
	checkSize(fn, "c", c)
	checkElements(fn, "dnodes", len(dnodes), plan.rows, plan.cols, width)
	checkElements(fn, "d", len(d), plan.n, c)
	if from < 0 || from > c-width {
		panic(fmt.Sprintf("bicubic: %s: channels %d to %d, need a part of 0 to %d", fn, from, from+width, c))
	}
	if width == 0 {
		return
	}
	plan.announce(d, dnodes)
	for lo := 0; lo < plan.n; lo += callPlaces {
		code := plan.code[entryLen*lo : entryLen*min(lo+callPlaces, plan.n)]
		for j := 0; j < width; {
			n := channelsAtOnce(width - j)
			gradient(dnodes[j:], d[from+j:], code, n, plan.cols, width, c)
			j += n
		}
	}
}

// channelsAtOnce is how many of c > 0 channels go at once: what kernels have, or fewer, which Go computes.
func channelsAtOnce(c int) int {
	switch {
	case c >= 32:
		return 32
	case c >= 16:
		return 16
	}
	return c
}

// factor returns an entry of the code as the factor that it is.
func factor(bits int32) float32 { return math.Float32frombits(uint32(bits)) }

// interpolateGeneric sets n channels of the places in the code; rows of dst and of nodes have c.
func interpolateGeneric(dst, nodes []float32, code []int32, n, cols, c int) {
	var row, sum [32]float32
	for ; len(code) > 0; code = code[entryLen:] {
		cu, cv := code[2:][:side], code[2+side:][:side]
		sum := sum[:n]
		clear(sum)
		for a := range side {
			row := row[:n]
			clear(row)
			for b := range side {
				axpy(row, factor(cv[b]), nodes[(int(code[0])+a*cols+b)*c:][:n])
			}
			axpy(sum, factor(cu[a]), row)
		}
		copy(dst[int(code[1])*c:], sum)
	}
}

// gradientGeneric adds n channels of rows of d, which have c, to nodes, which have width.
func gradientGeneric(dnodes, d []float32, code []int32, n, cols, width, c int) {
	var part [32]float32
	for ; len(code) > 0; code = code[entryLen:] {
		cu, cv := code[2:][:side], code[2+side:][:side]
		from := d[int(code[1])*c:][:n]
		for a := range side {
			part := part[:n]
			for j, v := range from {
				part[j] = factor(cu[a]) * v
			}
			for b := range side {
				axpy(dnodes[(int(code[0])+a*cols+b)*width:][:n], factor(cv[b]), part)
			}
		}
	}
}

// axpy adds a·x to dst.
func axpy(dst []float32, a float32, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += a * v
	}
}

func checkSize(fn, name string, v int) {
	if v < 0 {
		panic(fmt.Sprintf("bicubic: %s: %s = %d, need at least 0", fn, name, v))
	}
}

// checkElements panics if a length is not the product of the sizes, none of which is negative.
func checkElements(fn, name string, n int, sizes ...int) {
	want := 1
	for _, s := range sizes {
		if s > 0 && want > math.MaxInt/s && !slices.Contains(sizes, 0) {
			panic(fmt.Sprintf("bicubic: %s: len(%s) = %d, need more than an int holds", fn, name, n))
		}
		want *= s
	}
	if n != want {
		panic(fmt.Sprintf("bicubic: %s: len(%s) = %d, need %d", fn, name, n, want))
	}
}
