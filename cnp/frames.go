package cnp

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

// frames are the sides that a model sees a task from: its lifts. Under a group that turns, the network sees coordinates and vectors as an
// observer does who has been turned by a lift's angle; what it says is turned back, and averaged over lifts. Turning the task by a rotation
// that takes the lifts to each other only exchanges what the lifts see, so the prediction turns along.
type frames struct {
	dx, dy int
	fields []Field
	x      [][]float64 // of each lift: the rotation [dx, dx] of its observer
	y      [][]float64 // and that of all outputs [dy, dy]; nil without vectors
	known  [][]float64 // and that of a context point's values, outputs and auxiliary inputs
}

// newFrames is nil under a group that turns nothing.
func newFrames(c *Config, g group.Group) *frames {
	t, ok := g.(group.Turner)
	if !ok || turnsNothing(g) {
		return nil
	}
	return framesAt(c, t, stabiliser(c, g, c.LiftSeed))
}

// framesAt returns the frames of the elements a of the stabiliser.
func framesAt(c *Config, t group.Turner, all [][]float64) *frames {
	f := &frames{dx: c.DimX, dy: c.DimY, fields: c.Fields()}
	for _, a := range all {
		r := make([]float64, f.dx*f.dx)
		t.Turn(r, a)
		f.x = append(f.x, r)
		if c.Vectors() {
			f.y, f.known = append(f.y, f.ofValues(r, f.dy)), append(f.known, f.ofValues(r, c.contextValues()))
		}
	}
	return f
}

// turnsNothing reports whether a group leaves vectors as they are.
func turnsNothing(g group.Group) bool {
	switch g.(type) {
	case *group.T, *group.Trivial:
		return true
	}
	return false
}

// count is the number of frames.
func (f *frames) count() int {
	if f == nil {
		return 1
	}
	return len(f.x)
}

// ofFrame is the rotation of the context's values that frame l sees; nil where all are scalars.
func (f *frames) ofFrame(l int) []float64 {
	if f.y == nil {
		return nil
	}
	return f.known[l]
}

// vectors reports whether values turn.
func (f *frames) vectors() bool { return f != nil && f.y != nil }

// ofValues is what a rotation [dx, dx] does to the n values of a point, of which the first are the outputs: scalars stay.
func (f *frames) ofValues(r []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := f.dy; i < n; i++ {
		out[i*n+i] = 1
	}
	for _, field := range f.fields {
		for i := range field.Width {
			for j := range field.Width {
				v := 1.0
				if field.Type == Vector {
					v = r[i*f.dx+j]
				}
				out[(field.First+i)*n+field.First+j] = v
			}
		}
	}
	return out
}

// seen turns x, rows of the matrix r's length, into what an observer sees who has been turned by r: every row becomes rᵀ·row. room is of
// a row's length.
func seen[T Float](x []T, r []float64, room []float64) {
	n := len(room)
	for ; len(x) > 0; x = x[n:] {
		for i := range room {
			s := 0.0
			for j, v := range x[:n] {
				if w := r[j*n+i]; w != 0 { // a value that is not known says nothing of those that do not turn with it
					s += w * float64(v)
				}
			}
			room[i] = s
		}
		for i, v := range room {
			x[i] = T(v)
		}
	}
}

// whole returns a batch as a model reads it: values that are never observed are not there, and vectors that lack a
// component lack all of them, since no observer would see the rest. Where that is so already, it is b.
func (b *Batch[T]) whole(c *Config) *Batch[T] {
	hidden := c.Unobserved()
	if hidden == nil && (!c.Vectors() || !c.ChannelDensity || !gaps(b.YContext)) {
		return b
	}
	out := *b
	out.YContext = slices.Clone(b.YContext)
	for i := range out.YContext {
		if k := i % c.contextValues(); hidden != nil && k < c.DimY && hidden[k] {
			out.YContext[i] = T(math.NaN())
		}
	}
	for _, f := range c.Fields() {
		for i := f.First; i < len(out.YContext); i += c.contextValues() {
			if v := out.YContext[i : i+f.Width]; gaps(v) {
				for k := range v {
					v[k] = T(math.NaN())
				}
			}
		}
	}
	return &out
}

// fromLeast counts x [n, dx] and targets from the least coordinates of x; without any they stay.
func fromLeast(x, targets, least []float64) {
	dx := len(least)
	if len(x) == 0 {
		return
	}
	copy(least, x)
	for i, v := range x {
		least[i%dx] = min(least[i%dx], v)
	}
	for _, p := range [2][]float64{x, targets} {
		for i := range p {
			p[i] -= least[i%dx]
		}
	}
}

// stabiliser returns the lifts of the origin of points: the rotations about it that a model under g sees a task from.
func stabiliser(c *Config, g group.Group, seed uint64) (a [][]float64) {
	origin := make([]float64, g.PointDim())
	l := group.LiftPoints(g, origin, c.Lifts, seed)
	if _, ok := g.(group.UniformLifter); ok && c.LiftSamples != SamplesRandom {
		l = group.LiftPointsUniform(g, origin, c.Lifts)
	}
	for i := range l.Rows() {
		row, _ := l.Row(i)
		a = append(a, row)
	}
	return a
}

// turner turns the numbers that a network gives targets, and keeps its memory for that.
type turner[T Float] struct {
	raw, sum, back []float64
}

// add adds to dst [n, width] scale times the numbers of so many targets, turned by r.
func (t *turner[T]) add(dst, numbers []T, l Turning, fields []Field, r []float64, width int, scale float64) {
	t.raw, t.sum = reuse.Sized(t.raw, width), reuse.Sized(t.sum, width)
	for i := 0; i < len(numbers); i += width {
		for k, v := range numbers[i : i+width] {
			t.raw[k] = float64(v)
		}
		clear(t.sum)
		l.Turn(t.sum, t.raw, r, fields)
		for k, v := range t.sum {
			dst[i+k] += T(scale * v)
		}
	}
}

// transposed is rᵀ, for r [n, n], in the turner's memory.
func (t *turner[T]) transposed(r []float64, n int) []float64 {
	t.back = reuse.Sized(t.back, n*n)
	for i := range n {
		for j := range n {
			t.back[j*n+i] = r[i*n+j]
		}
	}
	return t.back
}

// view says of a row of features which target's it is, and the rotation of the values that it sees.
type view func(row int) (target int, r []float64)

// views of n targets of each task, whose rows are [tasks, frames, n].
func (f *frames) views(n int) view {
	k := f.count()
	return func(row int) (target int, r []float64) { return row/(k*n)*n + row%n, f.y[row/n%k] }
}

// frameRun is the memory of one goroutine for what the frames say of a task's targets.
type frameRun[T Float] struct {
	sum  []T // [tasks, targets, features or numbers]
	turn turner[T]
	room []float64
}
