package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// pointConvSets returns how many sets of accumulators a block of that many registers has, so that at least eight
// multiply-adds are independent; in float64, four.
func pointConvSets(e x86.Elem, registers int) int {
	return max(1, map[x86.Elem]int{x86.F32: 8, x86.F64: 4}[e]/registers)
}

func pointConvAMD64(f *x86.File) {
	for _, l := range levels {
		channels := []int{16, 8, 4, 2, 1}
		if l == x86.AVX2 {
			channels = []int{4, 2, 1}
		}
		for _, vecs := range []int{2, 1} {
			for _, a := range channels {
				if a*vecs <= channels[0]*2 && (l == x86.AVX512 && a*vecs <= 16 || l == x86.AVX2 && a*vecs <= 8) {
					pointConvRows(f, l, x86.F32, a, vecs)
				}
			}
		}
		for _, a := range []int{8, 4, 2, 1} {
			pointConvGradF(f, l, x86.F32, a)
		}
		for _, vecs := range []int{2, 1} {
			pointConvGradW(f, l, x86.F32, vecs)
		}
		pointConvF64(f, l)
	}
}

// pointConvF64 writes the functions of float64. They have fewer shapes, because they serve to check gradients more often than to train.
func pointConvF64(f *x86.File, l x86.Level) {
	for _, a := range []int{4, 1} {
		for _, vecs := range []int{2, 1} {
			pointConvRows(f, l, x86.F64, a, vecs)
		}
		pointConvGradF(f, l, x86.F64, a)
	}
	for _, vecs := range []int{2, 1} {
		pointConvGradW(f, l, x86.F64, vecs)
	}
}

// pointConvRows writes a function that keeps a block of a row's matrix in registers while it goes through the pairs:
//
//	p[i, a, b] = Σ_k f[index[k], a] · w[pose[k], b],  a < channels, b < vecs·lanes
//
// Each vector of w is read once for all a, each number of f is repeated over all lanes.
func pointConvRows(f *x86.File, l x86.Level, e x86.Elem, channels, vecs int) {
	fn := f.Func(l, e, fmt.Sprintf("pointConv%dx%d%v", channels, vecs, e),
		ofType("func(p, f, w *float32, offsets *int, index, pose *int32, rows, pstride, fstride, wstride, tail int)", e),
		fmt.Sprintf("sets p[i, a, b] = Σ f[index, a]·w[pose, b] over row i's pairs, for i < rows, a < %d and %d vectors of "+
			"b, of which the last has tail numbers. Strides are in bytes; p[i, a] and p[i, a+1] lie wstride apart.", channels, vecs))
	tail := fn.NewBlockTail(fn.Arg("tail"), vecs)
	p, feat, weight := fn.Arg("p"), fn.Arg("f"), fn.Arg("w")
	fstride, wstride := fn.Arg("fstride"), fn.Arg("wstride")
	g := newGatherWalk(fn)
	sets := pointConvSets(e, channels*vecs)
	acc := make([][][]reg.VecVirtual, channels)
	for a := range acc {
		acc[a] = make([][]reg.VecVirtual, vecs)
		for v := range acc[a] {
			acc[a][v] = zeros(fn, sets)
		}
	}
	g.eachRow(func() {
		for a := range acc {
			for v := range acc[a] {
				clearAll(fn, acc[a][v])
			}
		}
		g.eachPair(sets, func(set, at int) {
			fj := rowAddress(fn, pairAt(g.index, at), feat, fstride)
			wj := rowAddress(fn, pairAt(g.pose, at), weight, wstride)
			wv := make([]reg.VecVirtual, vecs)
			for v := range wv {
				wv[v] = rowVector(fn, tail, wj, v, vecs)
			}
			for a := range acc {
				sums := make([]reg.VecVirtual, vecs)
				for v := range sums {
					sums[v] = acc[a][v][set]
				}
				multiplyAddRepeated(fn, operand.Mem{Base: fj, Disp: e.Bytes() * a}, wv, sums)
			}
		})
	}, func() {
		row := fn.GP64()
		fn.MOVQ(p, row)
		for a := range acc {
			for v := range acc[a] {
				storeVector(fn, tail, sumSets(fn, acc[a][v]), row, v, vecs)
			}
			fn.ADDQ(wstride, row)
		}
		fn.ADDQ(fn.Arg("pstride"), p)
	})
	fn.End()
}

