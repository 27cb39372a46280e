package krige

import (
	"cmp"
	"math"
	"slices"
)

// folded is a value at a place in the period, its table's level and gain taken off.
type folded struct {
	u, v  float64
	table int
}

// Settings of waveforms that are estimated.
const (
	foldLeast  = 8    // values behind every piece
	foldBreak  = 3    // values on either side of a jump, at least
	foldFolds  = 4    // of tables, to choose the number of pieces by
	foldFloor  = 5e-4 // the least deviation of residuals: about what a waveform of so many cells resolves
	foldRobust = 3    // rounds of weights
	foldRare   = 5e-4 // the least share of values that are far off: about that on the wrong side of a jump, which lies anywhere in a cell
	foldGain   = 4    // nats that more pieces have to gain, besides two standard errors
)

// foldPieces are the numbers of pieces that are tried. They divide waveCells.
var foldPieces = []int{1, 2, 4, 8, 16, 32, 64, 128}

// The numbers of pieces of a table's own waveform, of few values and of more.
const foldFew, foldMore = 8, 16

// line is a straight line about a place in the period.
type line struct{ at, value, slope float64 }

func (l line) of(u float64) float64 { return l.value + l.slope*(u-l.at) }

// lineSums are those that a line follows from.
type lineSums struct{ n, u, uu, v, uv, vv float64 }

func (s *lineSums) add(u, v, w float64) {
	s.n, s.u, s.uu, s.v, s.uv, s.vv = s.n+w, s.u+w*u, s.uu+w*u*u, s.v+w*v, s.uv+w*u*v, s.vv+w*v*v
}

func (s *lineSums) less(o lineSums) lineSums {
	return lineSums{s.n - o.n, s.u - o.u, s.uu - o.uu, s.v - o.v, s.uv - o.uv, s.vv - o.vv}
}

// fit returns value and slope at 0, and the sum of squares that the line leaves.
func (s *lineSums) fit() (value, slope, rest float64) {
	mu, mv := s.u/s.n, s.v/s.n
	suu, suv, svv := s.uu-s.n*mu*mu, s.uv-s.n*mu*mv, s.vv-s.n*mv*mv
	slope = suv / (suu + 1e-9*s.n)
	return mv - slope*mu, slope, max(0, svv-slope*suv)
}

// robustLine fits a line to values of which some are of another one.
func robustLine(at float64, u, v []float64) line {
	var l line
	scale := math.Inf(1)
	r := make([]float64, len(u))
	for range foldRobust {
		var s lineSums
		for i := range u {
			z := 0.0
			if !math.IsInf(scale, 1) {
				z = (v[i] - l.of(at+u[i])) / (3 * scale)
			}
			s.add(u[i], v[i], 1/(1+z*z))
		}
		value, slope, _ := s.fit()
		l = line{at, value, slope}
		for i := range u {
			r[i] = math.Abs(v[i] - l.of(at+u[i]))
		}
		slices.Sort(r)
		scale = max(1.4826*r[len(r)/2], foldFloor/4)
	}
	return l
}

// jump returns the number of the first value behind a jump, 0 if there is none: two lines have to explain values, which are in order, far
// better than one.
func jump(u, v []float64) int {
	n := len(u)
	var all, left lineSums
	for i := range u {
		all.add(u[i], v[i], 1)
	}
	floor := float64(n) * foldFloor * foldFloor
	_, _, one := all.fit()
	best, where := one, 0
	for i := range n - foldBreak {
		left.add(u[i], v[i], 1)
		if i+1 < foldBreak {
			continue
		}
		right := all.less(left)
		_, _, a := left.fit()
		if _, _, b := right.fit(); a+b < best {
			best, where = a+b, i+1
		}
	}
	if float64(n)*math.Log((one+floor)/(best+floor)) < jumpCost(n) {
		return 0
	}
	return where
}

// jumpCost is by how much a jump of n values has to lower n times the logarithm of the variance of what lines leave.
func jumpCost(n int) float64 { return 3*math.Log(float64(n)) + 6 }

// fold estimates a waveform of so many pieces, the first of which begins at a cell, from values in the order of their places, those of one
// part of the tables left out.
func fold(all []folded, pieces, begin, without int) *waveform {
	first, _ := slices.BinarySearchFunc(all, float64(begin)/waveCells, func(p folded, at float64) int { return cmp.Compare(p.u, at) })
	points := make([]folded, 0, len(all))
	for i := range all {
		p := all[(first+i)%len(all)]
		if p.table%foldFolds == without {
			continue
		}
		if p.u -= float64(begin) / waveCells; p.u < 0 {
			p.u++
		}
		points = append(points, p)
	}
	g := new(waveform)
	if len(points) == 0 {
		return g
	}
	n, width := len(points), 1/float64(pieces)
	lo := 0
	var u, v []float64
	for b := range pieces {
		hi := lo
		for hi < n && points[hi].u < float64(b+1)*width {
			hi++
		}
		first, last, middle := lo, hi, (float64(b)+0.5)*width
		for last-first < min(foldLeast, n) { // around the circle
			first, last = first-1, last+1
		}
		u, v = u[:0], v[:0]
		for i := first; i < min(last, first+n); i++ {
			p := points[(i%n+n)%n]
			u, v = append(u, p.u+math.Floor(float64(i)/float64(n))-middle), append(v, p.v)
		}
		lines, at := [2]line{robustLine(middle, u, v)}, 2.0
		if k := jump(u, v); k > 0 {
			two := [2]line{robustLine(middle, u[:k], v[:k]), robustLine(middle, u[k:], v[k:])}
			// Few values that are far off, as those of a table whose wave is wrong, are no jump.
			var gain float64
			for i := range u {
				side := two[0]
				if i >= k {
					side = two[1]
				}
				gain += logSize(v[i]-lines[0].of(middle+u[i])) - logSize(v[i]-side.of(middle+u[i]))
			}
			if 2*gain > jumpCost(len(u)) {
				lines, at = two, middle+(u[k-1]+u[k])/2
			}
		}
		for c := b * waveCells / pieces; c < (b+1)*waveCells/pieces; c++ {
			from, to := float64(c)/waveCells, float64(c+1)/waveCells
			l := lines[0]
			if (from+to)/2 > at {
				l = lines[1]
			}
			at := (c + begin) % waveCells
			g.lo[at], g.hi[at] = l.of(from), l.of(to)
		}
		lo = hi
	}
	return g
}

