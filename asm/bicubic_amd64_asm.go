package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func bicubicAMD64(f *x86.File) {
	for _, l := range levels {
		for _, channels := range []int{32, 16} {
			bicubic(f, l, channels)
			bicubicGrad(f, l, channels)
		}
	}
}

// bicubicDoc describes the spots that both kernels go through.
const bicubicDoc = "A spot is {node, row, then as float32 the factors of four rows of nodes, and those of four nodes " +
	"in a row}; the node is the first of four by four. " +
	"Nodes begin stride bytes after each other, rows of the grid line bytes, rows of %s step bytes."

// bicubicEntry is how many numbers of four bytes a spot takes.
const bicubicEntry = 10

// bicubic writes the interpolation between four by four nodes of a grid.
//
//	dst[row] = Σ_a cu[a] · Σ_b cv[b] · nodes[node + (a, b)]
//
// The sum along a row of the grid first: with the four factors cv in registers, the 16 nodes take 16 multiply-adds with
// an operand in memory for each vector of channels, and adding up the four rows 4 without one.
func bicubic(f *x86.File, l x86.Level, channels int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("bicubic%dF32", channels),
		"func(dst, nodes *float32, spots *int32, n, stride, line, step int)",
		fmt.Sprintf("sets %d channels of a row of dst for every spot, n > 0 of them. "+bicubicDoc, channels, "dst"))
	b := newBicubicSpot(fn, channels)
	dst, step := fn.Arg("dst"), fn.Arg("step")
	sum, row := make([]reg.VecVirtual, b.vecs), make([]reg.VecVirtual, b.vecs)
	for v := range sum {
		sum[v], row[v] = fn.Vec(), fn.Vec()
	}
	fn.Label("spot")
	b.begin()
	to := rowAddress(fn, operand.Mem{Base: b.spots, Disp: 4}, dst, step)
	for a := range 4 {
		for c := range 4 {
			for v := range row {
				at := b.node(c, v)
				if c == 0 {
					fn.VMULPS(at, b.cv[c], row[v])
				} else {
					fn.VFMADD231PS(at, b.cv[c], row[v])
				}
			}
		}
		cu := b.factor(a)
		for v := range sum {
			if a == 0 {
				fn.VMULPS(row[v], cu, sum[v])
			} else {
				fn.VFMADD231PS(row[v], cu, sum[v])
			}
		}
		b.nextRow(a)
	}
	for v := range sum {
		fn.VMOVUPS(sum[v], operand.Mem{Base: to, Disp: v * l.Bytes()})
	}
	b.end()
}

// bicubicGrad writes the transpose of bicubic: every spot adds to four by four nodes. A node costs a load, a
// multiply-add and a store for each vector; stores are what takes time.
func bicubicGrad(f *x86.File, l x86.Level, channels int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("bicubicGrad%dF32", channels),
		"func(nodes, src *float32, spots *int32, n, stride, line, step int)",
		fmt.Sprintf("adds %d channels of a row of src to the nodes around every spot, n > 0 of them. "+bicubicDoc, channels, "src"))
	b := newBicubicSpot(fn, channels)
	src, step := fn.Arg("src"), fn.Arg("step")
	d, part := make([]reg.VecVirtual, b.vecs), make([]reg.VecVirtual, b.vecs)
	for v := range d {
		d[v], part[v] = fn.Vec(), fn.Vec()
	}
	fn.Label("spot")
	b.begin()
	from := rowAddress(fn, operand.Mem{Base: b.spots, Disp: 4}, src, step)
	for v := range d {
		fn.VMOVUPS(operand.Mem{Base: from, Disp: v * l.Bytes()}, d[v])
	}
	for a := range 4 {
		cu := b.factor(a)
		for v := range d {
			fn.VMULPS(d[v], cu, part[v])
		}
		for c := range 4 {
			for v := range d {
				at, x := b.node(c, v), fn.Vec()
				fn.VMOVUPS(at, x)
				fn.VFMADD231PS(part[v], b.cv[c], x)
				fn.VMOVUPS(x, at)
			}
		}
		b.nextRow(a)
	}
	b.end()
}

// bicubicSpot is what both kernels do at a spot.
type bicubicSpot struct {
	fn                                    *x86.Func
	vecs                                  int
	nodes, spots, n, stride, triple, line reg.GPVirtual
	at                                    reg.GPVirtual    // the first node of a row of the grid
	cv                                    []reg.VecVirtual // the factors along a row
}

func newBicubicSpot(fn *x86.Func, channels int) *bicubicSpot {
	b := &bicubicSpot{fn: fn, vecs: 4 * channels / fn.Level.Bytes(), triple: fn.GP64()}
	b.nodes, b.spots, b.n, b.stride, b.line = fn.Arg("nodes"), fn.Arg("spots"), fn.Arg("n"), fn.Arg("stride"), fn.Arg("line")
	fn.LEAQ(operand.Mem{Base: b.stride, Index: b.stride, Scale: 2}, b.triple)
	for range 4 {
		b.cv = append(b.cv, fn.Vec())
	}
	return b
}

// begin finds the nodes and factors of a spot.
func (b *bicubicSpot) begin() {
	b.at = rowAddress(b.fn, operand.Mem{Base: b.spots}, b.nodes, b.stride)
	for c, to := range b.cv {
		b.fn.VBROADCASTSS(operand.Mem{Base: b.spots, Disp: 8 + 16 + 4*c}, to)
	}
}

// factor returns the factor of row a.
func (b *bicubicSpot) factor(a int) reg.VecVirtual {
	cu := b.fn.Vec()
	b.fn.VBROADCASTSS(operand.Mem{Base: b.spots, Disp: 8 + 4*a}, cu)
	return cu
}

// node is where vector v of node c of a row lies.
func (b *bicubicSpot) node(c, v int) operand.Mem {
	m := operand.Mem{Base: b.at, Disp: v * b.fn.Level.Bytes()}
	switch c {
	case 1, 2:
		m.Index, m.Scale = b.stride, uint8(c)
	case 3:
		m.Index, m.Scale = b.triple, 1
	}
	return m
}

// nextRow goes on to the row after row a.
func (b *bicubicSpot) nextRow(a int) {
	if a < 3 {
		b.fn.ADDQ(b.line, b.at)
	}
}

func (b *bicubicSpot) end() {
	b.fn.ADDQ(operand.U8(4*bicubicEntry), b.spots)
	b.fn.DECQ(b.n)
	b.fn.JNE(operand.LabelRef("spot"))
	b.fn.End()
}
