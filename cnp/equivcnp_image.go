package cnp

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// ImageEquivCNP is the paper's model for images: one LieConv psi embeds the mask (density) and the observed pixels
// (signal), residual blocks of separable LieConvs decode them, and a linear map gives mean and spread at every pixel.
type ImageEquivCNP[T Float] struct {
	cfg   Config
	group group.Group

	psi    *layers.LieConv[T]
	first  *layers.Linear[T]
	blocks []*layers.ResidualBlock[T]
	last   *layers.Linear[T]
	family family[T]
	parts  int     // along each side, that images are divided into at least; see Within
	opt    Options // see With

	mu    sync.Mutex
	grids []gridGeometry[T] // recently used pixel grids, newest last
	plans planCache[T, *imagePlan[T]]
}

type gridGeometry[T Float] struct {
	h, w int
	g    imageGeometry[T]
}

// imageGeometry has the neighbourhoods of an image's pixels, those of the embedding and those of the residual blocks.
// They are one where neighbourhoods have the same cap.
type imageGeometry[T Float] struct{ psi, blocks *layers.Geometry[T] }

func newImageEquivCNP[T Float](c Config, g group.Group, rng *rand.Rand) (*ImageEquivCNP[T], error) {
	var r [2]float64
	for i, fill := range []float64{c.Fill, c.BlockFill} {
		var err error
		if r[i], err = referenceRadius(c, g, fill); err != nil {
			return nil, err
		}
	}
	width := c.Channels[0]
	m := &ImageEquivCNP[T]{cfg: c, group: g}
	m.psi = layers.NewLieConv[T](c.DimY*c.Multiplicity, width, layers.LieConvConfig{
		PoseDim: group.PoseDim(g), Hidden: c.Hidden, Mid: c.Mid, BatchNorm: !c.NoBatchNorm,
		Radius: r[0], Fill: c.Fill, Rate: c.RadiusRate, Window: c.Window,
	}, rng)
	m.first = layers.NewLinear[T](2*width, width, rng)
	for range c.Blocks {
		m.blocks = append(m.blocks, layers.NewResidualBlock[T](width, layers.LieConvConfig{
			PoseDim: group.PoseDim(g), Hidden: c.Hidden, BatchNorm: c.BlockBatchNorm,
			Radius: r[1], Fill: c.BlockFill, Rate: c.RadiusRate, Window: c.Window,
		}, rng))
	}
	m.family = newFamily[T](c)
	m.last = layers.NewLinear[T](width, m.family.numbers()*c.DimY, rng)
	return m, nil
}

// Config returns the model's configuration.
func (m *ImageEquivCNP[T]) Config() Config { return m.cfg }

// State lists the parameters under the authors' names.
func (m *ImageEquivCNP[T]) State() []layers.Param[T] {
	ps := append(m.psi.Params("conv_theta."), m.first.Params("cnn.0.module.")...)
	for i, b := range m.blocks {
		ps = append(ps, b.Params(fmt.Sprintf("cnn.%d.", i+1))...)
	}
	return append(append(ps, m.last.Params(fmt.Sprintf("cnn.%d.module.", len(m.blocks)+1))...), m.family.params()...)
}

// embedPixels returns, for images lo to hi, density and signal [b, h·w, c·K] with channels last: the mask, and the
// observed values' powers y, y², .. y^K. Unobserved values are never read.
func embedPixels[T Float](im *Images[T], lo, hi, degree int) (density, signal []T) {
	n, c := im.H*im.W, im.C*degree
	density, signal = make([]T, (hi-lo)*n*c), make([]T, (hi-lo)*n*c)
	for b := lo; b < hi; b++ {
		for p := range n {
			if !im.Mask[b*n+p] {
				continue
			}
			at := ((b-lo)*n + p) * c
			for ch := range im.C {
				v := im.Pixels[(b*im.C+ch)*n+p]
				power := T(1)
				for k := range degree {
					power *= v
					density[at+k*im.C+ch] = 1
					signal[at+k*im.C+ch] = power
				}
			}
		}
	}
	return density, signal
}

// keepGrids bounds the number of pixel grids whose neighbourhoods a model remembers.
const keepGrids = 4

// grid returns the geometry of an h x w image, which is remembered for later calls.
func (m *ImageEquivCNP[T]) grid(h, w int) imageGeometry[T] {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.grids {
		if e.h == h && e.w == w {
			return e.g
		}
	}
	image, pitch := Grid(h, w), m.cfg.pitch(h, w)
	for i := range image.Points {
		image.Points[i] *= pitch
	}
	g := m.geometry(image)
	if len(m.grids) == keepGrids {
		m.grids = m.grids[1:]
	}
	m.grids = append(m.grids, gridGeometry[T]{h, w, g})
	return g
}

// geometry lifts the points of an image.
func (m *ImageEquivCNP[T]) geometry(image Geometry) imageGeometry[T] {
	l := group.LiftPoints(m.group, image.Points, m.cfg.Lifts, m.cfg.LiftSeed)
	l.Across = image.across()
	g := layers.NewGeometry[T](l, nil, nil, m.cfg.MaxNeighbors, m.cfg.NeighborSeed)
	if most := m.cfg.blockNeighbors(); most != m.cfg.MaxNeighbors {
		return imageGeometry[T]{g, g.Capped(most, m.cfg.NeighborSeed)}
	}
	return imageGeometry[T]{g, g}
}

// view returns a model that shares the parameters, and has caches of its own.
func (m *ImageEquivCNP[T]) view() *ImageEquivCNP[T] {
	return &ImageEquivCNP[T]{cfg: m.cfg, group: m.group, psi: m.psi, first: m.first, blocks: m.blocks, last: m.last,
		family: m.family, parts: m.parts, opt: m.opt}
}

func (m *ImageEquivCNP[T]) lieGroup() group.Group { return m.group }
