package cnp

import (
	"strings"

	"github.com/equivcnp/equivcnp/group"
)

// EstimateModel is like Estimate for an existing model, whose radii determine how large its neighbourhoods are; it samples some
// thousand pairs.
func EstimateModel[T Float](m Model[T], w Work) (Need, error) {
	return instance[func(Model[T], Work) (Need, error)](&estimateModelInstances)(m, w)
}

var estimateModelInstances = instances{estimateModel[float32], estimateModel[float64]}

func estimateModel[T Float](m Model[T], w Work) (Need, error) {
	if m == nil {
		return Need{}, errNoModel
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

// estimateMembers returns the need of an ensemble, whose members predict one after the other. All of their parameters are
// there, and what they keep for the next call; of what a prediction takes, the most of one member's; and all
// predictions at the end, with their mixture.
func estimateMembers[T Float, M Model[T]](members []M, w Work) (Need, error) {
	var sum, most Need
	var kept, values float64
	points := float64(w.H) * float64(w.W) * float64(max(w.Scale, 1)) * float64(max(w.Scale, 1))
	for _, m := range members {
		n, err := estimateModel[T](m, w)
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
