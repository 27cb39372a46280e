package task

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Points are observations: coordinates [n, dx], outputs [n, dy], and auxiliary inputs [n, da], of which NaN is one that is missing.
type Points struct{ X, Y, Aux []float64 }

// Curve is one task of a user's own: all its points, which are the targets, and the observed ones, nil where they are
// to be picked at random among all. NaN among the outputs is a value that is missing: at a target nothing is learned
// from it, and it is not scored; a point of the context lacks it, or is left out (CurveSetSource.Gaps).
type Curve struct {
	Points
	Context *Points
	Field   *Field // static fields; nil: none
}

// CurveSet is a user's own regression tasks.
type CurveSet struct {
	Name   string // where they are from
	Dx, Dy int
	Curves []Curve
	// Auxiliary names the auxiliary inputs, Static the static fields.
	Auxiliary, Static []string
	// Notes say how the table was read where that is not how it is written.
	Notes []string

	inputs []string // of a table with a header
}

// Check refuses sets that no model can be trained on, as those of files are refused: without curves, coordinates or outputs, with slices
// that do not fit each other, or with numbers that are not finite. Outputs and auxiliary inputs may be NaN, where they are missing.
func (s *CurveSet) Check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %w", cmp.Or(s.Name, "tasks in memory"), ErrData, fmt.Errorf(format, args...))
	}
	if s.Dx < 1 || s.Dy < 1 {
		return fail("%d coordinates and %d outputs, need at least 1 of each", s.Dx, s.Dy)
	}
	if len(s.Curves) == 0 {
		return fail("there are no tasks")
	}
	for i := range s.Curves {
		c := &s.Curves[i]
		if err := s.checkPoints(&c.Points); err != nil {
			return fail("task %d: %w", i, err)
		}
		if c.Context != nil {
			if err := s.checkPoints(c.Context); err != nil {
				return fail("task %d: context: %w", i, err)
			}
		}
		f := c.Field
		if f == nil {
			if len(s.Static) > 0 {
				return fail("task %d has no static fields, and the set has %d", i, len(s.Static))
			}
			continue
		}
		if !slices.Equal(f.Names, s.Static) {
			return fail("task %d: static fields %q, and the set has %q", i, f.Names, s.Static)
		}
		if len(f.X)%s.Dx != 0 || len(f.Y) != len(f.X)/s.Dx*len(f.Names) {
			return fail("task %d: static fields: %d coordinates and %d values, of %d and %d a point",
				i, len(f.X), len(f.Y), s.Dx, len(f.Names))
		}
		if err := cmp.Or(notFinite("x", f.X, s.Dx, false), notFinite("y", f.Y, len(f.Names), true)); err != nil {
			return fail("task %d: static fields: %w", i, err)
		}
	}
	return nil
}

// checkPoints refuses points of which slices do not fit each other, or numbers are not finite.
func (s *CurveSet) checkPoints(p *Points) error {
	if len(p.X)%s.Dx != 0 {
		return fmt.Errorf("x has %d numbers, of %d a point", len(p.X), s.Dx)
	}
	n, da := len(p.X)/s.Dx, len(s.Auxiliary)
	if len(p.Y) != n*s.Dy {
		return fmt.Errorf("y has %d numbers, %d points of %d outputs need %d", len(p.Y), n, s.Dy, n*s.Dy)
	}
	if len(p.Aux) != n*da {
		return fmt.Errorf("aux has %d numbers, %d points of %d auxiliary inputs need %d", len(p.Aux), n, da, n*da)
	}
	return cmp.Or(notFinite("x", p.X, s.Dx, false), notFinite("y", p.Y, s.Dy, true), notFinite("aux", p.Aux, da, true))
}

// notFinite reports the first number of v [n, d] that is infinite, or NaN where there are no gaps.
func notFinite(name string, v []float64, d int, gaps bool) error {
	for i, a := range v {
		if a-a != 0 && !(gaps && a != a) {
			return fmt.Errorf("%s[%d, %d] = %v", name, i/d, i%d, a)
		}
	}
	return nil
}

// Inputs are the names of the coordinates: those of the table's columns, else x, or x1, x2, ...
func (s *CurveSet) Inputs() []string {
	if s.inputs != nil {
		return s.inputs
	}
	if s.Dx == 1 {
		return []string{"x"}
	}
	out := make([]string, s.Dx)
	for i := range out {
		out[i] = fmt.Sprintf("x%d", i+1)
	}
	return out
}

