package cnp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
)

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x45717569764e50)) // a stream of its own: "EquivNP"
}

// The radii of a new model give the wanted fill on an image of referenceSize by referenceSize pixels, or on points over [-2, 2];
// where RadiusRate is not 0, training adapts them to the data. They are determined from referencePoints points, or from a lattice
// of up to referenceLattice points, which takes milliseconds.
const (
	referenceSize    = 64
	referencePoints  = 256
	referenceLattice = 1 << 12
)

// referenceRadius returns the radius that gives a new model's neighbourhoods the wanted fill on reference points: a
// pixel grid for images, the lattice over [-2, 2] for curves, or points scattered there.
func referenceRadius(c Config, g group.Group, fill float64) (float64, error) {
	if fill == 0 {
		return 0, nil
	}
	var x []float64
	rng := rand.New(rand.NewPCG(1, 1))
	if c.Architecture == EquivCNPImage {
		grid := axis.Grid(referenceSize, referenceSize)
		for _, p := range rng.Perm(referenceSize * referenceSize)[:referencePoints] {
			x = append(x, grid[2*p:2*p+2]...)
		}
	} else if n := math.Floor(c.PointsPerUnit * (4 + 2*c.Margin)); c.DimX == 1 && c.FixedStep && n >= 2 && n < referenceLattice {
		x = make([]float64, int(n)+1) // the lattice itself: no distance of its points may equal the radius
		for i := range x {
			x[i] = float64(i) / c.PointsPerUnit
		}
	} else if c.DimX == 1 && n >= 2 {
		x = make([]float64, int(min(n, 2*referencePoints)))
		axis.Even(x, -2-c.Margin, 2+c.Margin)
	} else {
		for range referencePoints * c.DimX {
			x = append(x, 4*rng.Float64()-2)
		}
	}
	lifted := group.LiftPoints(g, x, c.Lifts, c.LiftSeed)
	for row := range lifted.Rows() {
		a, q := lifted.Row(row)
		for _, v := range slices.Concat(a, q) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				i, d := row/c.Lifts, g.PointDim()
				return 0, fmt.Errorf("%w: group %s has no lift for point %v: the logarithm is %v, the orbit %v", ErrConfig,
					g.Name(), x[i*d:(i+1)*d], a, q)
			}
		}
	}
	return neighbor.RadiusForFill(lifted, fill, neighbor.Options{})
}
