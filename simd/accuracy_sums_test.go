package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// A sumTrial is one call of a function that adds up: its exact results, and by how much each may be off.
type sumTrial struct {
	call  func() []float64
	want  []testkit.DD
	bound []float64
	terms int
}

func (s *sumTrial) expect(want testkit.DD, bound float64) {
	s.want, s.bound = append(s.want, want), append(s.bound, bound)
}

// A sum is a sum in DD beside that of the sizes of its terms.
type sum struct {
	testkit.DD
	size float64
}

func (s *sum) add(term testkit.DD) {
	s.DD = s.Add(term)
	s.size += math.Abs(term.Hi)
}

func (s *sum) product(a, b float64) { s.add(testkit.Product(a, b)) }

// trialRow draws n numbers of sizes that are spread over up to 40 binary places.
func trialRow[T Float](rng *rand.Rand, n int) []T {
	spread := []float64{0, 8, 40}[rng.IntN(3)]
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64() * math.Exp2(spread*(rng.Float64()-0.5)))
	}
	return x
}

func trialLength(rng *rand.Rand) int { return 1 + int(math.Exp2(10*rng.Float64())) }

func wide[T Float](x []T) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// sumTrials are the functions with a bound relative to a sum of sizes.
func sumTrials[T Float]() map[string]func(rng *rand.Rand) *sumTrial {
	return map[string]func(rng *rand.Rand) *sumTrial{
		"sum, dot, sums of squares and magnitudes": trialReductions[T],
		"softmax, logsumexp":                       trialSoftmax[T], "weighted moments": trialMoments[T],
		"norm, its sums and gradient": trialNorm[T], "gemv": trialGemv[T], "gemm": trialGemm[T], "depthwise, pointconv": trialConv[T],
		"setconv": trialSetConv[T],
	}
}

func trialReductions[T Float](rng *rand.Rand) *sumTrial {
	n := trialLength(rng)
	x, y := trialRow[T](rng, n), trialRow[T](rng, n)
	var plain, dot, squares, magnitudes sum
	for i, v := range x {
		plain.add(testkit.Wide(float64(v)))
		dot.product(float64(v), float64(y[i]))
		squares.product(float64(v), float64(v))
		magnitudes.add(testkit.Wide(math.Abs(float64(v))))
	}
	s := &sumTrial{terms: n, call: func() []float64 {
		got := []float64{Sum(x), Dot(x, y), SumSq(x), SumAbs(x)}
		if x, ok := any(x).([]float32); ok {
			got = append(got, float64(DotSingleF32(x, any(y).([]float32))))
		}
		return got
	}}
	places := 68 + math.Log2(float64(n))
	products := places
	if eps[T]() < 0x1p-50 {
		products++ // which are rounded themselves
	}
	s.expect(plain.DD, places*0x1p-53*plain.size)
	s.expect(dot.DD, products*0x1p-53*dot.size)
	s.expect(squares.DD, products*0x1p-53*squares.size)
	s.expect(magnitudes.DD, places*0x1p-53*magnitudes.size)
	if eps[T]() > 0x1p-50 {
		s.expect(dot.DD, float64(n+8)*0x1p-24*dot.size)
	}
	return s
}

func trialSoftmax[T Float](rng *rand.Rand) *sumTrial {
	n := 1 + int(math.Exp2(6*rng.Float64()))
	x := make([]T, n)
	size, shift := math.Exp2(12*rng.Float64()-4), 1000*rng.NormFloat64()
	for i := range x {
		x[i] = T(size*rng.NormFloat64() + shift)
	}
	_, most := MinMax(x)
	e := make([]testkit.DD, n)
	var total testkit.DD
	off := 0.0 // what rounding of the differences changes in the total
	for i, v := range x {
		d := testkit.Sum(float64(v), -float64(most))
		s := testkit.ExpDD(d)
		e[i] = s.Ldexp(s.E)
		total = total.Add(e[i])
		off += e[i].Hi * math.Abs(d.Hi) * eps[T]() / 2
	}
	off /= total.Hi
	addition := 0. // what float64 loses in the sum
	if eps[T]() < 0x1p-50 {
		addition = (68 + math.Log2(float64(n))) * 0x1p-53
	}
	s := &sumTrial{terms: n}
	least := math.SmallestNonzeroFloat64
	if eps[T]() > 0x1p-50 {
		least = math.SmallestNonzeroFloat32
	}
	for i, v := range x {
		p := e[i].Div(total)
		ulp := max(math.Exp2(math.Floor(math.Log2(p.Hi)))*eps[T](), least)
		s.expect(p, 4*ulp+p.Hi*(addition+off+math.Abs(float64(v)-float64(most))*eps[T]()/2))
	}
	l := testkit.LogDD(total).Add(testkit.Wide(float64(most)))
	s.expect(l, 2*eps[T]()+addition+off+0x1p-53*math.Abs(l.Hi))
	s.call = func() []float64 {
		got := make([]T, n)
		Softmax(got, x, n)
		return append(wide(got), LogSumExp(x))
	}
	return s
}

