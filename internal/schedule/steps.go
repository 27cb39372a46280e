package schedule

import (
	"cmp"
	"slices"

	"github.com/equivcnp/equivcnp/internal/radix"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

// Together is the number of rows that take steps together: as many as the kernels of planned convolutions sum at a time.
const Together = 8

// Step describes what rows that follow each other do together: the first takes point X, the next X+1, and so on, all with the same pose.
type Step struct{ X, Pose int32 }

// Ramp is steps of ever fewer rows, for k = First, First+1, .. with a pose each. In step k of a ramp up, row r of the group takes point
// X+r-k if r ≥ k; of a ramp down X+r+k-1 if r < Together-k.
type Ramp struct {
	X     int32
	First int
	Poses []int32
}

// Span is rows Lo to Hi of a group.
type Span struct{ Lo, Hi int }

// Spans are the rows that take single steps together, in the order in which they do.
var Spans = [...]Span{
	{0, 4}, {4, 8},
	{0, 2}, {2, 4}, {4, 6}, {6, 8},
	{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8},
}

// tried lists the spans in the order in which pairs are given to them: all rows; all but the first or the last ones, as at the borders
// of a grid; quarters and single rows.
var tried = [...]Span{
	{0, 8}, {1, 8}, {0, 7}, {2, 8}, {0, 6}, {3, 8}, {0, 5}, {4, 8}, {0, 4}, {5, 8}, {0, 3},
	{6, 8}, {0, 2}, {2, 4}, {4, 6},
	{7, 8}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7},
}

// Steps are the pairs of a group of rows, in the order in which they are added up: runs, ramps up, ramps down, then single steps, span by
// span.
type Steps struct {
	// Runs are steps of all rows, each with the point after that of the step before.
	Runs [][]Step
	// Ramps go up, over the last rows, and down, over the first ones.
	Ramps  [2][]Ramp
	Single [len(Spans)][]Step
}

// Grid arranges the pairs of rows for one goroutine. On a grid, rows that follow each other have the same poses at points that follow each
// other: all of them, or some near the grid's border. Such pairs are one step of those rows.
type Grid struct {
	rows *Rows
	// Scratch for one group.
	steps       Steps
	rest        [Together][]pairKey // each row's pairs that are not part of a step yet, in order
	left        int                 // how many these are
	keys, spare []uint64
	all         []Step        // the steps of all rows
	edges       [2][]edgeStep // steps of the last rows and of the first ones
	written     [Together]int // how many pairs of each row are in their place
}

// NewGrid returns what arranges rows. It changes the order of their pairs.
func NewGrid(r *Rows) *Grid { return &Grid{rows: r} }

// Sort puts the pairs of row i in the order of their points, and those of one point in the order of their poses.
func (g *Grid) Sort(i int) {
	index, pose := g.rows.Row(i)
	if strictlyAscends(index) {
		return
	}
	n, most := len(index), uint32(0)
	g.keys, g.spare = reuse.Sized(g.keys, n), reuse.Sized(g.spare, n)
	for k, x := range index {
		g.keys[k] = uint64(keyOf(x, pose[k]))
		most = max(most, uint32(x))
	}
	g.keys, g.spare = radix.ByUpper(g.keys, g.spare, most)
	for k, v := range g.keys {
		s := pairKey(v).step()
		if index[k], pose[k] = s.X, s.Pose; k > 0 && s.X == index[k-1] && s.Pose < pose[k-1] { // rare: a point twice
			slices.Sort(g.keys)
			for k, v := range g.keys {
				index[k], pose[k] = int32(v>>32), int32(uint32(v))
			}
			return
		}
	}
}

func strictlyAscends(x []int32) bool {
	for k := 1; k < len(x); k++ {
		if x[k] <= x[k-1] {
			return false
		}
	}
	return true
}

// Group divides the pairs of a group of rows from i on, which are in order, into steps of as many rows as possible, and
// puts the rows' pairs into the order of the steps. It returns nil, and leaves them in order, if rows by themselves are
// better. The result lasts until the next call.
func (g *Grid) Group(i int) *Steps {
	g.divide(i)
	alone := 0
	for k, span := range Spans {
		if span.Hi-span.Lo == 1 {
			alone += len(g.steps.Single[k])
		}
	}
	// A pair alone costs about as much as one of a row computed by itself, a pair of all rows a quarter of it.
	if pairs := g.rows.Offsets[i+Together] - g.rows.Offsets[i]; 3*alone > 2*pairs {
		return nil
	}
	g.findRuns()
	g.reorder(i)
	return &g.steps
}

// reorder puts the rows' pairs into the order of the steps.
func (g *Grid) reorder(i int) {
	var index, pose [Together][]int32
	for r := range Together {
		index[r], pose[r] = g.rows.Row(i + r)
	}
	g.written = [Together]int{}
	take := func(r int, x, q int32) {
		k := g.written[r]
		index[r][k], pose[r][k] = x, q
		g.written[r]++
	}
	for _, run := range g.steps.Runs {
		for _, s := range run {
			for r := range Together {
				take(r, s.X+int32(r), s.Pose)
			}
		}
	}
	for _, p := range g.steps.Ramps[0] {
		for s, q := range p.Poses {
			k := p.First + s
			for r := k; r < Together; r++ {
				take(r, p.X+int32(r-k), q)
			}
		}
	}
	for _, p := range g.steps.Ramps[1] {
		for s, q := range p.Poses {
			k := p.First + s
			for r := range Together - k {
				take(r, p.X+int32(r+k-1), q)
			}
		}
	}
	for k, span := range Spans {
		for _, s := range g.steps.Single[k] {
			for r := span.Lo; r < span.Hi; r++ {
				take(r, s.X+int32(r-span.Lo), s.Pose)
			}
		}
	}
}

