package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// depthwiseBatchNEON writes the convolution of several images, for a slice of channels in which the images of a point stand together;
// see depthwiseBatch, its model for amd64. The sums of four images take sixteen registers, a pair's weights four.
func depthwiseBatchNEON(file *neon.File) {
	for _, images := range []int{4, 2, 1} {
		f := file.Func(fmt.Sprintf("depthwiseBatch%dF32NEON", images),
			"(out, f, w *float32, code *int32, blocks, copies, stride, image, wstride int)",
			fmt.Sprintf("depthwiseBatch%dF32NEON sets rows of out, stride bytes apart, to sums of w[pose]·f[point] "+
				"over the pairs of blocks, for %d\n"+
				"images, image bytes apart, and 16 channels; rows of w lie wstride bytes apart.", images, images))
		depthwiseBatchImages(f, images)
	}
}

func depthwiseBatchImages(f *neon.Func, images int) {
	out, feat, weight, code := f.Arg("out"), f.Arg("f"), f.Arg("w"), f.Arg("code")
	blocks, size, stride, image, wstride := f.Arg("blocks"), f.Arg("copies"), f.Arg("stride"), f.Arg("image"), f.Arg("wstride")
	at, pair, n, wj, fj := f.R(), f.R(), f.R(), f.R(), f.R()
	f.Text("LSL $2, %v, %v", size, size) // of a pair's points, in bytes
	row := neonRow{4, 16, neon.S4}
	sums := make([]neon.Vec, images)
	for b := range sums {
		sums[b] = f.V(4)
	}
	w, x := f.V(4), f.V(4)

	block, same, next, summed, done := f.NewLabel("block"), f.NewLabel("copy"), f.NewLabel("pair"), f.NewLabel("summed"), f.NewLabel("done")
	f.Text("CBZ %v, %s", blocks, done)
	f.Label(block)
	f.Text("MOVD $0, %v", at)
	f.Label(same)
	f.Text("ADD %v, %v, %v", size, code, pair)
	f.Text("ADD $8, %v", pair)
	f.Text("MOVWU (%v), %v", code, n)
	for _, s := range sums {
		f.Clear(s)
	}
	f.Text("CBZ %v, %s", n, summed)
	f.Counted(next, images*row.width, "multiply-adds", func() {
		f.Text("MOVWU.P 4(%v), %v", pair, wj)
		f.Text("MADD %v, %v, %v, %v", wj, weight, wstride, wj)
		f.Text("ADD %v, %v, %v", at, pair, fj)
		f.Text("MOVWU (%v), %v", fj, fj)
		f.Text("ADD %v<<%d, %v, %v", fj, map[int]int{4: 8, 2: 7, 1: 6}[images], feat, fj)
		row.load(f, w, wj, 0)
		for b := range sums {
			row.load(f, x, fj, 64*b)
			f.Mla(sums[b], w, x)
		}
		f.Text("ADD %v, %v", size, pair)
		f.Text("SUBS $1, %v", n)
		f.Text("BNE %s", next)
	})
	f.Label(summed)
	f.Text("ADD %v, %v, %v", at, code, wj)
	f.Text("MOVWU 8(%v), %v", wj, wj)
	f.Text("MADD %v, %v, %v, %v", wj, out, stride, wj)
	f.Text("FMOVS 4(%v), F%d", code, x[0])
	for b := range sums {
		f.MulK(sums[b], sums[b], neon.K{Reg: x[0]})
		row.store(f, sums[b], wj)
		if b+1 < images {
			f.Text("ADD %v, %v", image, wj)
		}
	}
	f.Text("ADD $4, %v", at)
	f.Text("CMP %v, %v", size, at)
	f.Text("BLT %s", same)
	f.Text("MOVD %v, %v", pair, code)
	f.Text("SUBS $1, %v", blocks)
	f.Text("BNE %s", block)
	f.Label(done)
	f.Text("RET")
}
