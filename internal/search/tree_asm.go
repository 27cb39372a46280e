//go:build !purego && (amd64 || arm64)

package search

import (
	"math"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

// The kernels exist for two and for three axes that are not periodic, and for any axes; see asm/tree_dispatch.go.

func treeBoxes[T Float](outFrom, outTo []int32, boxes []T, ld int, from, to []int32, box []T, radius2 T, dim int) int {
	if level == cpu.Generic {
		return treeBoxesGeneric(outFrom, outTo, boxes, ld, from, to, box, radius2, dim)
	}
	race.Read(boxes)
	race.Read(from)
	race.Read(to)
	race.Write(outFrom)
	race.Write(outTo)
	return treeBoxesKernel(dim, &outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2, dim)
}

func treeFilter[T Float](out []T, ldo int, dist2 []T, outID []int32, c []T, ldc int, id, from, to []int32, box []T, radius2 T,
	dim int) int {
	if level == cpu.Generic {
		return treeFilterGeneric(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
	}
	race.Read(c)
	race.Read(id)
	race.Write(out)
	race.Write(dist2)
	race.Write(outID)
	return treeFilterKernel(dim, &out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], len(from), &box[0], radius2, dim)
}

func treeScan[T Float](index []int32, dist2 []T, end []int32, q []T, ldq int, c []T, ldc int, id []int32, radius2, period []T, dim int) {
	if level == cpu.Generic {
		treeScanGeneric(index, dist2, end, q, ldq, c, ldc, id, radius2, period, dim)
		return
	}
	race.Read(c)
	race.Read(id)
	race.Read(q)
	race.Read(radius2)
	race.Write(index)
	race.Write(dist2)
	race.Write(end)
	axes, periods := axesOf(period, dim)
	treeScanKernel(axes, &index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0],
		min(len(radius2)-1, 1), periods, dim)
}

func treeCount[T Float](count []int32, q []T, ldq int, c []T, ldc, nc int, radius2, period []T, dim int) {
	if level == cpu.Generic {
		treeCountGeneric(count, q, ldq, c, ldc, nc, radius2, period, dim)
		return
	}
	race.Read(c)
	race.Read(q)
	race.Read(radius2)
	race.Write(count)
	axes, periods := axesOf(period, dim)
	treeCountKernel(axes, &count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], min(len(radius2)-1, 1), periods, dim)
}

func treePartition[T Float](x []T, ldx, rows int, scratch []T, lds, n, key int, pivot T) int {
	if level == cpu.Generic {
		return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
	}
	if race.Enabled { // other columns of x may be another goroutine's
		for r := range rows {
			race.Write(x[r*ldx : r*ldx+n])
			race.Write(scratch[r*lds : r*lds+n])
		}
	}
	return treePartitionKernel(&x[0], ldx, rows, &scratch[0], lds, &x[key*ldx], n, pivot)
}

// The periods of axes that have none.
var (
	aperiodic32 = [MaxDim]float32{inf32, inf32, inf32, inf32, inf32, inf32, inf32, inf32}
	aperiodic64 = [MaxDim]float64{inf64, inf64, inf64, inf64, inf64, inf64, inf64, inf64}

	inf32, inf64 = float32(math.Inf(1)), math.Inf(1)
)

// axesOf returns for how many axes a kernel of its own may exist, 0 where some have periods, and the periods.
func axesOf[T Float](period []T, dim int) (int, *T) {
	switch {
	case period != nil:
		return 0, &period[0]
	case unsafe.Sizeof(T(0)) == 4:
		return dim, (*T)(unsafe.Pointer(&aperiodic32))
	}
	return dim, (*T)(unsafe.Pointer(&aperiodic64))
}
