package conformance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Keys of a file's metadata. Of KeyTolerance there is one for each expected tensor, as "tolerance_mean".
const (
	KeyModel         = "model"                 // name of the shipped model
	KeyDigest        = "model_sha256"          // of the model's file, in hexadecimal
	KeyTasks         = "tasks"                 // what the tasks are, and their seed
	KeyLogLikelihood = "log_likelihood"        // mean over known values of the log-density of y_target, each by itself
	KeyOracle        = "oracle_log_likelihood" // the same of the process that drew the tasks, where that is known
	KeyTolerance     = "tolerance_"            // largest difference of a number: this times (1 + |expected|)
)

// Expected is put before the names of tensors that a prediction is compared with: expected_mean.
const Expected = "expected_"

// leastTolerance is the smallest tolerance, some hundred roundings of float32.
const leastTolerance = 1e-5

// Make draws the tasks of a case and predicts them in float64. Tolerances are four times what float32 differs by, here
// and now, rounded up to 1, 2 or 5 times a power of ten.
func Make(ctx context.Context, c Case) (*safetensors.File, error) {
	tasks, err := c.Source.Batch(c.Tasks, Seed, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Model, err)
	}
	state, err := pretrained.State(c.Model)
	if err != nil {
		return nil, err
	}
	exact, err := weights.Build[float64](state, weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Model, err)
	}
	wide := widen(tasks)
	p, err := predicted(ctx, exact, wide)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Model, err)
	}
	raw, err := pretrained.File(c.Model)
	if err != nil {
		return nil, err
	}
	f := &safetensors.File{Metadata: map[string]string{
		KeyModel: c.Model, KeyDigest: fmt.Sprintf("%x", sha256.Sum256(raw)), KeyTasks: fmt.Sprintf("%v, seed %d", c.Source, Seed),
		KeyLogLikelihood: number(perValue(p, wide)),
	}}
	if best, ok, err := oracle(c.Source, tasks); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Model, err)
	} else if ok {
		f.Metadata[KeyOracle] = number(best)
	}
	f.Tensors = inputs(tasks, shapeOf(tasks))
	shape := shapeOf(tasks)
	for _, e := range numbersOf(p) {
		f.Tensors = append(f.Tensors, safetensors.FromFloat32s(Expected+e.Name, append(shape[:len(shape):len(shape)], width(e)...),
			narrow(e.Values)))
	}
	differences, err := Compare(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	for _, d := range differences {
		f.Metadata[KeyTolerance+d.Tensor] = strconv.FormatFloat(roundUp(max(4*d.Largest, leastTolerance)), 'g', -1, 64)
	}
	return f, nil
}

// number writes a likelihood as files have it.
func number(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// roundUp returns the next of 1, 2 and 5 times a power of ten.
func roundUp(x float64) float64 {
	for e := -5; e < 10; e++ {
		for _, d := range []string{"1", "2", "5"} {
			if at, _ := strconv.ParseFloat(d+"e"+strconv.Itoa(e), 64); at >= x*(1-1e-9) {
				return at
			}
		}
	}
	return math.Inf(1)
}

// shapeOf is the shape of the mean of the tasks' predictions.
func shapeOf(t *task.Tasks[float32]) []int {
	if im := t.Images; im != nil {
		return []int{im.B, im.C, im.H, im.W}
	}
	return []int{t.Curves.B, t.Curves.Nt, len(t.Y) / max(1, t.Curves.B*t.Curves.Nt)}
}

// inputs are the tensors of the tasks, named as files of tasks name them.
func inputs(t *task.Tasks[float32], shape []int) []safetensors.Tensor {
	if im := t.Images; im != nil {
		mask := make([]float32, len(im.Mask))
		for i, seen := range im.Mask {
			if seen {
				mask[i] = 1
			}
		}
		return []safetensors.Tensor{
			safetensors.FromFloat32s("image", shape, seenOf(im)),
			safetensors.FromFloat32s("mask", []int{im.B, im.H, im.W}, mask),
			safetensors.FromFloat32s("y_target", shape, t.Y),
		}
	}
	b, dy := t.Curves, shape[2]
	dx := len(b.XTarget) / max(1, b.B*b.Nt)
	all := []safetensors.Tensor{
		safetensors.FromFloat64s("x_context", []int{b.B, b.Nc, dx}, b.XContext),
		safetensors.FromFloat32s("y_context", []int{b.B, b.Nc, dy}, b.YContext),
		safetensors.FromFloat64s("x_target", []int{b.B, b.Nt, dx}, b.XTarget),
		safetensors.FromFloat32s("y_target", shape, t.Y),
	}
	for _, m := range []struct {
		name string
		mask []bool
		n    int
	}{{"context_mask", b.ContextMask, b.Nc}, {"target_mask", b.TargetMask, b.Nt}} {
		if m.mask == nil {
			continue
		}
		v := make([]float32, len(m.mask))
		for i, counts := range m.mask {
			if counts {
				v[i] = 1
			}
		}
		all = append(all, safetensors.FromFloat32s(m.name, []int{b.B, m.n}, v))
	}
	return all
}

// seenOf is the image with 0 where it is not observed, which no implementation may read.
func seenOf(im *cnp.Images[float32]) []float32 {
	v, n := make([]float32, len(im.Pixels)), im.H*im.W
	for i, x := range im.Pixels {
		if im.Mask[i/(im.C*n)*n+i%n] {
			v[i] = x
		}
	}
	return v
}
