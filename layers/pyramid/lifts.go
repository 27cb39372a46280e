package pyramid

import "github.com/equivcnp/equivcnp/layers"

// A pyramid with lifts keeps features for k angles, quarter or half turns, at every point of a lattice in the plane:
// those of SE(2) at the points of a lattice. A convolution sees the neighbours turned back by the angle of the features
// that it takes, and its linear map makes those of each angle of those of all, by the angle between them. So a turn of
// the data about a point of the coarsest lattice turns the lattices into themselves, and moves all features to other
// points and other angles; their mean over the angles, which the targets get, is the same.
//
// To all that computes, such a pyramid is one without lifts that has k times the channels, in which parameters are
// copies of each other: the features of an angle lie beside each other, those of the next one behind them. A list of
// copies says of which parameter each entry is one; nil where every entry is a parameter itself.

// linearCopies are the lists of a linear map.
type linearCopies struct{ weight, bias []int32 }

// copiesOfAll returns those of a linear map that gives every angle the same, as features that come in have none.
func copiesOfAll(lifts, in, out int) (c linearCopies) {
	if lifts == 1 {
		return c
	}
	for range lifts {
		for i := range in * out {
			c.weight = append(c.weight, int32(i))
		}
	}
	c.bias = repeated(lifts, out)
	return c
}

func repeated(lifts, out int) (at []int32) {
	for range lifts {
		for o := range out {
			at = append(at, int32(o))
		}
	}
	return at
}

// copiesByAngle returns those of a linear map of weights [out, lifts, in+skip]: for each angle between what it makes and
// what it makes it of, from features in of all angles and then skip of all.
func copiesByAngle(lifts, in, skip, out int) (c linearCopies) {
	if lifts == 1 {
		return c
	}
	one := in + skip
	for to := range lifts {
		for o := range out {
			for _, part := range [][2]int{{0, in}, {in, one}} {
				for from := range lifts {
					between := (from - to + lifts) % lifts
					for ch := part[0]; ch < part[1]; ch++ {
						c.weight = append(c.weight, int32((o*lifts+between)*one+ch))
					}
				}
			}
		}
	}
	c.bias = repeated(lifts, out)
	return c
}

// turned returns the list of the taps' copies [taps, lifts, in]: each angle's are turned by it.
func (n latticeKernel) turned(lifts, in int) (at []int32) {
	if lifts == 1 {
		return nil
	}
	width := 2*n.k + 1
	for tap := range n.taps() {
		x, y := tap/width-n.k, tap%width-n.k
		for range lifts {
			for ch := range in {
				at = append(at, int32(((x+n.k)*width+y+n.k)*in+ch))
			}
			if lifts == 4 {
				x, y = y, -x // turned back by a quarter turn
			} else {
				x, y = -x, -y
			}
		}
	}
	return at
}

// copied returns what a list of copies makes of parameters.
func copied[T layers.Float](params []T, at []int32) []T {
	if at == nil {
		return params
	}
	all := make([]T, len(at))
	for i, from := range at {
		all[i] = params[from]
	}
	return all
}

// addCopies adds to the gradient of parameters, grad, those of all their copies.
func addCopies[T, G layers.Float](grad []T, copies []G, at []int32) {
	for i, to := range at {
		grad[to] += T(copies[i])
	}
}

// meanLifts returns the mean over the lifts of features [n, lifts, c].
func (n *Planned[T]) meanLifts(r *Run[T], f []T) []T {
	lifts := n.p.lifts
	if lifts == 1 {
		return f
	}
	c := n.Out()
	mean := r.take(len(f) / lifts)
	for i := range len(mean) / c {
		for ch := range c {
			var sum T
			for l := range lifts {
				sum += f[(i*lifts+l)*c+ch]
			}
			mean[i*c+ch] = sum / T(lifts)
		}
	}
	return mean
}

// meanLiftsBack sets dy [n, lifts, c] to the gradient to meanLifts' features, given that to their means.
func (n *Planned[T]) meanLiftsBack(dy, dmean []T) {
	lifts := n.p.lifts
	if lifts == 1 {
		copy(dy, dmean)
		return
	}
	c := n.Out()
	for i := range len(dmean) / c {
		for l := range lifts {
			for ch := range c {
				dy[(i*lifts+l)*c+ch] = dmean[i*c+ch] / T(lifts)
			}
		}
	}
}
