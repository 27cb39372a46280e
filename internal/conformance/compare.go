package conformance

import (
	"context"
	"fmt"
	"math"
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

// Difference says how far the numbers of a tensor are from the expected ones.
type Difference struct {
	Model, Tensor string
	// Largest is the largest of |number - expected| / (1 + |expected|) over numbers that count; Tolerance is what it may be. The numbers of
	// cov_factor are those of F·Fᵀ.
	Largest, Tolerance float64
}

// Within reports whether the tensor is as it should be. A NaN never is.
func (d Difference) Within() bool { return d.Largest <= d.Tolerance }

// Compare compares tensors mean, std and so on, the prediction of another implementation, with those that a file expects.
// Without any, it compares what this package's own program predicts in float32. The error is about a file that is none of
// these, or a tensor that is missing or has another shape.
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
	counts := tasks.Counts()
	var all []Difference
	for i := range f.Tensors {
		want := &f.Tensors[i]
		tensor, ok := strings.CutPrefix(want.Name, Expected)
		if !ok {
			continue
		}
		got := predicted.Get(tensor)
		if got == nil {
			return nil, fmt.Errorf("%s: the prediction has no tensor %q", name, tensor)
		}
		if !slices.Equal(got.Shape, want.Shape) {
			return nil, fmt.Errorf("%s: tensor %q has shape %v, need %v", name, tensor, got.Shape, want.Shape)
		}
		d := Difference{Model: name, Tensor: tensor}
		between := largest
		if tensor == "cov_factor" {
			between = largestCovariance
		}
		if text, ok := f.Metadata[KeyTolerance+tensor]; ok {
			if d.Tolerance, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s: metadata %s%s: %w", name, KeyTolerance, tensor, err)
			}
		}
		if d.Largest, err = between(got, want, counts); err != nil {
			return nil, fmt.Errorf("%s: tensor %q: %w", name, tensor, err)
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no tensor starts with %q: no conformance vectors", name, Expected)
	}
	return all, nil
}

// numbers are those of two tensors.
func numbers(got, want *safetensors.Tensor) (a, b []float64, err error) {
	if a, err = got.Float64s(); err == nil {
		b, err = want.Float64s()
	}
	return a, b, err
}

// largest is the largest difference of numbers that count: counts is for each value, of which a tensor has one or more numbers.
func largest(got, want *safetensors.Tensor, counts []bool) (float64, error) {
	a, b, err := numbers(got, want)
	if err != nil {
		return 0, err
	}
	most, per := 0.0, 1
	if counts != nil {
		per = len(b) / len(counts)
	}
	for i := range b {
		if counts != nil && !counts[i/per] {
			continue
		}
		d := math.Abs(a[i]-b[i]) / (1 + math.Abs(b[i]))
		if !(d <= most) { // NaN, too
			most = d
		}
		if math.IsNaN(most) {
			break
		}
	}
	return most, nil
}

// largestCovariance compares the factors F [..., rank] of the tasks' covariances by what they determine: the largest difference of a number
// of F·Fᵀ, over those of values that both count. F itself is determined only up to a rotation of its columns, and may have any.
func largestCovariance(got, want *safetensors.Tensor, counts []bool) (float64, error) {
	a, b, err := numbers(got, want)
	if err != nil {
		return 0, err
	}
	axes := len(want.Shape)
	if axes < 3 {
		return 0, fmt.Errorf("shape %v, need tasks, values and rank", want.Shape)
	}
	tasks, rank := want.Shape[0], want.Shape[axes-1]
	if len(b) == 0 {
		return 0, nil
	}
	most, values := 0.0, len(b)/(tasks*rank)
	dot := func(f []float64, i, j int) (sum float64) {
		for k := range rank {
			sum += f[i*rank+k] * f[j*rank+k]
		}
		return sum
	}
	for i := range tasks * values {
		for j := i / values * values; j <= i; j++ {
			if counts != nil && !(counts[i] && counts[j]) {
				continue
			}
			expected := dot(b, i, j)
			if d := math.Abs(dot(a, i, j)-expected) / (1 + math.Abs(expected)); !(d <= most) { // NaN, too
				most = d
			}
			if math.IsNaN(most) {
				return most, nil
			}
		}
	}
	return most, nil
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
