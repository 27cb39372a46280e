package linalg

import "math"

// Mul3x3 writes the product a·b; dst may be a or b.
//
//go:noinline
func Mul3x3(dst, a, b *[9]float64) {
	var c [9]float64
	for i := 0; i < 9; i += 3 {
		x, y, z := a[i], a[i+1], a[i+2]
		c[i] = float64(x*b[0]) + float64(y*b[3]) + float64(z*b[6])
		c[i+1] = float64(x*b[1]) + float64(y*b[4]) + float64(z*b[7])
		c[i+2] = float64(x*b[2]) + float64(y*b[5]) + float64(z*b[8])
	}
	*dst = c
}

func transpose3(a *[9]float64) [9]float64 {
	return [9]float64{a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}
}

// norm1 returns the largest column sum of absolute values.
func norm1(a *[9]float64) float64 {
	h := 0.0
	for j := range 3 {
		h = max(h, math.Abs(a[j])+math.Abs(a[j+3])+math.Abs(a[j+6]))
	}
	return h
}

func fillNaN(m []float64) {
	for i := range m {
		m[i] = math.NaN()
	}
}

// Inverse3x3 writes the inverse of a and reports whether there is one that can be represented; otherwise dst is all NaN.
// dst may be a.
//
//   - Accuracy: error below 4e-16·cond of the norm, cond = ‖a‖·‖a⁻¹‖ after rows and columns of very different size have
//     been scaled alike.
//   - Formula: the adjugate over the determinant, each 2×2 minor by Det2x2's.
//
//go:noinline
func Inverse3x3(dst, a *[9]float64) bool {
	p := *a
	fillNaN(dst[:])
	row, col, ok := equilibrate(p[:], 3)
	if !ok {
		return false
	}
	q := adjugate(&p)
	det := detByRow(&p, &q)
	if det == 0 {
		return false
	}
	for i := range 3 {
		for j := range 3 {
			q[3*i+j] /= det
			if e := col[i] + row[j]; e != 0 {
				q[3*i+j] = math.Ldexp(q[3*i+j], -e)
			}
		}
	}
	if !allFinite(q[:]) {
		return false
	}
	*dst = q
	return true
}

// adjugate returns adj p, with p·adj p = det p·I.
func adjugate(p *[9]float64) [9]float64 {
	return [9]float64{
		sumOfProducts(p[4], p[8], -p[5], p[7]), sumOfProducts(p[2], p[7], -p[1], p[8]), sumOfProducts(p[1], p[5], -p[2], p[4]),
		sumOfProducts(p[5], p[6], -p[3], p[8]), sumOfProducts(p[0], p[8], -p[2], p[6]), sumOfProducts(p[2], p[3], -p[0], p[5]),
		sumOfProducts(p[3], p[7], -p[4], p[6]), sumOfProducts(p[1], p[6], -p[0], p[7]), sumOfProducts(p[0], p[4], -p[1], p[3]),
	}
}

// detByRow is det p from its adjugate q, in double-double where the three terms cancel.
func detByRow(p, q *[9]float64) float64 {
	x, y, z := p[0]*q[0], p[1]*q[3], p[2]*q[6]
	d := x + y + z
	if math.Abs(d) > 0.125*(math.Abs(x)+math.Abs(y)+math.Abs(z)) {
		return d
	}
	return detAccurate(p)
}

// Det3x3 returns the determinant of a. Its sign is right, and its relative error below 2⁻⁵², unless entries of a row
// differ by more than the range of float64. A singular matrix has determinant 0.
//
//   - Formula: expansion by minors in double-double arithmetic, and without any rounding where that cancels.
func Det3x3(a *[9]float64) float64 {
	return math.Ldexp(det3x3(a))
}

// det3x3 is det a = f·2ᵉ.
//
//go:noinline
func det3x3(a *[9]float64) (f float64, e int) {
	p := *a
	row, col, ok := equilibrate(p[:], 3)
	if !ok {
		return maxAbs(a[:]) * 0, 0 // 0, or NaN if a is not finite
	}
	return detAccurate(&p), row[0] + row[1] + row[2] + col[0] + col[1] + col[2]
}

