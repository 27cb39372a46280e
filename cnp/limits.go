package cnp

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// ErrMemory is wrapped by the errors of work that would need more memory than it may take.
var ErrMemory = errors.New("too much memory")

// MemoryLimit returns the memory that work may take by default: three quarters of what the machine, or the container, has.
func MemoryLimit() int64 { return cpu.Memory() / 4 * 3 }

// Work describes what a model is asked to do, as far as its memory depends on it.
type Work struct {
	Batch int // images or curves at a time
	// H and W are the size of the images. Scale is the number of places that are predicted along each side of a pixel; 0 means
	// one.
	H, W, Scale int
	// Context and Targets are the points of a curve, Span the length of the interval that they lie on, along each coordinate.
	Context, Targets int
	Span             float64
	// Passes is the number of batches that are drawn at a time in training; 0 means one.
	Passes int
	// Train says that gradients are computed. Otherwise Weights is what a plan may store of convolution weights, in bytes.
	Train   bool
	Weights int64

	parts int // along each side of an image, at least; see ImageEquivCNP.Within
}

// Work describes the batch as work for a model with dx coordinates.
func (b *Batch[T]) Work(dx int) Work {
	w := Work{Batch: b.B, Context: b.Nc + b.Ns, Targets: b.Nt}
	fields := b.staticMask(len(b.YStatic) / max(1, b.B*b.Ns))
	for d := range min(dx, max(len(b.XContext), len(b.XStatic), len(b.XTarget))) {
		lo, hi := math.Inf(1), math.Inf(-1)
		grow := func(x []float64, mask []bool) {
			for i := d; i < len(x); i += dx {
				if mask == nil || i/dx < len(mask) && mask[i/dx] {
					lo, hi = min(lo, x[i]), max(hi, x[i])
				}
			}
		}
		grow(b.XContext, b.ContextMask)
		grow(b.XStatic, fields)
		grow(b.XTarget, b.TargetMask)
		w.Span = max(w.Span, hi-lo)
	}
	return w
}

// Work describes the images as work for a model.
func (im *Images[T]) Work() Work { return Work{Batch: im.B, H: im.H, W: im.W} }

// Need says about how much memory work takes, in bytes, by purpose.
type Need struct {
	Parameters int64 `json:"parameters"` // in training with their gradients, the optimiser's state and a checkpoint
	Geometry   int64 `json:"geometry"`   // neighbourhoods and relative poses
	Weights    int64 `json:"weights"`    // of convolutions, per relative pose
	Features   int64 `json:"features"`   // of the points
}

// Bytes returns the sum of all purposes.
func (n Need) Bytes() int64 {
	return whole(float64(n.Parameters) + float64(n.Geometry) + float64(n.Weights) + float64(n.Features))
}

// Check returns an error that wraps ErrMemory and names the need and the limit, if the need exceeds the limit.
func (n Need) Check(limit int64) error {
	if n.Bytes() <= limit {
		return nil
	}
	return fmt.Errorf("%w: this needs about %v, the limit is %s", ErrMemory, n, Bytes(limit))
}

// String says how much memory is needed, and for what.
func (n Need) String() string {
	var parts []string
	for _, p := range []struct {
		bytes int64
		what  string
	}{{n.Parameters, "parameters"}, {n.Geometry, "neighbourhoods"}, {n.Weights, "convolution weights"}, {n.Features, "features"}} {
		if p.bytes >= n.Bytes()/100 && p.bytes > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", Bytes(p.bytes), p.what))
		}
	}
	return fmt.Sprintf("%s (%s)", Bytes(n.Bytes()), strings.Join(parts, ", "))
}

// Bytes is a number of bytes that prints as people write it.
type Bytes int64

// String returns a text like "1.5 GB".
func (b Bytes) String() string {
	v, unit := float64(b), "bytes"
	for _, u := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, u
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

// whole converts a number of bytes to an integer, and what is too large to the largest integer.
func whole(v float64) int64 {
	if !(v < math.MaxInt64) {
		return math.MaxInt64
	}
	return int64(v)
}

// The following are numbers of bytes per item, measured on whole runs (TestEstimate in cmd/equivcnp).
const (
	number      = 4.0  // a feature, a parameter
	pairBytes   = 12.0 // of a neighbourhood while it is built
	pairTrained = 32.0 // and in training, where it is also kept by points
	poseBytes   = 8.0  // of a coordinate of a pose
	poseWeights = 5.5  // arrays of a pose's weights in training: the weights, their gradient, the network's own layers
	blockArrays = 10.0 // arrays of features that the backward pass of a residual block needs
	pointArrays = 2.5  // the same for the products of a point convolution
)

// taskChunk is the number of tasks whose points share one neighbourhood structure at a time. Tasks do not see each
// other: the chunk changes memory, not results.
const taskChunk = 16

// runBytes bounds the features that one call holds at a time: images are processed in groups of that size, of at least one image.
const runBytes = 256 << 20
