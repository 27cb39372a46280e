package layers

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// RBF is the kernel psi(t, x) = s·exp(-|t - x|²/(2l²)) of the set convolution, with learnable s = softplus(RawScale) and l =
// softplus(RawLength). ConvCNPs use it; a model of your own can use it to read scattered data at the points of a lattice.
type RBF[T Float] struct {
	RawScale  []T // [1]
	RawLength []T // [1]
}

// NewRBF returns a kernel with this output scale and length scale. It panics if either is not a positive, finite number.
func NewRBF[T Float](scale, length float64) *RBF[T] {
	if !(scale > 0 && length > 0) || math.IsInf(scale, 1) || math.IsInf(length, 1) {
		panic(fmt.Sprintf("layers: NewRBF: scale = %g, length = %g, need positive numbers", scale, length))
	}
	return &RBF[T]{RawScale: []T{T(invSoftplus(scale))}, RawLength: []T{T(invSoftplus(length))}}
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// invSoftplus returns log(eʸ - 1), without overflow.
func invSoftplus(y float64) float64 { return y + math.Log(-math.Expm1(-y)) }

// Params lists the kernel's state.
func (k *RBF[T]) Params(prefix string) []Param[T] {
	return []Param[T]{
		{Name: prefix + "raw_outputscale", Shape: []int{}, Data: k.RawScale},
		{Name: prefix + "base_kernel.raw_lengthscale", Shape: []int{1, 1}, Data: k.RawLength},
	}
}

// Scale returns the kernel's output scale s.
func (k *RBF[T]) Scale() float64 { return softplus(float64(k.RawScale[0])) }

// Length returns the kernel's length scale l.
func (k *RBF[T]) Length() float64 { return softplus(float64(k.RawLength[0])) }

// Forward sets h [m, c] = Σ_n psi(t, x_n)·phi_n for t [m, d], x [n, d] and phi [n, c], where |t - x| is the Euclidean distance.
func (k *RBF[T]) Forward(h []T, t, x []float64, phi []T, d, c int) {
	m := checkRBF("RBF.Forward", h, t, d, c)
	gamma, scale := k.gamma(), k.Scale()
	parallel.For(m, rowGrain, func(lo, hi int) {
		simd.SetConv(h[lo*c:hi*c], t[lo*d:hi*d], x, phi, d, c, gamma, scale)
	})
}

func (k *RBF[T]) gamma() float64 {
	l := k.Length()
	return 1 / (2 * l * l)
}

// checkRBF panics unless h has c numbers for each point of t [m, d], and returns m.
func checkRBF[T Float](where string, h []T, t []float64, d, c int) (m int) {
	check.Size(where, "d", d)
	check.Size(where, "c", c)
	m = len(t) / d
	check.Len(where, "t", len(t), m, d)
	check.Len(where, "h", len(h), m, c)
	return m
}

// checkRBFGroup is checkRBF for lifted points, phi [n, c] included.
func checkRBFGroup[T Float](where string, h []T, t, x *group.Lifted, phi []T, c int) {
	check.Size(where, "c", c)
	for _, l := range []*group.Lifted{t, x} {
		if !wellFormed(l) || group.PoseDim(l.Group) != group.PoseDim(t.Group) {
			panic("layers: " + where + ": t and x need points of one group, with the coordinates of all rows")
		}
	}
	check.Len(where, "h", len(h), t.Rows(), c)
	check.Len(where, "phi", len(phi), x.Rows(), c)
}

// wellFormed reports whether points have a group, and the coordinates of their rows.
func wellFormed(l *group.Lifted) bool {
	return l != nil && l.Group != nil && l.N >= 0 && l.K >= 0 && (l.K == 0 || l.N <= math.MaxInt/16/l.K) &&
		len(l.A) == l.Rows()*l.Group.AlgebraDim() && len(l.Q) == l.Rows()*l.Group.OrbitDim()
}

// ForwardGroup is like Forward with the distance of the points' group. It is for groups that are not isometries: they would change
// |t - x|, and so the prediction. t and x hold one lift per point.
func (k *RBF[T]) ForwardGroup(h []T, t, x *group.Lifted, phi []T, c int) {
	checkRBFGroup("RBF.ForwardGroup", h, t, x, phi, c)
	gamma, scale, g := k.gamma(), k.Scale(), t.Group
	parallel.For(t.Rows(), rowGrain, func(lo, hi int) {
		pose, sum := make([]float64, group.PoseDim(g)), make([]float64, c)
		for i := lo; i < hi; i++ {
			clear(sum)
			ai, qi := t.Row(i)
			for j := range x.Rows() {
				aj, qj := x.Row(j)
				g.RelativePose(pose, ai, qi, aj, qj)
				dist := g.Distance(pose)
				w := math.Exp(-gamma * dist * dist)
				for ch, v := range phi[j*c : (j+1)*c] {
					sum[ch] += w * float64(v)
				}
			}
			for ch, v := range sum {
				h[i*c+ch] = T(scale * v)
			}
		}
	})
}
