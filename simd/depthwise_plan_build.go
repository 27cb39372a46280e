package simd

import (
	"cmp"
	"slices"
)

// planRun is how many rows a goroutine arranges at a time: some groups, and what is left of the last run.
const planRun = 16 * depthwisePlanRows

// planPart is what a plan's code and starts become for a run of rows; starts count from the part's own code.
type planPart struct {
	code   []int32
	starts []int
}

// planBuilder arranges the groups of a plan, for one goroutine. All but part is scratch for one group.
type planBuilder struct {
	*DepthwisePlan
	part planPart
	rest [depthwisePlanRows][]pairKey // each row's pairs that are not part of a step yet, in order
	left int                          // how many these are
	sort rowSorter

	all   []step                          // the steps of all rows
	runs  [][]step                        // divided into runs
	edges [2][]edgeStep                   // steps of the last rows and of the first ones
	ramps [2][]ramp                       // those that follow each other, up and down
	lists [2*depthwisePlanRows - 2][]step // the others, by planLists
	rows  [depthwisePlanRows][]step       // each row's pairs in the order of the code
}

// planHeader is how many numbers the code of a group begins with.
const planHeader = 2*depthwisePlanRows + 1

// planKind is the rows lo to hi of a group that take a step together.
type planKind struct{ lo, hi int }

// planKinds lists the kinds in the order in which pairs are given to them: all rows; all but the first or the last ones, as at
// the borders of a grid; quarters and single rows.
var planKinds = []planKind{
	{0, 8}, {1, 8}, {0, 7}, {2, 8}, {0, 6}, {3, 8}, {0, 5}, {4, 8}, {0, 4}, {5, 8}, {0, 3},
	{6, 8}, {0, 2}, {2, 4}, {4, 6},
	{7, 8}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7},
}

// planLists lists the kinds whose steps stand by themselves, in the order of the code.
var planLists = []planKind{
	{0, 4}, {4, 8},
	{0, 2}, {2, 4}, {4, 6}, {6, 8},
	{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8},
}

// run arranges rows lo to hi.
func (b *planBuilder) run(lo, hi int) planPart {
	b.part = planPart{code: make([]int32, 0, (b.offsets[hi]-b.offsets[lo])/4), starts: make([]int, 0, (hi-lo)/depthwisePlanRows)}
	for i := lo; i < hi; i++ {
		b.sort.row(b.row(i))
	}
	for i := lo; i+depthwisePlanRows <= hi; i += depthwisePlanRows {
		b.part.starts = append(b.part.starts, b.group(i))
	}
	return b.part
}

// pairKey is a pair of a row, the point above the pose: pairs are ordered like their keys.
type pairKey uint64

func keyOf(x, pose int32) pairKey { return pairKey(x)<<32 | pairKey(uint32(pose)) }

func (k pairKey) step() step { return step{int32(k >> 32), int32(k)} }

// step is what rows do together: the first takes point x, the next x+1, and so on, all with the same pose.
type step struct{ x, pose int32 }

// edgeStep is a step of the last 8-k rows of a group, or of the first 8-k. Those of one ramp have the same x: of the last rows it is
// the first one's point, of the first rows the point that their first one has at k = 1.
type edgeStep struct {
	x, pose int32
	k       int
}

// ramp is steps of one ramp for k = first, first+1, ..
type ramp struct {
	x     int32
	first int
	poses []int32
}

