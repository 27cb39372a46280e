package layers

import (
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// LieConv is the group convolution of Finzi et al. 2020 in PointConv's form (Wu et al. 2019). The outer products of the
// neighbours' features and their WeightNet outputs are summed to P [c_in, mid]. A linear map turns P into the output, and
// everything, the map's bias included, is divided by the size of the neighbourhood:
//
//	out_i = (W·vec(Σ_j f_j ⊗ w(pose_ij)) + b) / n_i
//
// A row without neighbours (padding) gives b. Under a Window, w has it as a factor and n_i is the sum of the windows, at least 1.
type LieConv[T Float] struct {
	In, Out int
	radius[T]
	WeightNet *WeightNet[T] // e → hidden → hidden → mid
	Linear    *Linear[T]    // c_in·mid → c_out
}

// LieConvConfig holds what the constructors of the convolutions share. They panic on sizes that are not possible.
type LieConvConfig struct {
	// PoseDim is the length of a relative pose under the group (group.PoseDim). A geometry with poses of another length panics.
	PoseDim int
	// Hidden is the width of the WeightNet's hidden layers, Mid the number of weights that it computes per pose. A depthwise
	// layer has as many weights as channels and ignores Mid.
	Hidden, Mid int
	// BatchNorm adds batch normalisation to the WeightNet.
	BatchNorm bool
	// Radius is that of the neighbourhoods. Each training step moves it by Rate times the difference between Fill, the wanted
	// mean size of a neighbourhood as a fraction of all points, and the actual one. With Rate 0 it stays.
	Radius, Fill, Rate float64
	// Window says how much neighbours count, by their distance; empty is WindowBox.
	Window Window
}

// ball returns the layer's.
func ball[T Float](c *LieConvConfig) radius[T] {
	return radius[T]{R: []T{T(c.Radius)}, Fill: c.Fill, Rate: c.Rate, Window: c.Window}
}

// check panics on sizes that are not possible.
func (c *LieConvConfig) check(where string, channels int, rng *rand.Rand) {
	check.Size(where, "channels", channels)
	check.Size(where, "PoseDim", c.PoseDim)
	check.Size(where, "Hidden", c.Hidden)
	check.Rand(where, rng)
	c.Window.check(where)
}

// NewLieConv returns a convolution from in to out channels.
func NewLieConv[T Float](in, out int, c LieConvConfig, rng *rand.Rand) *LieConv[T] {
	c.check("NewLieConv", min(in, out), rng)
	check.Size("NewLieConv", "Mid", c.Mid)
	return &LieConv[T]{In: in, Out: out,
		radius:    ball[T](&c),
		WeightNet: NewWeightNet[T](c.PoseDim, c.Hidden, c.Mid, c.BatchNorm, rng),
		Linear:    NewLinear[T](in*c.Mid, out, rng),
	}
}

// Params lists the layer's state.
func (l *LieConv[T]) Params(prefix string) []Param[T] {
	ps := append([]Param[T]{l.params(prefix)}, l.WeightNet.Params(prefix+"weightnet.")...)
	return append(ps, l.Linear.Params(prefix+"linear.")...)
}

// Forward sets dst [batch, rows, out] for features f [batch, rows, in] on the geometry g, in Eval mode. dst and f must not overlap.
func (l *LieConv[T]) Forward(dst, f []T, g *Geometry[T], batch int) error {
	rows := g.Rows()
	check.Len("LieConv", "f", len(f), batch, rows, l.In)
	check.Len("LieConv", "dst", len(dst), batch, rows, l.Out)
	p, err := g.Pairs(l.Radius())
	if err != nil {
		return err
	}
	checkPoses("LieConv", p.PoseDim, l.WeightNet.In())
	mid := l.WeightNet.Out()
	packed := simd.PackTransposed(l.Linear.Weight, l.In*mid, l.In*mid, l.Out)
	scratch := make([][]T, workers())
	win := p.windowed(&l.radius, g)
	withWeights(p, l.WeightNet.fold(), win, func(worker int, t *weightedRows[T]) {
		s := scratch[worker]
		if s == nil {
			s = make([]T, chunkRows*(l.In*mid+l.Out))
			scratch[worker] = s
		}
		acc, out := s[:t.n*l.In*mid], s[chunkRows*l.In*mid:][:t.n*l.Out]
		for b := range batch {
			simd.PointConv(acc, f[b*rows*l.In:(b+1)*rows*l.In], t.weights, t.offsets, t.index, t.pose, l.In, mid)
			simd.GemmPacked(out, l.Out, acc, l.In*mid, packed, l.Linear.Bias, simd.ActNone, t.n)
			for i := range t.n {
				n := T(max(1, t.offsets[i+1]-t.offsets[i]))
				if win != nil {
					n /= win.row[t.row(i)]
				}
				to := dst[(b*rows+t.row(i))*l.Out:][:l.Out]
				for c, v := range out[i*l.Out : (i+1)*l.Out] {
					to[c] = v / n
				}
			}
		}
	})
	return nil
}
