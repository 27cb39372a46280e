package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The kernels that sort points into the cells of a grid.

func gridAMD64(f *x86.File) {
	for _, l := range levels {
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			gridExtent(f, l, e)
			gridCells(f, l, e)
		}
		for _, stride := range []int{2, 3} {
			gridCellsNear(f, l, stride)
		}
	}
}

// gridExtent takes, lane by lane, the least and the greatest of vectors that are stride apart. Where the dim
// coordinates of a point stand side by side, the axes of the lanes repeat every dim vectors. So with a stride of dim
// vectors each lane stays on one axis, and nothing needs to be shuffled. check adds up 0·x: the sum stays 0 until a
// number is not finite, and is NaN from there on. It is needed because minima and maxima do not show a NaN.
func gridExtent(f *x86.File, l x86.Level, e x86.Elem) {
	T := e.GoType()
	t := &treeKernel{f.Func(l, e, "gridExtent"+e.String(), "func(low, high, check, x *"+T+", stride, n int)",
		"widens the lanes of low and high by n > 0 vectors of x that are stride apart, and adds 0·x to check."), 0}
	low, high, check, x, n := t.fn.Arg("low"), t.fn.Arg("high"), t.fn.Arg("check"), t.fn.Arg("x"), t.fn.Arg("n")
	stride := t.bytes(t.fn.Arg("stride"))
	at := func(p reg.GPVirtual) operand.Mem { return operand.Mem{Base: p} }
	lo, hi, sum, zero := t.load(at(low), nil), t.load(at(high), nil), t.load(at(check), nil), t.fn.Zero()
	loop := t.fn.NewLabel("loop")
	t.fn.Label(loop)
	v := t.load(at(x), nil)
	t.inst("VMIN", v, lo, lo)
	t.inst("VMAX", v, hi, hi)
	t.inst("VFMADD231", v, zero, sum)
	t.fn.ADDQ(stride, x)
	t.fn.DECQ(n)
	t.fn.JNE(operand.LabelRef(loop))
	t.inst("VMOVU", lo, at(low))
	t.inst("VMOVU", hi, at(high))
	t.inst("VMOVU", sum, at(check))
	t.fn.End()
}

// gridCells adds to each point's cell what one axis contributes: width times the number of the cell there. Coordinates are
// gathered, so that they may lie in any rows. A number that is no int32 becomes 0x80000000, which is above last
// when read as an unsigned number.
func gridCells(f *x86.File, l x86.Level, e x86.Elem) {
	T := e.GoType()
	t := &gridKernel{treeKernel{f.Func(l, e, "gridCells"+e.String(), "func(at *int32, x *"+T+", stride, n int, low, inv "+T+
		", last, width int32)",
		"adds width·min(int((x[i·stride] - low)·inv), last) to at[i] for n numbers, with last where there is no such int32."), 0}}
	at, x, stride, n := t.fn.Arg("at"), t.fn.Arg("x"), t.fn.Arg("stride"), t.fn.Arg("n")
	low, inv := t.fn.BroadcastArg("low"), t.fn.BroadcastArg("inv")
	last, width := t.spread("last"), t.spread("width")
	// The lanes' offsets, in elements: 0, stride, 2·stride, ...
	lanes := make([]uint64, 16)
	for i := range lanes {
		lanes[i] = uint64(i)
		if e == x86.F64 { // a table of 64-bit numbers: two lanes in each
			lanes[i] = uint64(2*i) | uint64(2*i+1)<<32
		}
	}
	offset, table := t.idVec(), t.fn.GP64()
	t.fn.LEAQ(t.fn.Data("gridLanes"+e.String(), lanes...), table)
	x0 := t.fn.XMM()
	t.fn.VMOVQ(stride, x0)
	t.fn.VPBROADCASTD(x0, offset)
	t.fn.VPMULLD(operand.Mem{Base: table}, offset, offset)
	// A vector of coordinates takes up stride vectors.
	t.fn.IMUL3Q(operand.U8(l.Bytes()), stride, stride)
	floats := map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[e]
	ones := t.fn.Vec()
	if l == x86.AVX2 {
		t.fn.VPCMPEQD(ones, ones, ones)
	}
	body := func(tail *tailMasks) {
		v, from := t.fn.Zero(), operand.Mem{Base: x, Index: offset, Scale: uint8(e.Bytes())}
		if l == x86.AVX512 { // a gather uses its mask up
			k := t.fn.K()
			if tail == nil {
				t.fn.KXNORW(k, k, k)
			} else {
				t.fn.KMOVW(tail.k, k)
			}
			t.fn.Inst("VGATHERD"+floats, from, k, v)
		} else {
			m := t.fn.Vec()
			if tail == nil {
				t.fn.VMOVUPS(ones, m)
			} else {
				t.fn.VMOVUPS(tail.elem, m)
			}
			t.fn.Inst("VGATHERD"+floats, m, from, v)
		}
		t.addCells(at, v, low, inv, last, width, tail)
	}
	t.vectors(n, body, func() {
		t.fn.ADDQ(stride, x)
		t.fn.ADDQ(operand.U8(4*t.fn.Lanes()), at)
	})
	t.fn.End()
}