// rowVector reads vector v of a row, the last one under the mask.
func rowVector(fn *x86.Func, tail x86.Tail, row reg.Register, v, vecs int) reg.VecVirtual {
	m := operand.Mem{Base: row, Disp: v * fn.Level.Bytes()}
	if v == vecs-1 {
		return tail.Load(m)
	}
	r := fn.Vec()
	fn.VMOVUPS(m, r)
	return r
}

// storeVector writes vector v of a row, the last one under the mask.
func storeVector(fn *x86.Func, tail x86.Tail, r reg.VecVirtual, row reg.Register, v, vecs int) {
	m := operand.Mem{Base: row, Disp: v * fn.Level.Bytes()}
	if v == vecs-1 {
		tail.Store(r, m)
	} else {
		fn.VMOVUPS(r, m)
	}
}

// pointConvGradF writes the gradient to f. A row x of the transposed neighbourhood lists the outputs that used it:
//
//	df[x, a] = Σ_k Σ_b w[pose[k], b] · dp[index[k], a, b],  a < channels
//
// The lanes of b are added up after all pairs. Blocks whole vectors of b come before the last one.
func pointConvGradF(f *x86.File, l x86.Level, e x86.Elem, channels int) {
	fn := f.Func(l, e, fmt.Sprintf("pointConvGradF%d%v", channels, e),
		ofType("func(df, dp, w *float32, offsets *int, index, pose *int32, rows, fstride, pstride, wstride, blocks, tail int)", e),
		fmt.Sprintf("sets df[x, a] = Σ w[pose, b]·dp[index, a, b] over row x's pairs and over b, for x < rows, a < %d; b counts "+
			"blocks whole vectors and tail numbers. Strides are in bytes; dp[i, a] and dp[i, a+1] lie wstride apart.", channels))
	tail := fn.NewTail(fn.Arg("tail"))
	df, dp, weight, wstride := fn.Arg("df"), fn.Arg("dp"), fn.Arg("w"), fn.Arg("wstride")
	g := newGatherWalk(fn)
	acc := zeros(fn, channels)
	// Rows a of dp from four registers: stride·{0, 1, 2, 4} from either of the first two rows, or twice three strides.
	var wstride3 reg.GPVirtual
	if channels > 4 {
		wstride3 = fn.GP64()
		fn.LEAQ(operand.Mem{Base: wstride, Index: wstride, Scale: 2}, wstride3)
	}
	g.eachRow(func() {
		clearAll(fn, acc)
		g.eachPair(1, func(_, at int) {
			row := fn.GP64()
			fn.MOVL(pairAt(g.index, at), row.As32())
			fn.IMULQ(fn.Arg("pstride"), row)
			fn.ADDQ(dp, row)
			wj := rowAddress(fn, pairAt(g.pose, at), weight, wstride)
			row1 := fn.GP64()
			if channels > 2 {
				fn.LEAQ(operand.Mem{Base: row, Index: wstride, Scale: 1}, row1)
			}
			address := func(a int) operand.Mem {
				switch a {
				case 0:
					return operand.Mem{Base: row}
				case 1, 2, 4:
					return operand.Mem{Base: row, Index: wstride, Scale: uint8(a)}
				case 3, 5:
					return operand.Mem{Base: row1, Index: wstride, Scale: uint8(a - 1)}
				case 6:
					return operand.Mem{Base: row, Index: wstride3, Scale: 2}
				}
				return operand.Mem{Base: row1, Index: wstride3, Scale: 2}
			}
			left := fn.GP64()
			loop, last := fn.NewLabel("vectors"), fn.NewLabel("last")
			fn.MOVQ(fn.Arg("blocks"), left)
			fn.TESTQ(left, left)
			fn.JE(operand.LabelRef(last))
			fn.Label(loop)
			wv := fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: wj}, wv)
			for a := range acc {
				floats(fn, "VFMADD231", address(a), wv, acc[a])
			}
			fn.ADDQ(operand.I32(l.Bytes()), wj)
			fn.ADDQ(operand.I32(l.Bytes()), row)
			if channels > 2 {
				fn.ADDQ(operand.I32(l.Bytes()), row1)
			}
			fn.DECQ(left)
			fn.JNE(operand.LabelRef(loop))
			fn.Label(last)
			wv = tail.Load(operand.Mem{Base: wj})
			for a := range acc {
				tail.MultiplyAdd(address(a), wv, acc[a])
			}
		})
	}, func() {
		for a := range acc {
			single(fn, "VMOV", fn.SumLanes(acc[a]).AsX(), operand.Mem{Base: df, Disp: e.Bytes() * a})
		}
		fn.ADDQ(fn.Arg("fstride"), df)
	})
	fn.End()
}

