package spectral

import (
	"cmp"
	"slices"
)

// Grid is a neighbourhood on a grid of H rows of W points: every point sees the points that are some steps away, as far
// as the grid reaches. Points are numbered row by row. If points have several lifts, every lift of a point sees lifts
// of other points, by steps of its own; lifts of a point are numbered one after the other.
type Grid struct {
	H, W, Lifts           int
	Steps                 []Step
	up, down, left, right int // how far the steps reach
	// Ordered says that rows list their neighbours by their numbers, as Pairs does.
	Ordered bool
}

// Step is a step from a point in lift To to a neighbour in lift From, DY rows and DX points away, and the number of its pose.
type Step struct {
	DY, DX   int
	Pose     int32
	To, From int
}

// Find returns the grid of a neighbourhood whose rows are the points of a grid with w in each of its rows, in one lift.
// It returns nil where not all points see others by the same steps. Of row i, entries offsets[i] to offsets[i+1] count,
// from offsets[0] on.
func Find(offsets []int, index, pose []int32, w int) *Grid {
	return FindLifted(offsets, index, pose, w, 1)
}

// FindLifted is Find for points in that many lifts.
func FindLifted(offsets []int, index, pose []int32, w, lifts int) *Grid {
	rows := len(offsets) - 1
	if rows < 1 || len(index) == 0 || lifts < 1 || rows%lifts != 0 {
		return nil
	}
	n := rows / lifts
	if w < 2 || n%w != 0 {
		return nil
	}
	f := finder{n: n, lifts: lifts, offsets: offsets, index: index, pose: pose, place: make([]int, rows), seen: make([]int32, rows)}
	return f.find(w)
}

type finder struct {
	n, lifts    int
	offsets     []int
	index, pose []int32
	w, h        int
	table       []int32 // [to, from, 2h-1, 2w-1]: of each step the pose, or -1
	place       []int   // of each row, where it stands in the table of its lift's steps, as seen from the grid's last point
	seen        []int32 // of each row the row that saw it last, plus one
	counts      []int32 // [to, 2h, 2w]: how many steps there are above and to the left
	ordered     bool    // no row has listed a neighbour behind one of a larger number
}

// size is how many steps the table has from a lift to a lift.
func (f *finder) size() int { return (2*f.h - 1) * (2*f.w - 1) }

// find returns the grid if its rows have w points.
func (f *finder) find(w int) *Grid {
	f.w, f.h, f.ordered = w, f.n/w, true
	f.table = make([]int32, f.lifts*f.lifts*f.size())
	for i := range f.table {
		f.table[i] = -1
	}
	for j := range f.place {
		point := j / f.lifts
		f.place[j] = j%f.lifts*f.size() + point/w*(2*w-1) + point%w
	}
	// A few rows tell whether it is worthwhile to look at all.
	for _, step := range []int{f.lifts*(f.n/16) + 7, 1} {
		clear(f.seen)
		for i := 0; i < f.n*f.lifts; i += step {
			if !f.take(i) {
				return nil
			}
		}
		f.count()
		for i := 0; i < f.n*f.lifts; i += step {
			if !f.whole(i) {
				return nil
			}
		}
	}
	var steps []Step
	for dy := -f.h + 1; dy < f.h; dy++ {
		for dx := -w + 1; dx < w; dx++ {
			for k := range f.lifts * f.lifts {
				if q := f.table[k*f.size()+(dy+f.h-1)*(2*w-1)+dx+w-1]; q >= 0 {
					steps = append(steps, Step{dy, dx, q, k / f.lifts, k % f.lifts})
				}
			}
		}
	}
	g := newGrid(f.h, w, f.lifts, steps)
	g.Ordered = f.ordered
	return g
}

// NewGrid returns a grid of points in one lift, whose steps go down, and within a row to the right. It is nil if there
// are no points, or too many, if a step leads out of the grid from everywhere, or if steps are in another order.
func NewGrid(h, w int, steps []Step) *Grid { return newGrid(h, w, 1, steps) }

// newGrid is NewGrid for several lifts. Steps of the same direction are in the order of the lifts.
func newGrid(h, w, lifts int, steps []Step) *Grid {
	if h < 1 || w < 1 || h > 1<<30/w {
		return nil
	}
	g := &Grid{H: h, W: w, Lifts: lifts, Steps: steps}
	for i, s := range steps {
		if i > 0 && compareSteps(s, steps[i-1]) <= 0 {
			return nil
		}
		if s.DY <= -h || s.DY >= h || s.DX <= -w || s.DX >= w || min(s.To, s.From) < 0 || max(s.To, s.From) >= lifts {
			return nil
		}
		g.up, g.down = max(g.up, -s.DY), max(g.down, s.DY)
		g.left, g.right = max(g.left, -s.DX), max(g.right, s.DX)
	}
	return g
}

