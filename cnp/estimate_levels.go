package cnp

import (
	"cmp"
	"math"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/neighbor"
)

// estimateLevels says how many numbers the features of a model with levels take at a time, for tasks over a span, and its parameters.
func (c *Config) estimateLevels(w Work) (features, parameters float64) {
	if c.OnSphere() {
		return c.estimateSphere(w)
	}
	reach := 2 * encoderReach(cmp.Or(c.DensityFloor, levelsFloor)) * cmp.Or(c.EncoderLength, curve.PsiLength)
	span := w.Span
	if c.Lifts > 1 || c.LiftSamples == SamplesRandom { // of a turned square
		span *= math.Sqrt(float64(c.DimX))
	}
	taps := math.Pow(float64(c.Kernel), float64(c.DimX))
	half := float64(c.Kernel / 2)
	grown := 2 * half * float64(c.Blocks) // a level's blocks carry features on by so many points
	// Along an axis: the points on the way down and on the way back, with the margins that convolutions add on either side.
	data, targets, down, back := c.PointsPerUnit*(span+reach)+1, c.PointsPerUnit*span+1, grown, half+1+grown
	rows := func(points, margin float64) float64 {
		return min(math.Pow(points+2*margin, float64(c.DimX)), float64(c.latticeLimit()))
	}
	last := float64(c.densities() + c.Multiplicity*c.contextValues())
	for l, width := range c.Channels {
		v, step := float64(width*c.pyramidLifts()), float64(int(1)<<l)
		points := rows(data/step, down)
		if l+1 < len(c.Channels) {
			points += min(rows(targets/step, back), rows(data/step, 2*down))
		}
		// On each way, convolutions with what they are given, what they sum up and what they give.
		features += points * v * float64(6+9*c.Blocks)
		features += points * 3 * taps / 2 * float64(1+c.Blocks) // their pairs
		parameters += float64(4*c.Blocks+3)*(v*v+v*taps) + last*v
		last, down, back = v, (down+half)/2+grown, (back+half)/2+grown
	}
	return features + float64(w.Targets)*taps*(last+taps), parameters
}

// estimateSphere is estimateLevels on the sphere.
func (c *Config) estimateSphere(w Work) (features, parameters float64) {
	rows, taps, last := float64(c.SpherePoints()), float64(c.Kernel), float64(1+c.Multiplicity*c.contextValues())
	for _, width := range c.Channels {
		v := float64(width)
		features += 2 * rows * v * float64(4+6*c.Blocks)
		parameters += float64(4*c.Blocks+3)*(v*v+v*taps) + last*v
		rows, last = rows/4, v
	}
	near := math.Pi * float64((c.Kernel/2+1)*(c.Kernel/2+1))
	return features + float64(w.Targets)*near*(float64(c.Channels[0])+taps), parameters
}

// sphereNeed returns about how much memory the lattices on the sphere take, with their pairs, in bytes.
func (c *Config) sphereNeed() float64 {
	r := float64(c.Kernel/2+1) * neighbor.SphereStep(c.SpherePoints())
	near := min(1, (1-math.Cos(min(r, math.Pi)))/2) * float64(c.SpherePoints())
	const lattices, bytes = 4.0 / 3 * 2.5, 40.0 // same, down and up; offsets, indices, poses, transposed and planned
	return float64(c.SpherePoints()) * near * lattices * bytes
}