// CSVOptions say which columns of a CSV file are what.
type CSVOptions struct {
	// X and Y name the columns of the coordinates and of the outputs, or give their numbers, counted from 1. Where one is nil, the
	// header is searched for x, or x1, x2, ..; for y, or y1, y2, ... Without a header the first columns are x, and the others y.
	X, Y []string
	// Dx and Dy are how many of them there must be; 0: as many as there are.
	Dx, Dy int
	// Task names the column that says which task a row is of; if it is empty, that is the column task, where there is one.
	Task string
	// Aux name the columns of auxiliary inputs, or give their numbers. One of texts, kind, becomes one for each text,
	// kind=land and kind=sea, 1 where a row has it and else 0.
	Aux []string
	// AuxKnown says that Aux are the inputs of a model that exists: a column of texts is then an error, unless Aux name its
	// texts as kind=land.
	AuxKnown bool
	// Degrees says that the coordinates are latitude and longitude in degrees, in this order.
	Degrees bool
}

// ReadCSV reads tasks from a CSV file, whose cells commas, semicolons, tabs, bars or spaces separate. Its header names the columns, in any
// order: the coordinates and the outputs (see CSVOptions); task, a number or a text that is equal on the rows of one task (without it, all
// rows are one task); and context, 1 on the rows that are observed and 0 on the others (without it, the context is picked at
// random). An output that is missing (an empty cell, NaN or NA, or a text such as ? or None among numbers) is not known; a row without
// any is left out. Tasks keep the order of their first rows. Errors name the file, the line and the column.
func ReadCSV(path string, opt CSVOptions) (*CurveSet, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return DecodeCSV(f, path, opt)
}

// DecodeCSV is ReadCSV for a text, which errors call by that name.
func DecodeCSV(r io.Reader, name string, opt CSVOptions) (*CurveSet, error) {
	t, err := tabular.ReadAs(r, name, tabular.Options{X: opt.X, Y: opt.Y})
	if err != nil {
		return nil, err
	}
	return CurvesOfTable(t, opt)
}

// CurvesOfTable is ReadCSV for a table in memory, of any format.
func CurvesOfTable(t *table.Table, opt CSVOptions) (*CurveSet, error) {
	if opt.Dx < 0 || opt.Dy < 0 {
		return nil, fmt.Errorf("task: tasks with %d coordinates and %d outputs", opt.Dx, opt.Dy)
	}
	rows, err := RowsOf(t, opt, false)
	if err != nil {
		return nil, err
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("%s: %w: no rows", t.Name, ErrData)
	}
	s := &CurveSet{Name: t.Name, Dx: len(rows.Columns.X), Dy: len(rows.Columns.Y),
		Curves: rows.curves(func(int) bool { return true }), inputs: rows.inputs(t), Auxiliary: rows.auxiliary(t, opt),
		Notes: t.Remarks(rows.Columns)}
	if len(s.Curves) == 0 {
		return nil, fmt.Errorf("%s: %w: no row has a value of y", t.Name, ErrData)
	}
	return s, nil
}

