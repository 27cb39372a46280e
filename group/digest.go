package group

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
)

// Digest is 32 hexadecimal digits that tell whether two groups are the same, whatever they are called: they lift, compare and move a
// fixed set of points alike. Model files carry it beside the group's name, so that a model does not come back under another group. Bounds
// and fast paths are no part of it, as they change no result.
//
// Numbers count to about six digits, so the rounding of another machine makes no difference.
func Digest(g Group) string {
	d, ga, qa := g.PointDim(), g.AlgebraDim(), g.OrbitDim()
	h := sha256.New()
	number := func(v int64) { _ = binary.Write(h, binary.LittleEndian, v) } // a hash returns no error
	add := func(x []float64) {
		number(int64(len(x)))
		for _, v := range x {
			// Even steps near 0, even ratios far from it; 1/π keeps round numbers off the borders of steps.
			switch y := math.Asinh(v)*(1<<18) + 1/math.Pi; {
			case math.IsNaN(y):
				number(math.MaxInt64)
			case math.Abs(y) > 1<<50:
				number(int64(math.Copysign(1<<50, y)))
			default:
				number(int64(math.Floor(y)))
			}
		}
	}
	for _, v := range []int{d, ga, qa, g.MaxLifts()} {
		number(int64(v))
	}
	l, x := trialLifts(g)
	add(l.A)
	add(l.Q)
	pose, moved := make([]float64, PoseDim(g)), make([]float64, d)
	for i := range l.Rows() {
		ai, qi := l.Row(i)
		for j := range l.Rows() {
			aj, qj := l.Row(j)
			g.RelativePose(pose, ai, qi, aj, qj)
			add(pose)
			add([]float64{g.Distance(pose)})
		}
		g.Act(moved, ai, x[:d])
		add(moved)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// trialLifts lifts a few points that are the same for all groups of their dimension.
func trialLifts(g Group) (l *Lifted, x []float64) {
	const points = 6
	d, k := g.PointDim(), 2
	if g.MaxLifts() == 1 {
		k = 1
	}
	rng := rand.New(rand.NewPCG(5, 8))
	x = make([]float64, points*d)
	for i := range x {
		if x[i] = 0.3 + rng.Float64(); i >= points/2*d && rng.IntN(2) == 0 {
			x[i] = -x[i] // half of the points stay in the positive quadrant, where every group has lifts
		}
	}
	return LiftPoints(g, x, k, 13), x
}
