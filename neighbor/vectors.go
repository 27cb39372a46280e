package neighbor

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

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
	vectorQueries = 64
	vectorRows    = 256
	// filterRows are looked at together for a query that may have one of its best among them.
	filterRows = 64
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
	if dim < 1 {
		return fmt.Errorf("neighbor: %s: %w: dim = %d, need at least 1", op, ErrShape, dim)
	}
	if numbers%dim != 0 || numbers/dim > math.MaxInt32 {
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
	if k == 0 {
		return
	}
	if v.by == Cosine {
		queries = append([]float32(nil), queries...)
		for i := range q {
			normalize(queries[i*v.dim:][:v.dim])
		}
	}
	searchRows(index, score, v.n, q, k, v.by, func(first, last, lo, hi int, limits limits) []nearest {
		w := vectorSearch{v: v, queries: queries[first*v.dim : last*v.dim], limits: limits}
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
	if dim == 0 {
		panic(fmt.Sprintf("neighbor: %s: the zero value has no rows, not even their length", op))
	}
	q := queries / dim
	if queries%dim != 0 || q > 0 && k > index/q || index != q*k || score != q*k { // q·k may overflow
		panic(fmt.Sprintf("neighbor: %s: len(index) = %d, len(score) = %d, len(queries) = %d: need %d·%d twice and a multiple of %d",
			op, index, score, queries, q, k, dim))
	}
	return q
}

// limits are costs, one for each query, that k rows are known not to exceed. Goroutines that look through different rows share them: rows
// above are none of the best.
type limits []atomic.Uint64

func newLimits(q int) limits {
	l := make(limits, q)
	for i := range l {
		l[i].Store(math.Float64bits(math.Inf(1)))
	}
	return l
}

// of returns what is known of a query, when h are the best of some rows.
func (l limits) of(i int, h *nearest) float64 {
	limit := math.Float64frombits(l[i].Load())
	if h.full() {
		limit = min(limit, h.dist[0])
	}
	return limit
}

// learn lowers the limits to what the best of some rows say.
func (l limits) learn(best []nearest) {
	for i := range best {
		if h := &best[i]; h.full() {
			for old := l[i].Load(); h.dist[0] < math.Float64frombits(old) && !l[i].CompareAndSwap(old, math.Float64bits(h.dist[0])); {
				old = l[i].Load()
			}
		}
	}
}

// searchRows divides q queries and n rows among goroutines: run compares queries first .. last-1, whose limits it gets, with rows
// lo .. hi-1 and returns the best of each; those that are none of the best of all may be missing.
func searchRows(index []int32, score []float32, n, q, k int, by Similarity, run func(first, last, lo, hi int, limits limits) []nearest) {
	blocks := (q + vectorQueries - 1) / vectorQueries
	span := vectorSpan
	for span > leastSpan && blocks*(n/span) < vectorPieces {
		span /= 2
	}
	spans := max(1, (n+span-1)/span)
	found := make([]nearest, blocks*vectorQueries*spans) // [block, query, span]
	known := newLimits(q)
	parallel.For(blocks*spans, 1, func(lo, hi int) {
		for task := lo; task < hi; task++ {
			b, s := task/spans, task%spans
			first, last := b*vectorQueries, min((b+1)*vectorQueries, q)
			for i, best := range run(first, last, s*span, min((s+1)*span, n), known[first:last]) {
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
	limits  limits
	limit   [vectorQueries]float64 // the same, while a block is compared
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
	products, norms := make([]float32, 2*q*vectorRows), make([]float64, q)
	products, greatest := products[:q*vectorRows], products[q*vectorRows:]
	for i := range norms {
		norms[i] = float64(normAbove(w.queries[i*v.dim:][:v.dim]))
	}
	for ; lo < hi; lo += vectorRows {
		n := min(vectorRows, hi-lo)
		rows := w.block(lo, lo+n)
		known := false
		for i := range q { // a query with NaN never has a limit
			w.limit[i] = w.limits.of(i, &w.best[i])
			known = known || !math.IsInf(w.limit[i], 1)
		}
		if !known {
			for i := range q {
				w.scan(i, rows, lo)
			}
			w.limits.learn(w.best)
			continue
		}
		if v.by == SquaredL2 { // |a|²/2 - a·x is how far a row is, but for what all rows of a query have
			for j, norm := range v.norms[lo : lo+n] {
				fill(products[j*q:][:q], -norm*norm/2)
			}
			simd.GemmNTF32(products, q, rows, v.dim, w.queries, v.dim, 1, 1, n, q, v.dim)
		} else {
			simd.GemmNTF32(products, q, rows, v.dim, w.queries, v.dim, 1, 0, n, q, v.dim)
		}
		for at := 0; at < n; at += filterRows {
			last := min(at+filterRows, n)
			part := products[at*q : last*q]
			w.filter(rows[at*v.dim:last*v.dim], lo+at, part, columnMaxima(greatest, part, q), norms)
		}
		w.limits.learn(w.best)
	}
}

func fill(dst []float32, by float32) {
	for i := range dst {
		dst[i] = by
	}
}

// columnMaxima returns the largest number of each of q columns, NaN where there is one, with scratch for as many numbers as x has.
func columnMaxima(scratch, x []float32, q int) []float32 {
	for n := len(x) / q; n > 1; n = (n + 1) / 2 { // the second half of the rows is laid over the first
		half := (n + 1) / 2
		simd.MaxF32(scratch[:(n-half)*q], x[:(n-half)*q], x[half*q:n*q])
		copy(scratch[(n-half)*q:half*q], x[(n-half)*q:half*q])
		x = scratch
	}
	return x[:q]
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
// infinite and the other not: then nothing is known of a dot product. Squared distances that are infinite are above any
// limit, so there it does not matter. Of nearly all queries the largest product of the column,
// with the largest row, says that no row can be.
func (w *vectorSearch) filter(rows []float32, lo int, products, greatest []float32, norms []float64) {
	v, q := w.v, len(norms)
	largest := 0.0
	for _, r := range v.norms[lo : lo+len(products)/q] {
		largest = max(largest, float64(r)) // NaN, if there is one
	}
	for i, norm := range norms {
		if math.IsInf(w.limit[i], 1) {
			w.scan(i, rows, lo)
			continue
		}
		least := w.least(i, norm, largest)
		if float64(greatest[i]) < least {
			continue
		}
		for j, r := range v.norms[lo : lo+len(products)/q] {
			own := least
			if math.IsInf(least, -1) { // because of some row
				own = w.least(i, norm, float64(r))
			}
			if !(float64(products[j*q+i]) < own) {
				w.scan(i, rows[j*v.dim:][:v.dim], lo+j)
			}
		}
	}
}

// least returns the product with query i, for SquaredL2 less half of the row's square, that a row of at most length r must have, or else is
// surely above the query's limit.
func (w *vectorSearch) least(i int, norm, r float64) float64 {
	eps, tiny := float64(w.v.dim+16)*0x1p-23, float64(w.v.dim+16)*0x1p-147
	least, known := -w.limit[i]-2*eps*norm*r-tiny, norm*r < 0x1p126
	if w.v.by == SquaredL2 {
		least, known = (norm*norm-w.limit[i]-4*eps*(norm+r)*(norm+r)-tiny)/2, r < 0x1p62
	}
	if !known {
		return math.Inf(-1)
	}
	return least
}
