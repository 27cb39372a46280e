package testkit

import (
	"math"
	"math/big"
	"math/bits"
)

// A DD is the unevaluated sum Hi + Lo of two float64, |Lo| ≤ ulp(Hi)/2: about 106 bits, of which the functions
// below keep 75. It serves as reference where
// big.Float is too slow for millions of arguments. Operations are right to a few units of 2^-105 as long as nothing
// overflows or becomes subnormal; functions scale what would.
type DD struct{ Hi, Lo float64 }

// Scaled is a reference value DD·2^E, which neither overflows nor underflows.
type Scaled struct {
	DD
	E int
}

// twoSum is the exact sum. The conversions keep compilers from fusing it with the products that its arguments were, as arm64's does.
func twoSum(a, b float64) DD {
	a, b = float64(a), float64(b)
	s := a + b
	t := s - a
	return DD{s, (a - (s - t)) + (b - t)}
}

// quickSum is twoSum where |a| ≥ |b| or a is 0.
func quickSum(a, b float64) DD {
	a, b = float64(a), float64(b)
	s := a + b
	return DD{s, b - (s - a)}
}

// Wide returns x as a DD.
func Wide(x float64) DD { return DD{x, 0} }

// Product returns the exact product of two float64.
func Product(a, b float64) DD {
	p := float64(a * b)
	return DD{p, math.FMA(a, b, -p)}
}

// Sum returns the exact sum of two float64.
func Sum(a, b float64) DD { return twoSum(a, b) }

// Neg returns -x.
func (x DD) Neg() DD { return DD{-x.Hi, -x.Lo} }

// Add returns x + y.
func (x DD) Add(y DD) DD {
	s, t := twoSum(x.Hi, y.Hi), twoSum(x.Lo, y.Lo)
	s = quickSum(s.Hi, s.Lo+t.Hi)
	return quickSum(s.Hi, s.Lo+t.Lo)
}

// Sub returns x - y.
func (x DD) Sub(y DD) DD { return x.Add(y.Neg()) }

// Mul returns x·y.
func (x DD) Mul(y DD) DD {
	p := Product(x.Hi, y.Hi)
	return quickSum(p.Hi, p.Lo+(x.Hi*y.Lo+x.Lo*y.Hi))
}

// Div returns x/y.
func (x DD) Div(y DD) DD {
	q := x.Hi / y.Hi
	r := x.Sub(y.Mul(Wide(q)))
	q2 := r.Hi / y.Hi
	r = r.Sub(y.Mul(Wide(q2)))
	return quickSum(q, q2).Add(Wide(r.Hi / y.Hi))
}

// Sqrt returns the root of x ≥ 0.
func (x DD) Sqrt() DD {
	if x.Hi == 0 {
		return x
	}
	s := math.Sqrt(x.Hi)
	return quickSum(s, x.Sub(Product(s, s)).Hi/(2*s))
}

// Ldexp returns x·2^e.
func (x DD) Ldexp(e int) DD { return DD{math.Ldexp(x.Hi, e), math.Ldexp(x.Lo, e)} }

// Plain returns x as a value with exponent 0.
func (x DD) Plain() Scaled { return Scaled{x, 0} }

// Times returns w·x for any finite float64 x.
func (w Scaled) Times(x float64) Scaled {
	m, e := math.Frexp(x)
	return Scaled{w.DD.Mul(Wide(m)), w.E + e}
}

// Float64 rounds w.
func (w Scaled) Float64() float64 { return math.Ldexp(w.Hi, w.E) }

// ULP64 is ULP32 for float64: the error of got in units in the last place at w. Zeros must agree in their sign, also where w
// underflows; where w overflows, finite numbers next to it are near.
func (w Scaled) ULP64(got float64) float64 {
	want := w.Float64()
	overflows := math.IsInf(want, 0) && !math.IsInf(w.Hi, 0) && got-got == 0
	if r, ok := special(got, want, want); ok && !overflows {
		return r
	}
	if got == 0 && math.Signbit(got) != math.Signbit(w.Hi) {
		return math.Inf(1)
	}
	e := -1022
	if w.Hi != 0 {
		e = min(max(math.Ilogb(w.Hi)+w.E, e), 1023)
	}
	return math.Abs((math.Ldexp(got, -w.E)-w.Hi)-w.Lo) / math.Ldexp(1, e-52-w.E)
}

