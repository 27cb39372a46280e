package cnp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cpu"
)

// ErrMemory is wrapped by the errors of work that would need more memory than it may take.
var ErrMemory = errors.New("too much memory")

// MemoryLimit is the memory that work may take by default: three quarters of what the machine, or the container, has.
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
	// Passes is how many batches are drawn at a time in training; 0 means one.
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

// Bytes is the sum of all purposes.
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

// Estimate says about how much memory a new model of this valid configuration would need for work, before anything is allocated.
// From some hundred megabytes on, where it matters, it is right to within a factor of two.
func (c *Config) Estimate(w Work) (Need, error) {
	if len(c.Channels) == 0 {
		return Need{}, fmt.Errorf("%w: no channels", ErrConfig)
	}
	g, err := c.groupOrNone()
	if err != nil {
		return Need{}, err
	}
	if c.Views != nil {
		return c.estimateViews(w, g, nil)
	}
	return c.estimate(w, g, nil), nil
}

// EstimateModel is Estimate for an existing model, whose radii determine how large its neighbourhoods are; it samples some
// thousand pairs.
func EstimateModel[T Float](m Model[T], w Work) (Need, error) {
	if m == nil {
		return Need{}, fmt.Errorf("%w: no model", ErrConfig)
	}
	switch m := m.(type) {
	case *CurveEnsemble[T]:
		return estimateMembers(m.members, w)
	case *ImageEnsemble[T]:
		return estimateMembers(m.members, w)
	case interface{ EstimateNeed(w Work) Need }: // a model that knows itself
		return m.EstimateNeed(w), nil
	}
	c := m.Config()
	var g group.Group
	switch m := any(m).(type) {
	case interface{ lieGroup() group.Group }: // which may be one that the library does not know
		g = m.lieGroup()
		if m, ok := m.(*ImageEquivCNP[T]); ok {
			w.parts = m.parts
		}
	default:
		var err error
		if g, err = c.groupOrNone(); err != nil {
			return Need{}, err
		}
	}
	var radii []float64
	for _, p := range m.State() {
		if g != nil && p.Buffer && len(p.Data) == 1 && (p.Name == "r" || strings.HasSuffix(p.Name, ".r")) {
			radii = append(radii, float64(p.Data[0]))
		}
	}
	if c.Views != nil {
		return c.estimateViews(w, g, radii)
	}
	return c.estimate(w, g, radii), nil
}

// estimateMembers is the need of an ensemble, whose members predict one after the other. All of their parameters are
// there, and what they keep for the next call; of what a prediction takes, the most of one member's; and all
// predictions at the end, with their mixture.
func estimateMembers[T Float, M Model[T]](members []M, w Work) (Need, error) {
	var sum, most Need
	var kept, values float64
	points := float64(w.H) * float64(w.W) * float64(max(w.Scale, 1)) * float64(max(w.Scale, 1))
	for _, m := range members {
		n, err := EstimateModel[T](m, w)
		if err != nil {
			return Need{}, err
		}
		c := m.Config()
		sum.Parameters = whole(float64(sum.Parameters) + float64(n.Parameters))
		if c.Architecture == EquivCNPImage || c.Architecture == EquivCNPCurve && c.PointsPerUnit > 0 {
			sum.Geometry, sum.Weights = whole(float64(sum.Geometry)+float64(n.Geometry)), whole(float64(sum.Weights)+float64(n.Weights))
		} else {
			most.Geometry, most.Weights = max(most.Geometry, n.Geometry), max(most.Weights, n.Weights)
		}
		most.Features = max(most.Features, n.Features)
		if !c.Architecture.Image() {
			points = float64(w.Targets)
		}
		kept = float64(max(w.Batch, 1)) * points * number
		values += 2 * c.valueNumbers(0) // its own, and its part of the mixture
	}
	return Need{sum.Parameters, whole(float64(sum.Geometry) + float64(most.Geometry)), whole(float64(sum.Weights) + float64(most.Weights)),
		whole(float64(most.Features) + kept*values)}, nil
}

func (m *EquivCNP[T]) lieGroup() group.Group      { return m.group }
func (m *ImageEquivCNP[T]) lieGroup() group.Group { return m.group }
func (m *ImageViews[T]) lieGroup() group.Group    { return m.sim }

// groupOrNone returns the configuration's group, or nil for an architecture without one.
func (c *Config) groupOrNone() (group.Group, error) {
	if c.Architecture != EquivCNPCurve && c.Architecture != EquivCNPImage {
		return nil, nil
	}
	g, err := c.group()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrConfig, err)
	}
	return g, nil
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

