package simd

import "math"

// SquaredL2RowsF32 sets dst[i] = Σ (a[i, j] - x[j])² for every row of a matrix: the squared Euclidean distances of one
// query from many vectors.
//
//   - Shape: dst [m], a is [m, n] with rows lda ≥ n apart, x [n], where m = len(dst) and n = len(x). Any size may be 0.
//   - Aliasing: dst must not overlap a or x.
//   - Errors: panics on a stride below n or a slice that is too short. NaN gives NaN.
//   - Accuracy: at most (n+8)·eps·dst[i] from the exact value. A distance depends on its row alone, not on those beside it.
func SquaredL2RowsF32(dst, a []float32, lda int, x []float32) {
	checkMatrix("SquaredL2RowsF32", "a", len(a), len(dst), len(x), lda)
	distanceRowsF32(dst, a, lda, x, squaredL2)
}

// L1RowsF32 sets dst[i] = Σ |a[i, j] - x[j]| for every row; otherwise it is like SquaredL2RowsF32.
func L1RowsF32(dst, a []float32, lda int, x []float32) {
	checkMatrix("L1RowsF32", "a", len(a), len(dst), len(x), lda)
	distanceRowsF32(dst, a, lda, x, l1)
}

// DotRowsF32 sets dst[i] = Σ a[i, j]·x[j] for every row, at most (n+8)·eps·Σ |a·x| from the exact value; otherwise it
// is like SquaredL2RowsF32. It has the bits of GemvF32 with alpha = 1 and beta = 0.
func DotRowsF32(dst, a []float32, lda int, x []float32) {
	checkMatrix("DotRowsF32", "a", len(a), len(dst), len(x), lda)
	distanceRowsF32(dst, a, lda, x, dotProduct)
}

// CosineRowsF32 sets dst[i] to the cosine of the angle between row i and x; otherwise it is like SquaredL2RowsF32. The
// cosine of a vector of zeros is NaN. Its error is at most (n+8)·eps.
func CosineRowsF32(dst, a []float32, lda int, x []float32) {
	checkMatrix("CosineRowsF32", "a", len(a), len(dst), len(x), lda)
	cosineRowsF32(dst, a, lda, x, math.Sqrt(SumSqF32(x)))
}

func cosineRowsF32(dst, a []float32, lda int, x []float32, size float64) {
	distanceRowsF32(dst, a, lda, x, dotProduct)
	if len(x) == 0 {
		lda = 0 // rows without elements need not exist
	}
	for i, v := range dst {
		row, dot := a[i*lda:][:len(x)], float64(v)
		lengths := size * math.Sqrt(SumSqF32(row))
		if !(lengths > leastCosine && lengths < mostCosine) {
			dot = DotF32(row, x)
		}
		dst[i] = float32(dot / lengths)
	}
}

// Between these products of two lengths a dot product in float32 neither overflows, as no partial sum of it exceeds that product, nor
// loses to underflow more than a rounding error of the cosine.
const (
	leastCosine = 0x1p-80
	mostCosine  = 0x1p126
)

// DotRowsBF16 is DotRowsF32 for a matrix in bfloat16.
func DotRowsBF16(dst []float32, a []BF16, lda int, x []float32) {
	checkMatrix("DotRowsBF16", "a", len(a), len(dst), len(x), lda)
	distanceRowsBF16(dst, a, lda, x, dotProduct)
}

// SquaredL2RowsBF16 is SquaredL2RowsF32 for a matrix in bfloat16.
func SquaredL2RowsBF16(dst []float32, a []BF16, lda int, x []float32) {
	checkMatrix("SquaredL2RowsBF16", "a", len(a), len(dst), len(x), lda)
	distanceRowsBF16(dst, a, lda, x, squaredL2)
}

// L1RowsBF16 is L1RowsF32 for a matrix in bfloat16.
func L1RowsBF16(dst []float32, a []BF16, lda int, x []float32) {
	checkMatrix("L1RowsBF16", "a", len(a), len(dst), len(x), lda)
	distanceRowsBF16(dst, a, lda, x, l1)
}

// CosineRowsBF16 is CosineRowsF32 for a matrix in bfloat16.
func CosineRowsBF16(dst []float32, a []BF16, lda int, x []float32) {
	checkMatrix("CosineRowsBF16", "a", len(a), len(dst), len(x), lda)
	distanceRowsBF16(dst, a, lda, x, cosine)
}

// DotRowsI8 sets dst[i] = Σ a[i, j]·x[j] for every row of a matrix [len(dst), len(x)] with rows lda ≥ len(x) apart. It
// is exact: for up to 131,071 columns no sum overflows.
func DotRowsI8(dst []int32, a []int8, lda int, x []int8) {
	checkMatrix("DotRowsI8", "a", len(a), len(dst), len(x), lda)
	rowsI8(dst, a, lda, x, dotProduct)
}

// SquaredL2RowsI8 sets dst[i] = Σ (a[i, j] - x[j])², for up to 33,025 columns without overflow; otherwise it is like DotRowsI8.
func SquaredL2RowsI8(dst []int32, a []int8, lda int, x []int8) {
	checkMatrix("SquaredL2RowsI8", "a", len(a), len(dst), len(x), lda)
	rowsI8(dst, a, lda, x, squaredL2)
}

