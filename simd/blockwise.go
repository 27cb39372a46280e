package simd

import "math"

// Functions that are made of others, a block of elements after the other. What stands between two of the others stays in the first-level
// cache, so they cost little more than what they compute.

// blockSize is how many elements a block has.
const blockSize = 512

// block is a block of intermediate results, on the stack.
type block[T Float] [blockSize]T

// ones32 and ones64 make functions of a vector and a number of those of two vectors.
var (
	ones32 = ones[float32]()
	ones64 = ones[float64]()
)

func ones[T Float]() (b block[T]) {
	for i := range b {
		b[i] = 1
	}
	return b
}

// unit returns n ones, at most a block.
func unit[T Float](n int) (b []T) {
	switch b := any(&b).(type) {
	case *[]float32:
		*b = ones32[:n]
	case *[]float64:
		*b = ones64[:n]
	}
	return b
}

// less sets dst[i] = x[i] - a, which adding -a times 1 to x[i], rounded once, is as well. dst may be x itself.
func less[T Float](dst, x []T, a T) {
	copy(dst, x)
	for len(dst) > 0 {
		n := min(len(dst), blockSize)
		Axpy(dst[:n], -a, unit[T](n))
		dst = dst[n:]
	}
}

func tanhGrad[T Float](dx, dy, y []T) {
	var t, u block[T]
	for len(y) > 0 {
		n := min(len(y), blockSize)
		t, u := t[:n], u[:n]
		Sub(t, unit[T](n), y[:n]) // exact where it matters
		Add(u, unit[T](n), y[:n])
		Mul(t, t, u)
		Mul(dx[:n], t, dy[:n])
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}

// Beyond geluFar the derivative of GELU is 0 or 1; nearer to 0 than geluNear it is taken for that at geluNear, where GELU is no subnormal
// number and the derivative 1/2 to far more than its accuracy.
const (
	geluFar  = 40
	geluNear = 1e-30
)

func geluGrad[T Float](dx, dy, x []T) {
	var t, u, w block[T]
	for len(x) > 0 {
		n := min(len(x), blockSize)
		t, u, w := t[:n], u[:n], w[:n]
		Clip(t, x[:n], -geluFar, geluFar)
		for i, v := range t {
			if v > -geluNear && v < geluNear {
				t[i] = geluNear
			}
		}
		GELU(u, t)
		Div(u, u, t) // the distribution function, to a few units everywhere
		Mul(w, t, t)
		Scale(w, -0.5, w)
		Exp(w, w)
		Mul(w, w, t)
		Axpy(u, T(1/math.Sqrt(2*math.Pi)), w)
		Mul(dx[:n], u, dy[:n])
		dx, dy, x = dx[n:], dy[n:], x[n:]
	}
}

// softmaxFew is up to how many columns a row is done by plain loops: calls would take longer.
const softmaxFew = 16

func softmaxGrad[T Float](dx, dy, y []T, c int) {
	var t block[T]
	for ; len(y) > 0; dx, dy, y = dx[c:], dy[c:], y[c:] {
		if c <= softmaxFew {
			softmaxGradFew(dx[:c], dy[:c], y[:c])
			continue
		}
		mean := T(Dot(y[:c], dy[:c]))
		for lo := 0; lo < c; lo += blockSize {
			hi := min(lo+blockSize, c)
			t := t[:hi-lo]
			less(t, dy[lo:hi], mean)
			Mul(dx[lo:hi], t, y[lo:hi])
		}
	}
}

func softmaxGradFew[T Float](dx, dy, y []T) {
	var sum float64
	for j, v := range y {
		sum += float64(v) * float64(dy[j])
	}
	mean := T(sum)
	for j, v := range y {
		dx[j] = v * (dy[j] - mean)
	}
}

func argMin[T Float](x []T) int {
	var t block[T]
	best, least := -1, T(0)
	for lo := 0; lo < len(x); lo += blockSize {
		n := min(len(x)-lo, blockSize)
		Scale(t[:n], -1, x[lo:lo+n])
		at := lo + ArgMax(t[:n])
		v := x[at]
		if v != v {
			return at
		}
		if best < 0 || v < least {
			best, least = at, v
		}
	}
	return best
}

// rowMoments returns mean and variance of a row, which is not empty.
func rowMoments[T Float](x []T) (mean, variance float64) {
	var m, v [1]float64
	WeightedMoments(m[:], v[:], x, nil, 1)
	return m[0], v[0]
}

// center sets t to (x - mean)·by. The mean is subtracted in two parts, as its rounding would cost digits where it is far above the
// deviations.
func center[T Float](t, x []T, mean, by float64) {
	high := T(mean)
	less(t, x, high)
	if low := T(mean - float64(high)); low != 0 {
		less(t, t, low)
	}
	Scale(t, T(by), t)
}

func layerNorm[T Float](y, x, gain, bias []T, c int, eps float64) {
	for ; len(x) > 0; y, x = y[c:], x[c:] {
		mean, variance := rowMoments(x[:c])
		by := 1 / math.Sqrt(variance+eps)
		for lo := 0; lo < c; lo += blockSize {
			hi := min(lo+blockSize, c)
			to := y[lo:hi]
			center(to, x[lo:hi], mean, by)
			if gain != nil {
				Mul(to, to, gain[lo:hi])
			}
			if bias != nil {
				Add(to, to, bias[lo:hi])
			}
		}
	}
}

func layerNormGrad[T Float](dx, dgain, dbias, dy, x, gain []T, c int, eps float64) {
	var g, t, u block[T]
	for ; len(x) > 0; dx, dy, x = dx[c:], dy[c:], x[c:] {
		mean, variance := rowMoments(x[:c])
		by := 1 / math.Sqrt(variance+eps)
		// load sets a block of g = dy·gain and of t, the normalised row.
		load := func(lo, hi int) (g1, t1 []T) {
			g1, t1 = g[:hi-lo], t[:hi-lo]
			if gain == nil {
				copy(g1, dy[lo:hi])
			} else {
				Mul(g1, dy[lo:hi], gain[lo:hi])
			}
			center(t1, x[lo:hi], mean, by)
			return g1, t1
		}
		var sum, along float64
		for lo := 0; lo < c; lo += blockSize {
			hi := min(lo+blockSize, c)
			g, t := load(lo, hi)
			sum += Sum(g)
			along += Dot(g, t)
			if dgain != nil {
				Mul(u[:hi-lo], dy[lo:hi], t)
				Add(dgain[lo:hi], dgain[lo:hi], u[:hi-lo])
			}
			if dbias != nil {
				Add(dbias[lo:hi], dbias[lo:hi], dy[lo:hi])
			}
		}
		for lo := 0; lo < c; lo += blockSize {
			hi := min(lo+blockSize, c)
			g, t := g[:hi-lo], t[:hi-lo]
			if c > blockSize { // of a row of one block they are still there
				g, t = load(lo, hi)
			}
			less(g, g, T(sum/float64(c)))
			Axpy(g, T(-along/float64(c)), t)
			Scale(dx[lo:hi], T(by), g)
		}
	}
}
