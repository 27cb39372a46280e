package cnp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// A model that was trained on windows of tables (Trained.Window) knows no task that is longer than a window. Standardised
// therefore predicts such a task as training saw it: window by window. Targets are divided into cells of a quarter of a
// window's sides, which begin at the least coordinates of the context. The targets of a cell are predicted from the
// context points within the window around the cell's middle, and from the static fields within twice its lengths. A
// prediction may jump where cells meet. Coordinates are not scaled, whatever a window's points span.

// Bounds of prediction by windows.
const (
	windowCells   = 4   // cells along a side of a window
	windowTargets = 256 // most targets of a piece; more make further pieces with the same context
	windowPieces  = 64  // pieces that are predicted together
)

// piece is the part of a task that is predicted in one window.
type piece struct {
	task             int
	context, targets []int // numbers of the batch's points
	middle           []float64
}

// WindowNote says, for a batch of which tasks are longer than the windows that the model was trained on, how they are predicted. It is
// empty where there is no such task.
func WindowNote[T Float](c *Config, b *Batch[T]) string {
	return instance[func(*Config, *Batch[T]) string](&windowNoteInstances)(c, b)
}

var windowNoteInstances = instances{windowNote[float32], windowNote[float64]}

func windowNote[T Float](c *Config, b *Batch[T]) string {
	n := 0
	for t := range b.B {
		if b.beyondWindow(c, t) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d tasks are longer than the windows of %v that the model was trained on: predicted window by window", n, b.B,
		c.Trained.Window)
}

// Seen returns the tasks that a model is given for those of a batch by Standardised, to estimate the work: the batch that Standardise
// makes, or, of tasks that are predicted by windows, as many windows as are predicted together. windows is how many there are in all; 0
// means that there are none.
func Seen[T Float](c *Config, b *Batch[T]) (seen *Batch[T], windows int, err error) {
	return instance[func(*Config, *Batch[T]) (*Batch[T], int, error)](&seenInstances)(c, b)
}

var seenInstances = instances{seen[float32], seen[float64]}

func seen[T Float](c *Config, b *Batch[T]) (seen *Batch[T], windows int, err error) {
	if err := b.Check(c); err != nil {
		return nil, 0, err
	}
	if !b.windowed(c) {
		seen, _, err = standardise(c, b)
		return seen, 0, err
	}
	if err := windowsFit(c); err != nil {
		return nil, 0, err
	}
	b = b.whole(c)
	pieces := b.pieces(c)
	slices.SortStableFunc(pieces, func(p, q piece) int { return cmp.Compare(len(q.context), len(p.context)) })
	seen, _ = scaleEach(c, gatherPieces(c, b, pieces[:min(windowPieces, len(pieces))]))
	return seen, len(pieces), nil
}

// beyondWindow reports whether the context of task t lies in no window of the model's training. Targets do not decide: a
// target's prediction depends on no other.
func (b *Batch[T]) beyondWindow(c *Config, t int) bool {
	if c.Trained == nil || len(c.Trained.Window) != c.DimX {
		return false
	}
	for d, length := range c.Trained.Window {
		var m moments
		for i := range b.Nc {
			if b.contextOK(t, i) {
				m.add(b.XContext[(t*b.Nc+i)*c.DimX+d])
			}
		}
		if length > 0 && m.max-m.min > length*(1+1e-9) {
			return true
		}
	}
	return false
}

// windowed reports whether the context of a task is longer than the windows of the model's training.
func (b *Batch[T]) windowed(c *Config) bool {
	for t := range b.B {
		if b.beyondWindow(c, t) {
			return true
		}
	}
	return false
}

// ErrWindow is wrapped by the error about a task that is longer than the windows that a model was trained on, where it cannot be
// predicted window by window.
var ErrWindow = fmt.Errorf("%w: a task is longer than the windows of the model's training", ErrRange)

// checkWindow returns the error of what has no form by windows.
func (b *Batch[T]) checkWindow(c *Config) error {
	for t := range b.B {
		if b.beyondWindow(c, t) {
			return fmt.Errorf("%w: task %d, windows of %v: samples, joint densities and tasks that the caller scales "+
				"have to lie within one",
				ErrWindow, t, c.Trained.Window)
		}
	}
	return nil
}

