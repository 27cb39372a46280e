// Package image knows which pixels of an image depend on which others, and keeps sets of them: what a chain of pixels needs
// to compute again what is out of date, and nothing else.
package image

// Patch is a set of steps from a pixel to others: in the k-th of its rows, from Lo[k] to Hi[k], none where these cross.
// Row Above is the pixel's own.
type Patch struct {
	Above  int
	Lo, Hi []int
}

// at returns the steps to a row, relative to the pixel's own.
func (p Patch) at(dy int) (lo, hi int) {
	if k := dy + p.Above; k >= 0 && k < len(p.Lo) {
		return p.Lo[k], p.Hi[k]
	}
	return 1, 0
}

// Back is the patch of the pixels from which p leads here.
func (p Patch) Back() Patch {
	out := Patch{Above: len(p.Lo) - 1 - p.Above}
	for k := len(p.Lo) - 1; k >= 0; k-- {
		out.Lo, out.Hi = append(out.Lo, -p.Hi[k]), append(out.Hi, -p.Lo[k])
	}
	return out
}

// Then is the patch of all that one step of p and one of q lead to, without gaps within a row.
func (p Patch) Then(q Patch) Patch {
	out := Patch{Above: p.Above + q.Above}
	for k := range len(p.Lo) + len(q.Lo) - 1 {
		lo, hi := 1, 0
		for i := range p.Lo {
			if a, z := q.at(k - i - q.Above); a <= z && p.Lo[i] <= p.Hi[i] {
				a, z = a+p.Lo[i], z+p.Hi[i]
				if lo > hi {
					lo, hi = a, z
				}
				lo, hi = min(lo, a), max(hi, z)
			}
		}
		out.Lo, out.Hi = append(out.Lo, lo), append(out.Hi, hi)
	}
	return out
}

// Here is the patch of a pixel itself.
var Here = Patch{Lo: []int{0}, Hi: []int{0}}

// Trim returns the patch without its first and last rows, as long as both are empty.
func (p Patch) Trim() Patch {
	for p.Above > 0 && p.Lo[0] > p.Hi[0] && p.Lo[len(p.Lo)-1] > p.Hi[len(p.Hi)-1] {
		p.Above, p.Lo, p.Hi = p.Above-1, p.Lo[1:len(p.Lo)-1], p.Hi[1:len(p.Hi)-1]
	}
	return p
}