func trialMoments[T Float](rng *rand.Rand) *sumTrial {
	rows, c := trialLength(rng), 1+rng.IntN(20)
	x := trialRow[T](rng, rows*c)
	shift := T(math.Exp2(20*rng.Float64()) * rng.NormFloat64())
	for i := range x {
		x[i] += shift
	}
	weight := make([]int32, rows)
	for i := range weight {
		weight[i] = int32(1 + rng.IntN(4))
	}
	s := &sumTrial{terms: rows * c}
	for j := range c {
		var total, most float64
		var sum testkit.DD
		for i, w := range weight {
			v := float64(x[i*c+j])
			total, sum = total+float64(w), sum.Add(testkit.Product(float64(w), v))
			most = max(most, math.Abs(v-float64(x[j])))
		}
		m := sum.Div(testkit.Wide(total))
		s.expect(m, float64(rows)*0x1p-53*most+0x1p-52*math.Abs(m.Hi))
	}
	s.call = func() []float64 {
		mean, variance := make([]float64, c), make([]float64, c)
		WeightedMoments(mean, variance, x, weight, c)
		return mean
	}
	return s
}

func trialNorm[T Float](rng *rand.Rand) *sumTrial {
	rows, c := trialLength(rng), 1+rng.IntN(20)
	u := eps[T]() / 2
	mean, low := trialRow[T](rng, c), make([]T, c)
	shift := T(math.Exp2(12 * rng.Float64()))
	for j := range mean {
		mean[j] *= shift
		low[j] = mean[j] * T(u*(rng.Float64()-0.5)) // the remainder of the rounded mean
	}
	x, dz := trialRow[T](rng, rows*c), trialRow[T](rng, rows*c)
	for i := range x {
		x[i] += mean[i%c]
	}
	a, b, q := trialRow[T](rng, c), trialRow[T](rng, c), trialRow[T](rng, c)
	weight := make([]int32, rows)
	for i := range weight {
		weight[i] = int32(rng.IntN(1000))
	}
	s := &sumTrial{terms: rows * c}
	sums, sumsX := make([]sum, c), make([]sum, c)
	var norm, grad []sum
	for i := range x {
		j := i % c
		d := testkit.Sum(float64(x[i]), -float64(mean[j])).Sub(testkit.Wide(float64(low[j])))
		y := sum{}
		y.add(d.Mul(testkit.Wide(float64(a[j]))))
		y.add(testkit.Wide(float64(b[j])))
		norm = append(norm, y)
		sums[j].add(testkit.Wide(float64(dz[i])))
		sumsX[j].add(d.Mul(testkit.Wide(float64(dz[i]))))
		g, w := sum{}, -float64(weight[i/c])
		g.product(float64(a[j]), float64(dz[i]))
		g.product(w, float64(b[j]))
		g.add(d.Mul(testkit.Product(w, float64(q[j]))))
		grad = append(grad, g)
	}
	for _, part := range []struct {
		of     []sum
		places float64
	}{{norm, 4}, {grad, 6}, {sums, 68}, {sumsX, 68}} {
		for _, v := range part.of {
			s.expect(v.DD, part.places*u*v.size)
		}
	}
	s.call = func() []float64 {
		y, dx, sum, sumX := make([]T, rows*c), make([]T, rows*c), make([]float64, c), make([]float64, c)
		Norm(y, x, mean, low, a, b, c)
		NormGrad(dx, dz, x, weight, mean, low, a, b, q, c)
		NormSums(sum, sumX, dz, x, mean, low, c)
		return append(append(append(wide(y), wide(dx)...), sum...), sumX...)
	}
	return s
}