// Points is the number of points times that of their lifts.
func (g *Grid) Points() int { return g.H * g.W * g.Lifts }

// Spreads reports whether points see others of their row, and of their column. Then nothing but its own width makes a
// grid of its neighbourhood.
func (g *Grid) Spreads() bool { return min(g.up, g.down, g.left, g.right) > 0 }

func compareSteps(a, b Step) int {
	return cmp.Or(cmp.Compare(a.DY, b.DY), cmp.Compare(a.DX, b.DX), cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
}

// Transposed returns the grid of the steps back: who sees whom is seen by whom.
func (g *Grid) Transposed() *Grid {
	steps := make([]Step, len(g.Steps))
	for i, s := range g.Steps {
		steps[i] = Step{-s.DY, -s.DX, s.Pose, s.From, s.To}
	}
	slices.SortFunc(steps, compareSteps)
	return newGrid(g.H, g.W, g.Lifts, steps)
}

// take enters the steps of row i in the table. It reports false if another row has another pose there, or if the row sees a point twice.
func (f *finder) take(i int) bool {
	y, x, to := i/f.lifts/f.w, i/f.lifts%f.w, i%f.lifts
	a, z := f.offsets[i]-f.offsets[0], f.offsets[i+1]-f.offsets[0]
	index, pose := f.index[a:z], f.pose[a:z]
	table := f.table[to*f.lifts*f.size()+(f.h-1-y)*(2*f.w-1)+f.w-1-x:]
	for k, j := range index {
		if int(j) >= len(f.seen) || f.seen[j] == int32(i+1) {
			return false
		}
		f.ordered = f.ordered && (k == 0 || j > index[k-1])
		f.seen[j] = int32(i + 1)
		at := &table[f.place[j]]
		if *at < 0 {
			*at = pose[k]
		} else if *at != pose[k] {
			return false
		}
	}
	return true
}

// count counts the steps of the table.
func (f *finder) count() {
	wide := 2 * f.w
	f.counts = make([]int32, f.lifts*2*f.h*wide)
	for to := range f.lifts {
		counts := f.counts[to*2*f.h*wide:]
		for y := range 2*f.h - 1 {
			line := int32(0)
			for x := range 2*f.w - 1 {
				for from := range f.lifts {
					if f.table[(to*f.lifts+from)*f.size()+y*(2*f.w-1)+x] >= 0 {
						line++
					}
				}
				counts[(y+1)*wide+x+1] = counts[y*wide+x+1] + line
			}
		}
	}
}

// whole reports whether row i, all of whose steps are in the table, takes all steps that stay within the grid.
func (f *finder) whole(i int) bool {
	y, x, to, wide := i/f.lifts/f.w, i/f.lifts%f.w, i%f.lifts, 2*f.w
	top, left, counts := f.h-1-y, f.w-1-x, f.counts[to*2*f.h*wide:]
	at := func(dy, dx int) int32 { return counts[(top+dy)*wide+left+dx] }
	return int(at(f.h, f.w)-at(0, f.w)-at(f.h, 0)+at(0, 0)) == f.offsets[i+1]-f.offsets[i]
}

// Offsets returns where in [Grid.Pairs] the neighbours of each point begin, and at last their number. Points must have one lift.
func (g *Grid) Offsets() []int {
	// Of each step the points that it does not lead out of the grid are a rectangle. What is added at its corners
	// becomes 1 within it by sums along both axes.
	wide := g.W + 1
	n := make([]int, (g.H+1)*wide)
	for _, s := range g.Steps {
		y0, y1, x0, x1 := max(0, -s.DY), min(g.H, g.H-s.DY), max(0, -s.DX), min(g.W, g.W-s.DX)
		n[y0*wide+x0]++
		n[y0*wide+x1]--
		n[y1*wide+x0]--
		n[y1*wide+x1]++
	}
	offsets := make([]int, 1, g.H*g.W+1)
	for y := range g.H {
		line := 0
		for x := range g.W {
			line += n[y*wide+x]
			if y > 0 {
				n[y*wide+x] = line + n[(y-1)*wide+x]
			} else {
				n[y*wide+x] = line
			}
			offsets = append(offsets, offsets[len(offsets)-1]+n[y*wide+x])
		}
	}
	return offsets
}

// Pairs sets those of index and pose that are of points lo to hi to their neighbours, each with the number of its pose,
// in the order of the steps. Points begin at [Grid.Offsets].
func (g *Grid) Pairs(index, pose []int32, offsets []int, lo, hi int) {
	for i := lo; i < hi; i++ {
		y, x, k := i/g.W, i%g.W, offsets[i]
		for _, s := range g.Steps {
			if v, u := y+s.DY, x+s.DX; uint(v) < uint(g.H) && uint(u) < uint(g.W) {
				index[k], pose[k] = int32(v*g.W+u), s.Pose
				k++
			}
		}
	}
}
