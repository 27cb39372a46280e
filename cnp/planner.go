package cnp

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrNoPlan is what Model.Plan's error wraps where there can be no plan: for another kind of shape than the model's, or
// where what a model computes differs from task to task.
var ErrNoPlan = errors.New("there is no plan")

// Tasks are what a plan predicts: Images or a Batch.
type Tasks[T Float] interface {
	// Shape is that of the tasks.
	Shape() Shape
	// values is how many values they have, of dy outputs, at targets per image where it is given.
	values(dy, targets int) int
}

// Shape is that of the images.
func (im *Images[T]) Shape() Shape {
	if im == nil {
		return Shape{}
	}
	return Pixels(im.H, im.W)
}

func (im *Images[T]) values(dy, targets int) int {
	if im == nil {
		return 0
	}
	return countable(im.B, dy, targets)
}

// Shape is Scattered: a batch knows nothing of where its points lie.
func (b *Batch[T]) Shape() Shape { return Scattered() }

func (b *Batch[T]) values(dy, _ int) int {
	if b == nil {
		return 0
	}
	return countable(b.B, b.Nt, dy)
}

// valuesOf is the number of values of tasks, 0 where there are none, or more than can be counted: Predict says what is wrong with them.
func valuesOf[T Float](tasks Tasks[T], dy, targets int) int {
	if tasks == nil {
		return 0
	}
	return tasks.values(dy, targets)
}

func countable(sizes ...int) int {
	n, ok := product(sizes...)
	if !ok || slices.Min(sizes) < 0 {
		return 0
	}
	return n
}

// Plan is a model compiled for one shape. It is immutable, any number of goroutines may use it, and it keeps the
// parameters that the model had when it was made, unless its PlanInfo says that it is Live.
type Plan[T Float] interface {
	// Shape is what it was made for. Predict refuses tasks of another shape, with ErrShape.
	Shape() Shape
	// Info describes the plan.
	Info() PlanInfo
	// NewPrediction returns a prediction with room for the values of tasks, and their parameters.
	NewPrediction(tasks Tasks[T]) *Prediction[T]
	// Predict sets dst to the prediction of tasks, as Completer.Complete and Regressor.Predict lay it out. dst.Params
	// may be nil where parameters beside mean and standard deviation are not wanted. Points out of the plan's reach are
	// an OutsideError; what they do not concern is predicted.
	Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error
}

// Planner makes plans. Every Model is one.
type Planner[T Float] interface {
	// Plan compiles the model for a shape. Where there is no plan of the model, or none for such a shape, the error wraps ErrNoPlan.
	Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error)
}

// GeometryPlanner is a Model of images that predicts at any places, and takes pixels anywhere.
type GeometryPlanner[T Float] interface {
	Model[T]
	// Geometry places the pixels of h x w images as the model sees them, with scale times as many targets along each side.
	Geometry(h, w, scale int) (Geometry, error)
	// PlanGeometry is Plan for pixels and targets at places of one's own.
	PlanGeometry(ctx context.Context, g Geometry, opt PlanOptions) (*ImagePlan[T], error)
}

// imagesOf and batchOf return tasks of the kind that a plan needs.
func imagesOf[T Float](s Shape, tasks Tasks[T]) (*Images[T], error) {
	im, ok := tasks.(*Images[T])
	if !ok {
		return nil, s.refuse(shapeOfTasks[T](tasks))
	}
	return im, nil
}

func batchOf[T Float](s Shape, tasks Tasks[T]) (*Batch[T], error) {
	b, ok := tasks.(*Batch[T])
	if !ok {
		return nil, s.refuse(shapeOfTasks[T](tasks))
	}
	return b, nil
}

func shapeOfTasks[T Float](tasks Tasks[T]) Shape {
	if tasks == nil {
		return Shape{}
	}
	return tasks.Shape()
}

// livePlan is the plan of a model of which there is nothing to make in advance: each call is one of the model.
type livePlan[T Float] struct {
	shape   Shape
	cfg     Config
	l       Likelihood
	predict func(ctx context.Context, tasks Tasks[T]) (*Prediction[T], error)
}

// LiveImages returns the plan of a model of images of which nothing can be computed in advance: each call is one of the model.
func LiveImages[T Float](ctx context.Context, m Completer[T], s Shape, opt PlanOptions) (Plan[T], error) {
	c := m.Config()
	if err := s.checkPixels(&c, false); err != nil {
		return nil, err
	}
	p, err := newLivePlan[T](ctx, c, s, opt)
	if err != nil {
		return nil, err
	}
	p.predict = func(ctx context.Context, tasks Tasks[T]) (*Prediction[T], error) {
		im, err := imagesOf[T](s, tasks)
		if err != nil {
			return nil, err
		}
		if err := im.check(c.DimY); err != nil {
			return nil, err
		}
		if im.Shape() != s {
			return nil, s.refuse(im.Shape())
		}
		return m.Complete(ctx, im)
	}
	return p, nil
}