// estimate is Estimate with a given group, nil for an architecture without one, and radii, nil for those of a new model.
func (c *Config) estimate(w Work, g group.Group, radii []float64) Need {
	batch := float64(max(w.Batch, 1))
	var n struct{ parameters, geometry, weights, features float64 }
	net := func(out float64) float64 { return float64(c.Hidden)*(float64(c.Hidden)+8) + float64(c.Hidden)*out }
	train := 0.0
	if w.Train {
		train = 1
	}
	// neighbourhoods adds the neighbourhoods of queries, each with that many neighbours, and the weights of their poses.
	neighbourhoods := func(queries, neighbours, distinct, width, layers float64) {
		pairs := queries * neighbours
		poses := pairs * distinct
		n.geometry += pairs*(pairBytes+train*(pairTrained-pairBytes)) + poses*poseBytes*float64(group.PoseDim(g)) +
			queries*8*float64(g.AlgebraDim()+g.OrbitDim())
		if w.Train {
			n.weights = max(n.weights, poses*width*number*poseWeights)
		} else {
			n.weights += poses * width * number * layers
		}
	}
	switch width := float64(c.Channels[0]); c.Architecture {
	case EquivCNPImage:
		h, across, pitch, targets := w.H, w.W, 1.0, 0.0
		if !w.Train && h > 0 && across > 0 {
			var v Interleaved
			if v, pitch = c.layout(h, across, max(w.Scale, 1), w.parts); v.Stride > 0 {
				h, across = v.coarse()
			}
		}
		points, lifts, blocks := float64(h)*float64(across), float64(c.Lifts), float64(c.Blocks)
		if w.Scale > 1 {
			targets = points * lifts * float64(w.Scale) * float64(w.Scale)
		}
		rows := points * lifts
		n.parameters = blocks*2*(width*width+net(width)) + net(float64(c.Mid)) + float64(c.DimY*c.Multiplicity*c.Mid)*width + 2*width*width
		// In training the radii move until neighbourhoods hold their fill of the points. In a new model they do so at the
		// reference size.
		fills := []float64{c.Fill, c.BlockFill}
		if !w.Train || c.RadiusRate == 0 {
			for i := range fills {
				fills[i] = min(1, fills[i]*referenceSize*referenceSize/points)
			}
		}
		if radii != nil {
			fills = c.fills(g, radii, func(rng *rand.Rand) []float64 {
				return []float64{(rng.Float64() - 0.5) * float64(h) * pitch, (rng.Float64() - 0.5) * float64(across) * pitch}
			})
		}
		// Under translations, pixels share their poses. Under rotations, the four copies of a pixel under quarter turns do.
		distinct := 0.25
		if translations(g) || c.Lifts == 1 && g.Name() == "SE(2)" {
			distinct = 1 / rows
		} else if _, similar := g.(*group.Sim2); similar { // of lifts of equal angles and scales
			distinct = lifts / rows
		}
		for i, fill := range fills {
			size, layers, out := fill*rows, 2*blocks, width
			if c.MaxNeighbors > 0 {
				size = min(size, float64(c.MaxNeighbors))
			}
			if i == 0 {
				layers, out = 1, float64(c.Mid)
			}
			neighbourhoods(rows+targets, size, distinct, out, layers)
		}
		if w.Train {
			n.features = batch * rows * width * number * (blocks*blockArrays + 2)
		} else {
			n.weights = min(n.weights, float64(w.Weights))
			image := (rows + targets) * number * (2*width + 2*float64(c.DimY*c.Multiplicity))
			n.features = image*min(batch, max(1, runBytes/image)) +
				batch*float64(w.H)*float64(w.W)*float64(max(w.Scale, 1)*max(w.Scale, 1))*number*c.valueNumbers(train)
		}
	case ConvCNPImage:
		points := float64(w.H) * float64(w.W)
		n.parameters = float64(2*c.Blocks) * width * (width + float64(c.Kernel*c.Kernel))
		n.features = batch * points * width * number * (6 + train*(float64(c.Blocks)*blockArrays-4))
	case CNPImage, CNPCurve:
		points, sum, last := float64(w.H)*float64(w.W), 0.0, 1.0
		if c.Architecture == CNPCurve {
			points = float64(w.Context) + float64(w.Targets)
		}
		for _, v := range c.Channels {
			sum += float64(v)
			n.parameters += 2 * float64(v) * last
			last = float64(v)
		}
		n.features = batch * points * number * 3 * sum
	case EquivCNPCurve, ConvCNPCurve:
		if c.Levels > 0 {
			n.features, n.parameters = c.estimateLevels(w)
			if c.OnSphere() {
				n.geometry = c.sphereNeed()
			}
			n.features *= number * (batch*(1+0.4*train) + (1-train)*(min(batch, float64(workers()))-batch))
			if w.Train { // in a prediction a task's lifts go one after the other
				n.features *= float64(max(1, c.Lifts) / c.pyramidLifts())
			}
			n.features += batch * float64(w.Targets) * number * 4 * float64(c.DimY)
			break
		}
		points, targets := float64(w.Context), 0.0
		onLattice := c.PointsPerUnit > 0
		if onLattice {
			points = math.Pow(c.PointsPerUnit*(w.Span+2*c.Margin)+1, float64(max(c.DimX, 1)))
			points = min(points, float64(cmp.Or(c.MaxLattice, defaultMaxLattice))) // more points are refused with an error of its own
		}
		products, last := 0.0, width
		for _, v := range c.Channels[1:] {
			if c.Architecture == ConvCNPCurve {
				products += 6 * float64(v)
				n.parameters += last * float64(v) * float64(c.Kernel)
			} else {
				products += last*float64(c.Mid) + 3*float64(v)
				n.parameters += last*float64(c.Mid)*float64(v) + net(float64(c.Mid))
			}
			last = float64(v)
		}
		if c.Architecture == EquivCNPCurve {
			switch c.Readout {
			case ReadoutTargets:
				points += float64(w.Targets)
			case ReadoutQueries:
				targets = float64(w.Targets) * float64(c.Lifts)
			}
			rows, size := points*float64(c.Lifts), 0.0
			switch {
			case radii != nil:
				span := w.Span + 2*c.Margin
				size = rows * c.fills(g, radii, func(rng *rand.Rand) []float64 {
					x := make([]float64, c.DimX)
					for d := range x {
						x[d] = span * rng.Float64()
					}
					return x
				})[0]
			case onLattice && c.DimX == 1 && (c.FixedStep || c.RadiusRate == 0):
				size = min(rows, c.Fill*(c.PointsPerUnit*(4+2*c.Margin)+1)*float64(c.Lifts))
			default:
				size = c.Fill * rows
			}
			// The points of a lattice share their poses; those of other points are all different.
			if onLattice {
				neighbourhoods(batch*rows, size, 1/(batch*rows), float64(c.Mid), 1)
			} else {
				neighbourhoods(batch*rows, size, 1, float64(c.Mid), 1)
			}
			neighbourhoods(batch*targets, size, 1, float64(c.Mid), 1)
			points = rows + targets/float64(max(len(c.Channels)-1, 1))
		}
		chunk := batch
		if !w.Train {
			chunk = min(batch, taskChunk)
		}
		n.features = chunk*points*number*products*(1+train*(pointArrays-1)) + batch*float64(w.Targets)*number*c.valueNumbers(train)
	}
	// The batches themselves, and those of the next step.
	drawn := batch * float64(max(w.Passes, 1)) * (1 + train)
	n.features += drawn * (float64(w.H)*float64(w.W)*(8*float64(c.DimY)+1) +
		(float64(w.Context)+float64(w.Targets))*8*float64(c.DimX+c.DimY))
	if len(c.Static) > 0 { // their points are copied into the context, and as many as anybody likes
		n.features += drawn * float64(w.Context) * (8 + number*float64((2+c.Multiplicity)*c.contextValues()))
	}
	n.parameters *= number * (3 + 7*train)
	return Need{whole(n.parameters), whole(n.geometry), whole(n.weights), whole(n.features)}
}

