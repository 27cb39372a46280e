package cnp

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Standardised returns a regressor that brings tasks into the range that m was trained on, by Standardise, and predictions back.
// Log-likelihoods are in the data's own units.
func Standardised[T Float](m Regressor[T]) Regressor[T] {
	return instance[func(Regressor[T]) Regressor[T]](&standardisedInstances)(m)
}

var standardisedInstances = instances{standardisedOf[float32], standardisedOf[float64]}

func standardisedOf[T Float](m Regressor[T]) Regressor[T] {
	if e, ok := m.(*CurveEnsemble[T]); ok { // each knows a range of its own
		out := &CurveEnsemble[T]{}
		for _, member := range e.members {
			out.members = append(out.members, standardisedOf(member))
		}
		return out
	}
	return standardised[T]{m}
}

type standardised[T Float] struct{ Regressor[T] }

// Unwrap returns the model that is wrapped.
func (s standardised[T]) Unwrap() Regressor[T] { return s.Regressor }

// Predict implements Regressor.
func (s standardised[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	c := s.Config()
	if b.check(c.widths()) == nil && b.windowed(&c) {
		return s.predictWindows(ctx, &c, b)
	}
	in, undo, err := standardise(&c, b)
	if err != nil {
		return nil, err
	}
	p, err := s.Regressor.Predict(ctx, in)
	if p != nil {
		undo(p)
	}
	if in != b {
		err = outsideOf(b, c.DimX, err)
	}
	return p, err
}

// SampleCurves draws in the range that the model was trained on: the context alone decides how each task gets there, and not what
// is drawn.
func (s standardised[T]) SampleCurves(ctx context.Context, b *Batch[T], opt SampleOptions) ([]T, error) {
	c := s.Config()
	in, scalers, err := scaleTasks(&c, b)
	if err != nil {
		return nil, err
	}
	y, err := sampleCurves(ctx, s.Regressor, in, opt)
	for i := range y {
		if per := b.Nt * c.DimY; scalers != nil && b.targetOK(i/per%b.B, i%per/c.DimY) {
			y[i] = T(scalers[i/per%b.B].Y[i%c.DimY].Undo(float64(y[i])))
		}
	}
	return y, err
}

// JointCurves does likewise; densities are those of the data's own units.
func (s standardised[T]) JointCurves(ctx context.Context, b *Batch[T], y []T, chain Chain) (*Joint[T], error) {
	c := s.Config()
	in, scalers, err := scaleTasks(&c, b)
	if err != nil {
		return nil, err
	}
	if scalers == nil || len(y) != b.B*b.Nt*c.DimY { // the latter is an error
		return jointCurves(ctx, s.Regressor, in, y, chain)
	}
	per := b.Nt * c.DimY
	j, err := jointCurves(ctx, s.Regressor, in, scaleTruth(scalers, y, per, c.DimY), chain)
	if j == nil {
		return nil, err
	}
	clear(j.LogDensity)
	var buffer []float64
	for i := range y {
		target := i / c.DimY
		if !b.targetOK(target/b.Nt, target%b.Nt) {
			continue
		}
		a := scalers[i/per].Y[i%c.DimY]
		buffer = j.rescale(i, a, buffer)
		if j.values[target] > 0 && y[i] == y[i] {
			j.LogDensity[target] += j.logDensity(i, y[i])
		}
	}
	return j, err
}

// Standardise returns a copy of a batch whose tasks each went through their own Scaler, and what brings a prediction for it back to the
// batch's units, standard deviations included. What no scaler changes is the batch itself. Of a task that is longer than the windows
// of the model's training there is an error that wraps ErrWindow; Standardised predicts it by windows.
func Standardise[T Float](c *Config, b *Batch[T]) (scaled *Batch[T], undo func(*Prediction[T]), err error) {
	return instance[func(*Config, *Batch[T]) (*Batch[T], func(*Prediction[T]), error)](&standardiseInstances)(c, b)
}

var standardiseInstances = instances{standardise[float32], standardise[float64]}

func standardise[T Float](c *Config, b *Batch[T]) (scaled *Batch[T], undo func(*Prediction[T]), err error) {
	scaled, scalers, err := scaleTasks(c, b)
	if err == nil {
		err = checkDensity(c, b, true)
	}
	if err != nil {
		return nil, nil, err
	}
	return scaled, func(p *Prediction[T]) { unscale(b, scalers, c.DimY, p) }, nil
}

// unscale brings a prediction for scaled tasks back to the units of b.
func unscale[T Float](b *Batch[T], scalers []Scaler, dy int, p *Prediction[T]) {
	var buffer []float64
	for t, k := range scalers {
		if k.Identity() {
			continue
		}
		for i := range b.Nt * dy {
			if at, a := t*b.Nt*dy+i, k.Y[i%dy]; b.targetOK(t, i/dy) {
				buffer = p.rescale(at, a, buffer)
			}
		}
	}
}

// StandardiseTasks is like Standardise for tasks with their true values y [B, Nt, dy], which it returns in the model's units, too.
func StandardiseTasks[T Float](c *Config, b *Batch[T], y []T) (scaled *Batch[T], truth []T, err error) {
	return instance[func(*Config, *Batch[T], []T) (*Batch[T], []T, error)](&standardiseTasksInstances)(c, b, y)
}

var standardiseTasksInstances = instances{standardiseTasks[float32], standardiseTasks[float64]}

func standardiseTasks[T Float](c *Config, b *Batch[T], y []T) (scaled *Batch[T], truth []T, err error) {
	scaled, scalers, err := scaleTasks(c, b)
	if err != nil {
		return nil, nil, err
	}
	if want := b.B * b.Nt * c.DimY; len(y) != want {
		return nil, nil, fmt.Errorf("%w: %d true values, need %d", ErrShape, len(y), want)
	}
	return scaled, scaleTruth(scalers, y, b.Nt*c.DimY, c.DimY), nil
}

// scaleTasks returns a copy of a batch whose tasks each went through their own scaler; where no scaler changes
// anything, the batch itself and no scalers.
func scaleTasks[T Float](c *Config, b *Batch[T]) (scaled *Batch[T], scalers []Scaler, err error) {
	if err := b.Check(c); err != nil {
		return nil, nil, err
	}
	if c.Trained == nil || b.Nc+b.Nt == 0 || b.Nc == 0 && c.Trained.Units == nil { // of nothing there may be any number of tasks
		return b, nil, nil
	}
	if err := b.checkWindow(c); err != nil {
		return nil, nil, err
	}
	b = b.whole(c)
	b, dense := thin(c, b)
	if in, scalers := scaleEach(c, b); scalers != nil || dense > 0 {
		return in, scalers, nil
	}
	return b, nil, nil
}

// scaleEach returns a copy of a batch whose tasks each went through their own scaler; where no scaler changes anything,
// the batch itself and no scalers.
func scaleEach[T Float](c *Config, b *Batch[T]) (*Batch[T], []Scaler) {
	in, changed := *b, false
	in.XContext, in.YContext, in.XTarget = slices.Clone(b.XContext), slices.Clone(b.YContext), slices.Clone(b.XTarget)
	in.AuxContext, in.AuxTarget = slices.Clone(b.AuxContext), slices.Clone(b.AuxTarget)
	in.XStatic, in.YStatic = slices.Clone(b.XStatic), slices.Clone(b.YStatic)
	da, ds := len(c.Auxiliary), len(c.Static)
	scalers := make([]Scaler, b.B)
	for t := range b.B {
		k := c.Scaler(b.wideContext(t, c.DimX, c.DimY))
		scalers[t] = k
		if k.Identity() {
			continue
		}
		changed = true
		for i := range b.Nc * c.DimX {
			at := t*b.Nc*c.DimX + i
			in.XContext[at] = k.X[i%c.DimX].Apply(in.XContext[at])
		}
		for i := range b.Nc * c.DimY {
			at := t*b.Nc*c.DimY + i
			in.YContext[at] = T(k.Y[i%c.DimY].Apply(float64(in.YContext[at])))
		}
		for i := range b.Nt * c.DimX {
			at := t*b.Nt*c.DimX + i
			in.XTarget[at] = k.X[i%c.DimX].Apply(in.XTarget[at])
		}
		if ds > 0 {
			for i := t * b.Ns * c.DimX; i < (t+1)*b.Ns*c.DimX; i++ {
				in.XStatic[i] = k.X[i%c.DimX].Apply(in.XStatic[i])
			}
		}
		if k.Static != nil {
			for i := t * b.Ns * ds; i < (t+1)*b.Ns*ds; i++ {
				in.YStatic[i] = T(k.Static[i%ds].Apply(float64(in.YStatic[i])))
			}
		}
		for _, aux := range [][]T{in.AuxContext[t*b.Nc*da : (t+1)*b.Nc*da], in.AuxTarget[t*b.Nt*da : (t+1)*b.Nt*da]} {
			for i, v := range aux {
				if k.Aux != nil {
					aux[i] = T(k.Aux[i%da].Apply(float64(v)))
				}
			}
		}
	}
	if !changed {
		return b, nil
	}
	return &in, scalers
}

// scaleTruth brings the values of tasks, per of them each, into the model's units.
func scaleTruth[T Float](scalers []Scaler, y []T, per, dy int) []T {
	if scalers == nil {
		return y
	}
	out := make([]T, len(y))
	for i, v := range y {
		out[i] = T(scalers[i/per].Y[i%dy].Apply(float64(v)))
	}
	return out
}

// outsideOf returns an error of a prediction for a scaled copy of b; an OutsideError gets the coordinates that b has.
func outsideOf[T Float](b *Batch[T], dx int, err error) error {
	var scaled *OutsideError
	if !errors.As(err, &scaled) {
		return err
	}
	own := &OutsideError{Where: scaled.Where + " in the model's units"}
	for _, p := range scaled.Points {
		x, n := b.XTarget, b.Nt
		switch p.Tensor {
		case "x_context":
			x, n = b.XContext, b.Nc
		case "x_static":
			x, n = b.XStatic, b.Ns
		}
		p.X = slices.Clone(x[(p.Task*n+p.Point)*dx:][:dx])
		own.Points = append(own.Points, p)
	}
	return own
}