// LiveCurves returns the plan of a model of curves of which nothing can be computed in advance: each call is one of the model.
func LiveCurves[T Float](ctx context.Context, m Regressor[T], s Shape, opt PlanOptions) (Plan[T], error) {
	c := m.Config()
	if err := s.checkCurves(&c); err != nil {
		return nil, err
	}
	p, err := newLivePlan[T](ctx, c, s, opt)
	if err != nil {
		return nil, err
	}
	p.predict = func(ctx context.Context, tasks Tasks[T]) (*Prediction[T], error) {
		b, err := batchOf[T](s, tasks)
		if err != nil {
			return nil, err
		}
		return m.Predict(ctx, b)
	}
	return p, nil
}

func newLivePlan[T Float](ctx context.Context, c Config, s Shape, opt PlanOptions) (*livePlan[T], error) {
	if err := opt.onlyFloat32(&c); err != nil {
		return nil, err
	}
	l, err := ParseLikelihood(&c)
	if err != nil {
		return nil, err
	}
	return &livePlan[T]{shape: s, cfg: c, l: l}, ctx.Err()
}

// onlyFloat32 refuses options that name another precision, and what is none.
func (o *PlanOptions) onlyFloat32(c *Config) error {
	if err := o.Precision.check(); err != nil || o.Precision != BFloat16 {
		return err
	}
	return fmt.Errorf("architecture %s computes in %s alone, %s can round (%w)", c.Architecture, Float32, EquivCNPImage, ErrConfig)
}

func (p *livePlan[T]) Shape() Shape   { return p.shape }
func (p *livePlan[T]) Info() PlanInfo { return PlanInfo{Live: true, Precision: Float32} }

func (p *livePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	return newPrediction[T](p.l, valuesOf[T](tasks, p.cfg.DimY, p.shape.h*p.shape.w))
}

func (p *livePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	got, err := p.predict(ctx, tasks)
	if got == nil {
		return err
	}
	if room := dst.checkRoom("the prediction", got.Likelihood, len(got.Mean)); room != nil {
		return room
	}
	dst.copy(got)
	return err
}

// copy makes p, which has the room, another prediction.
func (p *Prediction[T]) copy(from *Prediction[T]) {
	p.Likelihood = from.Likelihood
	copy(p.Mean, from.Mean)
	copy(p.Std, from.Std)
	copy(p.Params, from.Params)
}

// ensemblePlan mixes what the plans of an ensemble's members predict.
type ensemblePlan[T Float] struct{ members []Plan[T] }

// planMembers makes the plans of an ensemble, which share the memory.
func planMembers[T Float, M Model[T]](ctx context.Context, members []M, s Shape, opt PlanOptions) (Plan[T], error) {
	var p ensemblePlan[T]
	if opt.Memory > 0 {
		opt.Memory = max(1, opt.Memory/int64(len(members)))
	}
	for _, m := range members {
		one, err := m.Plan(ctx, s, opt)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, one)
	}
	return &p, nil
}

func (p *ensemblePlan[T]) Shape() Shape { return p.members[0].Shape() }

// Info adds up what the members' plans say, and has the rest of the first one.
func (p *ensemblePlan[T]) Info() PlanInfo {
	all := p.members[0].Info()
	for _, m := range p.members[1:] {
		i := m.Info()
		all.Stored, all.Evaluated = all.Stored+i.Stored, all.Evaluated+i.Evaluated
		all.WeightBytes, all.Bytes, all.CallBytes = all.WeightBytes+i.WeightBytes, all.Bytes+i.Bytes, all.CallBytes+i.CallBytes
		all.ImageOps, all.CallOps = all.ImageOps+i.ImageOps, all.CallOps+i.CallOps
		all.Live, all.Interpolated, all.Rounded = all.Live || i.Live, all.Interpolated || i.Interpolated, all.Rounded.Or(i.Rounded)
		all.Concurrency, all.FileErr = max(all.Concurrency, i.Concurrency), errors.Join(all.FileErr, i.FileErr)
	}
	return all
}

func (p *ensemblePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	var all []*Prediction[T]
	for _, m := range p.members {
		all = append(all, m.NewPrediction(tasks))
	}
	return Mix(all...)
}

func (p *ensemblePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	got, err := mixed(ctx, len(p.members), func(ctx context.Context, i int) (*Prediction[T], error) {
		one := p.members[i].NewPrediction(tasks)
		return one, p.members[i].Predict(ctx, one, tasks)
	})
	var outside *OutsideError
	if err != nil && !errors.As(err, &outside) {
		return err
	}
	if room := dst.checkRoom("the ensemble", got.Likelihood, len(got.Mean)); room != nil {
		return room
	}
	dst.copy(got)
	return err
}

// join adds the points of another error, each once.
func (e *OutsideError) join(other *OutsideError) {
	for _, x := range other.Points {
		if !slices.ContainsFunc(e.Points, func(y OutsidePoint) bool {
			return x.Tensor == y.Tensor && x.Task == y.Task &&
				x.Point == y.Point
		}) {
			e.Points = append(e.Points, x)
		}
	}
}
