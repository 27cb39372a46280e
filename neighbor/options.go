package neighbor

import (
	"errors"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
)

// Errors that callers may want to tell apart. All are wrapped with the names and numbers of the case at hand.
var (
	ErrOption       = errors.New("invalid option")
	ErrShape        = errors.New("wrong shape")
	ErrValue        = errors.New("not a finite number")
	ErrTooManyPairs = errors.New("too many pairs")
	ErrStopped      = errors.New("stopped")
)

// Method is a way to search. All methods give the same result; choose one to measure or test.
type Method int

// The methods.
const (
	Auto  Method = iota // a group.Finder over all points of a block; for very many points Tree, if the group is a group.Bounder
	Brute               // every query's distance to every point, by the group's own Distance
	Tree                // a kd-tree over the coordinates of a group.Bounder; for other groups the same as Brute
)

// String returns the method's name, for logs and benchmarks.
func (m Method) String() string {
	switch m {
	case Auto:
		return "auto"
	case Brute:
		return "brute"
	case Tree:
		return "tree"
	}
	return fmt.Sprintf("Method(%d)", int(m))
}

// DefaultMaxPairs is the limit on pairs where Options.MaxPairs is 0: four times what a 128 × 128 image has at the paper's radius.
// That many pairs take about 0.5 GB where few rows show all poses. Where every pose is looked up, they take up to about 4 GB with
// poses of two numbers.
const DefaultMaxPairs = 1 << 26

// mergeUnits is the factor of the default tolerance; see Options.MergeTolerance.
const mergeUnits = 0x1p-44

// Options say what to search for. The zero value finds nothing: Radius is 0.
type Options struct {
	// Radius of the ball; a pair belongs to it if its distance is strictly smaller. Zero and negative radii give empty
	// balls, +Inf every pair at a finite distance. NaN is an error.
	Radius float64

	// QueryMask and PointMask are false at rows that do not count; nil means that all count. Masked queries have no neighbours,
	// masked points are neighbours of no query, and the coordinates of both are never read.
	QueryMask, PointMask []bool

	// QueryBlocks and PointBlocks split a batch into independent sets. Block b consists of the queries QueryBlocks[b] up to
	// QueryBlocks[b+1] and of the points PointBlocks[b] up to PointBlocks[b+1]; its queries see only its points. Both lists have
	// one entry more than there are blocks, start at 0 and end with the number of rows; nil, in both, is one block.
	QueryBlocks, PointBlocks []int

	// Apart gives each block the poses, and the samples of MaxNeighbors, that it has alone, bit for bit: poses of two
	// blocks are one only where they are equal, and each block has a tolerance of its own. MaxBytes then bounds each
	// block.
	Apart bool

	// MaxNeighbors, if positive, caps each query's neighbourhood by a uniform sample without replacement, which is the paper's
	// Monte-Carlo sample. It is drawn with Seed and the query's row and depends on nothing else. The query itself gets no
	// preference: the mean over a uniform sample is an unbiased estimate of the mean over the ball; a mean that always contains
	// one fixed member is not.
	MaxNeighbors int
	Seed         uint64

	Method Method

	// MergeTolerance is the largest difference, in any coordinate, between a pair's pose and the entry of the table
	// that stands for it. A pair takes the earliest entry within that tolerance, else it becomes a new entry; "earliest"
	// is by (query, point). Entries are compared directly, so differences do not add up along chains. Equal angles
	// near +π and -π stay apart, which costs an entry and changes nothing.
	//
	// 0 means 2⁻⁴⁴·max(1, m), where m is the median over rows of the row's largest absolute coordinate: 256 units in the last
	// place at that size. Rounding makes equal poses differ by two or three units for every operation of the group, and by more
	// where a grid coordinate, itself off by a unit of the largest coordinate, is divided by a small radius. (On the paper's
	// image grids every tolerance from 2⁻⁴⁶ to 1e-6 finds the same poses.) It is the median and not the largest, so that a single
	// far point does not make all others' poses merge too easily. Negative: poses never merge, each pair has its own.
	MergeTolerance float64

	// MaxPairs bounds the number of pairs; more are ErrTooManyPairs. 0 means DefaultMaxPairs or, if MaxBytes is set, as many as
	// that allows.
	MaxPairs int

	// MaxBytes, if positive, bounds the memory that Ball needs, by an estimate of what is live at a time. Needing more is
	// ErrTooManyPairs, and the error names the need and the limit. The search takes 8 bytes a pair for the answer, and 4 more for
	// each of the first 16 million pairs, or for all pairs where a tree searches or MaxNeighbors is set. The pose table takes,
	// beside the answer, 8·e+4 bytes for each distinct pose of e numbers and, while it is made, 8·(e+1)+1 for each pose that is
	// looked up: none where few rows show all poses, a fraction where rotations map the points to themselves, otherwise all. So a
	// pair costs at least 8 bytes and, with poses of two numbers most of which are different, at most 53. Not counted are the
	// lifted points, up to 200 MB that Ball keeps for the next call, and garbage.
	MaxBytes int64

	// Stop, if not nil, is called every millisecond or so, by any goroutine. After it has returned true, Ball soon returns
	// ErrStopped.
	Stop func() bool
}

// stopped is the value that pause panics with. A panic leaves all loops of a parallel call at once; Ball turns it into
// ErrStopped.
type stopped struct{}

// pause panics if the caller has asked to stop.
func (o *Options) pause() {
	if o.Stop != nil && o.Stop() {
		panic(stopped{})
	}
}