// pairKey is a pair of a row, the point above the pose: pairs are ordered like their keys.
type pairKey uint64

func keyOf(x, pose int32) pairKey { return pairKey(x)<<32 | pairKey(uint32(pose)) }

func (k pairKey) step() Step { return Step{int32(k >> 32), int32(uint32(k))} }

// edgeStep is a step of the last Together-k rows of a group, or of the first ones. Those of one ramp have the same x.
type edgeStep struct {
	x, pose int32
	k       int // 0: part of a ramp already
}

// divide gives each pair of the rows from i on to a step, of as many rows as possible.
func (g *Grid) divide(i int) {
	g.left = g.rows.Offsets[i+Together] - g.rows.Offsets[i]
	for r := range g.rest {
		index, pose := g.rows.Row(i + r)
		keys := reuse.Sized(g.rest[r], len(index))
		for k, x := range index {
			keys[k] = keyOf(x, pose[k])
		}
		g.rest[r] = keys
	}
	g.all = g.take(g.all[:0], tried[0])
	for k := range g.steps.Single {
		g.steps.Single[k] = g.steps.Single[k][:0]
	}
	for side := range g.edges {
		g.edges[side] = g.edges[side][:0]
	}
	var found []Step
	for _, span := range tried[1:] {
		if g.left == 0 {
			break
		}
		found = g.take(found[:0], span)
		for _, s := range found {
			switch {
			case span.Hi == Together:
				g.edges[0] = append(g.edges[0], edgeStep{s.X, s.Pose, span.Lo})
			case span.Lo == 0:
				k := Together - span.Hi
				g.edges[1] = append(g.edges[1], edgeStep{s.X - int32(k-1), s.Pose, k})
			default:
				g.single(span, s)
			}
		}
	}
	for side := range g.edges {
		g.findRamps(side)
	}
}

// take appends to list those steps of a span whose pairs are all left, and takes the pairs away. As all rows are ordered, one pass through
// each is enough.
func (g *Grid) take(list []Step, span Span) []Step {
	rows := g.rest[span.Lo:span.Hi]
	// Of each row what comes before at has been passed, and of that what is left has been moved up to kept.
	var at, kept [Together]int
	for _, key := range rows[0] {
		together := true
		for r := 1; r < len(rows) && together; r++ {
			row, a, k, want := rows[r], at[r], kept[r], key+pairKey(r)<<32
			for a < len(row) && row[a] < want {
				row[k] = row[a]
				a, k = a+1, k+1
			}
			at[r], kept[r] = a, k
			together = a < len(row) && row[a] == want
		}
		if !together {
			rows[0][kept[0]] = key
			kept[0]++
			continue
		}
		list = append(list, key.step())
		g.left -= len(rows)
		for r := range rows {
			at[r]++
		}
	}
	rows[0] = rows[0][:kept[0]]
	for r := 1; r < len(rows); r++ {
		rows[r] = append(rows[r][:kept[r]], rows[r][at[r]:]...)
	}
	return list
}

// single puts a step among the single ones of its span.
func (g *Grid) single(span Span, s Step) {
	k := slices.Index(Spans[:], span)
	g.steps.Single[k] = append(g.steps.Single[k], s)
}

// findRamps puts together the steps of the last rows (side 0) or of the first rows (side 1) that follow each other. Those that stand
// alone become single steps, if there is a span of those rows.
func (g *Grid) findRamps(side int) {
	edges := g.edges[side]
	slices.SortStableFunc(edges, func(s, t edgeStep) int { return cmp.Or(cmp.Compare(s.x, t.x), cmp.Compare(s.k, t.k)) })
	g.steps.Ramps[side] = g.steps.Ramps[side][:0]
	for i, s := range edges {
		if s.k == 0 {
			continue
		}
		p := Ramp{s.x, s.k, []int32{s.pose}}
		for j := i + 1; j < len(edges) && edges[j].x == s.x; j++ {
			if e := &edges[j]; e.k == p.First+len(p.Poses) {
				p.Poses, e.k = append(p.Poses, e.pose), 0
			}
		}
		span, x := Span{s.k, Together}, s.x
		if side == 1 {
			span, x = Span{0, Together - s.k}, s.x+int32(s.k-1)
		}
		if len(p.Poses) == 1 && slices.Contains(Spans[:], span) {
			g.single(span, Step{x, s.pose})
			continue
		}
		g.steps.Ramps[side] = append(g.steps.Ramps[side], p)
	}
}

// findRuns divides the steps of all rows into runs and puts the longest first: a loop that ends after as many turns as the last time is
// predicted, and a disk has most lengths twice.
func (g *Grid) findRuns() {
	runs := g.steps.Runs[:0]
	for list := g.all; len(list) > 0; {
		n := 1
		for n < len(list) && list[n].X == list[n-1].X+1 {
			n++
		}
		runs, list = append(runs, list[:n]), list[n:]
	}
	slices.SortStableFunc(runs, func(x, y []Step) int { return len(y) - len(x) })
	g.steps.Runs = runs
}
