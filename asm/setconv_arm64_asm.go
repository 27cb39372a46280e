package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// setConvNEON writes the exponents of the set convolution for points of 1, 2 and 3 coordinates; the exponential and the weighted
// sums are kernels of their own.
func setConvNEON(file *neon.File) {
	for d := 1; d <= 3; d++ {
		exponentNEON(file, neon.S4, d)
		exponentNEON(file, neon.D2, d)
	}
}

// exponentNEON writes e = -gamma·Σ_a (t_a - x_a)² for d coordinates, in float64, for a set convolution in float32 rounded
// once. Points are taken two to a register, their coordinates separated by the load. 12, 16 and 20 instructions for 4
// points with one, two and three coordinates, beside 3 for the store and the loop; two less in float64.
func exponentNEON(file *neon.File, l neon.Lanes, d int) {
	name := fmt.Sprintf("exponent%d%sNEON", d, l.Suffix())
	f := file.Func(name, fmt.Sprintf("(e *%s, t, x *float64, n int, gamma float64)", l.Type()),
		fmt.Sprintf("%s sets e[i] = -gamma·|t - x[i]|² for n points of %d coordinates.", name, d))
	gamma, target := f.SplatD("gamma"), f.V(d)
	e, t, x, n := f.Arg("e"), f.Arg("t"), f.Arg("x"), f.Arg("n")
	for a := range target {
		f.Text("VLD1R.P 8(%v), [V%d.D2]", t, target[a])
	}
	// scaled returns -gamma times the squared distances, in place of the first coordinate.
	scaled := func(coords []neon.Vec) neon.Vec {
		for a, c := range coords {
			f.SubD(c, c, target[a:a+1])
		}
		s := coords[0]
		f.MulD(s, s, s)
		for _, c := range coords[1:] {
			f.MlaD(s, c, c)
		}
		f.MulD(s, s, gamma)
		f.NegD(s, s)
		return s
	}
	loop, rest, end := f.NewLabel("loop"), f.NewLabel("rest"), f.NewLabel("end")
	f.Text("SUBS $4, %v", n)
	f.Text("BLT %s", rest)
	f.Counted(loop, 4, "points", func() {
		two := make([]neon.Vec, 2) // [points/2][d], consecutive registers for the load
		for i := range two {
			two[i] = f.V(d)
			f.LoadSplitD(two[i], x)
		}
		coords := make([]neon.Vec, d)
		for a := range coords {
			coords[a] = neon.Vec{two[0][a], two[1][a]}
		}
		s := scaled(coords)
		out := f.V(1)
		if l == neon.D2 {
			f.Text("FSTPQ.P (F%d, F%d), 32(%v)", s[0], s[1], e)
		} else {
			f.Narrow(out, s[:1])
			f.NarrowHigh(out, s[1:])
			f.Text("FMOVQ.P F%d, 16(%v)", out[0], e)
		}
		f.Text("SUBS $4, %v", n)
		f.Text("BGE %s", loop)
		f.Free(append(two, out)...)
	})

	// The last points one by one, in lane 0 of the same arithmetic.
	f.Label(rest)
	f.Text("ADDS $4, %v", n)
	f.Text("BEQ %s", end)
	single := f.NewLabel("point")
	f.Label(single)
	coords := make([]neon.Vec, d)
	for a := range coords {
		coords[a] = f.V(1)
		f.Text("FMOVD.P 8(%v), F%d", x, coords[a][0])
	}
	s := scaled(coords)
	if l == neon.S4 {
		f.Narrow(s, s)
	}
	f.Text("FMOV%s.P F%d, %d(%v)", l.Letter(), s[0], l.Bits()/8, e)
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", single)
	f.Label(end)
	f.Text("RET")
}
