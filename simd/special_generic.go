package simd

import "math"

// Portable functions go through the standard library in float64, element by element.

func erfGeneric[T Float](dst, x []T)   { mapGeneric(dst, x, math.Erf) }
func geluGeneric[T Float](dst, x []T)  { mapGeneric(dst, x, gelu) }
func expm1Generic[T Float](dst, x []T) { mapGeneric(dst, x, expm1) }
func log1pGeneric[T Float](dst, x []T) { mapGeneric(dst, x, math.Log1p) }

func mapGeneric[T Float](dst, x []T, f func(float64) float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(f(float64(v)))
	}
}

// expm1 is math.Expm1, which overflows too early, at 709.782712893384.
func expm1(x float64) float64 {
	if x > 700 {
		return expSum(x, 0)
	}
	return math.Expm1(x)
}

// gelu is x·erfc(-x/√2)/2. The rounding of the argument matters where erfc falls steeply, and is made good by its derivative.
func gelu(x float64) float64 {
	const (
		hi = 1 / math.Sqrt2
		lo = -0x1.bdd3413b26456p-55 // 1/√2 - hi
	)
	switch {
	case x > 8.5 || x < -1e3: // x, or something that rounds to -0
		return max(x, math.Copysign(0, -1))
	case x < -37:
		return geluTail(x)
	}
	z := float64(-x * hi)
	d := math.FMA(-x, hi, -z) - x*lo
	return 0.5 * x * (math.Erfc(z) - d*(2/math.Sqrt(math.Pi))*math.Exp(-z*z))
}

// geluTail is -exp(-x²/2)/√(2π)·(1 - 1/x² + 3/x⁴ - 15/x⁶ + ...), where erfc would be subnormal and lose digits before they
// are multiplied. A factor exp(-100), taken last, keeps everything else in the range.
func geluTail(x float64) float64 {
	const scale = 0x1.52e85358c4059p-146 // exp(-100)/√(2π)
	h := float64(x * x / 2)
	low := math.FMA(x, x/2, -h)
	w, sum := 1/(x*x), 1.
	for k := 13.; k > 0; k -= 2 {
		sum = 1 - k*w*sum
	}
	return -math.Exp(100-h) * (sum - low*sum) * scale
}

func powGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = T(pow(float64(v), float64(y[i])))
	}
}

// pow is x^y = exp(y·ln x), ln x and the product in twice the precision. math.Pow multiplies powers, whose errors grow
// with y; it has the special values.
func pow(x, y float64) float64 {
	a, odd := x, false
	if x < 0 && y == math.Trunc(y) {
		a, odd = -x, math.Mod(y, 2) != 0
	}
	if !(a > 0 && a <= math.MaxFloat64) || y-y != 0 || y == 0 || a == 1 {
		return math.Pow(x, y)
	}
	hi, lo := logPair(a)
	p := float64(y * hi)
	q := math.FMA(y, hi, -p) + y*lo
	r := expSum(p, q)
	if odd {
		return -r
	}
	return r
}

// expSum is exp(p + q), q being small. math.Exp(709.78) is +Inf on amd64, so that only its fraction is taken from there.
func expSum(p, q float64) float64 {
	if math.Abs(p) > 800 {
		return math.Exp(p)
	}
	n := math.Round(p / math.Ln2)
	const ln2Hi, ln2Lo = 0x1.62e42feep-1, 0x1.a39ef35793c76p-33
	return math.Ldexp(math.Exp((p-n*ln2Hi)-(n*ln2Lo-q)), int(n))
}

// logPair is ln a = hi + lo to about 2⁻⁶⁵ of its size, for finite a > 0: with a = 2ᵏm and s = (m - 1)/(m + 1),
//
//	ln a = k·ln2 + 2s + 2s³/3 + 2s⁵(1/5 + s²/7 + ...)
//
// The conversions round products: without them the compiler may fuse one with a later sum, as it does on arm64, and its tail would not fit.
func logPair(a float64) (hi, lo float64) {
	m, k := math.Frexp(a)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	// s = u/v as sh + sl.
	u, v := m-1, m+1
	vl := m - (v - 1)
	sh := u / v
	sl := (math.FMA(-sh, v, u) - sh*vl) / v
	// s²
	zh := float64(sh * sh)
	zl := math.FMA(sh, sh, -zh) + 2*sh*sl
	// s²/3 as ch + cl, and the rest of the series.
	const third, thirdLo = 1. / 3, 0x1.5555555555555p-56
	ch := float64(zh * third)
	cl := math.FMA(zh, third, -ch) + zh*thirdLo + zl*third
	t := 0.0
	for n := 25; n >= 5; n -= 2 {
		t = t*zh + 1/float64(n)
	}
	t *= zh * zh
	// s·(1 + c + t): the second factor's tail first.
	ph := ch + t
	pl := (ch - ph) + t + cl
	wh := float64(sh * ph)
	wl := math.FMA(sh, ph, -wh) + sh*pl + sl*ph
	ah := sh + wh
	al := (sh - ah) + wh + (wl + sl)
	ah, al = 2*ah, 2*al
	const ln2Hi, ln2Lo = 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56
	kf := float64(k)
	bh := float64(kf * ln2Hi)
	bl := math.FMA(kf, ln2Hi, -bh) + kf*ln2Lo
	hi = bh + ah
	e := hi - bh
	lo = (bh - (hi - e)) + (ah - e) + (bl + al)
	return hi, lo
}

func softmaxGeneric[T Float](dst, x []T, c int) {
	for ; len(x) > 0; dst, x = dst[c:], x[c:] {
		y, r := dst[:c], x[:c]
		_, most := MinMax(r)
		less(y, r, most)
		Exp(y, y)
		Scale(y, T(1/Sum(y)), y)
	}
}

func logSumExpGeneric[T Float](x []T) float64 {
	_, most := MinMax(x)
	if m := float64(most); len(x) == 0 || m-m != 0 {
		return m // no elements, nothing but -Inf, +Inf or NaN
	}
	var buf [512]T
	sum := 0.0
	for len(x) > 0 {
		n := min(len(x), len(buf))
		part := buf[:n]
		less(part, x[:n], most)
		Exp(part, part)
		sum += Sum(part)
		x = x[n:]
	}
	return float64(most) + math.Log(sum)
}

// argMaxGeneric returns where the largest element, or the first NaN, stands, -1 for no elements.
func argMaxGeneric[T Float](x []T) int {
	at, most := -1, T(math.Inf(-1))
	for i, v := range x {
		if v != v {
			return i
		}
		if v > most || i == 0 {
			at, most = i, v
		}
	}
	return at
}

// place returns where v stands, if not before at, and no earlier than among the elements of the last vector.
func place[T Float](x []T, v T, at int) int {
	for at < len(x)-1 && x[at] != v {
		at++
	}
	return at
}

// find returns how many elements may be passed over until the first that is v.
func find[T Float](x []T, v T) int {
	if double, ok := any(&x[0]).(*float64); ok {
		return findF64(double, float64(v), len(x))
	}
	return findF32(any(&x[0]).(*float32), float32(v), len(x))
}
