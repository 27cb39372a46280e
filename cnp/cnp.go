package cnp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// mlp is a stack of linear maps with ReLU between them.
type mlp[T Float] []*layers.Linear[T]

func newMLP[T Float](widths []int, rng *rand.Rand) mlp[T] {
	var m mlp[T]
	for i := range len(widths) - 1 {
		m = append(m, layers.NewLinear[T](widths[i], widths[i+1], rng))
	}
	return m
}

func (m mlp[T]) params(prefix string) []layers.Param[T] {
	var ps []layers.Param[T]
	for i, l := range m {
		ps = append(ps, l.Params(fmt.Sprintf("%s%d.", prefix, 2*i))...)
	}
	return ps
}

// record runs x [n, in] through the layers and returns the input and the output of each; the last output is the result [n, out].
func (m mlp[T]) record(x []T, n int) [][]T {
	all := [][]T{x}
	for i, l := range m {
		act := simd.ActReLU
		if i == len(m)-1 {
			act = simd.ActNone
		}
		y := make([]T, n*l.Out)
		l.Forward(y, x, n, act)
		all, x = append(all, y), y
	}
	return all
}

// core is the conditional neural process of Garnelo et al. 2018: an encoder on each pair (x, y), the mean over the
// context as its representation r, and a decoder on each (x, r).
type core[T Float] struct {
	dx               int
	encoder, decoder mlp[T]
	family[T]
}

// newCore has as many encoder layers as there are widths; the decoder has one hidden layer less, as the authors' decoder has.
func newCore[T Float](dx, dy int, c Config, rng *rand.Rand) core[T] {
	w := c.Channels
	encoder := append([]int{dx + dy}, w...)
	decoder := append([]int{w[len(w)-1] + dx}, w[:max(1, len(w)-2)]...)
	f := newFamily[T](c)
	return core[T]{dx, newMLP[T](encoder, rng), newMLP[T](append(decoder, f.numbers()*dy), rng), f}
}

func (m *core[T]) params() []layers.Param[T] {
	return append(append(m.encoder.params("encoder."), m.decoder.params("decoder.")...), m.family.params()...)
}

// coreTape is what the backward pass of a prediction needs.
type coreTape[T Float] struct {
	n, targets       int
	encoder, decoder [][]T
}

// numbers are what the network gives: the decoder's output.
func (t *coreTape[T]) numbers() []T { return t.decoder[len(t.decoder)-1] }

// predict returns the numbers of targets t [m, dx] given x [n, dx], y [n, dy], with their tape. Without context r is zero.
func (m *core[T]) predict(t, x []float64, y []T) *coreTape[T] {
	n, targets, width := len(x)/m.dx, len(t)/m.dx, m.encoder[len(m.encoder)-1].Out
	in := make([]T, n*(m.dx+m.dy))
	for i := range n {
		row := in[i*(m.dx+m.dy):]
		for d := range m.dx {
			row[d] = T(x[i*m.dx+d])
		}
		copy(row[m.dx:], y[i*m.dy:(i+1)*m.dy])
	}
	tape := &coreTape[T]{n: n, targets: targets, encoder: m.encoder.record(in, n)}
	r := make([]float64, width)
	for i, v := range tape.encoder[len(m.encoder)] {
		r[i%width] += float64(v) / float64(n)
	}

	in = make([]T, targets*(width+m.dx))
	for i := range targets {
		row := in[i*(width+m.dx):]
		for d := range m.dx {
			row[d] = T(t[i*m.dx+d])
		}
		for c, v := range r {
			row[m.dx+c] = T(v)
		}
	}
	tape.decoder = m.decoder.record(in, targets)
	return tape
}

// CNP is the conditional neural process for curves.
type CNP[T Float] struct {
	cfg  Config
	core core[T]
}

func newCNP[T Float](c Config, rng *rand.Rand) *CNP[T] {
	return &CNP[T]{c, newCore[T](c.DimX, c.DimY, c, rng)}
}

// Config returns the model's configuration.
func (m *CNP[T]) Config() Config { return m.cfg }

// State lists the parameters under the authors' names.
func (m *CNP[T]) State() []layers.Param[T] { return m.core.params() }

// Plan makes a plan for curves, of which nothing is computed in advance.
func (m *CNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return liveCurves[T](ctx, m, s, opt)
}

// Predict returns mean and standard deviation at the targets.
func (m *CNP[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	dx, dy := m.cfg.DimX, m.cfg.DimY
	if err := b.check(widths{dx: dx, dy: dy}); err != nil {
		return nil, err
	}
	if b.B*b.Nt == 0 { // for any number of tasks
		return m.core.newPrediction(0), ctx.Err()
	}
	out := m.core.newPrediction(b.B * b.Nt * dy)
	report := progress(ctx)
	for t := range b.B {
		report(t, b.B)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.context(t, dx, dy)
		at := t * b.Nt * dy
		m.core.link.rows(&m.core.family, out, at, nil, m.core.predict(b.targets(t, dx), x, y).numbers())
		clearMasked(out, b, t, dy)
	}
	report(b.B, b.B)
	return out.ofTargets(b, dy)
}

// ImageCNP is the conditional neural process on pixels: their coordinates, scaled to [-1, 1], are the inputs.
type ImageCNP[T Float] struct {
	cfg  Config
	core core[T]
}

func newImageCNP[T Float](c Config, rng *rand.Rand) *ImageCNP[T] {
	return &ImageCNP[T]{c, newCore[T](2, c.DimY, c, rng)}
}

// Config returns the model's configuration.
func (m *ImageCNP[T]) Config() Config { return m.cfg }

// State lists the parameters.
func (m *ImageCNP[T]) State() []layers.Param[T] { return m.core.params() }

// Plan makes a plan for images of one size, of which nothing is computed in advance.
func (m *ImageCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return liveImages[T](ctx, m, s, opt)
}

// Complete predicts every pixel from the observed ones.
func (m *ImageCNP[T]) Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	n, grid := im.H*im.W, unitGrid(im.H, im.W)
	out := m.core.newPrediction(len(im.Pixels))
	report := progress(ctx)
	for b := range im.B {
		report(b, im.B)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := im.observed(b, grid)
		m.core.link.pixels(&m.core.family, out, nil, n, b, b+1, m.core.predict(grid, x, y).numbers())
	}
	report(im.B, im.B)
	if err := out.finite(nil); err != nil {
		return nil, err
	}
	return out, nil
}

// unitGrid returns the pixels' coordinates [h·w, 2], scaled to [-1, 1].
func unitGrid(h, w int) []float64 {
	grid := axis.Grid(h, w)
	for p := range h * w {
		grid[2*p] /= float64(h) / 2
		grid[2*p+1] /= float64(w) / 2
	}
	return grid
}

// observed returns the coordinates [n, 2] and values [n, c] of image b's observed pixels.
func (im *Images[T]) observed(b int, grid []float64) (x []float64, y []T) {
	n := im.H * im.W
	for p := range n {
		if im.Mask[b*n+p] {
			x = append(x, grid[2*p:2*p+2]...)
			for ch := range im.C {
				y = append(y, im.Pixels[(b*im.C+ch)*n+p])
			}
		}
	}
	return x, y
}
