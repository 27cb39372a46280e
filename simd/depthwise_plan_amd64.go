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
	p.race()
	raceWrite(out)
	d := depthwiseRun{kind: depthwiseSeq, f: unsafe.Pointer(first(f)), w: unsafe.Pointer(first(w)), wsize: 4, c: c, width: c, stride: 4 * c,
		lanes: depthwiseLanes()}
	if mean {
		d.mean = 1
	}
	for i := lo; i < hi; {
		if p.planned(i, hi) {
			d.planned(out[(i-lo)*c:], p, i)
			i += depthwisePlanRows
			continue
		}
		// Up to the next group.
		end := min(hi, (i/depthwisePlanRows+1)*depthwisePlanRows)
		a, b := p.offsets[i], p.offsets[end]
		d.rows(out[(i-lo)*c:(end-lo)*c], p.offsets[i:end+1], p.index[a:b], p.pose[a:b], 0, end-i)
		i = end
	}
}

// planned computes the group of eight rows from i on: all channels of one group before the next group, while what the channels
// have in common, the code and the pages of f, is still in the caches.
func (d *depthwiseRun) planned(out []float32, p *DepthwisePlan, i int) {
	var inverse [depthwisePlanRows]float32
	p.inverse(&inverse, i, d.mean == 1)
	code, inv := &p.code[p.starts[i/depthwisePlanRows]], &inverse[0]
	for j, next := 0, 0; j < d.c; j = next {
		o, f, w := &out[j], (*float32)(unsafe.Add(d.f, 4*j)), (*float32)(unsafe.Add(d.w, 4*j))
		if left := d.c - j; left < d.lanes {
			depthwisePlanTailKernel(o, f, w, code, d.stride, left, inv)
			return
		}
		vecs := 1
		if level == AVX512 && d.c-j >= 2*d.lanes {
			vecs = 2
		}
		depthwisePlanKernel(vecs, o, f, w, code, d.stride, inv)
		next = j + vecs*d.lanes
	}
}
