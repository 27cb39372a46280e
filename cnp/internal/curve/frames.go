package curve

import (
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
)

// Frames are the sides that a model sees a task from: its lifts. Under a group that turns, the network sees coordinates and
// vectors as an observer does who has been turned by a lift's rotation; its output is turned back, and averaged over lifts.
// Turning the task by a rotation that permutes the lifts only exchanges what the lifts see, so the prediction turns along.
type Frames struct {
	Dx, Dy int
	Fields []likelihood.Field
	X      [][]float64 // of each lift: the rotation [dx, dx] of its observer
	Y      [][]float64 // and that of all outputs [dy, dy]; nil without vectors
	known  [][]float64 // and that of a context point's values, outputs and auxiliary inputs
}

// FramesAt returns the frames of the elements a of the stabiliser, for dx coordinates, dy outputs of those fields, and
// so many known values of a context point. Where no field is a vector, values stay as they are.
func FramesAt(t group.Turner, all [][]float64, dx, dy, known int, fields []likelihood.Field) *Frames {
	f := &Frames{Dx: dx, Dy: dy, Fields: fields}
	vectors := slices.ContainsFunc(fields, func(f likelihood.Field) bool { return f.Type == likelihood.Vector })
	for _, a := range all {
		r := make([]float64, f.Dx*f.Dx)
		t.Turn(r, a)
		f.X = append(f.X, r)
		if vectors {
			f.Y, f.known = append(f.Y, f.OfValues(r, f.Dy)), append(f.known, f.OfValues(r, known))
		}
	}
	return f
}

// TurnsNothing reports whether a group leaves vectors as they are.
func TurnsNothing(g group.Group) bool {
	switch g.(type) {
	case *group.T, *group.Trivial:
		return true
	}
	return false
}

// Count returns the number of frames.
func (f *Frames) Count() int {
	if f == nil {
		return 1
	}
	return len(f.X)
}

// OfFrame returns the rotation of the context's values that frame l sees; nil where all are scalars.
func (f *Frames) OfFrame(l int) []float64 {
	if f.Y == nil {
		return nil
	}
	return f.known[l]
}

// Vectors reports whether values turn.
func (f *Frames) Vectors() bool { return f != nil && f.Y != nil }

// OfValues returns the matrix [n, n] by which a rotation [dx, dx] acts on the n values of a point, of which the first are
// the outputs: scalars stay.
func (f *Frames) OfValues(r []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := f.Dy; i < n; i++ {
		out[i*n+i] = 1
	}
	for _, field := range f.Fields {
		for i := range field.Width {
			for j := range field.Width {
				v := 1.0
				if field.Type == likelihood.Vector {
					v = r[i*f.Dx+j]
				}
				out[(field.First+i)*n+field.First+j] = v
			}
		}
	}
	return out
}

// Seen turns the rows of x into what an observer sees who has been turned by r: every row becomes rᵀ·row. The buffer room
// has the length of a row.
func Seen[T layers.Float](x []T, r []float64, room []float64) {
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

// FromLeast moves x [n, dx] and targets so that the least coordinates of x are 0; without any x the targets stay.
func FromLeast(x, targets, least []float64) {
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

// Turner turns the numbers that a network gives targets, and keeps its memory for that.
type Turner[T layers.Float] struct {
	raw, sum, back []float64
}

// Add adds to dst [n, width] scale times the numbers of so many targets, turned by r.
func (t *Turner[T]) Add(dst, numbers []T, l likelihood.Turning, fields []likelihood.Field, r []float64, width int, scale float64) {
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

// Transposed returns rᵀ, for r [n, n], in the turner's memory.
func (t *Turner[T]) Transposed(r []float64, n int) []float64 {
	t.back = reuse.Sized(t.back, n*n)
	for i := range n {
		for j := range n {
			t.back[j*n+i] = r[i*n+j]
		}
	}
	return t.back
}

// View returns the target of a row of features, and the rotation of the values that the row sees.
type View func(row int) (target int, r []float64)

// Views returns the view of rows [tasks, frames, n], for n targets of each task.
func (f *Frames) Views(n int) View {
	k := f.Count()
	return func(row int) (target int, r []float64) { return row/(k*n)*n + row%n, f.Y[row/n%k] }
}

// FrameRun is the memory of one goroutine that sums up a task's targets over frames.
type FrameRun[T layers.Float] struct {
	Sum  []T // [tasks, targets, features or numbers]
	Turn Turner[T]
	Room []float64
}