func trialGemv[T Float](rng *rand.Rand) *sumTrial {
	m, n := 1+rng.IntN(20), trialLength(rng)
	a, x, xt, y, yt := trialRow[T](rng, m*n), trialRow[T](rng, n), trialRow[T](rng, m), trialRow[T](rng, m), trialRow[T](rng, n)
	alpha, beta := T(rng.NormFloat64()), T(rng.IntN(2))*T(rng.NormFloat64())
	s := &sumTrial{terms: 2 * m * n}
	expect := func(n, k int, a func(i, j int) T, x, y []T) {
		for i := range n {
			var ax sum
			for j, v := range x {
				ax.product(float64(a(i, j)), float64(v))
			}
			by := testkit.Product(float64(beta), float64(y[i]))
			s.expect(ax.Mul(testkit.Wide(float64(alpha))).Add(by), float64(k+8)*eps[T]()*(math.Abs(float64(alpha))*ax.size+math.Abs(by.Hi)))
		}
	}
	expect(m, n, func(i, j int) T { return a[i*n+j] }, x, y)
	expect(n, m, func(j, i int) T { return a[i*n+j] }, xt, yt)
	s.call = func() []float64 {
		got, gotT := append([]T(nil), y...), append([]T(nil), yt...)
		Gemv(got, a, n, x, alpha, beta, m, n)
		GemvT(gotT, a, n, xt, alpha, beta, m, n)
		return append(wide(got), wide(gotT)...)
	}
	if eps[T]() > 0x1p-50 {
		trialDistances(s, any(a).([]float32), any(x).([]float32))
	}
	return s
}

// trialDistances adds the distances of the rows of a to x, which exist in float32 alone.
func trialDistances(s *sumTrial, a, x []float32) {
	n := len(x)
	bound := float64(n+8) * 0x1p-23
	var squares, absolute, cosines []testkit.DD
	for lo := 0; lo < len(a); lo += n {
		var square, abs, dot, aa, xx testkit.DD
		for j, v := range a[lo:][:n] {
			av, xv := float64(v), float64(x[j])
			d := testkit.Sum(av, -xv)
			square, abs, dot = square.Add(d.Mul(d)), abs.Add(d.Mul(testkit.Wide(math.Copysign(1, d.Hi)))), dot.Add(testkit.Product(av, xv))
			aa, xx = aa.Add(testkit.Product(av, av)), xx.Add(testkit.Product(xv, xv))
		}
		squares, absolute, cosines = append(squares, square), append(absolute, abs), append(cosines, dot.Div(aa.Sqrt().Mul(xx.Sqrt())))
	}
	for i := range squares {
		s.expect(squares[i], bound*squares[i].Hi)
		s.expect(absolute[i], bound*absolute[i].Hi)
		s.expect(cosines[i], bound)
	}
	before := s.call
	s.call = func() []float64 {
		got := before()
		l2, l1, cos := make([]float32, len(squares)), make([]float32, len(squares)), make([]float32, len(squares))
		SquaredL2RowsF32(l2, a, n, x)
		L1RowsF32(l1, a, n, x)
		CosineRowsF32(cos, a, n, x)
		for i := range l2 {
			got = append(got, float64(l2[i]), float64(l1[i]), float64(cos[i]))
		}
		return got
	}
}

func trialGemm[T Float](rng *rand.Rand) *sumTrial {
	m, n, k := 1+rng.IntN(20), 1+rng.IntN(70), trialLength(rng)
	a, b, c := trialRow[T](rng, m*k), trialRow[T](rng, k*n), trialRow[T](rng, m*n)
	alpha, beta := T(rng.NormFloat64()), T(rng.IntN(2))*T(rng.NormFloat64())
	s := &sumTrial{terms: m * n * k}
	var product, packed []sum
	for i := range m {
		for j := range n {
			var ab sum
			for l := range k {
				ab.product(float64(a[i*k+l]), float64(b[l*n+j]))
			}
			p := ab
			p.add(testkit.Wide(float64(c[j])))
			packed = append(packed, p)
			bc := testkit.Product(float64(beta), float64(c[i*n+j]))
			product = append(product, sum{ab.Mul(testkit.Wide(float64(alpha))).Add(bc), math.Abs(float64(alpha))*ab.size + math.Abs(bc.Hi)})
		}
	}
	for _, v := range append(append(append(product, product...), product...), packed...) {
		s.expect(v.DD, float64(k+8)*eps[T]()*v.size)
	}
	at, bt := make([]T, m*k), make([]T, k*n)
	for i := range at {
		at[i%k*m+i/k] = a[i]
	}
	for i := range bt {
		bt[i%n*k+i/n] = b[i]
	}
	s.call = func() (all []float64) {
		for _, f := range []func(got []T){
			func(got []T) { Gemm(got, n, a, k, b, n, alpha, beta, m, n, k) },
			func(got []T) { GemmTN(got, n, at, m, b, n, alpha, beta, m, n, k) },
			func(got []T) { GemmNT(got, n, a, k, bt, k, alpha, beta, m, n, k) },
			func(got []T) { GemmPacked(got, n, a, k, Pack(b, n, k, n), c[:n], ActNone, m) },
		} {
			got := append([]T(nil), c...)
			f(got)
			all = append(all, wide(got)...)
		}
		return all
	}
	return s
}