// curves makes tasks of some rows.
func (r *Rows) curves(takes func(row int) bool) (out []Curve) {
	all := make([]Curve, r.Tasks)
	for row, k := range r.Task {
		if !takes(row) || r.Known(row) == 0 {
			continue
		}
		c := &all[k]
		r.add(&c.Points, row)
		if r.Context != nil {
			if c.Context == nil {
				c.Context = &Points{}
			}
			if r.Context[row] {
				r.add(c.Context, row)
			}
		}
	}
	for _, c := range all {
		if len(c.X) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// inputs are the names of the columns of x, nil without a header.
func (r *Rows) inputs(t *table.Table) (names []string) {
	if t.Header != nil {
		for _, c := range r.Columns.X {
			names = append(names, t.Header[c])
		}
	}
	return names
}

// auxiliary are the names of the auxiliary inputs: the columns', or without a header those that were asked for.
func (r *Rows) auxiliary(t *table.Table, opt CSVOptions) []string {
	if t.Header == nil {
		return opt.Aux
	}
	var names []string
	for _, c := range r.Columns.Aux {
		names = append(names, t.Header[c])
	}
	return names
}

// add adds a row to some points.
func (r *Rows) add(p *Points, row int) {
	dx, dy := len(r.Columns.X), len(r.Columns.Y)
	p.X, p.Y = append(p.X, r.X[row*dx:(row+1)*dx]...), append(p.Y, r.Y[row*dy:(row+1)*dy]...)
	if da := len(r.Columns.Aux); da > 0 {
		p.Aux = append(p.Aux, r.Aux[row*da:(row+1)*da]...)
	}
}

// Rows are the rows of a table as points of tasks.
type Rows struct {
	Columns table.Columns
	X, Y    []float64 // [rows, dx] and [rows, dy]; NaN where an output is missing
	Aux     []float64 // [rows, da] auxiliary inputs, NaN where one is missing
	Task    []int     // [rows] of Tasks, in the order of their first rows
	Tasks   int
	// TaskColumn is the one that says so, -1 without one.
	TaskColumn int
	Context    []bool // [rows] what the column context says, nil without one
}

// Known is the number of outputs that a row has.
func (r *Rows) Known(row int) (n int) {
	dy := len(r.Columns.Y)
	for _, y := range r.Y[row*dy : (row+1)*dy] {
		if !math.IsNaN(y) {
			n++
		}
	}
	return n
}

// RowsOf takes a table's columns apart; onlyX takes one without outputs as well.
func RowsOf(t *table.Table, opt CSVOptions, onlyX bool) (*Rows, error) {
	var err error
	if t != nil && t.Cols > 0 && len(opt.Aux) > 0 {
		if opt.AuxKnown {
			err = t.KnownCategories(opt.Aux)
		} else {
			opt.Aux, err = t.Categories(opt.Aux)
		}
		if err != nil {
			return nil, err
		}
	}
	columns, err := t.Find(tabular.Want{X: opt.X, Y: opt.Y, Dx: opt.Dx, Dy: opt.Dy, OnlyX: onlyX, Aux: opt.Aux})
	if err != nil {
		return nil, err
	}
	if t.Cols == 0 { // an empty file has points of any kind, and none of them
		return &Rows{Columns: columns, TaskColumn: -1}, nil
	}
	r := &Rows{Columns: columns}
	if r.X, err = t.Coordinates(columns.X...); err != nil {
		return nil, err
	}
	if opt.Degrees && len(columns.X) == 2 {
		if err := onGlobe(t, r); err != nil {
			return nil, err
		}
	}
	if r.Y, err = t.Numbers(true, columns.Y...); err != nil {
		return nil, err
	}
	for i, y := range r.Y {
		if dy := len(columns.Y); math.Abs(y) > math.MaxFloat32 {
			return nil, t.Errorf(i/dy, columns.Y[i%dy], "%w: %g is beyond float32: write the column in a larger unit", ErrData, y)
		}
	}
	if len(columns.Aux) > 0 {
		if r.Aux, err = t.Numbers(true, columns.Aux...); err != nil {
			return nil, err
		}
		for i, v := range r.Aux {
			if da := len(columns.Aux); math.Abs(v) > math.MaxFloat32 {
				return nil, t.Errorf(i/da, columns.Aux[i%da], "%w: %g is beyond float32: write the column in a larger unit", ErrData, v)
			}
		}
	}
	task, err := t.Other(columns, cmp.Or(opt.Task, "task"), opt.Task != "")
	if err != nil {
		return nil, err
	}
	r.TaskColumn = task
	if r.Task, r.Tasks = make([]int, t.Rows()), min(1, t.Rows()); task >= 0 {
		if r.Task, r.Tasks, err = t.Groups(task); err != nil {
			return nil, err
		}
	}
	if context, _ := t.Other(columns, "context", false); context >= 0 {
		flags, err := t.Numbers(false, context)
		if err != nil {
			return nil, err
		}
		for row, v := range flags {
			if v != 0 && v != 1 {
				return nil, t.Errorf(row, context, "%w: context = %g, need 0 or 1", ErrData, v)
			}
			r.Context = append(r.Context, v == 1)
		}
	}
	return r, nil
}

// onGlobe refuses latitudes beyond the poles, and columns whose names say that the longitude comes first: most longitudes would pass for
// latitudes.
func onGlobe(t *table.Table, r *Rows) error {
	x := r.Columns.X
	if t.Header != nil && tabular.IsLongitude(t.Header[x[0]]) && tabular.IsLatitude(t.Header[x[1]]) {
		return t.Errorf(-1, x[0], "%w: on the globe the latitude comes first, and then the longitude: %s,%s", tabular.ErrColumns,
			t.Header[x[1]], t.Header[x[0]])
	}
	for i := 0; i < len(r.X); i += 2 {
		switch lat := r.X[i]; {
		case math.Abs(lat) <= 90:
		case t.Name == "": // the places of a grid
			return fmt.Errorf("%w: the grid has the latitude %g: need -90 to 90 degrees", ErrData, lat)
		default:
			return t.Errorf(i/2, x[0], "%w: latitude %g: need -90 to 90 degrees (the longitude comes second)", ErrData, lat)
		}
	}
	return nil
}

// ReadCurves reads tasks from a safetensors file: x_context [B, Nc, dx], y_context [B, Nc, dy], x_target [B, Nt, dx], y_target
// [B, Nt, dy] and, if there, context_mask [B, Nc] and target_mask [B, Nt]. Errors name the file.
func ReadCurves(path string, dx, dy int) (*CurveSet, error) {
	f, err := taskfile.Open(path)
	if err != nil {
		return nil, err
	}
	return CurvesOf(f, dx, dy, nil, nil)
}

// CurvesOf is ReadCurves for a file that is open; with 0 for dx or dy, for as many as it has. Where auxiliary inputs
// are named, they are aux_context [B, Nc, da] and aux_target [B, Nt, da]; where static fields are, these are x_static
// [B, Ns, dx] and y_static [B, Ns, ds].
func CurvesOf(f *taskfile.File, dx, dy int, auxiliary, static []string) (*CurveSet, error) {
	path := f.Name()
	dx, dy = cmp.Or(dx, f.Axis("x_target", 2)), cmp.Or(dy, f.Axis("y_target", 2))
	c, err := f.Curves(&cnp.Config{DimX: dx, DimY: dy, Auxiliary: auxiliary, Static: static, ChannelDensity: true})
	if err != nil {
		return nil, err
	}
	b := &c.Batch
	if dx < 1 || dy < 1 {
		return nil, fmt.Errorf("%s: %w: tasks with %d coordinates and %d outputs", path, ErrData, dx, dy)
	}
	if c.Truth == nil || b.B == 0 || b.Nt == 0 {
		return nil, fmt.Errorf("%s: %w: %d tasks with %d targets, with y_target: %t; training and evaluation need all three",
			path, ErrData, b.B, b.Nt, c.Truth != nil)
	}
	s, da, ds := &CurveSet{Name: path, Dx: dx, Dy: dy, Auxiliary: auxiliary, Static: static}, len(auxiliary), len(static)
	pick := func(x []float64, y, aux []float32, mask []bool, t, n int) (p Points) {
		for i := t * n; i < (t+1)*n; i++ {
			if mask == nil || mask[i] {
				p.X = append(p.X, x[i*dx:(i+1)*dx]...)
				for _, v := range y[i*dy : (i+1)*dy] {
					p.Y = append(p.Y, float64(v))
				}
				for _, v := range aux[i*da : (i+1)*da] {
					p.Aux = append(p.Aux, float64(v))
				}
			}
		}
		return p
	}
	for t := range b.B {
		context := pick(b.XContext, b.YContext, b.AuxContext, b.ContextMask, t, b.Nc)
		own := Curve{Points: pick(b.XTarget, c.Truth, b.AuxTarget, b.TargetMask, t, b.Nt), Context: &context}
		if ds > 0 {
			own.Field = &Field{Names: static}
			for i := t * b.Ns; i < (t+1)*b.Ns; i++ {
				if y := b.YStatic[i*ds : (i+1)*ds]; slices.ContainsFunc(y, func(v float32) bool { return v == v }) {
					own.Field.X = append(own.Field.X, b.XStatic[i*dx:(i+1)*dx]...)
					for _, v := range y {
						own.Field.Y = append(own.Field.Y, float64(v))
					}
				}
			}
		}
		s.Curves = append(s.Curves, own)
	}
	return s, nil
}

// ReadImages reads images from a safetensors file: image [B, C, H, W] with that number of channels, and mask [B, 1, H, W]
// or [B, H, W]. NaN is a value that is missing; images without any are left out. Errors name the file.
func ReadImages(path string, channels int) (*ImageSet, error) {
	f, err := taskfile.Open(path)
	if err != nil {
		return nil, err
	}
	return ImagesOf(f, channels)
}

// ImagesOf is ReadImages for a file that is open; with 0 channels, for as many as it has.
func ImagesOf(f *taskfile.File, channels int) (*ImageSet, error) {
	path := f.Name()
	if x := f.Tensor("image"); x != nil && len(x.Shape) == 3 {
		channels = cmp.Or(channels, 1)
	}
	channels = cmp.Or(channels, f.Axis("image", 1))
	c, err := f.Images(channels)
	if err != nil {
		return nil, err
	}
	b := &c.Batch
	if err := sized(b.B, b.C, b.H, b.W); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, tensor := &ImageSet{Name: path, N: b.B, C: b.C, H: b.H, W: b.W, Pix: c.Truth, Mask: b.Mask}, "y_target"
	if s.Pix == nil {
		s.Pix, tensor = b.Pixels, "image"
	}
	s.inLevels(c.Levels)
	if err := s.usable(tensor); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// CurveSetSource is the Source of a user's own regression tasks.
type CurveSetSource[T cnp.Float] struct {
	Set *CurveSet
	// The number of context points is uniform in MinContext .. MaxContext, or what a task has where that is less; for tasks
	// that do not bring their own context.
	MinContext, MaxContext int
	// Window, if there is one, makes a task of the points around one of its own, drawn at random, that lie in a box of
	// these lengths [dx]; 0 is a coordinate without ends. Most bounds how many they are, picked at random; 0: all.
	Window []float64
	Most   int
	// Gaps takes points into the context that lack outputs, for models with Config.ChannelDensity; else they have to have all.
	Gaps bool
	// InOrder takes the tasks one after the other, batch after batch, instead of picking them at random.
	InOrder bool
	// Unobserved leaves the points of the context out of what is known of the targets, so that a model is not scored on
	// values that it was given. At least one point of a task stays out of a context that is picked at random.
	Unobserved bool
}

// Len is the number of different tasks, 0 where they are picked at random.
func (s CurveSetSource[T]) Len() int {
	if s.InOrder {
		return len(s.Set.Curves)
	}
	return 0
}

// Batch implements Source. Tasks of different sizes are padded and masked.
func (s CurveSetSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if s.MinContext < 0 || s.MaxContext < s.MinContext || n < 0 || len(s.Set.Curves) == 0 {
		return nil, fmt.Errorf("task: %d tasks of %d, with %d to %d context points", n, len(s.Set.Curves), s.MinContext, s.MaxContext)
	}
	rng := StepRand(seed, step)
	dx, dy := s.Set.Dx, s.Set.Dy
	targets, contexts, fields := make([]Points, n), make([]Points, n), make([]*Field, n)
	b := &cnp.Batch[T]{B: n}
	for i := range n {
		k := rng.IntN(len(s.Set.Curves))
		if s.InOrder {
			k = inOrder(step, n, i, len(s.Set.Curves))
		}
		c := &s.Set.Curves[k]
		if s.Window != nil {
			c = c.window(rng, s.Window, dx, dy, s.Most)
		}
		targets[i], fields[i] = c.Points, c.Field
		if c.Context != nil {
			contexts[i] = c.Context.some(c.Context.observed(dy, s.Gaps), dx, dy)
		} else {
			all := c.observed(dy, s.Gaps)
			n := len(all)
			most := n
			if s.Unobserved {
				most = max(0, n-1)
			}
			lo, hi := min(s.MinContext, most), min(s.MaxContext, most)
			picked := rng.Perm(n)[:lo+rng.IntN(hi-lo+1)]
			for k, p := range picked {
				picked[k] = all[p]
			}
			contexts[i] = c.some(picked, dx, dy)
		}
		b.Nc, b.Nt = max(b.Nc, len(contexts[i].X)/dx), max(b.Nt, len(targets[i].X)/dx)
	}
	var y []T
	b.XContext, b.YContext, b.AuxContext, b.ContextMask = padded[T](contexts, b.Nc, dx, dy, len(s.Set.Auxiliary))
	b.XTarget, y, b.AuxTarget, b.TargetMask = padded[T](targets, b.Nt, dx, dy, len(s.Set.Auxiliary))
	for i, v := range b.AuxTarget {
		if v != v { // such a point can be context, but is no target
			b.TargetMask[i/len(s.Set.Auxiliary)] = false
		}
	}
	if ds := len(s.Set.Static); ds > 0 {
		joinFields(b, fields, dx, ds)
	}
	out := &Tasks[T]{Curves: b, Y: y}
	unknown := func(i int) {
		if out.Known == nil {
			out.Known = slices.Repeat([]bool{true}, len(y))
		}
		out.Known[i] = false
	}
	for i, v := range y {
		if v != v {
			unknown(i)
		}
	}
	for k := 0; s.Unobserved && k < n; k++ {
		for _, at := range targets[k].among(&contexts[k], dx, dy) {
			for d := range dy {
				unknown((k*b.Nt+at)*dy + d)
			}
		}
	}
	return out, nil
}

// among lists the points that are also points of another set, with the same coordinates and values.
func (p *Points) among(other *Points, dx, dy int) (same []int) {
	key := func(p *Points, i int) string {
		var b []byte
		for _, v := range slices.Concat(p.X[i*dx:(i+1)*dx], p.Y[i*dy:(i+1)*dy]) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return string(b)
	}
	seen := map[string]bool{}
	for i := range len(other.X) / dx {
		seen[key(other, i)] = true
	}
	for i := range len(p.X) / dx {
		if seen[key(p, i)] {
			same = append(same, i)
		}
	}
	return same
}

// observed lists the points that have all their outputs and auxiliary inputs, or with gaps one output at least.
func (p *Points) observed(dy int, gaps bool) []int {
	out := make([]int, 0, len(p.Y)/dy)
	for i := 0; i < len(p.Y); i += dy {
		missing := 0
		for _, v := range p.Y[i : i+dy] {
			if math.IsNaN(v) {
				missing++
			}
		}
		da := len(p.Aux) / max(1, len(p.Y)/dy)
		if missing == 0 && (gaps || !slices.ContainsFunc(p.Aux[i/dy*da:][:da], math.IsNaN)) || gaps && missing < dy {
			out = append(out, i/dy)
		}
	}
	return out
}

// window is the part of a curve in a box around one of its points, with at most so many points.
func (c *Curve) window(rng *rand.Rand, lengths []float64, dx, dy, most int) *Curve {
	if len(c.X) == 0 {
		return c
	}
	at := rng.IntN(len(c.X) / dx)
	middle := c.X[at*dx : (at+1)*dx]
	part := func(p *Points, most int) Points {
		var in []int
		for i := range len(p.X) / dx {
			inside := true
			for d, length := range lengths {
				inside = inside && (length == 0 || math.Abs(p.X[i*dx+d]-middle[d]) <= length/2)
			}
			if inside {
				in = append(in, i)
			}
		}
		if most > 0 && len(in) > most {
			rng.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
			in = in[:most]
			slices.Sort(in)
		}
		return p.some(in, dx, dy)
	}
	out := &Curve{Points: part(&c.Points, most), Field: c.Field.window(middle, lengths)}
	if c.Context != nil {
		context := part(c.Context, most)
		out.Context = &context
	}
	return out
}

// some are the points of those numbers.
func (p *Points) some(numbers []int, dx, dy int) (out Points) {
	for _, i := range numbers {
		out.X, out.Y = append(out.X, p.X[i*dx:(i+1)*dx]...), append(out.Y, p.Y[i*dy:(i+1)*dy]...)
		da := len(p.Aux) / max(1, len(p.X)/dx)
		out.Aux = append(out.Aux, p.Aux[i*da:(i+1)*da]...)
	}
	return out
}

// padded lays tasks of up to n points side by side.
func padded[T cnp.Float](tasks []Points, n, dx, dy, da int) (x []float64, y, aux []T, mask []bool) {
	x, y, aux, mask = make([]float64, len(tasks)*n*dx), make([]T, len(tasks)*n*dy), make([]T, len(tasks)*n*da), make([]bool, len(tasks)*n)
	for i, p := range tasks {
		copy(x[i*n*dx:], p.X)
		for k, v := range p.Y {
			y[i*n*dy+k] = T(v)
		}
		for k, v := range p.Aux {
			aux[i*n*da+k] = T(v)
		}
		for k := range len(p.X) / dx {
			mask[i*n+k] = true
		}
	}
	return x, y, aux, mask
}

// String implements Source.
func (s CurveSetSource[T]) String() string {
	order := ""
	if s.InOrder {
		order = ", in order"
	}
	window := ""
	if s.Window != nil {
		window = fmt.Sprintf("windows of %v, of at most %d points, in ", s.Window, s.Most)
	}
	scored := ""
	if s.Unobserved {
		scored = ", scored where they are not observed"
	}
	return fmt.Sprintf("%s%d tasks%s from %s, %d to %d context points where they have none of their own%s",
		window, len(s.Set.Curves), order, s.Set.Name, s.MinContext, s.MaxContext, scored)
}
