package cnp

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// frequencies lists points [m, n] of the grid of whole numbers within a ball of radius count-1, of each and its
// opposite the one whose first number but 0 is positive; 0 comes first. It gives up where there are more than most.
func frequencies(n, count, most int) (all [][]int, ok bool) {
	k := make([]int, n)
	var extend func(d, room int, signed bool) bool
	extend = func(d, room int, signed bool) bool {
		if d == n {
			all = append(all, slices.Clone(k))
			return len(all) <= most
		}
		reach := int(math.Sqrt(float64(room)))
		lo := -reach
		if !signed {
			lo = 0
		}
		for v := lo; v <= reach; v++ {
			k[d] = v
			if !extend(d+1, room-v*v, signed || v != 0) {
				return false
			}
		}
		k[d] = 0
		return true
	}
	ok = extend(0, (count-1)*(count-1), false)
	return all, ok
}

// waves are the frequencies of a model, and where their amplitudes stand.
type waves struct {
	dx, dy  int
	numbers int         // of each value
	first   int         // of a value's numbers, the first amplitude
	w       [][]float64 // of each pair of amplitudes
	begin   []float64   // of each pair, the length of the amplitude that it begins with
}

// newWaves is that of a valid configuration, nil without waves.
func newWaves(c *Config, l Likelihood) *waves {
	rank, ok := likelihood.LowRank(l)
	if c.Waves == nil || !ok {
		return nil
	}
	w := &waves{dx: c.DimX, dy: c.DimY, numbers: l.Outputs() - l.Constants(), first: 2}
	grid, _ := frequencies(c.DimX, c.Waves.Count, rank/2)
	sum := 0.0
	for i, k := range grid {
		at, square := make([]float64, len(k)), 0.0
		for d, v := range k {
			u := float64(v) / float64(c.Waves.Count-1)
			at[d], square = u*c.Waves.Fastest, square+u*u
		}
		s := 2 * math.Exp(-4.5*square) // of a frequency and its opposite
		if i == 0 {
			s = 1
		}
		w.w, w.begin, sum = append(w.w, at), append(w.begin, s), sum+s
	}
	for i, s := range w.begin {
		w.begin[i] = math.Sqrt(s / sum * float64(rank))
	}
	return w
}

// beginWith sets the amplitudes of a bias [dy, numbers]. Those of different channels have phases that have nothing to do with each other.
func beginWith[T Float](w *waves, bias []T) {
	if w == nil {
		return
	}
	for d := range w.dy {
		for m, a := range w.begin {
			_, phase := math.Modf(float64(d*(m+1)) * math.Phi)
			sin, cos := math.Sincos(2 * math.Pi * phase)
			to := bias[d*w.numbers+w.first+2*m:][:2]
			to[0], to[1] = T(a*cos), T(a*sin)
		}
	}
}

// places returns the targets [n, dx] of task t that order names, counted from the least coordinates of its context, so
// that a move of the task leaves them as they are and angles stay small; from 0 where there is none. It is nil without
// waves. A nil order names all.
func places[T Float](w *waves, b *Batch[T], t int, order []int32, dst []float64) []float64 {
	if w == nil {
		return nil
	}
	var room [8]float64
	least := append(room[:0], make([]float64, w.dx)...)
	for d := range least {
		least[d] = math.Inf(1)
		for i := range b.Nc {
			if b.contextOK(t, i) {
				least[d] = min(least[d], b.XContext[(t*b.Nc+i)*w.dx+d])
			}
		}
		if math.IsInf(least[d], 1) {
			least[d] = 0
		}
	}
	n := b.Nt
	if order != nil {
		n = len(order)
	}
	dst = dst[:0]
	for j := range n {
		i := j
		if order != nil {
			i = int(order[j])
		}
		for d, v := range b.XTarget[(t*b.Nt+i)*w.dx:][:w.dx] {
			if v -= least[d]; !b.targetOK(t, i) {
				v = 0 // whatever stands there
			}
			dst = append(dst, v)
		}
	}
	return dst
}

// turn makes amplitudes in the numbers [n, dy, numbers] of targets at x [n, dx] the parts of their waves, or takes them
// back, which is also what becomes of gradients.
func turn[T Float](w *waves, numbers []T, x []float64, back bool) {
	if w == nil {
		return
	}
	for i := range len(x) / w.dx {
		own, at := numbers[i*w.dy*w.numbers:(i+1)*w.dy*w.numbers], x[i*w.dx:(i+1)*w.dx]
		for m, k := range w.w {
			angle := 0.0
			for d, v := range k {
				angle += v * at[d]
			}
			if angle == 0 {
				continue
			}
			sin, cos := math.Sincos(angle)
			if back {
				sin = -sin
			}
			for from := w.first + 2*m; from < len(own); from += w.numbers {
				re, im := float64(own[from]), float64(own[from+1])
				own[from], own[from+1] = T(re*cos-im*sin), T(re*sin+im*cos)
			}
		}
	}
}
