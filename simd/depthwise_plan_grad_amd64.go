//go:build !purego

package simd

func depthwisePlanGradWF32(dw, dout, f []float32, p *DepthwisePlan, lo, hi, from, to, c int, mean bool) {
	if level == Generic {
		depthwisePlanGradWGeneric(dw, dout, f, p, lo, hi, from, to, c, mean)
		return
	}
	raceRead(dout)
	raceRead(f)
	p.race()
	p.raceWeights(dw, from, to, c)
	for i := lo; i < hi; {
		if p.planned(i, hi) {
			depthwisePlanGradWGroup(dw, dout[(i-lo)*c:], f, p, i, from, to, c, mean)
			i += depthwisePlanRows
			continue
		}
		// Up to the next group.
		end := min(hi, (i/depthwisePlanRows+1)*depthwisePlanRows)
		for ; i < end; i++ { // a row of no group, or of a group that is computed row by row
			depthwisePlanGradWRow(dw, dout[(i-lo)*c:(i-lo+1)*c], f, p, i, from, to, c, mean)
		}
	}
}

// depthwisePlanGradWGroup adds the contribution of the group of eight rows from i on.
func depthwisePlanGradWGroup(dw, dout, f []float32, p *DepthwisePlan, i, from, to, c int, mean bool) {
	var inverse [depthwisePlanRows]float32
	p.inverse(&inverse, i, mean)
	code, inv, stride := &p.code[p.starts[i/depthwisePlanRows]], &inverse[0], 4*c
	lanes := depthwiseLanes()
	for j, next := from, 0; j < to; j = next {
		d, x, w := &dout[j], &f[j], &dw[j]
		if left := to - j; left < lanes {
			depthwisePlanGradTailKernel(d, x, w, code, stride, left, inv)
			return
		}
		vecs := 1
		if level == AVX512 && to-j >= 2*lanes {
			vecs = 2
		}
		depthwisePlanGradKernel(vecs, d, x, w, code, stride, inv)
		next = j + vecs*lanes
	}
}

// depthwisePlanGradWRow adds the contribution of row i alone.
func depthwisePlanGradWRow(dw, dout, f []float32, p *DepthwisePlan, i, from, to, c int, mean bool) {
	index, pose := p.row(i)
	if len(index) == 0 {
		return
	}
	inverse := float32(1)
	if mean && len(index) > 1 {
		inverse = 1 / float32(len(index))
	}
	n, stride, ix, ps := len(index), 4*c, &index[0], &pose[0]
	lanes := depthwiseLanes()
	for j, next := from, 0; j < to; j = next {
		d, x, w := &dout[j], &f[j], &dw[j]
		if left := to - j; left < lanes {
			depthwisePlanGradRowTailKernel(d, x, w, ix, ps, n, stride, left, inverse)
			return
		}
		vecs := 1
		if to-j >= 4*lanes {
			vecs = 4
		}
		depthwisePlanGradRowKernel(vecs, d, x, w, ix, ps, n, stride, inverse)
		next = j + vecs*lanes
	}
}
