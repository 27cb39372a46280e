package group

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
)

// Digest returns 32 hexadecimal digits that identify a group by what it does, not by its name: groups that lift,
// compare and move a fixed set of points in the same way have the same digits. Model files store it beside the group's
// name, so that a model is not loaded with another group of that name. Bounds and fast paths do not enter, as they
// change no result.
//
// Numbers enter with about six digits, so that the rounding of another machine makes no difference.
func Digest(g Group) string {
	checkGroup("Digest", g)
	d, ga, qa := g.PointDim(), g.AlgebraDim(), g.OrbitDim()
	h := sha256.New()
	number := func(v int64) { _ = binary.Write(h, binary.LittleEndian, v) } // a hash returns no error
	add := func(x []float64) {
		number(int64(len(x)))
		for _, v := range x {
			// Steps of equal width near 0, of equal ratio far from it; adding 1/π keeps round numbers away from the ends of
			// steps.
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
