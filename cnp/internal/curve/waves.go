package curve

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/layers"
)

// Frequencies lists the points [m, n] of the grid of whole numbers within a ball of radius count-1. Of a point and its
// opposite it takes the one whose first nonzero number is positive; 0 comes first. It gives up where there are more than most.
func Frequencies(n, count, most int) (all [][]int, ok bool) {
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

// Waves holds the frequencies of a model, and where their amplitudes stand among its numbers.
type Waves struct {
	Dx, dy  int
	numbers int         // of each value
	first   int         // of a value's numbers, the first amplitude
	w       [][]float64 // of each pair of amplitudes
	begin   []float64   // of each pair, the length of the amplitude that it begins with
}

// NewWaves returns the waves of models with dx coordinates and dy outputs of so many numbers each: the frequencies of a
// ball of count along each axis up to the fastest, of as many as the rank of the covariance holds.
func NewWaves(dx, dy, numbers, rank, count int, fastest float64) *Waves {
	w := &Waves{Dx: dx, dy: dy, numbers: numbers, first: 2}
	grid, _ := Frequencies(dx, count, rank/2)
	sum := 0.0
	for i, k := range grid {
		at, square := make([]float64, len(k)), 0.0
		for d, v := range k {
			u := float64(v) / float64(count-1)
			at[d], square = u*fastest, square+u*u
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

// BeginWaves sets the amplitudes of a bias [dy, numbers]. Different channels have unrelated phases.
func BeginWaves[T layers.Float](w *Waves, bias []T) {
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

// TurnWaves turns each amplitude in the numbers [n, dy, numbers] of targets at x [n, dx] by its wave's phase there, or
// turns it back, as gradients need.
func TurnWaves[T layers.Float](w *Waves, numbers []T, x []float64, back bool) {
	if w == nil {
		return
	}
	for i := range len(x) / w.Dx {
		own, at := numbers[i*w.dy*w.numbers:(i+1)*w.dy*w.numbers], x[i*w.Dx:(i+1)*w.Dx]
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