// parseDD splits a decimal number into parts of so many bits, and a last one of 53.
func parseDD(digits string, widths ...int) (parts []float64) {
	const precision = 400
	rest, _, err := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	for _, w := range append(widths, 53) {
		part, _ := new(big.Float).SetPrec(uint(w)).Set(rest).Float64()
		parts = append(parts, part)
		rest.Sub(rest, new(big.Float).SetPrec(precision).SetFloat64(part))
	}
	return parts
}

var (
	// ln2Parts: the first has 40 bits, so that its product with an exponent is exact.
	ln2Parts = parseDD("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687", 40, 53)
	piParts  = parseDD("3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117068", 53)
	// PiDD is π.
	PiDD     = DD{piParts[0], piParts[1]}
	halfPi   = PiDD.Ldexp(-1)
	twoOverP = twoOverPi()
	// factorials are 1/k!.
	factorials = func() (f [32]DD) {
		f[0] = Wide(1)
		for k := 1; k < len(f); k++ {
			f[k] = f[k-1].Div(Wide(float64(k)))
		}
		return f
	}()
)

// negligible is the size below which x² changes nothing beside 1.
const negligible = 0x1p-150

// exps are exp(j/64) for j from -32 to 32.
var exps = func() (e [65]DD) {
	for j := range e {
		s := Wide(float64(j-32) / 64)
		for k := 30; k > 0; k-- {
			e[j] = e[j].Add(Wide(1)).Mul(s).Div(Wide(float64(k)))
		}
		e[j] = e[j].Add(Wide(1))
	}
	return e
}()

// expm1Small is exp(r) - 1 for |r| ≤ 0.5, to 2^-75 of its size: with r = j/64 + s, the series of exp(s) - 1 in DD where it matters.
func expm1Small(r DD) DD {
	if math.Abs(r.Hi) < negligible {
		return r
	}
	j := math.Round(r.Hi * 64)
	s := r.Add(Wide(-j / 64))
	tail := 1.
	for k := 9.; k > 4; k-- {
		tail = 1 + tail*s.Hi/k
	}
	p := factorials[4].Mul(Wide(tail))
	for k := 3; k >= 1; k-- {
		p = p.Mul(s).Add(factorials[k])
	}
	p = p.Mul(s)
	if j == 0 {
		return p
	}
	e := exps[int(j)+32]
	return e.Sub(Wide(1)).Add(e.Mul(p))
}

// ExpDD returns exp(x); beyond ±2000 that of ±2000, which is as much as infinite or 0.
func ExpDD(x DD) Scaled {
	if math.IsNaN(x.Hi) {
		return x.Plain()
	}
	if math.Abs(x.Hi) > 2000 {
		x = Wide(math.Copysign(2000, x.Hi))
	}
	k := math.Round(x.Hi / math.Ln2)
	return Scaled{expm1Small(lessLn2(x, k)).Add(Wide(1)), int(k)}
}

// lessLn2 is x - k·ln2 for |k| ≤ 2^13 exactly enough, for larger k less so.
func lessLn2(x DD, k float64) DD {
	if k == 0 {
		return x
	}
	return x.Sub(Wide(k * ln2Parts[0])).Sub(Product(k, ln2Parts[1])).Sub(Wide(k * ln2Parts[2]))
}

// Expm1DD returns exp(x) - 1.
func Expm1DD(x DD) Scaled {
	if math.Abs(x.Hi) < 0.34 {
		return expm1Small(x).Plain()
	}
	e := ExpDD(x)
	switch {
	case e.E > 200:
		return e
	case e.E < -200:
		return Wide(-1).Plain()
	}
	return e.Ldexp(e.E).Sub(Wide(1)).Plain()
}

// Log1pDD returns ln(1 + x) for x > -1, to an absolute error of 2^-104 of |x| as x approaches -1.
func Log1pDD(x DD) DD {
	if math.Abs(x.Hi) < negligible {
		return x
	}
	if x.Hi < -0.3 || x.Hi > 0.5 {
		return LogDD(x.Add(Wide(1)))
	}
	y := math.Log1p(x.Hi)
	e := expm1Small(Wide(-y)) // (1 + x)·exp(-y) is 1 but for the error of y
	return x.Add(e).Add(x.Mul(e)).Add(Wide(y))
}