// pointConvGradW writes the gradient to w. A row of the pairs sorted by pose lists the points and outputs that used it:
//
//	dw[q, b] = Σ_k Σ_a f[index[k], a] · dp[row[k], a, b],  b < vecs·lanes
//
// Channel a goes to set a mod 4 of the accumulators.
func pointConvGradW(f *x86.File, l x86.Level, e x86.Elem, vecs int) {
	const sets = 4
	fn := f.Func(l, e, fmt.Sprintf("pointConvGradW%d%v", vecs, e),
		ofType("func(dw, dp, f *float32, offsets *int, index, pose *int32, rows, wstride, pstride, fstride, channels, tail int)", e),
		fmt.Sprintf("sets dw[q, b] = Σ f[index, a]·dp[pose, a, b] over row q's pairs and a < channels, for q < rows and %d vectors "+
			"of b, of which the last has tail numbers. Strides are in bytes; dp[i, a] and dp[i, a+1] lie wstride apart.", vecs))
	tail := fn.NewTail(fn.Arg("tail"))
	dw, dp, wstride := fn.Arg("dw"), fn.Arg("dp"), fn.Arg("wstride")
	g := newGatherWalk(fn)
	acc := make([][]reg.VecVirtual, vecs)
	for v := range acc {
		acc[v] = zeros(fn, sets)
	}
	g.eachRow(func() {
		for v := range acc {
			clearAll(fn, acc[v])
		}
		g.eachPair(1, func(_, at int) {
			fj, row, left := fn.GP64(), fn.GP64(), fn.GP64()
			fn.MOVL(pairAt(g.index, at), fj.As32())
			fn.IMULQ(fn.Arg("fstride"), fj)
			fn.ADDQ(fn.Arg("f"), fj)
			fn.MOVL(pairAt(g.pose, at), row.As32())
			fn.IMULQ(fn.Arg("pstride"), row)
			fn.ADDQ(dp, row)
			fn.MOVQ(fn.Arg("channels"), left)
			term := func(set, at int) {
				fa := everywhere(fn, operand.Mem{Base: fj, Disp: e.Bytes() * at})
				for v := range acc {
					m := operand.Mem{Base: row, Disp: v * l.Bytes()}
					if v == vecs-1 {
						tail.MultiplyAdd(m, fa, acc[v][set])
					} else {
						floats(fn, "VFMADD231", m, fa, acc[v][set])
					}
				}
				fn.ADDQ(wstride, row)
			}
			loop, rest, done := fn.NewLabel("channels"), fn.NewLabel("fewer"), fn.NewLabel("pair")
			fn.SUBQ(operand.U8(sets), left)
			fn.JL(operand.LabelRef(rest))
			fn.Label(loop)
			for s := range sets {
				term(s, s)
			}
			fn.ADDQ(operand.U8(e.Bytes()*sets), fj)
			fn.SUBQ(operand.U8(sets), left)
			fn.JGE(operand.LabelRef(loop))
			fn.Label(rest)
			for s := range sets - 1 {
				fn.CMPQ(left, operand.I8(int8(s-sets)))
				fn.JE(operand.LabelRef(done))
				term(s, s)
			}
			fn.Label(done)
		})
	}, func() {
		for v := range acc {
			storeVector(fn, tail, sumSets(fn, acc[v]), dw, v, vecs)
		}
		fn.ADDQ(wstride, dw)
	})
	fn.End()
}
