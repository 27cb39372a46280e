package cnp

// patch is a set of steps from a pixel to others: in the k-th of its rows, from lo[k] to hi[k], none where these cross.
// Row above is the pixel's own.
type patch struct {
	above  int
	lo, hi []int
}

// at returns the steps to a row, relative to the pixel's own.
func (p patch) at(dy int) (lo, hi int) {
	if k := dy + p.above; k >= 0 && k < len(p.lo) {
		return p.lo[k], p.hi[k]
	}
	return 1, 0
}

// back is the patch of the pixels from which p leads here.
func (p patch) back() patch {
	out := patch{above: len(p.lo) - 1 - p.above}
	for k := len(p.lo) - 1; k >= 0; k-- {
		out.lo, out.hi = append(out.lo, -p.hi[k]), append(out.hi, -p.lo[k])
	}
	return out
}

// then is the patch of all that one step of p and one of q lead to, without gaps within a row.
func (p patch) then(q patch) patch {
	out := patch{above: p.above + q.above}
	for k := range len(p.lo) + len(q.lo) - 1 {
		lo, hi := 1, 0
		for i := range p.lo {
			if a, z := q.at(k - i - q.above); a <= z && p.lo[i] <= p.hi[i] {
				a, z = a+p.lo[i], z+p.hi[i]
				if lo > hi {
					lo, hi = a, z
				}
				lo, hi = min(lo, a), max(hi, z)
			}
		}
		out.lo, out.hi = append(out.lo, lo), append(out.hi, hi)
	}
	return out
}

// here is the patch of a pixel itself.
var here = patch{lo: []int{0}, hi: []int{0}}
