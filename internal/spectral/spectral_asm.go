//go:build !purego && (amd64 || arm64)

package spectral

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

// forward sets the slots dst to the transform of in; between is scratch.
func forward(dst, between, in []float32, t *transform) {
	spreadForward(dst, between, in, nil, t.place, t, 0, lanes, 0)
}

// spreadForward is spread, for c channels, and then forward.
func spreadForward(dst, between, in, src []float32, place []int32, t *transform, n, c, stride int) {
	if level == cpu.Generic {
		spread(in, src, place, n, c, stride)
		forwardGeneric(dst, in, t)
		return
	}
	if c < lanes {
		spread(in, src, place, n, c, stride)
		n = 0
	}
	raceRows(race.Read[float32], src, n, stride)
	forwardKernel(&dst[0], &between[0], &in[0], unsafe.SliceData(src), &place[0], n, 4*stride, t.odd)
}

// inverseGather transforms the slots src back, and is then gather for the first n points. check is a line that becomes NaN where a result
// is not finite.
func inverseGather(dst, between, back, src, scale, check []float32, t *transform, n, c, stride int) {
	if level == cpu.Generic {
		inverseGeneric(back, src, t)
		gather(dst, back, scale, check, t.place, n, c, stride)
		return
	}
	m := n
	if c < lanes {
		m = 0
	}
	raceRows(race.Write[float32], dst, m, stride)
	race.Read(scale[:m])
	backKernel(&dst[0], &between[0], &back[0], &src[0], &scale[0], &check[0], &t.place[0], m, 4*stride, t.odd)
	if m < n {
		gather(dst, back, scale, check, t.place, n, c, stride)
	}
}

// lines copies lines, or adds them; see linesGeneric.
func lines(dst []float32, dstStride int, src []float32, srcStride, n int, add bool) {
	if level == cpu.Generic {
		linesGeneric(dst, dstStride, src, srcStride, n, add)
		return
	}
	raceRows(race.Read[float32], src, n, srcStride)
	raceRows(race.Write[float32], dst, n, dstStride)
	linesKernel(&dst[0], &src[0], n, 4*dstStride, 4*srcStride, add)
}

// sumsPiece is about how many multiply-adds of lines a kernel does at a time, as assembly cannot be interrupted.
const sumsPiece = 1 << 17

// convolve convolves each slot down the rows of x; see convolveGeneric. rows is a multiple of block.
func convolve(dst, x, k []float32, taps, rows, slots int, o kernelOrder, add bool) {
	if level == cpu.Generic {
		convolveGeneric(dst, x, k, taps, rows, slots, o, add)
		return
	}
	step, more := max(1, sumsPiece/(taps*rows)), 0
	if add {
		more = 1
	}
	for s := 0; s < slots; s += step {
		sumsKernel(&dst[s*lanes], &x[s*lanes], &k[s*o.slot*lanes], taps, rows, 4*lanes*slots, 4*lanes*o.tap, 4*lanes*o.slot,
			min(step, slots-s), more)
	}
}

// raceRows announces what is read or written of n rows that are stride apart.
func raceRows(announce func([]float32), x []float32, n, stride int) {
	if race.Enabled {
		for i := range n {
			announce(x[i*stride:][:lanes])
		}
	}
}

// Fast reports whether transforms are faster than the sums that they replace: the portable ones are not.
func Fast() bool { return level != cpu.Generic }