func trialConv[T Float](rng *rand.Rand) *sumTrial {
	rows, points, poses, c := 1+rng.IntN(8), 1+rng.IntN(40), 1+rng.IntN(20), 1+rng.IntN(40)
	cm := 1 + rng.IntN(min(c, 5))
	offsets := []int{0}
	var index, pose []int32
	for range rows {
		for range rng.IntN(60) {
			index, pose = append(index, int32(rng.IntN(points))), append(pose, int32(rng.IntN(poses)))
		}
		offsets = append(offsets, len(index))
	}
	f, w := trialRow[T](rng, points*c), trialRow[T](rng, poses*c)
	s := &sumTrial{terms: len(index) * c * (1 + cm)}
	var outer []sum
	for i := range rows {
		lo, hi := offsets[i], offsets[i+1]
		for j := range c {
			var d sum
			p := make([]sum, cm)
			for k := lo; k < hi; k++ {
				v := float64(f[int(index[k])*c+j])
				d.product(v, float64(w[int(pose[k])*c+j]))
				for b := range p {
					p[b].product(v, float64(w[int(pose[k])*cm+b]))
				}
			}
			pairs := float64(max(hi-lo, 1))
			s.expect(d.Div(testkit.Wide(pairs)), float64(hi-lo+8)*eps[T]()*d.size/pairs)
			outer = append(outer, p...)
		}
	}
	for i, p := range outer {
		row := i / (c * cm)
		s.expect(p.DD, float64(offsets[row+1]-offsets[row]+8)*eps[T]()*p.size)
	}
	s.call = func() []float64 {
		out, p := make([]T, rows*c), make([]T, rows*c*cm)
		Depthwise(out, f, w, offsets, index, pose, c, true)
		PointConv(p, f, w[:poses*cm:poses*cm], offsets, index, pose, c, cm)
		return append(wide(out), wide(p)...)
	}
	return s
}

func trialSetConv[T Float](rng *rand.Rand) *sumTrial {
	targets, points, d, c := 1+rng.IntN(8), 1+rng.IntN(100), 1+rng.IntN(3), 1+rng.IntN(8)
	t, x, phi := trialRow[float64](rng, targets*d), trialRow[float64](rng, points*d), trialRow[T](rng, points*c)
	gamma, scale := math.Exp2(10*rng.Float64()-6), math.Exp(rng.NormFloat64())
	s := &sumTrial{terms: targets * points * c}
	places := 1.
	if eps[T]() < 0x1p-50 { // the distances themselves are rounded in float64
		places = float64(d+3) / 2
	}
	for m := range targets {
		h := make([]sum, c)
		most := 0.0
		for n := range points {
			var dist2 testkit.DD
			for k := range d {
				v := testkit.Sum(t[m*d+k], -x[n*d+k])
				dist2 = dist2.Add(v.Mul(v))
			}
			arg := dist2.Mul(testkit.Wide(-gamma))
			e := testkit.ExpDD(arg)
			most = max(most, -arg.Hi)
			if e.E < -900 {
				continue
			}
			for j := range h {
				h[j].add(e.Ldexp(e.E).Mul(testkit.Product(scale, float64(phi[n*c+j]))))
			}
		}
		for j := range h {
			// Exponentials below the smallest numbers are 0.
			s.expect(h[j].DD, (float64(points+8)+places*most)*eps[T]()*h[j].size+scale*float64(points)*0x1p-120)
		}
	}
	s.call = func() []float64 {
		h := make([]T, targets*c)
		SetConv(h, t, x, phi, d, c, gamma, scale)
		return wide(h)
	}
	return s
}

// TestSumsAccuracy holds what adds up to its documented bound at every level, for sums of 10,000 terms or of as many as -trial says.
func TestSumsAccuracy(t *testing.T) {
	t.Run("F32", testSumsAccuracy[float32])
	t.Run("F64", testSumsAccuracy[float64])
}

func testSumsAccuracy[T Float](t *testing.T) {
	for name, f := range sumTrials[T]() {
		rng := testkit.Rand(77)
		worst := map[Level]float64{}
		for n := 0; n < trials(); {
			s := f(rng)
			n += s.terms
			eachLevelQuietly(t, func(l Level) {
				for i, got := range s.call() {
					off := math.Abs(s.want[i].Sub(testkit.Wide(got)).Hi)
					if e := off / s.bound[i]; off != 0 && !(e <= worst[l]) {
						if worst[l] = e; !(e <= 1) {
							t.Errorf("level=%v: %s: result %d of %d: %g, want %g, off by %g of its bound", l, name, i, len(s.want), got,
								s.want[i].Hi, e)
						}
					}
				}
			})
		}
		var row strings.Builder
		for _, l := range Levels() {
			fmt.Fprintf(&row, " %s %.4f |", l, worst[l])
		}
		t.Logf("| %s | %T |%s", name, T(0), row.String())
	}
}