// inOrder puts values in the order of their places.
func inOrder(points []folded) {
	slices.SortFunc(points, func(a, b folded) int {
		return cmp.Or(cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v), cmp.Compare(a.table, b.table))
	})
}

// foldBest estimates a waveform of as few pieces as predict the values of tables about as well from those of others as any number does, and
// returns the residuals of these predictions. A piece has its middle at the place about, as where a jump is near the end of a piece, too
// few values of one of its sides are in there.
func foldBest(points []folded, about int) (g *waveform, residuals []folded, pieces int) {
	if len(points) == 0 {
		return nil, nil, 0
	}
	inOrder(points)
	begin := func(pieces int) int { return (about - waveCells/pieces/2 + waveCells) % waveCells }
	var rests [][]folded
	least, scale := math.Inf(1), 0.0
	for _, k := range foldPieces {
		if k > foldFew && len(points) < foldLeast*k {
			break
		}
		rest := make([]folded, len(points))
		var size float64
		for part := range foldFolds {
			h := fold(points, k, begin(k), part)
			for i, p := range points {
				if p.table%foldFolds == part {
					y, _ := h.at(p.u)
					rest[i] = folded{p.u, p.v - y, p.table}
					size += logSize(rest[i].v) / float64(len(points))
				}
			}
		}
		rests = append(rests, rest)
		if size < least {
			least, scale = size, scaleOf(rest)
		}
	}
	best, most := 0, math.Inf(-1)
	for i, rest := range rests {
		var sum float64
		for _, r := range rest {
			sum += heavy(r.v / scale)
		}
		if sum > most {
			best, most = i, sum
		}
	}
	for i, rest := range rests {
		var sum, square float64
		for j, r := range rest {
			d := heavy(rests[best][j].v/scale) - heavy(r.v/scale)
			sum, square = sum+d, square+d*d
		}
		if sum <= foldGain+2*math.Sqrt(square) {
			best = i
			break
		}
	}
	pieces = foldPieces[best]
	return fold(points, pieces, begin(pieces), -1), rests[best], pieces
}

// scaleOf is the deviation of most residuals, if these are normal.
func scaleOf(r []folded) float64 {
	size := make([]float64, len(r))
	for i, p := range r {
		size[i] = math.Abs(p.v)
	}
	slices.Sort(size)
	return max(foldFloor, 1.4826*size[len(size)/2])
}

// heavy is the logarithm of the density of a Student distribution with four degrees of freedom, but for a constant.
func heavy(z float64) float64 { return -2.5 * math.Log1p(z*z/4) }

// steepest is the number of the cell at whose beginning the waveform changes most.
func (g *waveform) steepest() (cell int) {
	const apart = waveCells / 128 // a jump that is known no better is found, too
	most := 0.0
	for i := range waveCells {
		before, behind := (i-apart+waveCells)%waveCells, (i+apart-1)%waveCells
		if d := math.Abs(g.lo[before] - g.hi[behind]); d > most {
			cell, most = i, d
		}
	}
	return cell
}

// logSize is the logarithm of a residual's magnitude, so that its mean, which few large ones change little, is that of the deviation if
// residuals are normal.
func logSize(r float64) float64 { return 0.5*math.Log(r*r+foldFloor*foldFloor/16) + 0.635 }

// residual is the distribution of residuals: normal, of a rare part with a larger deviation.
type residual struct{ narrow, broad, rare float64 }

// usual is the probability that a residual is not one of the rare ones.
func (d *residual) usual(r float64) float64 {
	z, b := r/d.narrow, r/d.broad
	other := d.rare / (1 - d.rare) * d.narrow / d.broad * math.Exp(min(700, 0.5*(z*z-b*b)))
	return 1 / (1 + other)
}

// learnResidual estimates the distribution of residuals, from which a share of their squares has been lost to what was fitted. One residual
// of the values' own deviation, which is about 1, counts as seen: values of another table may be on the wrong side of a jump though none
// was.
func learnResidual(r []folded, lost float64) residual {
	size := make([]float64, len(r))
	for i, p := range r {
		size[i] = math.Abs(p.v)
	}
	slices.Sort(size)
	d := residual{rare: 0.05, narrow: max(foldFloor, 1.4826*size[len(size)/2])}
	d.broad = max(3*d.narrow, 1)
	for range 40 {
		var n, in, out float64
		for _, p := range r {
			w := d.usual(p.v)
			n, in, out = n+w, in+w*p.v*p.v, out+(1-w)*p.v*p.v
		}
		total := float64(len(r))
		d.narrow = max(foldFloor, math.Sqrt(in/(n+1e-9)/(1-lost)))
		d.rare = min(0.3, max(foldRare, (total-n)/total))
		d.broad = max(3*d.narrow, math.Sqrt((out+1)/(total-n+1)))
	}
	return d
}