// A dd is the unevaluated sum hi + lo of two float64, |lo| ≤ ulp(hi)/2: about 106 bits. The operations are those of
// T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18 (1971),
// 224-242, with a fused multiply-add for the error of a product.
type dd struct{ hi, lo float64 }

func ddProduct(x, y float64) dd {
	p := float64(x * y)
	return dd{p, math.FMA(x, y, -p)}
}

func ddSum(x, y float64) dd {
	s := x + y
	t := s - x
	return dd{s, (x - (s - t)) + (y - t)}
}

func (x dd) add(y dd) dd {
	s := ddSum(x.hi, y.hi)
	t := ddSum(x.lo, y.lo)
	s.lo += t.hi
	s = ddFast(s.hi, s.lo)
	return ddFast(s.hi, s.lo+t.lo)
}

func (x dd) mul(y dd) dd {
	p := ddProduct(x.hi, y.hi)
	return ddFast(p.hi, p.lo+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

// ddFast is ddSum for |x| ≥ |y|.
func ddFast(x, y float64) dd {
	s := x + y
	return dd{s, y - (s - x)}
}

func (x dd) scale(f float64) dd { return x.mul(dd{f, 0}) }

// ddMinor is ab - cd.
func ddMinor(a, b, c, d float64) dd { return ddProduct(a, b).add(ddProduct(-c, d)) }

// detDD is det p; the entries are of moderate size.
func detDD(p *[9]float64) dd {
	x := ddMinor(p[4], p[8], p[5], p[7]).scale(p[0])
	y := ddMinor(p[5], p[6], p[3], p[8]).scale(p[1])
	z := ddMinor(p[3], p[7], p[4], p[6]).scale(p[2])
	return x.add(y).add(z)
}

// detAccurate is det p; the entries are of moderate size. Where double-double arithmetic leaves nothing but its rounding, the products are
// added up exactly.
func detAccurate(p *[9]float64) float64 {
	x := ddMinor(p[4], p[8], p[5], p[7])
	y := ddMinor(p[5], p[6], p[3], p[8])
	z := ddMinor(p[3], p[7], p[4], p[6])
	d := x.scale(p[0]).add(y.scale(p[1])).add(z.scale(p[2])).hi
	terms := math.Abs(p[0])*(math.Abs(p[4]*p[8])+math.Abs(p[5]*p[7])) +
		math.Abs(p[1])*(math.Abs(p[5]*p[6])+math.Abs(p[3]*p[8])) + math.Abs(p[2])*(math.Abs(p[3]*p[7])+math.Abs(p[4]*p[6]))
	if math.Abs(d) > 0x1p-45*terms || d != d {
		return d
	}
	return detExact(p)
}

// detExact is det p, rounded once or twice. Each of the six products of three entries is the sum of four numbers, and
// an expansion takes the 24 as they come: its components do not overlap and grow in size, and their sum is exact; J. R.
// Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates, Discrete & Computational
// Geometry 18 (1997), 305-363, figure 6.
func detExact(p *[9]float64) float64 {
	var sum [25]float64
	n := 0
	grow := func(q float64) {
		for i := range n {
			s := ddSum(q, sum[i])
			q, sum[i] = s.hi, s.lo
		}
		sum[n] = q
		n++
	}
	for _, t := range [6][3]int{{0, 4, 8}, {1, 5, 6}, {2, 3, 7}, {0, 5, 7}, {1, 3, 8}, {2, 4, 6}} {
		m := ddProduct(p[t[0]], p[t[1]])
		f := p[t[2]]
		if t[1]%3 != (t[0]+1)%3 {
			f = -f // an odd permutation
		}
		hi, lo := ddProduct(m.hi, f), ddProduct(m.lo, f)
		grow(lo.lo)
		grow(hi.lo)
		grow(lo.hi)
		grow(hi.hi)
	}
	d := 0.0
	for _, v := range sum[:n] {
		d += v
	}
	return d
}
