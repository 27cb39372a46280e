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
