package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

func candidatesNEON(file *neon.File) {
	for d := 1; d <= 3; d++ {
		candidatesOfNEON(file, d)
	}
}

// candidatesOfNEON writes the bits of the points with hi_c - x_c ≤ width_c for all of d coordinates, in 16 bits without sign.
//
// Eight comparisons leave 64 lanes of 16 ones or zeros. Their lower bytes fill four registers; each byte keeps the one bit that it has
// in its byte of the result, and three rounds of sums of neighbours bring the eight bytes of the result together. That is 15
// instructions for 64 points with the loop, beside 20 for the first coordinate and 28 for each further one: 0.55 instructions per
// point with one coordinate, 0.98 with two, 1.4 with three.
func candidatesOfNEON(file *neon.File, d int) {
	f := file.Func(fmt.Sprintf("candidates%dNEON", d), "(bits *uint64, x *uint16, stride, words int, window *uint16)",
		"candidates"+fmt.Sprint(d)+"NEON writes, for 64·words points, words at least 1, the bits of those with hi_c "+
			"- x_c ≤ width_c modulo 2^16 for\n"+
			"every c. window has hi_0, width_0, hi_1 and so on.")
	const vectors = 8 // of a word
	weight := f.V(1)
	table := f.Table("candidatesBits", neon.Bits(0x08040201, "the bit of each byte"), neon.Bits(0x80402010, ""),
		neon.Bits(0x08040201, ""), neon.Bits(0x80402010, ""))
	f.Text("FMOVQ (%v), F%d", table, weight[0])
	f.FreeR(table)
	window := f.Arg("window")
	hi, width := f.V(d), f.V(d)
	for c := range d {
		f.Text("VLD1R.P 2(%v), [V%d.H8]", window, hi[c])
		f.Text("VLD1R.P 2(%v), [V%d.H8]", window, width[c])
	}
	bits, stride, words := f.Arg("bits"), f.Arg("stride"), f.Arg("words")
	row := []neon.R{f.Arg("x")}
	for c := 1; c < d; c++ {
		r := f.R()
		f.Text("ADD %v<<1, %v, %v", stride, row[c-1], r)
		row = append(row, r)
	}
	loop := f.NewLabel("loop")
	f.Counted(loop, 64, "points", func() {
		in, gap := f.V(vectors), f.V(vectors)
		for c := range d {
			to := in
			if c > 0 {
				to = gap
			}
			for i := 0; i < vectors; i += 2 {
				f.Text("FLDPQ.P 32(%v), (F%d, F%d)", row[c], to[i], to[i+1])
			}
			f.SubHalf(to, hi[c:c+1], to)
			f.GEHalf(to, width[c:c+1], to)
			if c > 0 {
				f.And(in, in, gap)
			}
		}
		for i := range vectors / 2 {
			f.LowBytes(in[i:i+1], in[2*i:2*i+1], in[2*i+1:2*i+2])
		}
		f.And(in[:4], in[:4], weight)
		f.AddBytePairs(in[:1], in[:1], in[1:2])
		f.AddBytePairs(in[1:2], in[2:3], in[3:4])
		f.AddBytePairs(in[:1], in[:1], in[1:2])
		f.AddBytePairs(in[:1], in[:1], in[:1])
		f.Text("FMOVD.P F%d, 8(%v)", in[0], bits)
		f.Text("SUBS $1, %v", words)
		f.Text("BNE %s", loop)
	})
	f.Text("RET")
}
