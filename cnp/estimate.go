package cnp

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/group"
)

// Estimate returns roughly how much memory a new model of this valid configuration would need for work, before anything
// is allocated. From some hundred megabytes on, where it matters, it is right to within a factor of two.
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

// estimate is Estimate with a given group, nil for an architecture without one, and radii, nil for those of a new model.
func (c *Config) estimate(w Work, g group.Group, radii []float64) Need {
	e := estimate{c: c, w: w, g: g, radii: radii, batch: float64(max(w.Batch, 1))}
	if w.Train {
		e.train = 1
	}
	switch c.Architecture {
	case EquivCNPImage:
		e.image()
	case ConvCNPImage:
		e.convolution()
	case CNPImage, CNPCurve:
		e.networks()
	case EquivCNPCurve, ConvCNPCurve:
		if c.Levels > 0 {
			e.levels()
		} else {
			e.curve()
		}
	}
	return e.need()
}

// estimate adds up what a model needs, in bytes at the end; train is 1 in training, and 0 in prediction.
type estimate struct {
	c            *Config
	w            Work
	g            group.Group
	radii        []float64
	batch, train float64

	parameters, geometry, weights, features float64
}

// net returns the size of a WeightNet with so many outputs.
func (e *estimate) net(out float64) float64 {
	return float64(e.c.Hidden)*(float64(e.c.Hidden)+8) + float64(e.c.Hidden)*out
}

// neighbourhoods adds the neighbourhoods of queries, each with that many neighbours, and the weights of their poses.
func (e *estimate) neighbourhoods(queries, neighbours, distinct, width, layers float64) {
	pairs := queries * neighbours
	poses := pairs * distinct
	e.geometry += pairs*(pairBytes+e.train*(pairTrained-pairBytes)) + poses*poseBytes*float64(group.PoseDim(e.g)) +
		queries*8*float64(e.g.AlgebraDim()+e.g.OrbitDim())
	if e.w.Train {
		e.weights = max(e.weights, poses*width*number*poseWeights)
	} else {
		e.weights += poses * width * number * layers
	}
}

// image is an EquivCNP of images.
func (e *estimate) image() {
	c, w, width := e.c, e.w, float64(e.c.Channels[0])
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
	e.parameters = blocks*2*(width*width+e.net(width)) + e.net(float64(c.Mid)) + float64(c.DimY*c.Multiplicity*c.Mid)*width + 2*width*width
	// In training the radii move until neighbourhoods hold their fill of the points. In a new model they do so at the
	// reference size.
	fills := []float64{c.Fill, c.BlockFill}
	if !w.Train || c.RadiusRate == 0 {
		for i := range fills {
			fills[i] = min(1, fills[i]*referenceSize*referenceSize/points)
		}
	}
	if e.radii != nil {
		fills = c.fills(e.g, e.radii, func(rng *rand.Rand) []float64 {
			return []float64{(rng.Float64() - 0.5) * float64(h) * pitch, (rng.Float64() - 0.5) * float64(across) * pitch}
		})
	}
	// Under translations, pixels share their poses. Under rotations, the four copies of a pixel under quarter turns do.
	distinct := 0.25
	if translations(e.g) || c.Lifts == 1 && e.g.Name() == "SE(2)" {
		distinct = 1 / rows
	} else if _, similar := e.g.(*group.Sim2); similar { // of lifts of equal angles and scales
		distinct = lifts / rows
	}
	for i, fill := range fills {
		size, layers, out := fill*rows, 2*blocks, width
		most := c.blockNeighbors()
		if i == 0 {
			layers, out, most = 1, float64(c.Mid), c.MaxNeighbors
		}
		if most > 0 {
			size = min(size, float64(most))
		}
		e.neighbourhoods(rows+targets, size, distinct, out, layers)
	}
	if w.Train {
		e.features = e.batch * rows * width * number * (blocks*blockArrays + 2)
	} else {
		e.weights = min(e.weights, float64(w.Weights))
		image := (rows + targets) * number * (2*width + 2*float64(c.DimY*c.Multiplicity))
		e.features = image*min(e.batch, max(1, runBytes/image)) +
			e.batch*float64(w.H)*float64(w.W)*float64(max(w.Scale, 1)*max(w.Scale, 1))*number*c.valueNumbers(e.train)
	}
}

// convolution is a ConvCNP of images.
func (e *estimate) convolution() {
	c, w, width := e.c, e.w, float64(e.c.Channels[0])
	points := float64(w.H) * float64(w.W)
	e.parameters = float64(2*c.Blocks) * width * (width + float64(c.Kernel*c.Kernel))
	e.features = e.batch * points * width * number * (6 + e.train*(float64(c.Blocks)*blockArrays-4))
}

