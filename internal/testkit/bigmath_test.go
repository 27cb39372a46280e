package testkit

import "math/big"

// A slow reference for float64 functions: Taylor series in 256-bit arithmetic, right to far more digits than float64 has.

const bigPrec = 256

func bigf(x float64) *big.Float { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }
func bigNew() *big.Float        { return new(big.Float).SetPrec(bigPrec) }

func bigAdd(x, y *big.Float) *big.Float { return bigNew().Add(x, y) }
func bigSub(x, y *big.Float) *big.Float { return bigNew().Sub(x, y) }
func bigMul(x, y *big.Float) *big.Float { return bigNew().Mul(x, y) }
func bigQuo(x, y *big.Float) *big.Float { return bigNew().Quo(x, y) }
func bigNeg(x *big.Float) *big.Float    { return bigNew().Neg(x) }

// tiny reports whether adding x to y changes nothing.
func tiny(x, y *big.Float) bool {
	return x.Sign() == 0 || (y.Sign() != 0 && x.MantExp(nil) < y.MantExp(nil)-bigPrec-8)
}

// bigExp halves x until it is small, sums the series and squares back.
func bigExp(x *big.Float) *big.Float {
	const halvings = 24
	r := bigNew().SetMantExp(x, -halvings)
	sum, term := bigf(1), bigf(1)
	for k := 1; !tiny(term, sum); k++ {
		term = bigQuo(bigMul(term, r), bigf(float64(k)))
		sum = bigAdd(sum, term)
	}
	for range halvings {
		sum = bigMul(sum, sum)
	}
	return sum
}

// bigLog is Newton's iteration on bigExp, after the exponent is split off.
func bigLog(x *big.Float) *big.Float {
	m := bigNew()
	e := x.MantExp(m)
	y := bigLogNear1(m)
	if e != 0 {
		y = bigAdd(y, bigMul(bigf(float64(e)), bigNeg(bigLogNear1(bigf(0.5)))))
	}
	return y
}

// bigLogNear1 is 2·artanh((x-1)/(x+1)) for x in [1/2, 1].
func bigLogNear1(x *big.Float) *big.Float {
	z := bigQuo(bigSub(x, bigf(1)), bigAdd(x, bigf(1)))
	return bigMul(bigf(2), bigOdd(z, 1))
}

// bigOdd sums z + s·z³/3 + z⁵/5 + s·z⁷/7 ...: artanh for s = 1, arctan for s = -1.
func bigOdd(z *big.Float, s float64) *big.Float {
	z2 := bigMul(bigMul(z, z), bigf(s))
	sum, power := bigNew().Set(z), bigNew().Set(z)
	for k := 3; ; k += 2 {
		power = bigMul(power, z2)
		term := bigQuo(power, bigf(float64(k)))
		if tiny(term, sum) {
			return sum
		}
		sum = bigAdd(sum, term)
	}
}

// bigAtan halves the argument by atan(x) = 2·atan(x/(1+sqrt(1+x²))) until the series is short.
func bigAtan(x *big.Float) *big.Float {
	const halvings = 8
	z := bigNew().Set(x)
	for range halvings {
		root := bigNew().Sqrt(bigAdd(bigf(1), bigMul(z, z)))
		z = bigQuo(z, bigAdd(bigf(1), root))
	}
	return bigNew().SetMantExp(bigOdd(z, -1), halvings)
}

var bigPi = bigMul(bigf(4), bigAtan(bigf(1)))

// bigAtan2 is the angle of a point off the axes.
func bigAtan2(y, x *big.Float) *big.Float {
	a := bigAtan(bigQuo(y, x))
	switch {
	case x.Sign() > 0:
		return a
	case y.Sign() > 0:
		return bigAdd(a, bigPi)
	}
	return bigSub(a, bigPi)
}

// bigSinCos subtracts whole turns of π/2 (256 bits leave enough digits for |x| below 2^60) and sums both series.
func bigSinCos(x *big.Float) (sin, cos *big.Float) {
	half := bigMul(bigPi, bigf(0.5))
	q, _ := bigAdd(bigQuo(x, half), bigf(0.5)).Int(nil)
	if x.Sign() < 0 {
		q, _ = bigSub(bigQuo(x, half), bigf(0.5)).Int(nil)
	}
	r := bigSub(x, bigMul(bigNew().SetInt(q), half))
	sin, cos = bigTrig(r, 1), bigTrig(r, 0)
	switch new(big.Int).And(q, big.NewInt(3)).Int64() {
	case 1:
		return cos, bigNeg(sin)
	case 2:
		return bigNeg(sin), bigNeg(cos)
	case 3:
		return bigNeg(cos), sin
	}
	return sin, cos
}

// bigTrig sums the series of sine (start 1) or cosine (start 0).
func bigTrig(r *big.Float, start int) *big.Float {
	term := bigf(1)
	if start == 1 {
		term = bigNew().Set(r)
	}
	sum := bigNew().Set(term)
	for k := start; ; k += 2 {
		term = bigNeg(bigQuo(bigMul(bigMul(term, r), r), bigf(float64((k+1)*(k+2)))))
		if tiny(term, sum) {
			return sum
		}
		sum = bigAdd(sum, term)
	}
}