// LogDD returns ln(x) for finite x > 0.
func LogDD(x DD) DD {
	_, k := math.Frexp(x.Hi)
	m := x.Ldexp(-k)
	if m.Hi < math.Sqrt2/2 {
		m, k = m.Ldexp(1), k-1
	}
	l := Log1pDD(m.Sub(Wide(1)))
	if k == 0 {
		return l
	}
	return lessLn2(l, -float64(k))
}

// twoOverPi are the bits of 2/π behind the point, in words, the first one zero.
func twoOverPi() (words [22]uint64) {
	const extra = 64 * 24
	arccot := func(k int64) *big.Int { // by Machin's formula in integers
		power := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), extra), big.NewInt(k))
		sum, term := new(big.Int).Set(power), new(big.Int)
		for n := int64(3); power.Sign() != 0; n += 2 {
			power.Quo(power, big.NewInt(-k*k))
			sum.Add(sum, term.Quo(power, big.NewInt(n)))
		}
		return sum
	}
	pi := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(16), arccot(5)), new(big.Int).Mul(big.NewInt(4), arccot(239)))
	q := new(big.Int).Lsh(big.NewInt(1), extra+1+64*uint(len(words)-1))
	q.Div(q, pi)
	mask := new(big.Int).SetUint64(math.MaxUint64)
	for i := len(words) - 1; i > 0; i-- {
		words[i] = new(big.Int).And(q, mask).Uint64()
		q.Rsh(q, 64)
	}
	return words
}

