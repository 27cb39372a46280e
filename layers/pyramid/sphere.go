package pyramid

import (
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// A pyramid on the sphere has lattices of n, n/4, n/16 .. nearly even points (neighbor.SphereLattice). Under rotations
// of the globe the angle between two points is all that is invariant about them, so that a weight function depends on
// it alone: its taps stand at several distances, and between these it is interpolated.
//
// The lattices stay where they are when the data turn, and each of their points sees the others in a way of its own. So that this matters
// little, a convolution adds up, for every tap, the features around a point with the tap's share of the window, and divides by the sum of
// these shares: constant features give the same everywhere, whatever the weights. With one divisor for all taps, predictions of a network
// with random weights change by 40 % of their deviation when the globe turns.

// spherePoses is how many different distances the points of two lattices have: of those within a ball, each is rounded to the nearest of so
// many. Points that are no lattice's have their own.
const spherePoses = 256

// sphereReach returns the radius of balls around points of a lattice of n points, in a kernel of reach k.
func sphereReach(n, k int) float64 { return float64(k+1) * neighbor.SphereStep(n) }

// sphereTaps says between which taps a weight at u radii from the centre lies, and the share of each. The first two taps are twice as far
// apart as the others, about the step of the lattice: nearer to each other than that no points are.
func sphereTaps(taps int, u float64) (tap [2]int, share [2]float64) {
	at, v := 0, u*float64(taps+1)/2
	if u*float64(taps+1) >= 2 {
		v = u*float64(taps+1) - 1
		at = min(int(v), taps-1)
	}
	if at == taps-1 {
		return [2]int{at, at}, [2]float64{1, 0}
	}
	return [2]int{at, at + 1}, [2]float64{1 - (v - float64(at)), v - float64(at)}
}

// spherePoseTaps returns the taps of all poses, and what these are multiplied by: first those of both taps of each distance, then of each
// distance the window.
func spherePoseTaps(taps int) []poseTap {
	all := make([]poseTap, 3*spherePoses)
	for q := range spherePoses {
		u := (float64(q) + 0.5) / spherePoses
		tap, share := sphereTaps(taps, u)
		for side := range 2 {
			all[2*q+side] = poseTap{tap[side], share[side] * layers.WindowSmooth.At(u)}
		}
		all[2*spherePoses+q] = poseTap{0, layers.WindowSmooth.At(u)}
	}
	return all
}

// sphereShares returns the taps' shares in all weights where as many points are at a distance as there is area.
func sphereShares(taps int) []float64 {
	shares, total := make([]float64, taps), 0.0
	for i, p := range spherePoseTaps(taps)[:2*spherePoses] {
		f := p.factor * (float64(i/2) + 0.5)
		shares[p.tap] += f
		total += f
	}
	for i := range shares {
		shares[i] /= total
	}
	return shares
}

// sphereLattice is a lattice with its tree.
type sphereLattice struct {
	x    []float64 // [n, 3]
	tree *neighbor.KDTree[float64]
}

func newSphereLattice(n int) *sphereLattice {
	l := &sphereLattice{x: neighbor.SphereLattice(n)}
	tree, err := neighbor.NewTree(l.x, 3, nil)
	if err != nil {
		panic(err) // three finite coordinates
	}
	l.tree = tree
	return l
}

// near appends to index the points within an angle of x, ascending, and to u their distances in such angles.
func (l *sphereLattice) near(index []int32, u []float64, x []float64, angle float64) ([]int32, []float64) {
	from := len(index)
	index = l.tree.Ball(index, x, neighbor.Chord2(angle))
	for _, j := range index[from:] {
		d2 := 0.0
		for a, v := range l.x[3*j : 3*j+3] {
			d2 += (v - x[a]) * (v - x[a])
		}
		u = append(u, neighbor.Angle(d2)/angle)
	}
	return index, u
}

// layMeans sets p to the pairs of a lattice's points with those of another one, within an angle, for the window's means.
func (p *latticePairs) layMeans(queries, points *sphereLattice, angle float64) {
	p.queries, p.points = len(queries.x)/3, len(points.x)/3
	p.offsets = append(p.offsets, 0)
	var u []float64
	for i := range p.queries {
		p.index, u = points.near(p.index, u[:0], queries.x[3*i:3*i+3], angle)
		sum := 0.0
		for _, v := range u {
			q := min(int(v*spherePoses), spherePoses-1)
			p.pose = append(p.pose, int32(2*spherePoses+q))
			sum += layers.WindowSmooth.At((float64(q) + 0.5) / spherePoses)
		}
		p.offsets, p.scale = append(p.offsets, len(p.index)), append(p.scale, 1/sum)
	}
}

// layTaps sets p to the pairs of a lattice's points with each other, within an angle, tap by tap.
func (p *latticePairs) layTaps(taps int, points *sphereLattice, angle float64) {
	p.queries, p.points, p.parts = len(points.x)/3, len(points.x)/3, taps
	p.offsets = append(p.offsets, 0)
	var index []int32
	var u []float64
	poses, shares := spherePoseTaps(taps), sphereShares(taps)
	for i := range p.queries {
		index, u = points.near(index[:0], u[:0], points.x[3*i:3*i+3], angle)
		for tap := range taps {
			sum := 0.0
			for k, v := range u {
				q := 2 * min(int(v*spherePoses), spherePoses-1)
				if poses[q].tap != tap {
					q++
				}
				if poses[q].tap == tap && poses[q].factor > 0 {
					p.index, p.pose = append(p.index, index[k]), append(p.pose, int32(q))
					sum += poses[q].factor
				}
			}
			scale := 0.0
			if sum > 0 {
				scale = shares[tap] / sum
			}
			p.offsets, p.scale = append(p.offsets, len(p.index)), append(p.scale, scale)
		}
	}
}

// laySphere sets p to the pairs of targets x [n, 3], on the sphere, with a lattice's points within an angle. Once stop, which may be nil,
// says true, targets are missing.
func (p *targetPairs[T]) laySphere(taps int, x []float64, points *sphereLattice, angle float64, stop func() bool) {
	p.queries, p.points = len(x)/3, len(points.x)/3
	p.offsets, p.index, p.pose, p.basis = append(p.offsets[:0], 0), p.index[:0], p.pose[:0], p.basis[:0]
	p.back = nil
	shares, sums := sphereShares(taps), make([]float64, taps)
	for i := range p.queries {
		if i%askedRows == 0 && stopped(stop) {
			return
		}
		start := len(p.index)
		p.index, p.distance = points.near(p.index, p.distance[:0], x[3*i:3*i+3], angle)
		clear(sums)
		for _, u := range p.distance {
			tap, share := sphereTaps(taps, u)
			for side, s := range share {
				sums[tap[side]] += s * layers.WindowSmooth.At(u)
			}
		}
		for k, u := range p.distance {
			p.pose = append(p.pose, int32(start+k))
			row := len(p.basis)
			for range taps {
				p.basis = append(p.basis, 0)
			}
			tap, share := sphereTaps(taps, u)
			for side, s := range share {
				if s > 0 && sums[tap[side]] > 0 {
					p.basis[row+tap[side]] += T(s * layers.WindowSmooth.At(u) * shares[tap[side]] / sums[tap[side]])
				}
			}
		}
		p.offsets = append(p.offsets, len(p.index))
	}
}

// sphereLayout returns that of all tasks on the sphere, ready for gradients: lattices do not depend on where data lie.
func (p *Pyramid[T]) sphereLayout() *Layout[T] {
	p.sphereOnce.Do(func() {
		y := &Layout[T]{p: p}
		k, levels, n := p.kernel.k, p.levels(), p.kernel.sphere
		resizePairs(&y.same, levels)
		resizePairs(&y.sameDec, levels-1)
		resizePairs(&y.down, levels-1)
		resizePairs(&y.up, levels-1)
		lattice := newSphereLattice(n)
		p.finest = lattice
		for l := range levels {
			y.enc = append(y.enc, latticeBox{n: [maxAxes]int{n, 1, 1}})
			reach := sphereReach(n, k)
			if p.blocks > 0 {
				y.same[l].layTaps(p.kernel.taps(), lattice, reach)
				prepare[T](&y.same[l], 3*spherePoses)
			}
			if l == levels-1 {
				break
			}
			y.dec = append(y.dec, y.enc[l])
			if p.blocks > 0 {
				y.sameDec[l] = y.same[l]
			}
			skip := make([]int32, n)
			for i := range skip {
				skip[i] = int32(i)
			}
			y.skip = append(y.skip, skip)
			n = coarserSphere(n)
			next := newSphereLattice(n)
			y.down[l].layMeans(next, lattice, reach)
			y.up[l].layMeans(lattice, next, reach)
			prepare[T](&y.down[l], 3*spherePoses)
			prepare[T](&y.up[l], 3*spherePoses)
			lattice = next
		}
		p.sphere = y
	})
	return p.sphere
}

// coarserSphere returns the number of points of the next lattice on the sphere.
func coarserSphere(n int) int { return max(1, (n+2)/4) }
