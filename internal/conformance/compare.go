package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Compare compares tensors mean, std and so on, the prediction of another implementation, with those that a file expects.
// Without any, it compares what this package's own program predicts in float32. What is wrong with a tensor of the prediction is
// its Difference's Problem; the error is about a file that holds no vectors.
func Compare(ctx context.Context, f *safetensors.File, predicted *safetensors.File) ([]Difference, error) {
	name := f.Metadata[KeyModel]
	tasks, err := read(f)
	if err != nil {
		return nil, err
	}
	if predicted == nil {
		if predicted, err = own(ctx, name, tasks, f); err != nil {
			return nil, err
		}
	}
	var all []Difference
	for i := range f.Tensors {
		want := &f.Tensors[i]
		tensor, ok := strings.CutPrefix(want.Name, Expected)
		if !ok {
			continue
		}
		d := Difference{Model: name, Tensor: tensor}
		if text, ok := f.Metadata[KeyTolerance+tensor]; ok {
			if d.Tolerance, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s: metadata %s%s: %w", name, KeyTolerance, tensor, err)
			}
		}
		expected, err := expectedNumbers(want, tasks)
		if err != nil {
			return nil, fmt.Errorf("%s: tensor %q: %w", name, want.Name, err)
		}
		d.compare(predicted, want.Shape, expected, tasks.Counts())
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no tensor starts with %q: no conformance vectors", name, Expected)
	}
	return all, nil
}

// expectedNumbers returns the numbers of a tensor that a file expects: one or more for each value of y_target.
func expectedNumbers(want *safetensors.Tensor, tasks *task.Tasks[float32]) ([]float64, error) {
	axes := shapeOf(tasks)
	if len(want.Shape) < len(axes) || !slices.Equal(want.Shape[:len(axes)], axes) {
		return nil, fmt.Errorf("shape %v, need that of y_target, %v, or that with more axes", want.Shape, axes)
	}
	v, err := want.Float64s()
	if err == nil && len(v) == 0 {
		err = fmt.Errorf("shape %v: no numbers", want.Shape)
	}
	return v, err
}

// read makes tasks of a file's tensors, with the names and checks of files of tasks.
func read(f *safetensors.File) (*task.Tasks[float32], error) {
	name := f.Metadata[KeyModel]
	about, err := pretrained.About(name)
	if err != nil {
		return nil, fmt.Errorf("metadata %s: %w", KeyModel, err)
	}
	file := taskfile.Of(name, f.Tensors)
	if about.Config.Architecture.Image() {
		im, err := file.Images(about.Config.DimY)
		if err != nil {
			return nil, err
		}
		return &task.Tasks[float32]{Images: &im.Batch, Y: im.Truth}, nil
	}
	c, err := file.Curves(&about.Config)
	if err != nil {
		return nil, err
	}
	return &task.Tasks[float32]{Curves: &c.Batch, Y: c.Truth}, nil
}

// own is what the shipped model predicts for the tasks of a file.
func own(ctx context.Context, name string, tasks *task.Tasks[float32], f *safetensors.File) (*safetensors.File, error) {
	m, err := pretrained.Load(name)
	if err != nil {
		return nil, err
	}
	p, err := predicted(ctx, m, tasks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := &safetensors.File{}
	for _, e := range numbersOf(p) {
		if want := f.Get(Expected + e.Name); want != nil {
			out.Tensors = append(out.Tensors, safetensors.FromFloat32s(e.Name, want.Shape, e.Values))
		}
	}
	return out, nil
}

func predicted[T cnp.Float](ctx context.Context, m cnp.Model[T], tasks *task.Tasks[T]) (*cnp.Prediction[T], error) {
	return eval.Model(m)(ctx, tasks)
}

// numbersOf lists mean, standard deviation, and what else the distribution has.
func numbersOf[T cnp.Float](p *cnp.Prediction[T]) []cnp.Extra[T] {
	return append([]cnp.Extra[T]{{Name: "mean", Width: 1, Values: p.Mean}, {Name: "std", Width: 1, Values: p.Std}}, p.Extras()...)
}

// width is the last axis of a tensor with several numbers a value.
func width[T cnp.Float](e cnp.Extra[T]) []int {
	if e.Width == 1 {
		return nil
	}
	return []int{e.Width}
}
