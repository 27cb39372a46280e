package main

import (
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// streamAMD64 writes kernels that store past the caches. Such stores are as fast by half lines, so one level suffices.
func streamAMD64(f *x86.File) {
	for _, m := range elementMaps {
		for _, kind := range m.stream {
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
		bodies[o.name] = o.op
	}
	return bodies
}()

func (m *elementMap) writePast(f *x86.File, kind string) {
	e := map[string]x86.Elem{"F32": x86.F32, "F64": x86.F64}[kind]
	fn, past := recordMap(f, x86.AVX2, e, m.name+kind+"Past",
		"is "+m.name+kind+" for a multiple of two cache lines that begins with a line, stored past the caches.",
		m.names(), pastBodies[m.name])
	past.Unroll, past.Pinned = pastVectors, 2
	fn.MapPast(past)
}