// windowsFit refuses predictions of several windows that would have to be one distribution.
func windowsFit(c *Config) error {
	l, err := ParseLikelihood(c)
	if err != nil {
		return err
	}
	if _, joint := l.(JointLikelihood); joint {
		return fmt.Errorf("%w, %v: its likelihood %s is joint over targets, which windows do not share", ErrWindow,
			c.Trained.Window, l.Name())
	}
	return nil
}

// pieces divides the tasks of a batch: those that a window holds are one piece each.
func (b *Batch[T]) pieces(c *Config) (out []piece) {
	for t := range b.B {
		var targets []int
		for i := range b.Nt {
			if b.targetOK(t, i) {
				targets = append(targets, t*b.Nt+i)
			}
		}
		if !b.beyondWindow(c, t) {
			out = append(out, piece{task: t, context: b.points(t), targets: targets})
			continue
		}
		out = append(out, b.windows(c, t, targets)...)
	}
	return out
}

// windows divides the targets of task t, which is longer than a window.
func (b *Batch[T]) windows(c *Config, t int, targets []int) (out []piece) {
	dx, lengths := c.DimX, c.Trained.Window
	points := b.points(t)
	first := slices.IndexFunc(lengths, func(l float64) bool { return l > 0 })
	slices.SortStableFunc(points, func(p, q int) int { return cmp.Compare(b.XContext[p*dx+first], b.XContext[q*dx+first]) })
	least := make([]float64, dx)
	for d := range least {
		least[d] = math.Inf(1)
		for _, p := range points {
			least[d] = min(least[d], b.XContext[p*dx+d])
		}
	}
	cellOf := func(target int) []float64 {
		key := make([]float64, dx)
		for d, length := range lengths {
			if length > 0 {
				key[d] = math.Floor((b.XTarget[target*dx+d] - least[d]) / (length / windowCells))
			}
		}
		return key
	}
	keys := map[int][]float64{}
	for _, i := range targets {
		keys[i] = cellOf(i)
	}
	targets = slices.Clone(targets)
	slices.SortStableFunc(targets, func(i, j int) int { return slices.Compare(keys[i], keys[j]) })
	for lo := 0; lo < len(targets); {
		key, hi := keys[targets[lo]], lo
		for hi < len(targets) && slices.Equal(keys[targets[hi]], key) {
			hi++
		}
		middle := make([]float64, dx)
		for d, length := range lengths {
			middle[d] = least[d] + (key[d]+0.5)*length/windowCells
		}
		near := b.within(points, middle, lengths, first)
		for ; lo < hi; lo += windowTargets {
			out = append(out, piece{task: t, context: near, targets: targets[lo:min(lo+windowTargets, hi)], middle: middle})
		}
		lo = hi
	}
	return out
}

