package simd

import (
	"fmt"
	"math"
)

// BicubicPlan says where the values between the nodes of a grid are wanted, for BicubicF32 and BicubicGradF32. Making
// it checks all places. It then serves any number of channels and of grids of that size, and is only read, by any
// number of goroutines.
//
// Between four by four nodes the interpolation is cubic in either coordinate (Lagrange's polynomial through four nodes,
// of which the value lies between the second and the third). For a function f whose nodes lie h apart it is at most
// some 0.024·h⁴·(|∂⁴f/∂x⁴| + |∂⁴f/∂y⁴|) from f: halving h takes 15 of 16 parts of it away.
type BicubicPlan struct {
	rows, cols, n int
	// code has ten entries for each place, in the order of the nodes around them: the first of 4 by 4 nodes, the number
	// of the place, and, as the bits of float32, what its four rows of nodes and the four nodes of each row are
	// multiplied by. So nodes of neighbouring places come from the first-level cache.
	code []int32
}

const (
	bicubicNodes = 4                  // along each side of the nodes that a value depends on
	bicubicEntry = 2 + 2*bicubicNodes // numbers of a place in the code
	// bicubicCall is how many places a kernel goes through at a time.
	bicubicCall = 1 << 12
)

// NewBicubicPlan takes at [n, 2], places in a grid of rows by cols nodes, in steps of nodes: node (i, j) lies at (i,
// j). It panics if a place is NaN, below 1, or has fewer than two nodes behind it in either direction: need 1 ≤ at <
// rows-2 and cols-2.
func NewBicubicPlan(at []float64, rows, cols int) *BicubicPlan {
	const fn = "NewBicubicPlan"
	checkSize(fn, "rows", rows)
	checkSize(fn, "cols", cols)
	if len(at)%2 != 0 {
		panic(fmt.Sprintf("simd: %s: len(at) = %d, need an even number", fn, len(at)))
	}
	if rows > 0 && cols > math.MaxInt32/rows || len(at)/2 > math.MaxInt32 {
		panic(fmt.Sprintf("simd: %s: %d places in %d by %d nodes, more than int32 counts", fn, len(at)/2, rows, cols))
	}
	p := &BicubicPlan{rows: rows, cols: cols, n: len(at) / 2, code: make([]int32, bicubicEntry*len(at)/2)}
	before := make([]int32, rows*cols) // how many places have an earlier node
	for i := range p.n {
		x, y := at[2*i], at[2*i+1]
		if !(x >= 1 && x < float64(rows-2) && y >= 1 && y < float64(cols-2)) {
			panic(fmt.Sprintf("simd: %s: place %d at (%g, %g), need 1 to (%d, %d), which is too much", fn, i, x, y, rows-2, cols-2))
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
		entry := (*[bicubicEntry]int32)(p.code[bicubicEntry*int(before[k]):])
		before[k]++
		entry[0], entry[1] = int32(k-cols-1), int32(i)
		setFactors((*[bicubicNodes]int32)(entry[2:]), x)
		setFactors((*[bicubicNodes]int32)(entry[2+bicubicNodes:]), y)
	}
	return p
}

// setFactors sets what the four nodes from one before x to two behind it are multiplied by for a value at x, as the bits of float32.
func setFactors(to *[bicubicNodes]int32, x float64) {
	u := x - float64(int(x))
	a, b, c := u+1, u-1, u-2
	for k, v := range [bicubicNodes]float64{-u * b * c / 6, a * b * c / 2, -a * u * c / 2, a * u * b / 6} {
		to[k] = int32(math.Float32bits(float32(v)))
	}
}

// Len returns the number of places.
func (p *BicubicPlan) Len() int { return p.n }

// BicubicF32 sets every row of dst to the interpolation between the nodes around its place.
//
//   - Shape: dst is [plan.Len(), c], nodes is [rows, cols, c].
//   - Aliasing: dst must not overlap nodes.
//   - Errors: panics if a length does not match or c is negative.
//   - Accuracy: at most 8·eps times the sum of the absolute values of the 16 nodes from the exact value of the interpolation.
func BicubicF32(dst, nodes []float32, plan *BicubicPlan, c int) {
	const fn = "BicubicF32"
	checkSize(fn, "c", c)
	checkElements(fn, "dst", len(dst), plan.n, c)
	checkElements(fn, "nodes", len(nodes), plan.rows, plan.cols, c)
	if c == 0 {
		return
	}
	plan.race(nodes, dst)
	for from := 0; from < plan.n; from += bicubicCall {
		code := plan.code[bicubicEntry*from : bicubicEntry*min(from+bicubicCall, plan.n)]
		for j := 0; j < c; {
			n := bicubicChannels(c - j)
			bicubic(dst[j:], nodes[j:], code, n, plan.cols, c)
			j += n
		}
	}
}

// BicubicGradF32 adds to the gradient to the nodes, given the gradient to the results of BicubicF32: it is its
// transpose. Some channels of the results may go by themselves to nodes of so many channels, which are then few enough
// for a nearer cache.
//
//   - Shape: dnodes is [rows, cols, width], d is [plan.Len(), c]; channels from to from+width of d are taken.
//   - Aliasing: dnodes must not overlap d.
//   - Errors: panics if a length does not match, a size is negative, or d has no such channels.
//   - Accuracy: at most (n+8)·eps·Σ|d| from the exact value, over the n places around a node.
func BicubicGradF32(dnodes, d []float32, plan *BicubicPlan, from, width, c int) {
	const fn = "BicubicGradF32"
	checkSize(fn, "width", width)
	checkSize(fn, "c", c)
	checkElements(fn, "dnodes", len(dnodes), plan.rows, plan.cols, width)
	checkElements(fn, "d", len(d), plan.n, c)
	if from < 0 || from > c-width {
		panic(fmt.Sprintf("simd: %s: channels %d to %d, need a part of 0 to %d", fn, from, from+width, c))
	}
	if width == 0 {
		return
	}
	plan.race(d, dnodes)
	for lo := 0; lo < plan.n; lo += bicubicCall {
		code := plan.code[bicubicEntry*lo : bicubicEntry*min(lo+bicubicCall, plan.n)]
		for j := 0; j < width; {
			n := bicubicChannels(width - j)
			bicubicGrad(dnodes[j:], d[from+j:], code, n, plan.cols, width, c)
			j += n
		}
	}
}

// bicubicChannels is how many of c > 0 channels go at once: what kernels have, or fewer, which Go computes.
func bicubicChannels(c int) int {
	switch {
	case c >= 32:
		return 32
	case c >= 16:
		return 16
	}
	return c
}

// bicubicFactor returns an entry of the code as the factor that it is.
func bicubicFactor(bits int32) float32 { return math.Float32frombits(uint32(bits)) }

// bicubicGeneric sets n channels of the places in the code; rows of dst and of nodes have c.
func bicubicGeneric(dst, nodes []float32, code []int32, n, cols, c int) {
	var row, sum [32]float32
	for ; len(code) > 0; code = code[bicubicEntry:] {
		cu, cv := code[2:][:bicubicNodes], code[2+bicubicNodes:][:bicubicNodes]
		sum := sum[:n]
		clear(sum)
		for a := range bicubicNodes {
			row := row[:n]
			clear(row)
			for b := range bicubicNodes {
				axpyGeneric(row, bicubicFactor(cv[b]), nodes[(int(code[0])+a*cols+b)*c:][:n])
			}
			axpyGeneric(sum, bicubicFactor(cu[a]), row)
		}
		copy(dst[int(code[1])*c:], sum)
	}
}

// bicubicGradGeneric adds n channels of rows of d, which have c, to nodes, which have width.
func bicubicGradGeneric(dnodes, d []float32, code []int32, n, cols, width, c int) {
	var part [32]float32
	for ; len(code) > 0; code = code[bicubicEntry:] {
		cu, cv := code[2:][:bicubicNodes], code[2+bicubicNodes:][:bicubicNodes]
		from := d[int(code[1])*c:][:n]
		for a := range bicubicNodes {
			part := part[:n]
			for j, v := range from {
				part[j] = bicubicFactor(cu[a]) * v
			}
			for b := range bicubicNodes {
				axpyGeneric(dnodes[(int(code[0])+a*cols+b)*width:][:n], bicubicFactor(cv[b]), part)
			}
		}
	}
}