// valueNumbers is how many numbers a target's prediction takes: mean, deviation and what makes them, in training with their gradients.
func (c *Config) valueNumbers(train float64) float64 {
	n := 4.0
	if l, err := ParseLikelihood(c); err == nil && l.Name() != normalName {
		n += float64(l.Outputs()) * (2 + 8*train) // gradients are computed in float64
	}
	return n * float64(c.DimY)
}

// translations reports whether a group is one of translations alone.
func translations(g group.Group) bool { return strings.HasPrefix(g.Name(), "T(") }

// The numbers of points and queries that fills samples.
const fillsPoints, fillsQueries = 4096, 16

// fills returns the share of all points that lie within the first layer's radius of a point, and within the largest of the other
// radii, for points that draw generates.
func (c *Config) fills(g group.Group, radii []float64, draw func(*rand.Rand) []float64) []float64 {
	rng := newRand(1)
	var x []float64
	for range max(fillsQueries, fillsPoints/c.Lifts) {
		x = append(x, draw(rng)...)
	}
	l := group.LiftPoints(g, x, c.Lifts, c.LiftSeed)
	ga, qa, rows := g.AlgebraDim(), g.OrbitDim(), l.Rows()
	pose := make([]float64, group.PoseDim(g))
	first, others := radii[0], radii[0]
	if len(radii) > 1 {
		first, others = radii[0], 0
		for _, r := range radii[1:] {
			others = max(others, r)
		}
	}
	counts := make([]float64, 2)
	for q := range fillsQueries {
		j := q * rows / fillsQueries
		for i := range rows {
			g.RelativePose(pose, l.A[i*ga:(i+1)*ga], l.Q[i*qa:(i+1)*qa], l.A[j*ga:(j+1)*ga], l.Q[j*qa:(j+1)*qa])
			d := g.Distance(pose)
			for k, r := range []float64{first, others} {
				if d < r {
					counts[k]++
				}
			}
		}
	}
	for k := range counts {
		counts[k] = max(counts[k], 1) / float64(rows*fillsQueries)
	}
	return counts
}
