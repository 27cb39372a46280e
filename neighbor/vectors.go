package neighbor

import (
	"fmt"
	"math"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Similarity says how vectors are compared.
type Similarity uint8

const (
	// SquaredL2 is the squared Euclidean distance; the smallest is best.
	SquaredL2 Similarity = iota
	// DotProduct is the inner product; the largest is best.
	DotProduct
	// Cosine is the cosine of the angle; the largest is best. Of a row or a query of zeros it is NaN.
	Cosine
	// L1 is the sum of absolute differences; the smallest is best.
	L1
)

// Vectors finds the best of many rows of 32 to some thousand numbers, such as embeddings. It compares a query with
// every row, so that its answers are exact: products of matrices for many queries tell which rows can be among the
// best, and these are then compared one by one. It does not change and may be used by any number of goroutines at once.
type Vectors struct {
	n, dim int
	by     Similarity
	rows   []float32 // [n, dim]; of length 1 for Cosine
	norms  []float32 // [n], rounded up
	half   *halfRows // in place of rows
}

const (
	// vectorQueries and vectorRows are the sizes of a product: its result stays in the second-level cache.
	vectorQueries = 32
	vectorRows    = 256
	// fewNumbers are widened at a time for few queries: they stay in the first-level cache.
	fewNumbers = 1 << 12
	// vectorSpan is how many rows a goroutine looks through at a time, and leastSpan how few where there would be less than
	// vectorPieces pieces of work, as with a single query. In every piece some rows are compared with all queries one by one.
	vectorSpan   = 1 << 14
	leastSpan    = 1 << 11
	vectorPieces = 48
)

// NewVectors keeps the rows [n, dim], of which it makes a copy. It returns ErrShape if they do not fill whole rows, and
// ErrOption for an unknown similarity.
func NewVectors(rows []float32, dim int, by Similarity) (*Vectors, error) {
	if err := checkVectors("NewVectors", len(rows), dim, by); err != nil {
		return nil, err
	}
	v := &Vectors{n: len(rows) / dim, dim: dim, by: by, rows: append([]float32(nil), rows...)}
	v.norms = make([]float32, v.n)
	for i := range v.norms {
		r := v.rows[i*dim:][:dim]
		if by == Cosine {
			normalize(r)
		}
		v.norms[i] = normAbove(r)
	}
	return v, nil
}

func checkVectors(op string, numbers, dim int, by Similarity) error {
	if dim < 1 || numbers%dim != 0 || numbers/dim > math.MaxInt32 {
		return fmt.Errorf("neighbor: %s: %w: %d numbers do not fill rows of %d", op, ErrShape, numbers, dim)
	}
	if by > L1 {
		return fmt.Errorf("neighbor: %s: %w: similarity %d", op, ErrOption, by)
	}
	return nil
}

// Len returns the number of rows.
func (v *Vectors) Len() int { return v.n }

// normalize divides a row by its length. A row of zeros becomes NaN and is never found.
func normalize(r []float32) {
	s := math.Sqrt(simd.SumSqF32(r))
	for i, x := range r {
		r[i] = float32(float64(x) / s)
	}
}

// normAbove returns the length of r or a little more.
func normAbove(r []float32) float32 { return float32(math.Sqrt(simd.SumSqF32(r)) * (1 + 0x1p-22)) }

// Search finds the k best rows of each query [q, dim] and writes their numbers into index [q, k] and how they compare
// into score [q, k], the best first; of equal ones the row that comes first. Where there are fewer rows than k, or rows
// whose score is NaN, index is -1 and score NaN at the end. It panics if a length does not match. Scores are those of
// simd.SquaredL2RowsF32, DotRowsF32 and L1RowsF32, bit for bit, whatever is searched together; for Cosine those of
// DotRowsF32 for rows of length 1.
func (v *Vectors) Search(index []int32, score, queries []float32, k int) {
	v.search("Vectors.Search", index, score, queries, k)
}

func (v *Vectors) search(op string, index []int32, score, queries []float32, k int) {
	q := checkSearch(op, len(index), len(score), len(queries), v.dim, k)
	if v.by == Cosine {
		queries = append([]float32(nil), queries...)
		for i := range q {
			normalize(queries[i*v.dim:][:v.dim])
		}
	}
	searchRows(index, score, v.n, q, k, v.by, func(first, last, lo, hi int) []nearest {
		w := vectorSearch{v: v, queries: queries[first*v.dim : last*v.dim]}
		if v.half != nil { // fresh memory for each span would take as long as the search
			wide := widened.Get().(*[]float32)
			w.wide = *wide
			defer func() { *wide = w.wide; widened.Put(wide) }()
		}
		w.run(lo, hi, k)
		return w.best
	})
}

// checkSearch returns the number of queries.
func checkSearch(op string, index, score, queries, dim, k int) int {
	if k < 0 {
		panic(fmt.Sprintf("neighbor: %s: k = %d, need at least 0", op, k))
	}
	q := queries / dim
	if queries%dim != 0 || q > 0 && k > index/q || index != q*k || score != q*k { // q·k may overflow
		panic(fmt.Sprintf("neighbor: %s: len(index) = %d, len(score) = %d, len(queries) = %d: need %d·%d twice and a multiple of %d",
			op, index, score, queries, q, k, dim))
	}
	return q
}

// searchRows divides q queries and n rows among goroutines: run compares queries first .. last-1 with rows lo .. hi-1 and returns
// the best of each.
func searchRows(index []int32, score []float32, n, q, k int, by Similarity, run func(first, last, lo, hi int) []nearest) {
	blocks := (q + vectorQueries - 1) / vectorQueries
	span := vectorSpan
	for span > leastSpan && blocks*(n/span) < vectorPieces {
		span /= 2
	}
	spans := max(1, (n+span-1)/span)
	found := make([]nearest, blocks*vectorQueries*spans) // [block, query, span]
	parallel.For(blocks*spans, 1, func(lo, hi int) {
		for task := lo; task < hi; task++ {
			b, s := task/spans, task%spans
			first := b * vectorQueries
			for i, best := range run(first, min(first+vectorQueries, q), s*span, min((s+1)*span, n)) {
				found[(first+i)*spans+s] = best
			}
		}
	})
	for i := range q {
		all := nearest{k: k}
		for s := range spans {
			f := &found[i*spans+s]
			for j, d := range f.dist {
				all.offer(d, f.index[j])
			}
		}
		all.sort()
		for j := range k {
			index[i*k+j], score[i*k+j] = -1, float32(math.NaN())
			if j < len(all.dist) {
				index[i*k+j], score[i*k+j] = all.index[j], by.scoreOf(all.dist[j])
			}
		}
	}
}

// costs are scores, negative where the largest is best.
func (s Similarity) scoreOf(cost float64) float32 {
	if s == DotProduct || s == Cosine {
		cost = -cost
	}
	return float32(cost)
}

// vectorSearch is the search of a few queries through a span of rows.
type vectorSearch struct {
	v       *Vectors
	queries []float32
	best    []nearest
	exact   [vectorRows]float32
	wide    []float32 // a block of rows that are kept in bfloat16
}

// widened has the blocks of earlier searches.
var widened = sync.Pool{New: func() any { return new([]float32) }}

// block returns rows lo .. hi-1.
func (w *vectorSearch) block(lo, hi int) []float32 {
	if v := w.v; v.half == nil {
		return v.rows[lo*v.dim : hi*v.dim]
	}
	if need := (hi - lo) * w.v.dim; cap(w.wide) < need { // only the last block of a span is smaller
		w.wide = make([]float32, need)
	}
	wide := w.wide[:(hi-lo)*w.v.dim]
	w.v.half.widen(wide, lo, w.v.dim)
	return wide
}

func (w *vectorSearch) run(lo, hi, k int) {
	v, q := w.v, len(w.queries)/w.v.dim
	w.best = make([]nearest, q)
	for i := range w.best {
		w.best[i].reset(k)
	}
	if q < 4 || v.by == L1 {
		step := vectorRows
		if v.half != nil {
			step = max(1, min(step, fewNumbers/v.dim))
		}
		for ; lo < hi; lo += step {
			rows := w.block(lo, min(lo+step, hi))
			for i := range q {
				w.scan(i, rows, lo)
			}
		}
		return
	}
	products, norms := make([]float32, q*vectorRows), make([]float64, q)
	for i := range norms {
		norms[i] = float64(normAbove(w.queries[i*v.dim:][:v.dim]))
	}
	for ; lo < hi; lo += vectorRows {
		n := min(vectorRows, hi-lo)
		rows := w.block(lo, lo+n)
		if !w.best[0].full() { // nothing is known yet
			for i := range q {
				w.scan(i, rows, lo)
			}
			continue
		}
		simd.GemmNTF32(products, q, rows, v.dim, w.queries, v.dim, 1, 0, n, q, v.dim)
		w.filter(rows, lo, products, norms)
	}
}

// scan compares a query with rows, of which the first has number lo.
func (w *vectorSearch) scan(i int, rows []float32, lo int) {
	v := w.v
	query, dst := w.queries[i*v.dim:][:v.dim], w.exact[:len(rows)/v.dim]
	sign := 1.0
	switch v.by {
	case SquaredL2:
		simd.SquaredL2RowsF32(dst, rows, v.dim, query)
	case L1:
		simd.L1RowsF32(dst, rows, v.dim, query)
	default:
		simd.DotRowsF32(dst, rows, v.dim, query)
		sign = -1
	}
	for j, d := range dst {
		w.best[i].offer(sign*float64(d), int32(lo+j))
	}
}

// filter compares queries with those of some rows whose products [rows, queries] say that they may be among the best. A
// product of matrices and a sum over a row differ from the exact value by less than eps·|row|·|query| each, after
// Cauchy and Schwarz, and by some of the smallest numbers where terms underflow. Where terms may overflow, one may be
// infinite and the other not: then nothing is known of a dot product. Squared distances are no better than the least of
// a full heap if they are infinite, so there it does not matter.
func (w *vectorSearch) filter(rows []float32, lo int, products []float32, norms []float64) {
	v, q := w.v, len(norms)
	eps, tiny := float64(v.dim+16)*0x1p-23, float64(v.dim+16)*0x1p-147
	for j := range len(rows) / v.dim {
		r := float64(v.norms[lo+j])
		for i, p := range products[j*q:][:q] {
			best, norm := &w.best[i], norms[i]
			if best.k == 0 {
				return
			}
			if best.full() {
				least, known := -float64(p)-2*eps*norm*r-tiny, norm*r < 0x1p126
				if v.by == SquaredL2 {
					least, known = norm*norm+r*r-2*float64(p)-4*eps*(norm+r)*(norm+r)-tiny, true
				}
				if known && least > best.dist[0] {
					continue
				}
			}
			w.scan(i, rows[j*v.dim:][:v.dim], lo+j)
		}
	}
}
