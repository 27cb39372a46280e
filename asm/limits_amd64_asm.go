package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// limitsAMD64 writes the loops that the machine is measured with; they compute nothing.
func limitsAMD64(f *x86.File) {
	for _, l := range levels {
		limitsFMA(f, l)
		limitsRead(f, l)
	}
}

// limitsFMA writes rounds of 96 multiply-adds in 12 independent chains. Two multiply-adds start in a cycle and each
// takes four, so eight chains are needed; the others make up for instructions that the machine sends to the wrong port.
func limitsFMA(f *x86.File, l x86.Level) {
	const chains, turns = 12, 8
	fn := f.Func(l, x86.F32, "fma", "func(rounds int)", "does 96 vector multiply-adds a round.")
	rounds := fn.Arg("rounds")
	acc, half := zeros(fn, chains), fn.ConstVec("half", 0.5)
	clearAll(fn, acc)
	fn.Label("loop")
	for range turns {
		for _, a := range acc {
			fn.VFMADD213PS(half, half, a)
		}
	}
	fn.DECQ(rounds)
	fn.JNE(operand.LabelRef("loop"))
	fn.End()
}

// limitsRead writes a loop that reads 512 bytes a turn.
func limitsRead(f *x86.File, l x86.Level) {
	const turn = 512
	fn := f.Func(l, x86.F32, "read", "func(x *byte, turns int)", "reads 512 bytes a turn.")
	x, turns := fn.Arg("x"), fn.Arg("turns")
	acc := zeros(fn, 4)
	clearAll(fn, acc)
	or := func(m operand.Mem, a reg.VecVirtual) {
		if l == x86.AVX512 {
			fn.VPORD(m, a, a)
		} else {
			fn.VPOR(m, a, a)
		}
	}
	fn.Label("loop")
	for at := 0; at < turn; at += l.Bytes() {
		or(operand.Mem{Base: x, Disp: at}, acc[at/l.Bytes()%len(acc)])
	}
	fn.ADDQ(operand.U32(turn), x)
	fn.DECQ(turns)
	fn.JNE(operand.LabelRef("loop"))
	fn.End()
}
