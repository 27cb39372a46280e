//go:build !purego

package simd

func depthwisePlanF32(out, f, w []float32, p *DepthwisePlan, lo, hi, c int, mean bool) {
	if level == Generic {
		depthwisePlanGeneric(out, f, w, p, lo, hi, c, mean)
		return
	}
	raceRead(f)
	raceRead(w)
	p.race()
	raceWrite(out)
	for i := lo; i < hi; {
		if p.planned(i, hi) {
			var inverse [depthwisePlanRows]float32
			p.inverse(&inverse, i, mean)
			depthwisePlanF32NEON(&out[(i-lo)*c], &f[0], &w[0], &p.code[p.starts[i/depthwisePlanRows]], c, 4*c, &inverse[0])
			i += depthwisePlanRows
			continue
		}
		depthwiseSeqRow(out[(i-lo)*c:(i-lo+1)*c], f, w, p, i, c, mean)
		i++
	}
}

// depthwiseSeqRow computes row i alone, in the same order and with the same roundings as in a group.
func depthwiseSeqRow(row, f, w []float32, p *DepthwisePlan, i, c int, mean bool) {
	index, pose := p.row(i)
	depthwisePieces(row, p.offsets[i:i+2], c, mean, func(row []float32, k, n, more int, scale float32) {
		depthwiseSeqRowF32NEON(&row[0], &f[0], &w[0], &index[k], &pose[k], n, c, more, scale)
	})
}

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
			var inverse [depthwisePlanRows]float32
			p.inverse(&inverse, i, mean)
			depthwisePlanGradF32NEON(&dout[(i-lo)*c+from], &f[from], &dw[from], &p.code[p.starts[i/depthwisePlanRows]], to-from,
				4*c, &inverse[0])
			i += depthwisePlanRows
			continue
		}
		if index, pose := p.row(i); len(index) > 0 {
			inverse := float32(1)
			if mean {
				inverse = 1 / float32(len(index))
			}
			depthwisePlanGradRowF32NEON(&dout[(i-lo)*c+from], &f[from], &dw[from], &index[0], &pose[0], len(index), to-from, 4*c, inverse)
		}
		i++
	}
}
