//go:build goexperiment.simd && go1.27 && !purego

package search

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// The kernels take whole vectors of points. Points that are left, fewer than a vector has lanes, go through the portable twin, which has
// the same bits.

// wholeVectors is how many of n elements of a type fill vectors.
func wholeVectors[T Float](n int) int {
	if level == cpu.Generic {
		return 0
	}
	return n &^ (int(16/unsafe.Sizeof(T(0))) - 1)
}

func treeBoxes[T Float](outFrom, outTo []int32, boxes []T, ld int, from, to []int32, box []T, radius2 T, dim int) int {
	n, m := wholeVectors[T](len(from)), 0
	if n > 0 {
		if unsafe.Sizeof(radius2) == 8 {
			m = treeBoxesF64WASM128(&outFrom[0], &outTo[0], f64(&boxes[0]), ld, &from[0], &to[0], n, f64(&box[0]), float64(radius2), dim)
		} else {
			m = treeBoxesF32WASM128(&outFrom[0], &outTo[0], f32(&boxes[0]), ld, &from[0], &to[0], n, f32(&box[0]), float32(radius2), dim)
		}
	}
	return m + treeBoxesGeneric(outFrom[m:], outTo[m:], boxes[n:], ld, from[n:], to[n:], box, radius2, dim)
}

func treeFilter[T Float](out []T, ldo int, dist2 []T, outID []int32, c []T, ldc int, id, from, to []int32, box []T, radius2 T,
	dim int) int {
	m := 0
	for k, first := range from {
		lo, hi := int(first), int(to[k])
		n := wholeVectors[T](hi - lo)
		if n > 0 {
			if unsafe.Sizeof(radius2) == 8 {
				m += treeFilterF64WASM128(f64(&out[m]), ldo, f64(&dist2[m]), &outID[m], f64(&c[lo]), ldc, &id[lo], n, f64(&box[0]),
					float64(radius2), dim)
			} else {
				m += treeFilterF32WASM128(f32(&out[m]), ldo, f32(&dist2[m]), &outID[m], f32(&c[lo]), ldc, &id[lo], n, f32(&box[0]),
					float32(radius2), dim)
			}
		}
		rest := [...]int32{int32(lo + n), int32(hi)}
		m += treeFilterGeneric(out[m:], ldo, dist2[m:], outID[m:], c, ldc, id, rest[:1], rest[1:], box, radius2, dim)
	}
	return m
}

func treeScan[T Float](index []int32, dist2 []T, end []int32, q []T, ldq int, c []T, ldc int, id []int32, radius2, period []T, dim int) {
	n, m := wholeVectors[T](len(id)), 0
	for i := range end {
		r2 := radius2[min(i, len(radius2)-1)]
		if n > 0 {
			m += treeScanKernel(&index[m], &dist2[m], &id[0], &q[i], ldq, &c[0], ldc, n, r2, unsafe.SliceData(period), dim)
		}
		for j := n; j < len(id); j++ {
			if d := pairDist2(q, ldq, i, c, ldc, j, period, dim); d < r2 {
				index[m], dist2[m] = id[j], d
				m++
			}
		}
		end[i] = int32(m)
	}
}

func treeCount[T Float](count []int32, q []T, ldq int, c []T, ldc, nc int, radius2, period []T, dim int) {
	n := wholeVectors[T](nc)
	for i := range count {
		r2, m := radius2[min(i, len(radius2)-1)], 0
		if n > 0 {
			m = treeCountKernel(&q[i], ldq, &c[0], ldc, n, r2, unsafe.SliceData(period), dim)
		}
		for j := n; j < nc; j++ {
			if pairDist2(q, ldq, i, c, ldc, j, period, dim) < r2 {
				m++
			}
		}
		count[i] = int32(m)
	}
}

// treeScanKernel calls the kernel of a type for one to three axes without periods, or the one for any axes.
func treeScanKernel[T Float](index *int32, dist2 *T, id *int32, q *T, ldq int, c *T, ldc, nc int, r2 T, period *T, dim int) int {
	double := unsafe.Sizeof(r2) == 8
	switch {
	case period == nil && dim == 1 && double:
		return treeScan1F64WASM128(index, f64(dist2), id, f64(q), ldq, f64(c), ldc, nc, float64(r2))
	case period == nil && dim == 2 && double:
		return treeScan2F64WASM128(index, f64(dist2), id, f64(q), ldq, f64(c), ldc, nc, float64(r2))
	case period == nil && dim == 3 && double:
		return treeScan3F64WASM128(index, f64(dist2), id, f64(q), ldq, f64(c), ldc, nc, float64(r2))
	case double:
		return treeScanNF64WASM128(index, f64(dist2), id, f64(q), ldq, f64(c), ldc, nc, float64(r2), f64(period), dim)
	case period == nil && dim == 1:
		return treeScan1F32WASM128(index, f32(dist2), id, f32(q), ldq, f32(c), ldc, nc, float32(r2))
	case period == nil && dim == 2:
		return treeScan2F32WASM128(index, f32(dist2), id, f32(q), ldq, f32(c), ldc, nc, float32(r2))
	case period == nil && dim == 3:
		return treeScan3F32WASM128(index, f32(dist2), id, f32(q), ldq, f32(c), ldc, nc, float32(r2))
	}
	return treeScanNF32WASM128(index, f32(dist2), id, f32(q), ldq, f32(c), ldc, nc, float32(r2), f32(period), dim)
}

// treeCountKernel is treeScanKernel for counting.
func treeCountKernel[T Float](q *T, ldq int, c *T, ldc, nc int, r2 T, period *T, dim int) int {
	double := unsafe.Sizeof(r2) == 8
	switch {
	case period == nil && dim == 1 && double:
		return treeCount1F64WASM128(f64(q), ldq, f64(c), ldc, nc, float64(r2))
	case period == nil && dim == 2 && double:
		return treeCount2F64WASM128(f64(q), ldq, f64(c), ldc, nc, float64(r2))
	case period == nil && dim == 3 && double:
		return treeCount3F64WASM128(f64(q), ldq, f64(c), ldc, nc, float64(r2))
	case double:
		return treeCountNF64WASM128(f64(q), ldq, f64(c), ldc, nc, float64(r2), f64(period), dim)
	case period == nil && dim == 1:
		return treeCount1F32WASM128(f32(q), ldq, f32(c), ldc, nc, float32(r2))
	case period == nil && dim == 2:
		return treeCount2F32WASM128(f32(q), ldq, f32(c), ldc, nc, float32(r2))
	case period == nil && dim == 3:
		return treeCount3F32WASM128(f32(q), ldq, f32(c), ldc, nc, float32(r2))
	}
	return treeCountNF32WASM128(f32(q), ldq, f32(c), ldc, nc, float32(r2), f32(period), dim)
}

func treePartition[T Float](x []T, ldx, rows int, scratch []T, lds, n, key int, pivot T) int {
	return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
}

// f32 and f64 make a pointer of the type that T is.
func f32[T Float](p *T) *float32 { return (*float32)(unsafe.Pointer(p)) }
func f64[T Float](p *T) *float64 { return (*float64)(unsafe.Pointer(p)) }
