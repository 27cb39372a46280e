package neighbor

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/search"
	"github.com/equivcnp/equivcnp/simd"
)

// VectorsBF16 is Vectors for rows in bfloat16, which take half the memory; queries are float32. Rows are widened block by block: on two
// cores of Zen 4, where 77 MB of rows do not fit in the caches, one query takes .7 of the time among rows of float32, and 64 as long
// (BenchmarkVectors).
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
// are taken as they are, so floats that were scaled to integers need one scale for all rows; for Cosine each row may have its own. One
// query takes a quarter of the time among rows of float32, and 64 at once a third where the CPU has AVX512_VNNI, elsewhere as long
// (BenchmarkVectors).
type VectorsI8 struct {
	n, dim int
	by     Similarity
	rows   []int8
	square []int32    // [n], |row|², for SquaredL2
	half   []int32    // [n], -(|row|² / 2, rounded down); 0 for others, as many as a block has rows
	length []float64  // [n], for Cosine
	span   [][2]int32 // for Cosine, of each block of vectorRows: the least and the largest |row|²
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
	v.half = make([]int32, min(v.n, vectorRows))
	switch by {
	case SquaredL2:
		v.square = squaresI8(v.rows, dim)
		v.half = make([]int32, v.n)
		for i, s := range v.square {
			v.half[i] = -(s / 2)
		}
	case Cosine:
		squares := squaresI8(v.rows, dim)
		v.length = roots(squares)
		for block := range slices.Chunk(squares, vectorRows) {
			v.span = append(v.span, [2]int32{slices.Min(block), slices.Max(block)})
		}
	}
	return v, nil
}

// squaresI8 returns the squared length of every row.
func squaresI8(rows []int8, dim int) []int32 {
	squares := make([]int32, len(rows)/dim)
	for i := range squares {
		row := rows[i*dim:][:dim]
		simd.DotRowsI8(squares[i:i+1], row, dim, row)
	}
	return squares
}

func roots(squares []int32) []float64 {
	lengths := make([]float64, len(squares))
	for i, s := range squares {
		lengths[i] = math.Sqrt(float64(s))
	}
	return lengths
}

// Len returns the number of rows.
func (v *VectorsI8) Len() int { return v.n }

// Search finds the k best rows of each query [q, dim], as that of Vectors does. Rows are ordered by exact sums; a score is the sum, or for
// Cosine the sum divided by both lengths, rounded to float32.
func (v *VectorsI8) Search(index []int32, score []float32, queries []int8, k int) {
	q := checkSearch("VectorsI8.Search", len(index), len(score), len(queries), v.dim, k)
	if k == 0 {
		return
	}
	var squares []int32 // of the queries
	var lengths []float64
	if v.by == Cosine || v.by == SquaredL2 {
		squares = squaresI8(queries, v.dim)
		lengths = roots(squares)
	}
	packed := make([]*simd.PackedI8, (q+tileColumns-1)/tileColumns)
	if v.by != L1 && q >= packedQueries {
		for t := range packed {
			at := t * tileColumns
			packed[t] = simd.PackI8(queries[at*v.dim:], v.dim, min(tileColumns, q-at), v.dim)
		}
	}
	searchRows(index, score, v.n, q, k, v.by, func(first, last, lo, hi int, limits limits) []nearest {
		best := make([]nearest, last-first)
		for i := range best {
			best[i].reset(k)
		}
		if packed[0] != nil {
			s := tileSearch{v: v, best: best, limits: limits, packed: packed[first/tileColumns : (last+tileColumns-1)/tileColumns]}
			if squares != nil {
				s.squares, s.lengths = squares[first:last], lengths[first:last]
			}
			s.run(lo, hi)
			return best
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

const (
	// packedQueries is from how many queries on products of matrices are worth it.
	packedQueries = 8
	// tileColumns is how many queries a product compares, and vectorQueries a multiple.
	tileColumns = search.GreatestColumns
)

// tileSearch is the search of some queries through a span of rows by products of matrices.
type tileSearch struct {
	v        *VectorsI8
	best     []nearest
	limits   limits
	packed   []*simd.PackedI8 // the queries
	squares  []int32          // of the queries, for SquaredL2 and Cosine
	lengths  []float64        // their roots
	products [vectorRows * tileColumns]int32
	greatest [tileColumns]int32
}

// run compares the queries with rows lo .. hi-1, of which lo begins a block.
func (s *tileSearch) run(lo, hi int) {
	v := s.v
	for ; lo < hi; lo += vectorRows {
		n := min(vectorRows, hi-lo)
		for t, queries := range s.packed { // while the rows are in the caches
			simd.GemmPackedI8(s.products[:], tileColumns, v.rows[lo*v.dim:], v.dim, queries, n)
			for at := 0; at < n; at += filterRows {
				s.filter(s.products[at*tileColumns:min(at+filterRows, n)*tileColumns], lo+at, t*tileColumns, queries.N())
			}
		}
		s.limits.learn(s.best)
	}
}

// filter offers rows from number lo on, by their products with queries from number first on, to those that may have one of their best
// among them.
func (s *tileSearch) filter(products []int32, lo, first, queries int) {
	n := len(products) / tileColumns
	half := s.v.half[:n]
	if s.v.by == SquaredL2 {
		half = s.v.half[lo : lo+n]
	}
	search.Greatest(s.greatest[:], products, half)
	for c := range queries {
		i := first + c
		if limit := s.limits.of(i, &s.best[i]); !(s.least(i, s.greatest[c], lo/vectorRows) > limit) {
			s.offer(i, lo, products[c:], limit)
		}
	}
}

// least returns a cost that no row of a block is below, by the largest product, for SquaredL2 less half of the row's square.
func (s *tileSearch) least(i int, greatest int32, block int) float64 {
	product := float64(greatest)
	switch s.v.by {
	case SquaredL2: // half of the square was rounded down
		return float64(s.squares[i]) - 2*product
	case Cosine: // a quotient that is rounded grows with the product, and falls with the length, or the other way round
		length := s.v.span[block][0]
		if product < 0 {
			length = s.v.span[block][1]
		}
		return -product / (s.lengths[i] * math.Sqrt(float64(length)))
	}
	return -product
}

// offer offers those rows from number lo on that are not above the limit to query i, whose products are in the first column.
func (s *tileSearch) offer(i, lo int, products []int32, limit float64) {
	v, h := s.v, &s.best[i]
	for j := range (len(products) + tileColumns - 1) / tileColumns {
		p := products[j*tileColumns]
		var cost float64
		switch v.by {
		case SquaredL2:
			cost = float64(s.squares[i] + v.square[lo+j] - 2*p)
		case Cosine:
			cost = -float64(p) / (s.lengths[i] * v.length[lo+j])
		default:
			cost = -float64(p)
		}
		if !(cost > limit) {
			h.offer(cost, int32(lo+j))
		}
	}
}

// offerSums offers sums of rows from number lo on. They come in order, so that of equal ones the first is the better.
func (h *nearest) offerSums(sums []int32, largest bool, lo int32) {
	for j, d := range sums {
		cost := float64(d)
		if largest {
			cost = -cost
		}
		if !h.full() || cost < h.dist[0] {
			h.offer(cost, lo+int32(j))
		}
	}
}

// offerCosines is offerSums for products that are to be divided by the lengths of the query and of the rows.
func (h *nearest) offerCosines(products []int32, length float64, lengths []float64, lo int32) {
	for j, d := range products {
		cost := -float64(d) / (length * lengths[j])
		if !h.full() || cost < h.dist[0] {
			h.offer(cost, lo+int32(j))
		}
	}
}
