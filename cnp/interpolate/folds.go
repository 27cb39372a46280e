package interpolate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp/settings"
)

// MaxFolds is the largest number of folds: each of them is a fit.
const MaxFolds = 1000

// Folds say which rows cross-validation leaves out together: so many blocks of neighbouring rows or, where Column names one, all rows with
// the same number or text in that column.
type Folds struct {
	Blocks int
	Column string
}

// ParseFolds reads a number of blocks, or the name of a column.
func ParseFolds(text string) (Folds, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && text != "":
		return Folds{Column: text}, nil
	case err != nil || n < 2 || n > MaxFolds:
		return Folds{}, settings.Errorf("{Folds} %q: need a number of blocks from 2 to %d, or the name of a column", text, MaxFolds)
	}
	return Folds{Blocks: n}, nil
}

// folds returns the fold of each of some rows, from 0, and how many there are. column is that of the groups, -1 for blocks.
func (in *Interpolation) folds(f Folds, rows []int, units bool) (fold []int, n, column int, err error) {
	if f.Column == "" {
		x, d := in.scaled(rows, units)
		fold, places := blocks(x, d, f.Blocks)
		if places < f.Blocks {
			return nil, 0, -1, settings.Errorf("{Folds} %d: the rows of %s with values lie at %d different places, which is too few for "+
				"so many blocks", f.Blocks, in.Points.Name, places)
		}
		return fold, f.Blocks, -1, nil
	}
	if column, err = in.Points.Index(f.Column); err != nil {
		return nil, 0, -1, settings.Hintf("{Folds}: %w", err)
	}
	of := map[string]int{}
	for _, row := range rows {
		cell := in.Points.Cell(row, column)
		if cell == "" {
			return nil, 0, -1, settings.Hintf("{Folds}: %w", in.Points.Errorf(row, column,
				"the cell of %s is missing: which group is the row of?", f.Column))
		}
		k, ok := of[cell]
		if !ok {
			k = len(of)
			of[cell] = k
		}
		fold = append(fold, k)
	}
	switch {
	case len(of) > MaxFolds:
		err = settings.Errorf("{Folds} %s: the column has %d different cells, need at most %d, as each is a fit: a number makes so many "+
			"blocks", f.Column, len(of), MaxFolds)
	case len(of) < 2:
		err = settings.Errorf("{Folds} %s: all rows with values are of one group: without it there are none", f.Column)
	}
	return fold, len(of), column, err
}

// scaled are coordinates of rows [n, d] between which distances mean something: unit vectors on the globe, and where inputs have units of
// their own each over its deviation.
func (in *Interpolation) scaled(rows []int, units bool) (x []float64, d int) {
	d = in.Dx
	for _, row := range rows {
		at := in.Observed.X[row*d : (row+1)*d]
		if in.Sphere {
			v := unitVectors(at)
			x = append(x, v[0][:]...)
			continue
		}
		x = append(x, at...)
	}
	if in.Sphere {
		return x, 3
	}
	for k := 0; units && k < d; k++ {
		lo, hi := extent(x, k, d)
		var mean, square float64
		for i := k; i < len(x); i += d { // over the extent, so that no square overflows
			x[i] = (x[i]/2 - lo/2) / max(hi/2-lo/2, math.SmallestNonzeroFloat64)
			mean += x[i] * float64(d) / float64(len(x))
		}
		for i := k; i < len(x); i += d {
			square += (x[i] - mean) * (x[i] - mean) * float64(d) / float64(len(x))
		}
		for i := k; i < len(x) && square > 0; i += d {
			x[i] /= math.Sqrt(square)
		}
	}
	return x, d
}

// blocks takes places x [n, d] apart into so many blocks of about as many rows, each compact: the block that is to be divided is cut across
// its longest side. Rows at one place stay together. It returns the block of each row, or less than so many places where they are too few.
func blocks(x []float64, d, count int) (block []int, places int) {
	n := len(x) / d
	at := func(i int) []float64 { return x[i*d : (i+1)*d] }
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(slices.Compare(at(a), at(b)), cmp.Compare(a, b)) })
	var all [][]int // rows by place
	for i, row := range order {
		if i == 0 || !slices.Equal(at(row), at(order[i-1])) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], row)
	}
	if len(all) < count {
		return nil, len(all)
	}
	block = make([]int, n)
	var divide func(all [][]int, first, count int)
	divide = func(all [][]int, first, count int) {
		if count == 1 {
			for _, rows := range all {
				for _, row := range rows {
					block[row] = first
				}
			}
			return
		}
		axis, widest, total := 0, -1.0, 0
		for k := range d {
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, rows := range all {
				lo, hi = min(lo, x[rows[0]*d+k]), max(hi, x[rows[0]*d+k])
			}
			if hi/2-lo/2 > widest {
				axis, widest = k, hi/2-lo/2
			}
		}
		for _, rows := range all {
			total += len(rows)
		}
		slices.SortStableFunc(all, func(a, b []int) int { return cmp.Compare(x[a[0]*d+axis], x[b[0]*d+axis]) })
		left := count / 2
		cut, sum := 0, 0
		for cut < len(all)-(count-left) && (cut < left || (sum+len(all[cut])/2)*count < total*left) {
			sum += len(all[cut])
			cut++
		}
		divide(all[:cut], first, left)
		divide(all[cut:], first+left, count-left)
	}
	divide(all, 0, count)
	return block, len(all)
}
