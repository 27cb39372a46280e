//go:build !purego

package simd

import "math"

// softmaxPiece is up to how many elements of a row are added up one vector after the other.
func softmaxPiece[T Float]() int {
	if _, double := any(T(0)).(float64); double {
		return 256 // 64 additions at AVX2
	}
	return 4096
}

// byPasses reports whether a row is faster by passes over all of it. At AVX2, where exponentials in float32 take few instructions of
// their own, their sum in float64 would make half as many more.
func byPasses[T Float](c int) bool {
	_, single := any(T(0)).(float32)
	return level == Generic || level == AVX2 && single && c > 256
}

func softmax[T Float](dst, x []T, c int) {
	if len(x) == 0 || byPasses[T](c) {
		softmaxGeneric(dst, x, c)
		return
	}
	raceRead(x)
	raceWrite(dst)
	if piece := softmaxPiece[T](); c > piece {
		for ; len(x) > 0; dst, x = dst[c:], x[c:] {
			y := dst[:c]
			most, nan := largest(x[:c])
			if nan {
				most = T(math.NaN())
			}
			Scale(y, T(1/exponentials(y, x[:c], most, piece)), y)
		}
		return
	}
	for len(x) > 0 {
		n := c * min(len(x)/c, max(1, maxPiece/c))
		softmaxRows(&dst[0], x[:n], c, 0, least[T]())
		dst, x = dst[n:], x[n:]
	}
}

// least is the number next to -Inf. What is not -Inf itself is at least as large, and -Inf less this is -Inf again.
func least[T Float]() T {
	if _, double := any(T(0)).(float64); double {
		x := -math.MaxFloat64
		return T(x)
	}
	return -math.MaxFloat32
}

// exponentials sets dst[i] = exp(x[i] - most) and returns their sum, pairwise among pieces.
func exponentials[T Float](dst, x []T, most T, piece int) float64 {
	if len(x) > piece {
		h := sumCut(len(x), piece)
		return exponentials(dst[:h], x[:h], most, piece) + exponentials(dst[h:], x[h:], most, piece)
	}
	_, sum := softmaxRows(&dst[0], x, len(x), softmaxUnscaled, most)
	return sum
}

// softmaxRows calls the kernel for some rows of c elements.
func softmaxRows[T Float](dst *T, x []T, c, mode int, least T) (most T, sum float64) {
	rows := len(x) / c
	switch x := any(x).(type) {
	case []float32:
		d, m := any(dst).(*float32), float32(0)
		if level == AVX512 {
			m, sum = softmaxF32AVX512(d, &x[0], rows, c, mode, float32(least))
		} else {
			m, sum = softmaxF32AVX2(d, &x[0], rows, c, mode, float32(least))
		}
		most = T(m)
	case []float64:
		d, m := any(dst).(*float64), 0.0
		if level == AVX512 {
			m, sum = softmaxF64AVX512(d, &x[0], rows, c, mode, float64(least))
		} else {
			m, sum = softmaxF64AVX2(d, &x[0], rows, c, mode, float64(least))
		}
		most = T(m)
	}
	return most, sum
}

func logSumExp[T Float](x []T) float64 {
	if len(x) == 0 || byPasses[T](len(x)) {
		return logSumExpGeneric(x)
	}
	raceRead(x)
	var vector [16]T
	piece := softmaxPiece[T]()
	if len(x) <= piece {
		most, sum := softmaxRows(&vector[0], x, len(x), softmaxUnscaled|softmaxSum, least[T]())
		if sum > 0 { // neither NaN nor 0
			return float64(most) + math.Log(sum)
		}
	}
	most, nan := largest(x)
	switch {
	case nan:
		return math.NaN()
	case most-most != 0:
		return float64(most) // nothing but -Inf, or +Inf
	}
	return float64(most) + math.Log(sumExponentials(&vector[0], x, most, piece))
}

// sumExponentials is exponentials without them.
func sumExponentials[T Float](vector *T, x []T, most T, piece int) float64 {
	if len(x) > piece {
		h := sumCut(len(x), piece)
		return sumExponentials(vector, x[:h], most, piece) + sumExponentials(vector, x[h:], most, piece)
	}
	_, sum := softmaxRows(vector, x, len(x), softmaxUnscaled|softmaxSum, most)
	return sum
}

// largestPiece is how many elements the largest one is found in at a time, before its place is sought among them alone.
const largestPiece = 4096

func argMaxF32(x []float32) int {
	if n := len(x); n >= fewLargest && n < 2*largestPiece && level != Generic {
		raceRead(x)
		if most, nan := largestOfF32(&x[0], n); nan == 0 {
			return place(x, most, findF32(&x[0], most, n))
		}
	}
	return argMax(x)
}

func argMaxF64(x []float64) int {
	if n := len(x); n >= fewLargest && n < 2*largestPiece && level != Generic {
		raceRead(x)
		if most, nan := largestOfF64(&x[0], n); nan == 0 {
			return place(x, most, findF64(&x[0], most, n))
		}
	}
	return argMax(x)
}

func argMax[T Float](x []T) int {
	if level == Generic || len(x) < fewLargest {
		return argMaxGeneric(x)
	}
	raceRead(x)
	from, to, most := 0, 0, T(math.Inf(-1))
	for at := 0; at < len(x); {
		end := len(x)
		if end-at >= 2*largestPiece {
			end = at + largestPiece
		}
		m, nan := largestOf(x[at:end])
		if nan {
			return at + argMaxGeneric(x[at:end])
		}
		if m > most || at == 0 {
			from, to, most = at, end, m
		}
		at = end
	}
	return from + place(x[from:to], most, find(x[from:to], most))
}

// fewLargest is from how many elements on there is a whole vector of any kind.
const fewLargest = 16

// largest returns the largest element, and whether there is NaN.
func largest[T Float](x []T) (most T, nan bool) {
	most = T(math.Inf(-1))
	for len(x) >= fewLargest {
		n := len(x)
		if n >= 2*maxPiece {
			n = maxPiece
		}
		m, some := largestOf(x[:n])
		if some {
			return m, true
		}
		most, x = max(most, m), x[n:]
	}
	for _, v := range x {
		if v != v {
			return v, true
		}
		most = max(most, v)
	}
	return most, false
}

// largestOf is largest of at least fewLargest elements and at most 2·maxPiece.
func largestOf[T Float](x []T) (T, bool) {
	if double, ok := any(&x[0]).(*float64); ok {
		most, nan := largestOfF64(double, len(x))
		return T(most), nan != 0
	}
	most, nan := largestOfF32(any(&x[0]).(*float32), len(x))
	return T(most), nan != 0
}

func largestOfF32(x *float32, n int) (float32, int) {
	if level == AVX512 {
		return largestF32AVX512(x, n)
	}
	return largestF32AVX2(x, n)
}

func largestOfF64(x *float64, n int) (float64, int) {
	if level == AVX512 {
		return largestF64AVX512(x, n)
	}
	return largestF64AVX2(x, n)
}