// group appends the code of the eight rows from i on, and returns where it starts, or -1 if row by row is better. The code is
//
//	the number of runs of all rows, of ramps up and down, then of steps of each half, of each quarter and of each row alone;
//	then, in that order, {steps, x, pose of each step} per run, {first k, steps, x, pose of each step} per ramp, {x, pose} per step
//
// In a step, the r-th of its rows takes point x+r; in step s of a run x+s+r. In step k of a ramp up, row r of the group takes x+r-k if
// r ≥ k; of a ramp down x+r+k-1 if r < 8-k. The rows' pairs are put into the order in which they stand there.
func (b *planBuilder) group(i int) int {
	b.divide(i)
	alone := 0
	for k, kind := range planLists {
		if kind.hi-kind.lo == 1 {
			alone += len(b.lists[k])
		}
	}
	// A pair alone costs about as much as one of a row computed by itself, a pair of all rows a quarter of it.
	if pairs := b.offsets[i+depthwisePlanRows] - b.offsets[i]; 3*alone > 2*pairs {
		return -1
	}
	start := len(b.part.code)
	code := append(b.part.code, make([]int32, planHeader)...)
	for r := range b.rows {
		b.rows[r] = b.rows[r][:0]
	}
	// take notes what a row does.
	take := func(r int, x, pose int32) { b.rows[r] = append(b.rows[r], step{x, pose}) }
	b.sortRuns()
	code[start] = int32(len(b.runs))
	for _, run := range b.runs {
		code = append(code, int32(len(run)), run[0].x)
		for _, s := range run {
			code = append(code, s.pose)
			for r := range depthwisePlanRows {
				take(r, s.x+int32(r), s.pose)
			}
		}
	}
	for down, ramps := range b.ramps {
		code[start+1+down] = int32(len(ramps))
		for _, p := range ramps {
			code = append(append(code, int32(p.first), int32(len(p.poses)), p.x), p.poses...)
			for s, pose := range p.poses {
				k := p.first + s
				if down == 1 {
					for r := range depthwisePlanRows - k {
						take(r, p.x+int32(r+k-1), pose)
					}
					continue
				}
				for r := k; r < depthwisePlanRows; r++ {
					take(r, p.x+int32(r-k), pose)
				}
			}
		}
	}
	for k, kind := range planLists {
		code[start+3+k] = int32(len(b.lists[k]))
		for _, s := range b.lists[k] {
			code = append(code, s.x, s.pose)
			for r := kind.lo; r < kind.hi; r++ {
				take(r, s.x+int32(r-kind.lo), s.pose)
			}
		}
	}
	b.part.code = code
	for r := range depthwisePlanRows {
		index, pose := b.row(i + r)
		for k, s := range b.rows[r] {
			index[k], pose[k] = s.x, s.pose
		}
	}
	return start
}

// divide gives each pair of the eight rows from i on to a step, of as many rows as possible.
func (b *planBuilder) divide(i int) {
	const n = depthwisePlanRows
	b.left = b.offsets[i+n] - b.offsets[i]
	for r := range b.rest {
		index, pose := b.row(i + r)
		keys := slices.Grow(b.rest[r][:0], len(index))[:len(index)]
		for k, x := range index {
			keys[k] = keyOf(x, pose[k])
		}
		b.rest[r] = keys
	}
	b.all = b.steps(b.all[:0], 0, n)
	for k := range b.lists {
		b.lists[k] = b.lists[k][:0]
	}
	for side := range b.edges {
		b.edges[side] = b.edges[side][:0]
	}
	var found []step
	for _, kind := range planKinds[1:] {
		if b.left == 0 {
			break
		}
		found = b.steps(found[:0], kind.lo, kind.hi)
		for _, s := range found {
			switch {
			case kind.hi == n:
				b.edges[0] = append(b.edges[0], edgeStep{s.x, s.pose, kind.lo})
			case kind.lo == 0:
				k := n - kind.hi
				b.edges[1] = append(b.edges[1], edgeStep{s.x - int32(k-1), s.pose, k})
			default:
				b.list(kind, s)
			}
		}
	}
	for side := range b.ramps {
		b.findRamps(side)
	}
}

// list puts a step among those of its kind.
func (b *planBuilder) list(kind planKind, s step) {
	k := slices.Index(planLists, kind)
	b.lists[k] = append(b.lists[k], s)
}

