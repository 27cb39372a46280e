package spectral

// Grid is a neighbourhood on a grid of H rows of W points: every point sees the points that are some steps away, as far as the grid
// reaches. Points are numbered row by row.
type Grid struct {
	H, W                  int
	Steps                 []Step
	up, down, left, right int // how far the steps reach
	// Ordered says that rows list their neighbours by their numbers, as Pairs does.
	Ordered bool
}

// Step is a step to a neighbour, DY rows and DX points away, and the number of its pose.
type Step struct {
	DY, DX int
	Pose   int32
}

// Find returns the grid of a neighbourhood, whose rows are its points, or nil if it is none. Of row i, entries offsets[i] to offsets[i+1]
// count, from offsets[0] on.
func Find(offsets []int, index, pose []int32) *Grid {
	n := len(offsets) - 1
	if n < 1 || len(index) == 0 {
		return nil
	}
	f := finder{n: n, offsets: offsets, index: index, pose: pose, row: make([]int32, n), seen: make([]int32, n)}
	for w := 2; w <= n; w++ {
		if n%w == 0 {
			if g := f.find(w); g != nil {
				return g
			}
		}
	}
	return nil
}

type finder struct {
	n           int
	offsets     []int
	index, pose []int32
	w, h        int
	table       []int32 // [2h-1, 2w-1]: of each step the pose, or -1
	row         []int32 // of the grid in which each point is
	seen        []int32 // of each point the row that saw it last, plus one
	counts      []int32 // [2h, 2w]: how many steps there are above and to the left
	ordered     bool    // no row has listed a neighbour behind one of a larger number
}

// find returns the grid if its rows have w points.
func (f *finder) find(w int) *Grid {
	f.w, f.h, f.ordered = w, f.n/w, true
	f.table = make([]int32, (2*f.h-1)*(2*w-1))
	for i := range f.table {
		f.table[i] = -1
	}
	for j := range f.row {
		f.row[j] = int32(j / w)
	}
	// A few rows tell whether it is worthwhile to look at all.
	for _, step := range []int{f.n/16 + 7, 1} {
		clear(f.seen)
		for i := 0; i < f.n; i += step {
			if !f.take(i) {
				return nil
			}
		}
		f.count()
		for i := 0; i < f.n; i += step {
			if !f.whole(i) {
				return nil
			}
		}
	}
	var steps []Step
	for dy := -f.h + 1; dy < f.h; dy++ {
		for dx := -w + 1; dx < w; dx++ {
			if q := f.table[(dy+f.h-1)*(2*w-1)+dx+w-1]; q >= 0 {
				steps = append(steps, Step{dy, dx, q})
			}
		}
	}
	g := NewGrid(f.h, w, steps)
	g.Ordered = f.ordered
	return g
}

// NewGrid returns a grid whose steps go down, and within a row to the right. It is nil if there are no points, or too many, if a step leads out of the grid
// from everywhere, or if steps are in another order.
func NewGrid(h, w int, steps []Step) *Grid {
	if h < 1 || w < 1 || h > 1<<30/w {
		return nil
	}
	g := &Grid{H: h, W: w, Steps: steps}
	for i, s := range steps {
		if i > 0 && (s.DY < steps[i-1].DY || s.DY == steps[i-1].DY && s.DX <= steps[i-1].DX) {
			return nil
		}
		if s.DY <= -h || s.DY >= h || s.DX <= -w || s.DX >= w {
			return nil
		}
		g.up, g.down = max(g.up, -s.DY), max(g.down, s.DY)
		g.left, g.right = max(g.left, -s.DX), max(g.right, s.DX)
	}
	return g
}

// take enters the steps of row i in the table. It reports false if another row has another pose there, or if the row sees a point twice.
func (f *finder) take(i int) bool {
	y, x := i/f.w, i%f.w
	a, z := f.offsets[i]-f.offsets[0], f.offsets[i+1]-f.offsets[0]
	index, pose := f.index[a:z], f.pose[a:z]
	base := (f.h-1-y)*(2*f.w-1) + f.w - 1 - x
	for k, j := range index {
		if int(j) >= f.n || f.seen[j] == int32(i+1) {
			return false
		}
		f.ordered = f.ordered && (k == 0 || j > index[k-1])
		f.seen[j] = int32(i + 1)
		v := int(f.row[j])
		at := &f.table[base+v*(2*f.w-1)+int(j)-v*f.w]
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
	f.counts = make([]int32, 2*f.h*wide)
	for y := range 2*f.h - 1 {
		line := int32(0)
		for x := range 2*f.w - 1 {
			if f.table[y*(2*f.w-1)+x] >= 0 {
				line++
			}
			f.counts[(y+1)*wide+x+1] = f.counts[y*wide+x+1] + line
		}
	}
}

// whole reports whether row i, all of whose steps are in the table, takes all steps that stay within the grid.
func (f *finder) whole(i int) bool {
	y, x, wide := i/f.w, i%f.w, 2*f.w
	top, left := f.h-1-y, f.w-1-x
	at := func(dy, dx int) int32 { return f.counts[(top+dy)*wide+left+dx] }
	return int(at(f.h, f.w)-at(0, f.w)-at(f.h, 0)+at(0, 0)) == f.offsets[i+1]-f.offsets[i]
}

// Offsets returns where in [Grid.Pairs] the neighbours of each point begin, and at last their number.
func (g *Grid) Offsets() []int {
	// Of each step the points that it does not lead out of the grid are a rectangle. What is added at its corners becomes 1 within it by sums along both axes.
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

// Pairs sets those of index and pose that are of points lo to hi to their neighbours, each with the number of its pose, in the order of the steps. Points begin
// at [Grid.Offsets].
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