// quarterTurns splits a finite x ≥ 1/2 into q quarters of a turn, modulo 4, and the rest in [-π/4, π/4], after M. Payne and
// R. Hanek: of the bits of 2/π only those matter that a multiple of 4 does not swallow.
func quarterTurns(x float64) (q int, r DD) {
	f, e := math.Frexp(x)
	m := uint64(math.Ldexp(f, 53))
	at := e - 53 + 62 // the first bit whose product with m is below 4
	var w, p [4]uint64
	for i := range w {
		k, s := at/64+i, uint(at%64)
		w[i] = twoOverP[k] << s
		if s > 0 {
			w[i] |= twoOverP[k+1] >> (64 - s)
		}
	}
	var carry uint64
	for i := 3; i >= 0; i-- {
		hi, lo := bits.Mul64(w[i], m)
		var c uint64
		p[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	q = int(p[0] >> 62)
	p[0] &= 1<<62 - 1
	sign := 1.
	if p[0]>>61 != 0 { // beyond half a quarter: from the next one back
		q, sign = q+1, -1
		var borrow uint64
		for i := 3; i > 0; i-- {
			p[i], borrow = bits.Sub64(0, p[i], borrow)
		}
		p[0] = 1<<62 - p[0] - borrow
	}
	for i, v := range p {
		hi, lo := float64(v>>32), float64(v&(1<<32-1))
		r = r.Add(Wide(math.Ldexp(hi, 34-64*(i+1)))).Add(Wide(math.Ldexp(lo, 2-64*(i+1))))
	}
	return q & 3, r.Mul(halfPi).Mul(Wide(sign))
}

// SinCosDD returns sine and cosine of a finite x.
func SinCosDD(x float64) (s, c DD) {
	a := math.Abs(x)
	if a < 0.5 {
		return sinSmall(Wide(x)), cosSmall(Wide(x))
	}
	q, r := quarterTurns(a)
	s, c = sinSmall(r), cosSmall(r)
	switch q {
	case 1:
		s, c = c, s.Neg()
	case 2:
		s, c = s.Neg(), c.Neg()
	case 3:
		s, c = c.Neg(), s
	}
	if x < 0 {
		s = s.Neg()
	}
	return s, c
}

func sinSmall(r DD) DD {
	if math.Abs(r.Hi) < negligible {
		return r
	}
	return trigSeries(r, 27).Mul(r)
}

func cosSmall(r DD) DD {
	if math.Abs(r.Hi) < negligible {
		return Wide(1)
	}
	return trigSeries(r, 28)
}

// trigSeries sums ± r^(k-k%2)/k! over k = last, last-2, ...; high powers, which are small, in float64.
func trigSeries(r DD, last int) DD {
	z := r.Mul(r).Neg()
	k, tail := last, factorials[last].Hi
	for k -= 2; k >= 10; k -= 2 {
		tail = tail*z.Hi + factorials[k].Hi
	}
	p := Wide(tail)
	for ; k >= 0; k -= 2 {
		p = p.Mul(z).Add(factorials[k])
	}
	return p
}

// Atan2DD returns the angle of a point off the axes with finite coordinates.
func Atan2DD(y, x float64) Scaled {
	my, ey := math.Frexp(y)
	mx, ex := math.Frexp(x)
	switch d := ey - ex; {
	case d > 200:
		return halfPi.Mul(Wide(math.Copysign(1, y))).Plain()
	case d < -200 && x < 0:
		return PiDD.Mul(Wide(math.Copysign(1, y))).Plain()
	case d < -200:
		return Scaled{Wide(my).Div(Wide(mx)), d}
	default:
		my = math.Ldexp(my, d)
	}
	// Turned back by an approximation of the angle, the point is next to the positive axis.
	th := math.Atan2(my, mx)
	s, c := SinCosDD(th)
	up := Wide(my).Mul(c).Sub(Wide(mx).Mul(s))
	along := Wide(mx).Mul(c).Add(Wide(my).Mul(s))
	return up.Div(along).Add(Wide(th)).Plain()
}

// HypotDD returns √(x² + y²) for finite x and y.
func HypotDD(x, y float64) Scaled {
	x, y = max(math.Abs(x), math.Abs(y)), min(math.Abs(x), math.Abs(y))
	mx, e := math.Frexp(x)
	if x == 0 {
		return Scaled{}
	}
	my := math.Ldexp(y, -e)
	if my < negligible {
		return Scaled{Wide(mx), e}
	}
	return Scaled{Product(mx, mx).Add(Product(my, my)).Sqrt(), e}
}

var twoOverRootPi = Wide(2).Div(PiDD.Sqrt())

// ErfDD returns the error function at x, by 2/√π·exp(-x²)·Σ 2ⁿx²ⁿ⁺¹/(1·3·5···(2n+1)), whose terms are all of one sign.
func ErfDD(x DD) Scaled {
	switch a := math.Abs(x.Hi); {
	case a < negligible:
		return twoOverRootPi.Plain().Times(x.Hi)
	case a > 9:
		return Wide(math.Copysign(1, x.Hi)).Plain()
	}
	z := x.Mul(x)
	sum, term := x, x
	for n := 1; math.Abs(term.Hi) > 0x1p-108*math.Abs(sum.Hi); n++ {
		term = term.Mul(z).Mul(oddReciprocals[n])
		sum = sum.Add(term)
	}
	e := ExpDD(z.Neg())
	return sum.Mul(twoOverRootPi).Mul(e.Ldexp(e.E)).Plain()
}

// oddReciprocals are 2/(2n+1).
var oddReciprocals = func() (r [600]DD) {
	for n := range r {
		r[n] = Wide(2).Div(Wide(float64(2*n + 1)))
	}
	return r
}()

// ErfcDD returns 1 - erf(x), to 2^-64 of its size at least: by subtraction up to 4, by the continued fraction beyond.
func ErfcDD(x DD) Scaled {
	if math.Abs(x.Hi) < negligible {
		return Wide(1).Plain()
	}
	if x.Hi < 4 {
		return Wide(1).Sub(ErfDD(x).DD).Plain()
	}
	if x.Hi > 50 {
		return Scaled{Wide(1), -1 << 20}
	}
	// The depth of the fraction matters so little that float64 serves there.
	deep := x.Hi
	for k := 60; k > 16; k-- {
		deep = x.Hi + float64(k)/2/deep
	}
	f := Wide(deep)
	for k := 16; k > 0; k-- {
		f = x.Add(Wide(float64(k) / 2).Div(f))
	}
	e := ExpDD(x.Mul(x).Neg())
	return Scaled{e.Mul(twoOverRootPi).Ldexp(-1).Div(f), e.E}
}
