package neighbor

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// VectorsBF16 is Vectors for rows in bfloat16, which take half the memory; queries are float32. Rows are widened block by block: on two
// cores of Zen 5, where 77 MB of rows do not fit in the caches, one query takes .7 of the time among rows of float32, many take 1.07.
type VectorsBF16 struct{ v Vectors }

// halfRows are rows in bfloat16.
type halfRows struct {
	rows    []simd.BF16 // [n, dim]
	inverse []float32   // [n], of the rows' lengths, for Cosine; 0 where it is not an ordinary number
}

// widen writes the rows from number lo on into dst, for Cosine of length 1.
func (h *halfRows) widen(dst []float32, lo, dim int) {
	simd.F32FromBF16(dst, h.rows[lo*dim:][:len(dst)])
	if h.inverse == nil {
		return
	}
	for i := range len(dst) / dim {
		row := dst[i*dim:][:dim]
		if by := h.inverse[lo+i]; by != 0 {
			simd.ScaleF32(row, by, row)
		} else {
			normalize(row)
		}
	}
}

// NewVectorsBF16 keeps the rows [n, dim], of which it makes a copy. Its errors are those of NewVectors.
func NewVectorsBF16(rows []simd.BF16, dim int, by Similarity) (*VectorsBF16, error) {
	if err := checkVectors("NewVectorsBF16", len(rows), dim, by); err != nil {
		return nil, err
	}
	n := len(rows) / dim
	h := &halfRows{rows: append([]simd.BF16(nil), rows...)}
	v := &VectorsBF16{Vectors{n: n, dim: dim, by: by, norms: make([]float32, n), half: h}}
	wide := make([]float32, dim)
	if by == Cosine {
		inverse := make([]float32, n)
		for i := range inverse {
			h.widen(wide, i, dim)
			if length := math.Sqrt(simd.SumSqF32(wide)); length > 0x1p-60 && length < 0x1p60 {
				inverse[i] = float32(1 / length)
			}
		}
		h.inverse = inverse
	}
	for i := range v.v.norms {
		h.widen(wide, i, dim)
		v.v.norms[i] = normAbove(wide)
	}
	return v, nil
}

// Len returns the number of rows.
func (v *VectorsBF16) Len() int { return v.v.n }

// Search is that of Vectors among rows in bfloat16, which count exactly as they are: scores are those of simd.SquaredL2RowsF32, DotRowsF32
// and L1RowsF32 for the same rows in float32, bit for bit; for Cosine those of DotRowsF32 for rows times 1 / length.
func (v *VectorsBF16) Search(index []int32, score, queries []float32, k int) {
	v.v.search("VectorsBF16.Search", index, score, queries, k)
}

// VectorsI8 is Vectors for rows and queries of 8-bit integers: a quarter of float32's memory, and comparisons that are exact sums. Numbers
// are taken as they are, so floats that were scaled to integers need one scale for all rows; for Cosine each row may have its own.
type VectorsI8 struct {
	n, dim int
	by     Similarity
	rows   []int8
	length []float64 // [n], for Cosine
}

// NewVectorsI8 keeps the rows [n, dim], of which it makes a copy. Its errors are those of NewVectors, and ErrShape for so many columns
// that a sum could overflow: more than 33,025 for SquaredL2, 131,071 for the others.
func NewVectorsI8(rows []int8, dim int, by Similarity) (*VectorsI8, error) {
	if err := checkVectors("NewVectorsI8", len(rows), dim, by); err != nil {
		return nil, err
	}
	most := 131_071
	if by == SquaredL2 {
		most = 33_025
	}
	if dim > most {
		return nil, fmt.Errorf("neighbor: NewVectorsI8: %w: rows of %d, of which sums could overflow: need at most %d", ErrShape, dim, most)
	}
	v := &VectorsI8{n: len(rows) / dim, dim: dim, by: by, rows: append([]int8(nil), rows...)}
	if by == Cosine {
		v.length = lengthsI8(v.rows, dim)
	}
	return v, nil
}

// lengthsI8 returns the length of every row.
func lengthsI8(rows []int8, dim int) []float64 {
	lengths, square := make([]float64, len(rows)/dim), make([]int32, 1)
	for i := range lengths {
		row := rows[i*dim:][:dim]
		simd.DotRowsI8(square, row, dim, row)
		lengths[i] = math.Sqrt(float64(square[0]))
	}
	return lengths
}

// Len returns the number of rows.
func (v *VectorsI8) Len() int { return v.n }

// Search finds the k best rows of each query [q, dim], as that of Vectors does. Rows are ordered by exact sums; a score is the sum, or for
// Cosine the sum divided by both lengths, rounded to float32.
func (v *VectorsI8) Search(index []int32, score []float32, queries []int8, k int) {
	q := checkSearch("VectorsI8.Search", len(index), len(score), len(queries), v.dim, k)
	var lengths []float64
	if v.by == Cosine {
		lengths = lengthsI8(queries, v.dim)
	}
	searchRows(index, score, v.n, q, k, v.by, func(first, last, lo, hi int) []nearest {
		best := make([]nearest, last-first)
		for i := range best {
			best[i].reset(k)
		}
		var sums [vectorRows]int32
		for ; lo < hi; lo += vectorRows { // all queries, while the rows are in the caches
			rows := v.rows[lo*v.dim : min(lo+vectorRows, hi)*v.dim]
			for i := range best {
				query, dst := queries[(first+i)*v.dim:][:v.dim], sums[:len(rows)/v.dim]
				switch v.by {
				case SquaredL2:
					simd.SquaredL2RowsI8(dst, rows, v.dim, query)
				case L1:
					simd.L1RowsI8(dst, rows, v.dim, query)
				default:
					simd.DotRowsI8(dst, rows, v.dim, query)
				}
				if v.by == Cosine {
					best[i].offerCosines(dst, lengths[first+i], v.length[lo:], int32(lo))
				} else {
					best[i].offerSums(dst, v.by == DotProduct, int32(lo))
				}
			}
		}
		return best
	})
}

// offerSums offers sums of rows from number lo on. They come in order, so that of equal ones the first is the better.
func (h *nearest) offerSums(sums []int32, largest bool, lo int32) {
	for j, d := range sums {
		cost := float64(d)
		if largest {
			cost = -cost
		}
		if !h.full() || h.k > 0 && cost < h.dist[0] {
			h.offer(cost, lo+int32(j))
		}
	}
}

// offerCosines is offerSums for products that are to be divided by the lengths of the query and of the rows.
func (h *nearest) offerCosines(products []int32, length float64, lengths []float64, lo int32) {
	for j, d := range products {
		cost := -float64(d) / (length * lengths[j])
		if !h.full() || h.k > 0 && cost < h.dist[0] {
			h.offer(cost, lo+int32(j))
		}
	}
}