// problem is a checked question.
type problem struct {
	Options
	g               group.Group
	queries, points *group.Lifted
	ga, qa          int  // lengths of a row's algebra and orbit coordinates
	byBytes         bool // MaxPairs follows from MaxBytes
}

// newProblem checks everything that comes from the caller. op names the call in errors.
func newProblem(op string, queries, points *group.Lifted, opt Options) (*problem, error) {
	fail := func(kind error, format string, args ...any) (*problem, error) {
		return nil, fmt.Errorf("neighbor: %s: %w: %s", op, kind, fmt.Sprintf(format, args...))
	}
	if queries == nil || points == nil || queries.Group == nil || points.Group == nil {
		return fail(ErrShape, "nil set of points or nil group")
	}
	g := points.Group
	if q := queries.Group; q.Name() != g.Name() || q.Alpha() != g.Alpha() {
		return fail(ErrShape, "queries are lifted to %s (alpha %g), points to %s (alpha %g)", q.Name(), q.Alpha(), g.Name(), g.Alpha())
	}
	p := &problem{Options: opt, g: g, queries: queries, points: points, ga: g.AlgebraDim(), qa: g.OrbitDim()}
	if p.MaxPairs == 0 {
		if p.MaxPairs = DefaultMaxPairs; p.MaxBytes > 0 {
			p.MaxPairs = math.MaxInt32
		}
	}
	switch {
	case math.IsNaN(p.Radius):
		return fail(ErrValue, "Radius = NaN")
	case math.IsNaN(p.MergeTolerance) || math.IsInf(p.MergeTolerance, 0):
		return fail(ErrValue, "MergeTolerance = %g", p.MergeTolerance)
	case p.MaxNeighbors < 0:
		return fail(ErrOption, "MaxNeighbors = %d is negative", p.MaxNeighbors)
	case p.MaxPairs < 0 || p.MaxPairs > math.MaxInt32:
		return fail(ErrOption, "MaxPairs = %d, need 0 to %d", p.MaxPairs, math.MaxInt32)
	case p.MaxBytes < 0:
		return fail(ErrOption, "MaxBytes = %d is negative", p.MaxBytes)
	case p.Method < Auto || p.Method > Tree:
		return fail(ErrOption, "Method = %v", p.Method)
	case len(p.QueryBlocks) != len(p.PointBlocks):
		return fail(ErrShape, "QueryBlocks has %d entries, PointBlocks %d", len(p.QueryBlocks), len(p.PointBlocks))
	}
	var err error
	if p.QueryBlocks, err = p.checkSet("Query", "queries", queries, p.QueryMask, p.QueryBlocks); err == nil {
		p.PointBlocks, err = p.checkSet("Point", "points", points, p.PointMask, p.PointBlocks)
	}
	if err != nil {
		return nil, fmt.Errorf("neighbor: %s: %w", op, err)
	}
	return p, nil
}

// checkSet checks one of the two sets and returns its blocks, at least one.
func (p *problem) checkSet(field, name string, l *group.Lifted, mask []bool, blocks []int) ([]int, error) {
	if l.N < 0 || l.K < 1 || (l.N > 0 && l.K > math.MaxInt32/l.N) {
		return nil, fmt.Errorf("%w: %s: %d points with %d lifts", ErrShape, name, l.N, l.K)
	}
	rows := l.Rows()
	switch {
	case len(l.A) != rows*p.ga:
		return nil, fmt.Errorf("%w: %s: len(A) = %d, need %d rows of %d", ErrShape, name, len(l.A), rows, p.ga)
	case len(l.Q) != rows*p.qa:
		return nil, fmt.Errorf("%w: %s: len(Q) = %d, need %d rows of %d", ErrShape, name, len(l.Q), rows, p.qa)
	case mask != nil && len(mask) != rows:
		return nil, fmt.Errorf("%w: len(%sMask) = %d, need %d", ErrShape, field, len(mask), rows)
	}
	for i := range rows {
		if mask != nil && !mask[i] {
			continue
		}
		a, q := l.Row(i)
		if c := firstBad(a); c >= 0 {
			return nil, fmt.Errorf("%w: %s: row %d, algebra coordinate %d = %g", ErrValue, name, i, c, a[c])
		}
		if c := firstBad(q); c >= 0 {
			return nil, fmt.Errorf("%w: %s: row %d, orbit coordinate %d = %g", ErrValue, name, i, c, q[c])
		}
	}
	if blocks == nil {
		return []int{0, rows}, nil
	}
	if len(blocks) < 2 || blocks[0] != 0 || blocks[len(blocks)-1] != rows {
		return nil, fmt.Errorf("%w: %sBlocks = %v, need offsets from 0 to %d", ErrShape, field, shorten(blocks), rows)
	}
	for b := 1; b < len(blocks); b++ {
		if blocks[b] < blocks[b-1] {
			return nil, fmt.Errorf("%w: %sBlocks[%d] = %d after %d: offsets must not fall", ErrShape, field, b, blocks[b], blocks[b-1])
		}
	}
	return blocks, nil
}

// shorten keeps error messages about a long list short.
func shorten(v []int) []int { return v[:min(len(v), 8)] }

// firstBad returns the position of the first number that is not finite, or -1.
func firstBad(v []float64) int {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return i
		}
	}
	return -1
}

// counts reports whether row i counts under a mask.
func counts(mask []bool, i int) bool { return mask == nil || mask[i] }
