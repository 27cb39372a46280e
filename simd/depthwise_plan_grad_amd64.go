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
		for ; i < end; i++ { // a row alone, or of a group of rows that have little in common
			depthwisePlanGradWRow(dw, dout[(i-lo)*c:(i-lo+1)*c], f, p, i, from, to, c, mean)
		}
	}
}

// depthwisePlanGradWGroup adds what the group of eight rows from i on gives.
func depthwisePlanGradWGroup(dw, dout, f []float32, p *DepthwisePlan, i, from, to, c int, mean bool) {
	inverse := p.inverse(i, mean)
	code, inv, stride := &p.code[p.starts[i/depthwisePlanRows]], &inverse[0], 4*c
	lanes := 16
	if level == AVX2 {
		lanes = 8
	}
	for j, next := from, 0; j < to; j = next {
		d, x, w := &dout[j], &f[j], &dw[j]
		left := to - j
		next = min(j+lanes, to)
		switch {
		case level == AVX512 && left >= 2*lanes:
			depthwisePlanGrad2F32AVX512(d, x, w, code, stride, inv)
			next = j + 2*lanes
		case level == AVX512 && left >= lanes:
			depthwisePlanGrad1F32AVX512(d, x, w, code, stride, inv)
		case level == AVX512:
			depthwisePlanGradTailF32AVX512(d, x, w, code, stride, left, inv)
		case left >= lanes:
			depthwisePlanGrad1F32AVX2(d, x, w, code, stride, inv)
		default:
			depthwisePlanGradTailF32AVX2(d, x, w, code, stride, left, inv)
		}
	}
}

// depthwisePlanGradWRow adds what row i gives, which is one of no group.
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
	lanes := 16
	if level == AVX2 {
		lanes = 8
	}
	for j, next := from, 0; j < to; j = next {
		d, x, w := &dout[j], &f[j], &dw[j]
		left := to - j
		next = min(j+lanes, to)
		if left >= 4*lanes {
			next = j + 4*lanes
		}
		switch {
		case level == AVX512 && left >= 4*lanes:
			depthwisePlanGradRow4F32AVX512(d, x, w, ix, ps, n, stride, inverse)
		case level == AVX512 && left >= lanes:
			depthwisePlanGradRow1F32AVX512(d, x, w, ix, ps, n, stride, inverse)
		case level == AVX512:
			depthwisePlanGradRowTailF32AVX512(d, x, w, ix, ps, n, stride, left, inverse)
		case left >= 4*lanes:
			depthwisePlanGradRow4F32AVX2(d, x, w, ix, ps, n, stride, inverse)
		case left >= lanes:
			depthwisePlanGradRow1F32AVX2(d, x, w, ix, ps, n, stride, inverse)
		default:
			depthwisePlanGradRowTailF32AVX2(d, x, w, ix, ps, n, stride, left, inverse)
		}
	}
}
