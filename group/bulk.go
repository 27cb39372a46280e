package group

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// RelativePoses writes the relative pose of the query (ai [g], qi [orbit]) as seen from each of the rows of l that index names
// into dst [len(index), PoseDim]: the edge features of a network on a graph of points, for example. It panics if dst has another
// length; an index that is not a row of l is an index out of range.
func RelativePoses(dst, ai, qi []float64, l *Lifted, index []int32) {
	checkLifted("RelativePoses", l)
	g := l.Group
	e := PoseDim(g)
	if len(dst) != e*len(index) {
		panic(fmt.Sprintf("group: RelativePoses: len(dst) = %d, need %d·%d", len(dst), len(index), e))
	}
	if fast, ok := g.(PoseComputer); ok {
		fast.RelativePoses(dst, ai, qi, l.A, l.Q, index)
		return
	}
	for k, j := range index {
		aj, qj := l.Row(int(j))
		g.RelativePose(dst[k*e:(k+1)*e], ai, qi, aj, qj)
	}
}

// RelativePoses implements PoseComputer.
func (g *T) RelativePoses(dst, ai, _, a, _ []float64, index []int32) {
	n := g.n
	if n == 2 {
		x, y := ai[0], ai[1]
		for k, j := range index {
			aj := a[2*int(j):][:2]
			d := dst[2*k:][:2]
			d[0], d[1] = x-aj[0], y-aj[1]
		}
		return
	}
	for k, j := range index {
		g.RelativePose(dst[k*n:(k+1)*n], ai, nil, a[int(j)*n:(int(j)+1)*n], nil)
	}
}

// RelativePoses implements PoseComputer.
func (g *SO2) RelativePoses(dst, ai, qi, a, q []float64, index []int32) {
	th, r := ai[0], qi[0]
	for k, j := range index {
		d := dst[3*k:][:3]
		angle := th - a[j]
		if !(math.Abs(angle) <= halfTurn) {
			angle = relativeAngle(angle)
		}
		d[0], d[1], d[2] = angle, r, q[j]
	}
}

// RelativePoses implements PoseComputer.
func (g *RxSO2) RelativePoses(dst, ai, _, a, _ []float64, index []int32) {
	l, th := ai[0], ai[1]
	for k, j := range index {
		aj, d := (*[2]float64)(a[2*int(j):]), (*[2]float64)(dst[2*k:])
		angle := th - aj[1]
		if !(math.Abs(angle) <= halfTurn) {
			angle = relativeAngle(angle)
		}
		d[0], d[1] = l-aj[0], angle
	}
}

// RelativePoses implements PoseComputer.
func (g *RxSq) RelativePoses(dst, ai, _, a, _ []float64, index []int32) {
	l, s := ai[0], ai[1]
	for k, j := range index {
		aj := a[2*int(j):][:2]
		d := dst[2*k:][:2]
		d[0], d[1] = l-aj[0], s-aj[1]
	}
}

// RelativePoses implements PoseComputer. As in Distances, what depends on the angles alone is remembered for the last few angles.
func (g *SE2) RelativePoses(dst, ai, _, a, _ []float64, index []int32) {
	var views se2Views
	q := newSE2Query(ai)
	for k, j := range index {
		aj := a[3*int(j):][:3]
		v := views.of(q.th, aj[0])
		d := dst[3*k:][:3]
		d[0] = v.rel
		d[1], d[2] = v.translation(&q, aj[1], aj[2])
	}
}

// RelativePoses implements PoseComputer.
func (g *SE3) RelativePoses(dst, ai, _, a, _ []float64, index []int32) {
	ui := linalg.ExpMotion3((*[6]float64)(ai))
	for k, j := range index {
		uj := linalg.ExpMotion3((*[6]float64)(a[6*int(j):][:6]))
		uj.From(&ui).Log((*[6]float64)(dst[6*k : 6*k+6]))
	}
}
