package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// streamAMD64 writes what stores past the caches need. Such stores are as fast by half lines, so one level suffices.
func streamAMD64(f *x86.File) {
	fn := f.Func(x86.AVX2, x86.F32, "streamLines", "func(dst, src *byte, lines int, x, y *byte, step int)",
		"copies lines of 64 bytes past the caches, for a dst that begins on a line and lines > 0. "+
			"With each line it fetches two lines at x and one at y, which then move on by step bytes.")
	dst, src, lines := fn.Arg("dst"), fn.Arg("src"), fn.Arg("lines")
	x, y, step := fn.Arg("x"), fn.Arg("y"), fn.Arg("step")
	low, high := fn.Vec(), fn.Vec()
	fn.Label("line")
	fn.VMOVUPS(operand.Mem{Base: src}, low)
	fn.VMOVUPS(operand.Mem{Base: src, Disp: 32}, high)
	fn.VMOVNTPS(low, operand.Mem{Base: dst})
	fn.VMOVNTPS(high, operand.Mem{Base: dst, Disp: 32})
	fn.PREFETCHT0(operand.Mem{Base: x})
	fn.PREFETCHT0(operand.Mem{Base: x, Disp: cacheLine})
	fn.PREFETCHT0(operand.Mem{Base: y})
	fn.ADDQ(operand.I32(cacheLine), src)
	fn.ADDQ(operand.I32(cacheLine), dst)
	fn.ADDQ(step, x)
	fn.ADDQ(step, y)
	fn.DECQ(lines)
	fn.JNE(operand.LabelRef("line"))
	fn.End()

	for _, m := range elementMaps {
		for _, kind := range m.past() {
			m.writePast(f, kind)
		}
	}

	fence := f.Func(x86.AVX2, x86.F32, "storeFence", "func()", "waits until stores past the caches are seen by every core.")
	fence.SFENCE()
	fence.End()
}

// pastVectors is how many vectors of AVX2 are two cache lines.
const pastVectors = 4

// pastBodies are the functions so short that memory alone binds large results: they are stored past the caches by kernels of their own.
// The longer ones, and those that hardly anybody calls for large arrays, go through a buffer.
var pastBodies = func() map[string]func(b *x86.Block, in []x86.Value) x86.Value {
	bodies := map[string]func(b *x86.Block, in []x86.Value) x86.Value{
		"add": func(b *x86.Block, in []x86.Value) x86.Value { return b.Add(in[0], in[1]) },
		// The uniform stands before the slice.
		"scale":       func(b *x86.Block, in []x86.Value) x86.Value { return b.Mul(in[1], in[0]) },
		"relu":        func(b *x86.Block, in []x86.Value) x86.Value { return reluF32(b, in[0]) },
		"reluGrad":    func(b *x86.Block, in []x86.Value) x86.Value { return reluGradF32(b, in[0], in[1]) },
		"sigmoidGrad": func(b *x86.Block, in []x86.Value) x86.Value { return sigmoidGradF32(b, in[0], in[1]) },
	}
	for _, o := range elementwise {
		if slices.Contains([]string{"sub", "mul", "div", "sqrt", "max", "min", "abs", "clip"}, o.name) {
			bodies[o.name] = o.op
		}
	}
	return bodies
}()

// past are the types whose large results a kernel of their own stores.
func (m *elementMap) past() []string {
	if pastBodies[m.name] == nil {
		return nil
	}
	return m.stream
}

func (m *elementMap) writePast(f *x86.File, kind string) {
	e := map[string]x86.Elem{"F32": x86.F32, "F64": x86.F64}[kind]
	fn, past := recordMap(f, x86.AVX2, e, m.name+kind+"Past",
		"is "+m.name+kind+" for a multiple of two cache lines that begins with a line, stored past the caches.",
		m.names(), pastBodies[m.name])
	past.Unroll, past.Pinned = pastVectors, 2
	fn.MapPast(past)
}
