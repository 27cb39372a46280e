package cnp

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/pyramid"
)

// EquivCNP is the paper's model for continuous inputs (Algorithm 1): a set convolution of the context onto a lattice and
// (ReadoutTargets) the targets, a pointwise layer, LieConvs with ReLU, and mean and variance read at the targets.
type EquivCNP[T Float] struct {
	cfg   Config // of the network; on the sphere its points are unit vectors, whatever the model's
	outer Config // the model's
	group group.Group

	encoder setConv[T]
	pre     *layers.Linear[T]
	conv    []*layers.LieConv[T]
	// readout reads the lattice's features at the targets under ReadoutRBF. The authors' checkpoints hold one that their
	// model never uses.
	readout *layers.RBF[T]
	aux     *auxNet[T] // of the targets' auxiliary inputs
	head    head[T]

	// pyramid is the network of a model with levels, instead of pre and conv, and frames are the sides that it sees a task from; nil:
	// from one.
	pyramid *pyramid.Pyramid[T]
	frames  *frames

	cache  curveCache[T]
	levels levelsCache[T]
}

func newEquivCNP[T Float](c Config, g group.Group, rng *rand.Rand) (*EquivCNP[T], error) {
	outer := c
	if c.OnSphere() {
		c.DimX = 3
	}
	m := &EquivCNP[T]{cfg: c, outer: outer, group: g,
		encoder: setConv[T]{psi: layers.NewRBF[T](psiScale, cmp.Or(c.EncoderLength, psiLength)), dx: c.DimX, dy: c.contextValues(),
			degree: c.Multiplicity, coordinates: c.CoordinateFeature, each: c.ChannelDensity,
			floor: cmp.Or(c.DensityFloor, densityFloor), cap: c.DensityCap},
		readout: layers.NewRBF[T](psiScale, psiLength),
	}
	if c.Levels > 0 {
		m.encoder.floor = cmp.Or(c.DensityFloor, levelsFloor)
		m.pyramid = newPyramid[T](&c, m.encoder.channels(), rng)
		if c.framed(g) {
			m.frames = newFrames(&c, g)
		}
		m.head = newHead[T](c.Channels[0], c, rng)
		m.aux = newAuxNet[T](c.Channels[0], &c, rng)
		return m, nil
	}
	if !group.IsIsometric(g) {
		m.encoder.metric = g
	}
	m.pre = layers.NewLinear[T](m.encoder.channels(), c.Channels[0], rng)
	r, err := referenceRadius(c, g, c.Fill)
	if err != nil {
		return nil, err
	}
	for i := range len(c.Channels) - 1 {
		m.conv = append(m.conv, layers.NewLieConv[T](c.Channels[i], c.Channels[i+1], layers.LieConvConfig{
			PoseDim: group.PoseDim(g), Hidden: c.Hidden, Mid: c.Mid, BatchNorm: !c.NoBatchNorm,
			Radius: r, Fill: c.Fill, Rate: c.RadiusRate, Window: c.Window,
		}, rng))
	}
	last := c.Channels[len(c.Channels)-1]
	m.head = newHead[T](last, c, rng)
	m.aux = newAuxNet[T](last, &c, rng)
	return m, nil
}

// Config returns the model's configuration.
func (m *EquivCNP[T]) Config() Config { return m.outer }

// State lists the parameters under the authors' names.
func (m *EquivCNP[T]) State() []layers.Param[T] {
	ps := m.encoder.psi.Params("psi.")
	if m.pyramid != nil {
		return append(append(ps, m.pyramid.Params("pyramid.")...), append(m.aux.params(), m.head.params()...)...)
	}
	ps = append(ps, m.pre.Params("prelinear.0.module.")...)
	for i, l := range m.conv {
		ps = append(ps, l.Params(fmt.Sprintf("conv.%d.", 2*i))...)
	}
	rho := m.readout.Params("psi_rho.")
	for i := range rho {
		rho[i].Unused = m.cfg.Readout != ReadoutRBF
	}
	return append(append(append(ps, rho...), m.aux.params()...), m.head.params()...)
}

// onLine reports whether the model's tasks live on a line with a lattice, under translations.
func (m *EquivCNP[T]) onLine() bool {
	g, ok := m.group.(*group.T)
	return ok && m.pyramid == nil && g.PointDim() == 1 && m.cfg.PointsPerUnit > 0 && m.cfg.Lifts == 1 && m.cfg.MaxNeighbors == 0 &&
		!slices.ContainsFunc(m.conv, func(l *layers.LieConv[T]) bool { return math.IsNaN(l.Radius()) })
}

func (m *EquivCNP[T]) lieGroup() group.Group { return m.group }