// L1RowsI8 sets dst[i] = Σ |a[i, j] - x[j]|; otherwise it is like DotRowsI8.
func L1RowsI8(dst []int32, a []int8, lda int, x []int8) {
	checkMatrix("L1RowsI8", "a", len(a), len(dst), len(x), lda)
	rowsI8(dst, a, lda, x, l1)
}

// CosineRowsI8 sets dst[i] to the cosine of the angle between row i and x, at most 2 units in the last place from the exact value and NaN
// for a vector of zeros; otherwise it is like DotRowsI8.
func CosineRowsI8(dst []float32, a []int8, lda int, x []int8) {
	checkMatrix("CosineRowsI8", "a", len(a), len(dst), len(x), lda)
	if len(x) == 0 {
		lda = 0 // rows without elements need not exist
	}
	var dot, square, own [64]int32
	rowsI8(own[:1], x, len(x), x, dotProduct)
	for at := 0; at < len(dst); at += len(dot) {
		part := dst[at:min(at+len(dot), len(dst))]
		rowsI8(dot[:len(part)], a[at*lda:], lda, x, dotProduct)
		rowsI8(square[:len(part)], a[at*lda:], lda, x, squaredL2)
		for i, d := range dot[:len(part)] {
			// |a|² = |a - x|² - |x|² + 2·a·x. It does not overflow where |a - x|² does, and that one is right modulo 2³².
			length2 := square[i] - own[0] + 2*d
			part[i] = float32(float64(d) / math.Sqrt(float64(length2)*float64(own[0])))
		}
	}
}

// rowMeasure is what is summed over a row and a vector.
type rowMeasure uint8

const (
	dotProduct rowMeasure = iota
	squaredL2
	l1
	cosine // of rows in bfloat16
)

func distanceRowsF32(dst, a []float32, lda int, x []float32, what rowMeasure) {
	if len(x) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		rowSumsF32(dst, a, lda, x, what)
	}
}

// distanceRowsBF16 widens as many rows at a time as a buffer holds that stays in the first-level cache. A row that is longer than
// the buffer is summed up in parts.
func distanceRowsBF16(dst []float32, a []BF16, lda int, x []float32, what rowMeasure) {
	const room = 4096
	var wide [room]float32
	n := len(x)
	if n == 0 {
		empty := float32(0)
		if what == cosine {
			empty = float32(math.NaN())
		}
		for i := range dst {
			dst[i] = empty
		}
		return
	}
	if n > room {
		distanceLongRowsBF16(dst, a, lda, x, what, wide[:])
		return
	}
	size := 0.0
	if what == cosine {
		size = math.Sqrt(SumSqF32(x))
	}
	for at, rows := 0, room/n; at < len(dst); at += rows {
		part := dst[at:min(at+rows, len(dst))]
		if from := a[at*lda:]; lda == n {
			F32FromBF16(wide[:len(part)*n], from[:len(part)*n])
		} else {
			for i := range part {
				F32FromBF16(wide[i*n:][:n], from[i*lda:][:n])
			}
		}
		if what == cosine {
			cosineRowsF32(part, wide[:len(part)*n], n, x, size)
		} else {
			distanceRowsF32(part, wide[:len(part)*n], n, x, what)
		}
	}
}

func distanceLongRowsBF16(dst []float32, a []BF16, lda int, x []float32, what rowMeasure, wide []float32) {
	var part [1]float32
	size := 1.0
	if what == cosine {
		size = math.Sqrt(SumSqF32(x))
	}
	for i := range dst {
		sum, square := 0.0, 1.0
		if what == cosine {
			square = 0
		}
		row := a[i*lda:][:len(x)]
		for lo := 0; lo < len(x); lo += len(wide) {
			r := row[lo:min(lo+len(wide), len(row))]
			w, to := wide[:len(r)], x[lo:lo+len(r)]
			F32FromBF16(w, r)
			if what == cosine {
				sum, square = sum+DotF32(w, to), square+SumSqF32(w)
			} else {
				distanceRowsF32(part[:], w, len(r), to, what)
				sum += float64(part[0])
			}
		}
		dst[i] = float32(sum / (size * math.Sqrt(square)))
	}
}

// rowSumsGeneric is the portable twin of the kernels: four sums, added in pairs.
func rowSumsGeneric(dst, a []float32, lda int, x []float32, what rowMeasure) {
	for i := range dst {
		row := a[i*lda:][:len(x)]
		if what == dotProduct {
			dst[i] = shortDot(row, x)
			continue
		}
		var s [4]float32
		for j, v := range row {
			d := v - x[j]
			if what == l1 {
				s[j%4] += max(d, -d)
			} else {
				s[j%4] += d * d
			}
		}
		dst[i] = (s[0] + s[1]) + (s[2] + s[3])
	}
}

func rowsI8(dst []int32, a []int8, lda int, x []int8, what rowMeasure) {
	if len(x) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		rowSumsI8(dst, a, lda, x, what)
	}
}

// rowSumsI8Generic is the portable twin of the kernels.
func rowSumsI8Generic(dst []int32, a []int8, lda int, x []int8, what rowMeasure) {
	for i := range dst {
		row, sum := a[i*lda:][:len(x)], int32(0)
		switch what {
		case dotProduct:
			for j, v := range x {
				sum += int32(row[j]) * int32(v)
			}
		case squaredL2:
			for j, v := range x {
				d := int32(row[j]) - int32(v)
				sum += d * d
			}
		default:
			for j, v := range x {
				d := int32(row[j]) - int32(v)
				sum += max(d, -d)
			}
		}
		dst[i] = sum
	}
}
