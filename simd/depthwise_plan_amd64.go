//go:build !purego

package simd

import "unsafe"

func depthwisePlanF32(out, f, w []float32, p *DepthwisePlan, lo, hi, c int, mean bool) {
	if level == Generic {
		depthwisePlanGeneric(out, f, w, p, lo, hi, c, mean)
		return
	}
	raceRead(f)
	raceRead(w)
	raceRead(p.offsets)
	raceRead(p.index)
	raceRead(p.pose)
	raceRead(p.code)
	raceWrite(out)
	d := depthwiseRun{kind: depthwiseSeq, f: unsafe.Pointer(first(f)), w: unsafe.Pointer(first(w)), wsize: 4, c: c, stride: 4 * c, lanes: 16}
	if level == AVX2 {
		d.lanes = 8
	}
	if mean {
		d.mean = 1
	}
	for i := lo; i < hi; {
		g := i / depthwisePlanRows
		if i%depthwisePlanRows == 0 && i+depthwisePlanRows <= hi && p.ops[g] > 0 {
			d.planned(out[(i-lo)*c:], p, g)
			i += depthwisePlanRows
			continue
		}
		// Up to the next group.
		end := min(hi, (g+1)*depthwisePlanRows)
		a, b := p.offsets[i], p.offsets[end]
		d.rows(out[(i-lo)*c:(end-lo)*c], p.offsets[i:end+1], p.index[a:b], p.pose[a:b], 0, end-i)
		i = end
	}
}

// planned computes a group of eight rows.
func (d *depthwiseRun) planned(out []float32, p *DepthwisePlan, g int) {
	var inverse [depthwisePlanRows]float32
	for r := range inverse {
		inverse[r] = 1
		if n := p.offsets[g*depthwisePlanRows+r+1] - p.offsets[g*depthwisePlanRows+r]; d.mean == 1 && n > 1 {
			inverse[r] = 1 / float32(n)
		}
	}
	code, ops, inv := &p.code[p.starts[g]], int(p.ops[g]), &inverse[0]
	widest := 2
	if level == AVX2 {
		widest = 1
	}
	for j := 0; j < d.c; {
		vecs, channels, tail := d.block(j, widest)
		o, f, w := &out[j], (*float32)(unsafe.Add(d.f, 4*j)), (*float32)(unsafe.Add(d.w, 4*j))
		switch {
		case level == AVX512 && vecs == 2:
			depthwisePlan2F32AVX512(o, f, w, code, ops, d.stride, tail, inv)
		case level == AVX512:
			depthwisePlan1F32AVX512(o, f, w, code, ops, d.stride, tail, inv)
		case tail == d.lanes:
			depthwisePlan1F32AVX2(o, f, w, code, ops, d.stride, tail, inv)
		default:
			depthwisePlanTailF32AVX2(o, f, w, code, ops, d.stride, tail, inv)
		}
		j += channels
	}
}
