//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

func treeBoxesF32(outFrom, outTo []int32, boxes []float32, ld int, from, to []int32, box []float32, radius2 float32, dim int) int {
	if level == cpu.Generic {
		return treeBoxesGeneric(outFrom, outTo, boxes, ld, from, to, box, radius2, dim)
	}
	race.Read(boxes)
	race.Read(from)
	race.Read(to)
	race.Write(outFrom)
	race.Write(outTo)
	switch {
	case level == cpu.AVX512 && dim == 2:
		return treeBoxes2F32AVX512(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	case level == cpu.AVX512 && dim == 3:
		return treeBoxes3F32AVX512(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	case level == cpu.AVX512:
		return treeBoxesNF32AVX512(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2, dim)
	case dim == 2:
		return treeBoxes2F32AVX2(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	case dim == 3:
		return treeBoxes3F32AVX2(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	}
	return treeBoxesNF32AVX2(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2, dim)
}

func treeFilterF32(out []float32, ldo int, dist2 []float32, outID []int32, c []float32, ldc int, id, from, to []int32, box []float32, radius2 float32, dim int) int {
	if level == cpu.Generic {
		return treeFilterGeneric(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
	}
	race.Read(c)
	race.Read(id)
	race.Write(out)
	race.Write(dist2)
	race.Write(outID)
	n := len(from)
	switch {
	case level == cpu.AVX512 && dim == 2:
		return treeFilter2F32AVX512(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	case level == cpu.AVX512 && dim == 3:
		return treeFilter3F32AVX512(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	case level == cpu.AVX512:
		return treeFilterNF32AVX512(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2, dim)
	case dim == 2:
		return treeFilter2F32AVX2(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	case dim == 3:
		return treeFilter3F32AVX2(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	}
	return treeFilterNF32AVX2(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2, dim)
}

func treeScanF32(index []int32, dist2 []float32, end []int32, q []float32, ldq int, c []float32, ldc int, id []int32, radius2, period []float32, dim int) {
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
	step := min(len(radius2)-1, 1)
	if period == nil {
		switch {
		case level == cpu.AVX512 && dim == 2:
			treeScan2F32AVX512(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		case level == cpu.AVX512 && dim == 3:
			treeScan3F32AVX512(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		case dim == 2:
			treeScan2F32AVX2(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		case dim == 3:
			treeScan3F32AVX2(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		}
	}
	if period == nil {
		period = aperiodicF32[:]
	}
	if level == cpu.AVX512 {
		treeScanNF32AVX512(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step, &period[0], dim)
	} else {
		treeScanNF32AVX2(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step, &period[0], dim)
	}
}

func treeCountF32(count []int32, q []float32, ldq int, c []float32, ldc, nc int, radius2, period []float32, dim int) {
	if level == cpu.Generic {
		treeCountGeneric(count, q, ldq, c, ldc, nc, radius2, period, dim)
		return
	}
	race.Read(c)
	race.Read(q)
	race.Read(radius2)
	race.Write(count)
	step := min(len(radius2)-1, 1)
	if period == nil {
		switch {
		case level == cpu.AVX512 && dim == 2:
			treeCount2F32AVX512(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		case level == cpu.AVX512 && dim == 3:
			treeCount3F32AVX512(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		case dim == 2:
			treeCount2F32AVX2(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		case dim == 3:
			treeCount3F32AVX2(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		}
	}
	if period == nil {
		period = aperiodicF32[:]
	}
	if level == cpu.AVX512 {
		treeCountNF32AVX512(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step, &period[0], dim)
	} else {
		treeCountNF32AVX2(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step, &period[0], dim)
	}
}

func treePartitionF32(x []float32, ldx, rows int, scratch []float32, lds, n, key int, pivot float32) int {
	if level == cpu.Generic {
		return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
	}
	if race.Enabled { // other columns of x may be another goroutine's
		for r := range rows {
			race.Write(x[r*ldx : r*ldx+n])
			race.Write(scratch[r*lds : r*lds+n])
		}
	}
	if level == cpu.AVX512 {
		return treePartitionF32AVX512(&x[0], ldx, rows, &scratch[0], lds, &x[key*ldx], n, pivot)
	}
	return treePartitionF32AVX2(&x[0], ldx, rows, &scratch[0], lds, &x[key*ldx], n, pivot)
}

func treeBoxesF64(outFrom, outTo []int32, boxes []float64, ld int, from, to []int32, box []float64, radius2 float64, dim int) int {
	if level == cpu.Generic {
		return treeBoxesGeneric(outFrom, outTo, boxes, ld, from, to, box, radius2, dim)
	}
	race.Read(boxes)
	race.Read(from)
	race.Read(to)
	race.Write(outFrom)
	race.Write(outTo)
	switch {
	case level == cpu.AVX512 && dim == 2:
		return treeBoxes2F64AVX512(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	case level == cpu.AVX512 && dim == 3:
		return treeBoxes3F64AVX512(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	case level == cpu.AVX512:
		return treeBoxesNF64AVX512(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2, dim)
	case dim == 2:
		return treeBoxes2F64AVX2(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	case dim == 3:
		return treeBoxes3F64AVX2(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2)
	}
	return treeBoxesNF64AVX2(&outFrom[0], &outTo[0], &boxes[0], ld, &from[0], &to[0], len(from), &box[0], radius2, dim)
}

func treeFilterF64(out []float64, ldo int, dist2 []float64, outID []int32, c []float64, ldc int, id, from, to []int32, box []float64, radius2 float64, dim int) int {
	if level == cpu.Generic {
		return treeFilterGeneric(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
	}
	race.Read(c)
	race.Read(id)
	race.Write(out)
	race.Write(dist2)
	race.Write(outID)
	n := len(from)
	switch {
	case level == cpu.AVX512 && dim == 2:
		return treeFilter2F64AVX512(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	case level == cpu.AVX512 && dim == 3:
		return treeFilter3F64AVX512(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	case level == cpu.AVX512:
		return treeFilterNF64AVX512(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2, dim)
	case dim == 2:
		return treeFilter2F64AVX2(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	case dim == 3:
		return treeFilter3F64AVX2(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2)
	}
	return treeFilterNF64AVX2(&out[0], ldo, &dist2[0], &outID[0], &c[0], ldc, &id[0], &from[0], &to[0], n, &box[0], radius2, dim)
}

func treeScanF64(index []int32, dist2 []float64, end []int32, q []float64, ldq int, c []float64, ldc int, id []int32, radius2, period []float64, dim int) {
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
	step := min(len(radius2)-1, 1)
	if period == nil {
		switch {
		case level == cpu.AVX512 && dim == 2:
			treeScan2F64AVX512(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		case level == cpu.AVX512 && dim == 3:
			treeScan3F64AVX512(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		case dim == 2:
			treeScan2F64AVX2(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		case dim == 3:
			treeScan3F64AVX2(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step)
			return
		}
	}
	if period == nil {
		period = aperiodicF64[:]
	}
	if level == cpu.AVX512 {
		treeScanNF64AVX512(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step, &period[0], dim)
	} else {
		treeScanNF64AVX2(&index[0], &dist2[0], &end[0], &id[0], &q[0], ldq, len(end), &c[0], ldc, len(id), &radius2[0], step, &period[0], dim)
	}
}

func treeCountF64(count []int32, q []float64, ldq int, c []float64, ldc, nc int, radius2, period []float64, dim int) {
	if level == cpu.Generic {
		treeCountGeneric(count, q, ldq, c, ldc, nc, radius2, period, dim)
		return
	}
	race.Read(c)
	race.Read(q)
	race.Read(radius2)
	race.Write(count)
	step := min(len(radius2)-1, 1)
	if period == nil {
		switch {
		case level == cpu.AVX512 && dim == 2:
			treeCount2F64AVX512(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		case level == cpu.AVX512 && dim == 3:
			treeCount3F64AVX512(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		case dim == 2:
			treeCount2F64AVX2(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		case dim == 3:
			treeCount3F64AVX2(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step)
			return
		}
	}
	if period == nil {
		period = aperiodicF64[:]
	}
	if level == cpu.AVX512 {
		treeCountNF64AVX512(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step, &period[0], dim)
	} else {
		treeCountNF64AVX2(&count[0], &q[0], ldq, len(count), &c[0], ldc, nc, &radius2[0], step, &period[0], dim)
	}
}

func treePartitionF64(x []float64, ldx, rows int, scratch []float64, lds, n, key int, pivot float64) int {
	if level == cpu.Generic {
		return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
	}
	if race.Enabled { // other columns of x may be another goroutine's
		for r := range rows {
			race.Write(x[r*ldx : r*ldx+n])
			race.Write(scratch[r*lds : r*lds+n])
		}
	}
	if level == cpu.AVX512 {
		return treePartitionF64AVX512(&x[0], ldx, rows, &scratch[0], lds, &x[key*ldx], n, pivot)
	}
	return treePartitionF64AVX2(&x[0], ldx, rows, &scratch[0], lds, &x[key*ldx], n, pivot)
}