// networks are a CNP's.
func (e *estimate) networks() {
	c, w := e.c, e.w
	points, sum, last := float64(w.H)*float64(w.W), 0.0, 1.0
	if c.Architecture == CNPCurve {
		points = float64(w.Context) + float64(w.Targets)
	}
	for _, v := range c.Channels {
		sum += float64(v)
		e.parameters += 2 * float64(v) * last
		last = float64(v)
	}
	e.features = e.batch * points * number * 3 * sum
}

// levels is a model of curves with several lattices.
func (e *estimate) levels() {
	c, w := e.c, e.w
	e.features, e.parameters = c.estimateLevels(w)
	if c.OnSphere() {
		e.geometry = c.sphereNeed()
	}
	e.features *= number * (e.batch*(1+0.4*e.train) + (1-e.train)*(min(e.batch, float64(workers()))-e.batch))
	if w.Train { // in a prediction a task's lifts go one after the other
		e.features *= float64(max(1, c.Lifts) / c.pyramidLifts())
	}
	e.features += e.batch * float64(w.Targets) * number * 4 * float64(c.DimY)
}

// curve is a model of curves with one lattice, or none.
func (e *estimate) curve() {
	c, w, width := e.c, e.w, float64(e.c.Channels[0])
	points := float64(w.Context)
	onLattice := c.PointsPerUnit > 0
	if onLattice {
		points = math.Pow(c.PointsPerUnit*(w.Span+2*c.Margin)+1, float64(max(c.DimX, 1)))
		points = min(points, float64(cmp.Or(c.MaxLattice, defaultMaxLattice))) // more points are refused with an error of its own
	}
	products, last := 0.0, width
	for _, v := range c.Channels[1:] {
		if c.Architecture == ConvCNPCurve {
			products += 6 * float64(v)
			e.parameters += last * float64(v) * float64(c.Kernel)
		} else {
			products += last*float64(c.Mid) + 3*float64(v)
			e.parameters += last*float64(c.Mid)*float64(v) + e.net(float64(c.Mid))
		}
		last = float64(v)
	}
	if c.Architecture == EquivCNPCurve {
		points = e.lifted(points, onLattice)
	}
	chunk := e.batch
	if !w.Train {
		chunk = min(e.batch, taskChunk)
	}
	e.features = chunk*points*number*products*(1+e.train*(pointArrays-1)) + e.batch*float64(w.Targets)*number*c.valueNumbers(e.train)
}

// lifted adds the neighbourhoods of an EquivCNP of curves, and returns how many rows of features there are for so many points.
func (e *estimate) lifted(points float64, onLattice bool) float64 {
	c, w, targets := e.c, e.w, 0.0
	switch c.Readout {
	case ReadoutTargets:
		points += float64(w.Targets)
	case ReadoutQueries:
		targets = float64(w.Targets) * float64(c.Lifts)
	}
	rows, size := points*float64(c.Lifts), 0.0
	switch {
	case e.radii != nil:
		span := w.Span + 2*c.Margin
		size = rows * c.fills(e.g, e.radii, func(rng *rand.Rand) []float64 {
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
	if c.MaxNeighbors > 0 {
		size = min(size, float64(c.MaxNeighbors))
	}
	// The points of a lattice share their poses; those of other points are all different.
	if onLattice {
		e.neighbourhoods(e.batch*rows, size, 1/(e.batch*rows), float64(c.Mid), 1)
	} else {
		e.neighbourhoods(e.batch*rows, size, 1, float64(c.Mid), 1)
	}
	e.neighbourhoods(e.batch*targets, size, 1, float64(c.Mid), 1)
	return rows + targets/float64(max(len(c.Channels)-1, 1))
}

// need adds the batches, and is the end of it.
func (e *estimate) need() Need {
	c, w := e.c, e.w
	// The batches themselves, and those of the next step.
	drawn := e.batch * float64(max(w.Passes, 1)) * (1 + e.train)
	e.features += drawn * (float64(w.H)*float64(w.W)*(8*float64(c.DimY)+1) +
		(float64(w.Context)+float64(w.Targets))*8*float64(c.DimX+c.DimY))
	if len(c.Static) > 0 { // their points are copied into the context, and as many as anybody likes
		e.features += drawn * float64(w.Context) * (8 + number*float64((2+c.Multiplicity)*c.contextValues()))
	}
	e.parameters *= number * (3 + 7*e.train)
	return Need{whole(e.parameters), whole(e.geometry), whole(e.weights), whole(e.features)}
}

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

// The numbers of points and queries that fills samples.
const fillsPoints, fillsQueries = 4096, 16

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

// translations reports whether a group is one of translations alone.
func translations(g group.Group) bool { return strings.HasPrefix(g.Name(), "T(") }

// valueNumbers is how many numbers a target's prediction takes: mean, deviation and what makes them, in training with their gradients.
func (c *Config) valueNumbers(train float64) float64 {
	n := 4.0
	if l, err := ParseLikelihood(c); err == nil && l.Name() != likelihood.NormalName {
		n += float64(l.Outputs()) * (2 + 8*train) // gradients are computed in float64
	}
	return n * float64(c.DimY)
}
