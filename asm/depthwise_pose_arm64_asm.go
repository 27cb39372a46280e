package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// depthwisePoseNEON writes the gradient to the weights of one pose after the other; see depthwisePose, its model for amd64. A pair of
// one image takes 4 multiply-adds, 4 loads of two registers and 2 instructions for the loop: 10 for 16 channels. The first image of a pair
// takes 7 more. There are only four sums at a time, so on most machines a multiply-add waits for the one before it.
func depthwisePoseNEON(file *neon.File) {
	depthwisePosesNEON(file)
	f := file.Func("depthwisePoseF32NEON", "(dw, dout, f *float32, code *int32, blocks, stride, images, fresh int)",
		"depthwisePoseF32NEON sets rows of dw, stride bytes apart, to sums over the pairs of blocks, for that many "+
			"images and 16 channels. A\n"+
			"block adds to what dw holds if its count & fresh is 0.")
	dw, dout, feat, code := f.Arg("dw"), f.Arg("dout"), f.Arg("f"), f.Arg("code")
	blocks, stride, images, fresh := f.Arg("blocks"), f.Arg("stride"), f.Arg("images"), f.Arg("fresh")
	wq, n, count, d, x := f.R(), f.R(), f.R(), f.R(), f.R()
	row := neonRow{4, 16, neon.S4}
	sum, a, b := f.V(4), f.V(4), f.V(4)

	block, begin, pair, image, stored, done := f.NewLabel("block"), f.NewLabel("begin"), f.NewLabel("pair"), f.NewLabel("image"),
		f.NewLabel("stored"), f.NewLabel("done")
	f.Text("CBZ %v, %s", blocks, done)
	f.Label(block)
	f.Text("MOVWU.P 4(%v), %v", code, wq)
	f.Text("MADD %v, %v, %v, %v", wq, dw, stride, wq)
	f.Text("MOVWU.P 4(%v), %v", code, n)
	f.Clear(sum)
	f.Text("TST %v, %v", fresh, n)
	f.Text("BNE %s", begin)
	row.load(f, sum, wq, 0)
	f.Label(begin)
	f.Text("AND $0x7fffffff, %v", n)
	f.Text("CBZ %v, %s", n, stored)
	f.Label(pair)
	f.Text("MOVWU.P 4(%v), %v", code, d)
	f.Text("MOVWU.P 4(%v), %v", code, x)
	f.Text("MADD %v, %v, %v, %v", d, dout, images, d)
	f.Text("MADD %v, %v, %v, %v", x, feat, images, x)
	f.Text("MOVD %v, %v", images, count)
	f.Counted(image, row.width, "multiply-adds", func() {
		row.load(f, a, d, 0)
		row.load(f, b, x, 0)
		f.Mla(sum, a, b)
		f.Text("ADD $64, %v", d)
		f.Text("ADD $64, %v", x)
		f.Text("SUBS $1, %v", count)
		f.Text("BNE %s", image)
	})
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", pair)
	f.Label(stored)
	row.store(f, sum, wq)
	f.Text("SUBS $1, %v", blocks)
	f.Text("BNE %s", block)
	f.Label(done)
	f.Text("RET")
}

// depthwisePosesNEON writes depthwisePoseNEON for joined blocks; see depthwisePoses, its model for amd64. Of one image, a row takes 24
// multiply-adds for 38 other instructions. All registers are taken.
func depthwisePosesNEON(file *neon.File) {
	f := file.Func("depthwisePosesF32NEON", "(dw, dout, f *float32, code *int32, blocks, stride, images, fresh int)",
		"depthwisePosesF32NEON is depthwisePoseF32NEON for joined blocks.")
	dw, dout, feat, code := f.Arg("dw"), f.Arg("dout"), f.Arg("f"), f.Arg("code")
	blocks, stride, images, fresh := f.Arg("blocks"), f.Arg("stride"), f.Arg("images"), f.Arg("fresh")
	head, n, count, d, x, image := f.R(), f.R(), f.R(), f.R(), f.R(), f.R()
	row := neonRow{4, 16, neon.S4}
	sums := make([]neon.Vec, poseGroup)
	for q := range sums {
		sums[q] = f.V(4)
	}
	a, b := f.V(4), f.V(4)
	eachPose := func(do func(sum neon.Vec, wq neon.R)) {
		for q, s := range sums {
			f.Text("MOVWU %d(%v), %v", 4*(1+q), head, x)
			f.Text("MADD %v, %v, %v, %v", x, dw, stride, x)
			do(s, x)
		}
	}
	const step = 4 * (poseGroup + 1)

	block, begin, next, same, stored, done := f.NewLabel("block"), f.NewLabel("begin"), f.NewLabel("row"), f.NewLabel("image"),
		f.NewLabel("stored"), f.NewLabel("done")
	f.Text("CBZ %v, %s", blocks, done)
	f.Label(block)
	f.Text("MOVD %v, %v", code, head)
	f.Text("ADD $%d, %v", step, code)
	f.Text("MOVWU (%v), %v", head, n)
	for _, s := range sums {
		f.Clear(s)
	}
	f.Text("TST %v, %v", fresh, n)
	f.Text("BNE %s", begin)
	eachPose(func(sum neon.Vec, wq neon.R) { row.load(f, sum, wq, 0) })
	f.Label(begin)
	f.Text("AND $0x7fffffff, %v", n)
	f.Text("CBZ %v, %s", n, stored)
	f.Label(next)
	f.Text("MOVD $0, %v", image)
	f.Text("MOVD %v, %v", images, count)
	f.Counted(same, poseGroup*row.width, "multiply-adds", func() {
		f.Text("MOVWU (%v), %v", code, d)
		f.Text("MADD %v, %v, %v, %v", d, dout, images, d)
		f.Text("ADD %v, %v", image, d)
		row.load(f, a, d, 0)
		for q, s := range sums {
			f.Text("MOVWU %d(%v), %v", 4*(1+q), code, x)
			f.Text("MADD %v, %v, %v, %v", x, feat, images, x)
			f.Text("ADD %v, %v", image, x)
			row.load(f, b, x, 0)
			f.Mla(s, a, b)
		}
		f.Text("ADD $64, %v", image)
		f.Text("SUBS $1, %v", count)
		f.Text("BNE %s", same)
	})
	f.Text("ADD $%d, %v", step, code)
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", next)
	f.Label(stored)
	eachPose(func(sum neon.Vec, wq neon.R) { row.store(f, sum, wq) })
	f.Text("SUBS $1, %v", blocks)
	f.Text("BNE %s", block)
	f.Label(done)
	f.Text("RET")
}