// findRamps puts together the steps of the last rows (side 0) or of the first rows (side 1) that follow each other. Those that stand
// alone become steps by themselves, if there is a list for that many rows.
func (b *planBuilder) findRamps(side int) {
	const n = depthwisePlanRows
	edges := b.edges[side]
	slices.SortStableFunc(edges, func(s, t edgeStep) int { return cmp.Or(cmp.Compare(s.x, t.x), cmp.Compare(s.k, t.k)) })
	b.ramps[side] = b.ramps[side][:0]
	for i, s := range edges {
		if s.k == 0 {
			continue // part of a ramp already
		}
		p := ramp{s.x, s.k, []int32{s.pose}}
		for j := i + 1; j < len(edges) && edges[j].x == s.x; j++ {
			if e := &edges[j]; e.k == p.first+len(p.poses) {
				p.poses, e.k = append(p.poses, e.pose), 0
			}
		}
		kind, x := planKind{s.k, n}, s.x
		if side == 1 {
			kind, x = planKind{0, n - s.k}, s.x+int32(s.k-1)
		}
		if len(p.poses) == 1 && slices.Contains(planLists, kind) {
			b.list(kind, step{x, s.pose})
			continue
		}
		b.ramps[side] = append(b.ramps[side], p)
	}
}

// sortRuns divides the steps of all rows into runs, in which each has the next one's point, and puts the longest first: a loop that
// ends after as many turns as the last time is predicted, and a disk has most lengths twice.
func (b *planBuilder) sortRuns() {
	b.runs = b.runs[:0]
	for list := b.all; len(list) > 0; {
		n := 1
		for n < len(list) && list[n].x == list[n-1].x+1 {
			n++
		}
		b.runs, list = append(b.runs, list[:n]), list[n:]
	}
	slices.SortStableFunc(b.runs, func(x, y []step) int { return len(y) - len(x) })
}

// steps appends to list those steps of rows lo to hi of the group whose pairs are all left, and takes the pairs away. As all rows are
// ordered, one pass through each is enough.
func (b *planBuilder) steps(list []step, lo, hi int) []step {
	rows := b.rest[lo:hi]
	// Of each row what comes before at has been passed, and of that what is left has been moved up to kept.
	var at, kept [depthwisePlanRows]int
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
		b.left -= len(rows)
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

// rowSorter is scratch for the order of a row.
type rowSorter struct {
	keys, spare []pairKey
	count       [2][256]int32
}

// row orders pairs by index, and those of one index by pose.
func (s *rowSorter) row(index, pose []int32) {
	if slices.IsSorted(index) && !hasEqual(index) {
		return
	}
	s.keys = slices.Grow(s.keys[:0], len(index))[:len(index)]
	for k, x := range index {
		s.keys[k] = keyOf(x, pose[k])
	}
	if !s.radix() {
		slices.Sort(s.keys)
	}
	for k, v := range s.keys {
		p := v.step()
		index[k], pose[k] = p.x, p.pose
	}
}

// radix orders keys by point, byte by byte, where that is worth while: with some pairs, and points that two bytes number. It reports false
// if it has not, or if a point occurs twice.
func (s *rowSorter) radix() bool {
	const least = 64
	if len(s.keys) < least {
		return false
	}
	s.count = [2][256]int32{}
	for _, v := range s.keys {
		if v>>48 != 0 {
			return false
		}
		s.count[0][uint8(v>>32)]++
		s.count[1][uint8(v>>40)]++
	}
	s.spare = slices.Grow(s.spare[:0], len(s.keys))[:len(s.keys)]
	for byte := range s.count {
		next := &s.count[byte]
		sum := int32(0)
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for _, v := range s.keys {
			d := uint8(v >> (32 + 8*byte))
			s.spare[next[d]] = v
			next[d]++
		}
		s.keys, s.spare = s.spare, s.keys
	}
	for k := 1; k < len(s.keys); k++ {
		if s.keys[k]>>32 == s.keys[k-1]>>32 {
			return false
		}
	}
	return true
}

// hasEqual reports whether neighbours in a list are equal.
func hasEqual(x []int32) bool {
	for k := 1; k < len(x); k++ {
		if x[k] == x[k-1] {
			return true
		}
	}
	return false
}