// within lists the context points of the window around middle, by number; points are in order of coordinate first.
func (b *Batch[T]) within(points []int, middle, lengths []float64, first int) (out []int) {
	dx := len(middle)
	at := sort.Search(len(points), func(i int) bool { return b.XContext[points[i]*dx+first] >= middle[first]-lengths[first]/2 })
	for _, p := range points[at:] {
		if b.XContext[p*dx+first] > middle[first]+lengths[first]/2 {
			break
		}
		inside := true
		for d, length := range lengths {
			inside = inside && (length == 0 || math.Abs(b.XContext[p*dx+d]-middle[d]) <= length/2)
		}
		if inside {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// gatherPieces makes a batch of pieces, whose contexts are no denser than those of training.
func gatherPieces[T Float](c *Config, b *Batch[T], pieces []piece) *Batch[T] {
	dx, dy, da, ds := c.DimX, c.DimY, len(c.Auxiliary), len(c.Static)
	contexts, fields := make([]cells[T], len(pieces)), make([][]int, len(pieces))
	out := &Batch[T]{B: len(pieces)}
	for i, p := range pieces {
		contexts[i] = gather(c, b, p.context, c.cell(len(p.context), 1))
		fields[i] = b.fieldAround(c, p)
		out.Nc, out.Nt, out.Ns = max(out.Nc, len(contexts[i].x)/dx), max(out.Nt, len(p.targets)), max(out.Ns, len(fields[i]))
	}
	out.XContext, out.YContext, out.AuxContext = make([]float64, out.B*out.Nc*dx), make([]T, out.B*out.Nc*dy), make([]T, out.B*out.Nc*da)
	out.XTarget, out.AuxTarget = make([]float64, out.B*out.Nt*dx), make([]T, out.B*out.Nt*da)
	out.ContextMask, out.TargetMask = make([]bool, out.B*out.Nc), make([]bool, out.B*out.Nt)
	out.XStatic, out.YStatic = make([]float64, out.B*out.Ns*dx), slices.Repeat([]T{T(math.NaN())}, out.B*out.Ns*ds) // padding
	for i, p := range pieces {
		copy(out.XContext[i*out.Nc*dx:], contexts[i].x)
		copy(out.YContext[i*out.Nc*dy:], contexts[i].y)
		copy(out.AuxContext[i*out.Nc*da:], contexts[i].aux)
		for k := range len(contexts[i].x) / dx {
			out.ContextMask[i*out.Nc+k] = true
		}
		for k, from := range p.targets {
			at := i*out.Nt + k
			copy(out.XTarget[at*dx:], b.XTarget[from*dx:(from+1)*dx])
			copy(out.AuxTarget[at*da:], b.AuxTarget[from*da:(from+1)*da])
			out.TargetMask[at] = true
		}
		for k, from := range fields[i] {
			at := i*out.Ns + k
			copy(out.XStatic[at*dx:], b.XStatic[from*dx:(from+1)*dx])
			copy(out.YStatic[at*ds:], b.YStatic[from*ds:(from+1)*ds])
		}
	}
	return out
}

// fieldAround lists the points of the static fields that a piece sees.
func (b *Batch[T]) fieldAround(c *Config, p piece) (out []int) {
	for i := p.task * b.Ns; i < (p.task+1)*b.Ns; i++ {
		inside := true
		for d, v := range p.middle {
			if length := c.Trained.Window[d]; length > 0 {
				inside = inside && math.Abs(b.XStatic[i*c.DimX+d]-v) <= length
			}
		}
		if inside {
			out = append(out, i)
		}
	}
	return out
}

// predictWindows predicts a batch of which tasks are longer than a window.
func (s standardised[T]) predictWindows(ctx context.Context, c *Config, b *Batch[T]) (*Prediction[T], error) {
	if err := windowsFit(c); err != nil {
		return nil, err
	}
	whole := b.whole(c)
	pieces := whole.pieces(c)
	out, err := newPredictionOf[T](c, b.B*b.Nt*c.DimY)
	if err != nil {
		return nil, err
	}
	var outside *OutsideError
	for lo := 0; lo < len(pieces); lo += windowPieces {
		these := pieces[lo:min(lo+windowPieces, len(pieces))]
		in, scalers := gatherPieces(c, whole, these), []Scaler(nil)
		if err := checkDensity(c, in, true); err != nil {
			return nil, err
		}
		in, scalers = scaleEach(c, in)
		p, err := s.Regressor.Predict(ctx, in)
		if found := (*OutsideError)(nil); err != nil && (p == nil || !errors.As(err, &found)) {
			return nil, err
		} else if found != nil {
			own := outsidePieces(found, these, b, c.DimX)
			if outside == nil {
				outside = own
			}
			outside.join(own)
		}
		unscale(in, scalers, c.DimY, p)
		out.Likelihood = p.Likelihood
		for i, one := range these {
			for k, target := range one.targets {
				out.put(target*c.DimY, p, (i*in.Nt+k)*c.DimY, c.DimY)
			}
		}
	}
	if outside != nil {
		return out, outside
	}
	return out, nil
}

// outsidePieces names the targets of a batch that have no prediction because of points of pieces.
func outsidePieces[T Float](e *OutsideError, pieces []piece, b *Batch[T], dx int) *OutsideError {
	own := &OutsideError{Where: e.Where + " in the model's units"}
	add := func(target int) {
		own.join(&OutsideError{Points: []OutsidePoint{
			{"x_target", target / b.Nt, target % b.Nt, slices.Clone(b.XTarget[target*dx:][:dx])}}})
	}
	for _, p := range e.Points {
		one := pieces[p.Task]
		if p.Tensor == "x_target" {
			add(one.targets[p.Point])
			continue
		}
		for _, target := range one.targets { // a point of the context stands for all targets
			add(target)
		}
	}
	return own
}

// put sets n values of p, from at on, to those of another prediction, from k on.
func (p *Prediction[T]) put(at int, from *Prediction[T], k, n int) {
	copy(p.Mean[at:at+n], from.Mean[k:k+n])
	copy(p.Std[at:at+n], from.Std[k:k+n])
	if w := len(from.Params) / max(1, len(from.Mean)); w > 0 && p.Params != nil {
		copy(p.Params[at*w:(at+n)*w], from.Params[k*w:(k+n)*w])
	}
}
