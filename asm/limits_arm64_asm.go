package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// limitsNEON writes the loops that the machine is measured with; see limitsAMD64.
func limitsNEON(file *neon.File) {
	f := file.Func("fmaNEON", "(rounds int)", "fmaNEON does 96 vector multiply-adds a round.")
	rounds, acc, half := f.Arg("rounds"), f.V(24), f.V(1)
	f.Clear(acc)
	f.Clear(half)
	loop := f.NewLabel("loop")
	f.Label(loop)
	for range 4 {
		for i := range acc {
			f.Mla(acc[i:i+1], half, half)
		}
	}
	f.Text("SUBS $1, %v", rounds)
	f.Text("BNE %s", loop)
	f.Text("RET")

	f = file.Func("readNEON", "(x *byte, turns int)", "readNEON reads 512 bytes a turn.")
	x, turns, v := f.Arg("x"), f.Arg("turns"), f.V(8)
	loop = f.NewLabel("loop")
	f.Label(loop)
	for at := 0; at < 512; at += 32 {
		i := at / 16 % 8
		f.Text("FLDPQ %d(%v), (F%d, F%d)", at, x, v[i], v[i+1])
	}
	f.Text("ADD $512, %v", x)
	f.Text("SUBS $1, %v", turns)
	f.Text("BNE %s", loop)
	f.Text("RET")
}