// gridKernel is a kernel for cells while it is written.
type gridKernel struct{ treeKernel }

// spread loads an int32 argument into all lanes.
func (t *gridKernel) spread(name string) reg.VecVirtual {
	r := t.idVec()
	t.fn.VBROADCASTSS(t.arg(name), r)
	return r
}

// addCells adds the contributions of coordinates v to the cells at at.
func (t *gridKernel) addCells(at reg.GPVirtual, v, low, inv, last, width reg.VecVirtual, tail *tailMasks) {
	t.inst("VSUB", low, v, v)
	t.inst("VMUL", inv, v, v)
	k := t.idVec()
	switch {
	case t.fn.Elem == x86.F32:
		t.fn.VCVTTPS2DQ(v, k)
	case t.fn.Level == x86.AVX512:
		t.fn.VCVTTPD2DQ(v, k)
	default:
		t.fn.VCVTTPD2DQY(v, k)
	}
	t.fn.VPMINUD(last, k, k)
	t.fn.VPMULLD(width, k, k)
	place := operand.Mem{Base: at}
	t.fn.VPADDD(t.loadIDs(place, tail), k, k)
	switch {
	case tail == nil:
		t.fn.VMOVUPS(k, place)
	case t.fn.Level == x86.AVX512:
		t.fn.VMOVDQU32(k, tail.k, place)
	default:
		t.fn.VPMASKMOVD(k, tail.id, place)
	}
}

// gridCellsNear is gridCells for points whose two or three float32 stand side by side. These need no gather: in two or
// three vectors that overlap or follow each other, the wanted coordinates stand in different lanes. So the vectors are
// blended into one, and a permutation puts it in order.
func gridCellsNear(f *x86.File, l x86.Level, stride int) {
	t := &gridKernel{treeKernel{f.Func(l, x86.F32, fmt.Sprintf("gridCells%dF32", stride),
		"func(at *int32, x *float32, n int, low, inv float32, last, width int32)",
		fmt.Sprintf("is gridCells for a stride of %d and n > 0 numbers, a multiple of the lanes, after which x goes on.", stride)), 0}}
	at, x, n := t.fn.Arg("at"), t.fn.Arg("x"), t.fn.Arg("n")
	low, inv, last, width := t.fn.BroadcastArg("low"), t.fn.BroadcastArg("inv"), t.spread("last"), t.spread("width")
	lanes := t.fn.Lanes()
	// Where vector v begins, and the lanes that it gives: those of coordinates, at multiples of the stride.
	begin, gives := make([]int, stride), make([]uint64, stride)
	order := make([]uint64, lanes)
	for v := range stride {
		if begin[v] = v * lanes; stride == 2 {
			begin[v] -= v // otherwise both vectors would have them in the even lanes
		}
		for lane := range lanes {
			if i := begin[v] + lane; i%stride == 0 && i/stride < lanes && (v == 0 || i >= begin[v-1]+lanes) {
				gives[v] |= 1 << lane
				order[i/stride] = uint64(lane)
			}
		}
	}
	permutation := t.fn.Vec()
	t.fn.VMOVUPS(t.fn.Data(fmt.Sprintf("gridOrder%dx%d", stride, lanes), order...), permutation)
	masks := make([]reg.OpmaskVirtual, stride)
	for v := 1; l == x86.AVX512 && v < stride; v++ {
		r := t.fn.GP32()
		masks[v] = t.fn.K()
		t.fn.MOVL(operand.U32(uint32(gives[v])), r)
		t.fn.KMOVW(r, masks[v])
	}
	loop := t.fn.NewLabel("loop")
	t.fn.Label(loop)
	r := t.fn.Vec()
	t.fn.VMOVUPS(operand.Mem{Base: x}, r)
	for v := 1; v < stride; v++ {
		m := operand.Mem{Base: x, Disp: 4 * begin[v]}
		if l == x86.AVX512 {
			t.fn.VMOVUPS(m, masks[v], r)
		} else {
			t.fn.VBLENDPS(operand.U8(uint8(gives[v])), m, r, r)
		}
	}
	t.fn.VPERMPS(r, permutation, r)
	t.addCells(at, r, low, inv, last, width, nil)
	t.fn.ADDQ(operand.U32(uint32(stride*l.Bytes())), x)
	t.fn.ADDQ(operand.U8(l.Bytes()), at)
	t.fn.SUBQ(operand.U8(lanes), n)
	t.fn.JNE(operand.LabelRef(loop))
	t.fn.End()
}
