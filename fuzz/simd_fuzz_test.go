// Package fuzz holds the fuzz targets that cross packages. Each also runs its seeds in an ordinary test.
package fuzz

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/equivcnp/equivcnp/internal/search"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// floats32 reads as many float32 as the bytes hold.
func floats32(b []byte) []float32 {
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}

// wrap repeats x until it has n elements; no elements repeat as zeros.
func wrap[T float32 | float64](x []T, n int) []T {
	y := make([]T, n)
	for i := range y {
		if len(x) > 0 {
			y[i] = x[i%len(x)]
		}
	}
	return y
}

// atLevels runs f at every level of this machine.
func atLevels(t *testing.T, f func(level simd.Level)) {
	before := simd.CurrentLevel()
	defer func() {
		if err := simd.SetLevel(before); err != nil {
			t.Fatal(err)
		}
	}()
	for _, l := range simd.Levels() {
		if err := simd.SetLevel(l); err != nil {
			t.Fatal(err)
		}
		f(l)
	}
}

// seedBytes are awkward numbers in runs that bracket vector widths.
func seedBytes() [][]byte {
	var seeds [][]byte
	edges := testkit.Edges[float32]()
	for _, n := range []int{0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, len(edges)} {
		var b []byte
		for _, v := range edges[:n] {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		seeds = append(seeds, b)
	}
	return seeds
}

// FuzzVectorF32 compares the elementwise functions with float64 arithmetic, 2 ULP apart at most, on any bit patterns.
func FuzzVectorF32(f *testing.F) {
	for _, b := range seedBytes() {
		f.Add(b)
	}
	sigmoid := func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	}
	functions := []struct {
		name string
		run  func(dst, x []float32)
		want func(x float64) float64
	}{
		{"exp", simd.ExpF32, math.Exp},
		{"log", simd.LogF32, math.Log},
		{"sigmoid", simd.SigmoidF32, sigmoid},
		{"swish", simd.SwishF32, func(x float64) float64 {
			if math.IsInf(x, -1) {
				return 0 // the limit
			}
			return x * sigmoid(x)
		}},
		{"softplus", simd.SoftplusF32, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
		{"relu", simd.ReLUF32, func(x float64) float64 { return max(x, 0) }},
		{"tanh", simd.TanhF32, math.Tanh},
		{"erf", simd.ErfF32, math.Erf},
		{"gelu", simd.GELUF32, func(x float64) float64 {
			if x < -1e3 {
				return 0 // the limit
			}
			return 0.5 * x * math.Erfc(-x/math.Sqrt2)
		}},
		{"expm1", simd.Expm1F32, math.Expm1},
		{"log1p", simd.Log1pF32, math.Log1p},
		{"power of 3", func(dst, x []float32) { simd.PowF32(dst, wrap([]float32{3}, len(x)), x) },
			func(x float64) float64 { return math.Pow(3, x) }},
		{"power -1.5", func(dst, x []float32) { simd.PowF32(dst, x, wrap([]float32{-1.5}, len(x))) },
			func(x float64) float64 { return math.Pow(x, -1.5) }},
		{"floor", simd.FloorF32, math.Floor},
		{"sin", func(dst, x []float32) { simd.SinCosF32(dst, make([]float32, len(x)), x) }, math.Sin},
		{"cos", func(dst, x []float32) { simd.SinCosF32(make([]float32, len(x)), dst, x) }, math.Cos},
		{"hypot with 3", func(dst, x []float32) { simd.HypotF32(dst, x, wrap([]float32{3}, len(x))) },
			func(x float64) float64 { return math.Sqrt(x*x + 9) }},
		{"atan2 over 3", func(dst, x []float32) { simd.Atan2F32(dst, x, wrap([]float32{3}, len(x))) },
			func(x float64) float64 { return math.Atan2(x, 3) }},
		{"atan2 under 3", func(dst, x []float32) { simd.Atan2F32(dst, wrap([]float32{3}, len(x)), x) },
			func(x float64) float64 { return math.Atan2(3, x) }},
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := floats32(b)
		got := make([]float32, len(x))
		atLevels(t, func(level simd.Level) {
			for _, fn := range functions {
				fn.run(got, x)
				for i, v := range x {
					if e := testkit.ULP32(got[i], fn.want(float64(v))); !(e <= 2) {
						t.Errorf("level=%v: %s(%g) = %g, off by %g ULP (bits %#x, element %d of %d)",
							level, fn.name, v, got[i], e, math.Float32bits(v), i, len(x))
					}
				}
			}
		})
	})
}

// agree compares got with a float64 sum of `terms` terms whose magnitudes add up to size. If the exact sum is beyond what
// float32 partial sums can hold, or not finite, nothing is compared but that NaN does not become a number.
func agree(got float32, sum, size float64, terms int) bool {
	if sum != sum {
		return got != got
	}
	if math.IsInf(size, 0) || size >= math.MaxFloat32/2 {
		return true
	}
	// 2^-149 per term: products may be subnormal.
	return math.Abs(float64(got)-sum) <= float64(terms+8)*(0x1p-23*size+0x1p-149)
}

// FuzzGemmF32 compares the matrix products with float64 sums on any shape and bit patterns.
func FuzzGemmF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint8(i), uint8(2*i), uint8(i*i), uint8(i), i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, bytes []byte, um, un, uk, gap uint8, swish bool) {
		m, n, k := int(um%10), int(un%40), int(uk%140)
		x := floats32(bytes)
		ld := k + int(gap%5)
		a := wrap(x, m*ld)
		bt := wrap(x, n*ld) // [n, k], so that both factors have rows of length k
		b, at := make([]float32, k*n), make([]float32, k*m)
		for p := range k {
			for j := range n {
				b[p*n+j] = bt[j*ld+p]
			}
			for i := range m {
				at[p*m+i] = a[i*ld+p]
			}
		}
		act := simd.ActNone
		if swish {
			act = simd.ActSwish
		}
		c := make([]float32, m*n)
		atLevels(t, func(level simd.Level) {
			check := func(name string) {
				t.Helper()
				for i := range m {
					for j := range n {
						sum, size := 0.0, 0.0
						for p := range k {
							v := float64(a[i*ld+p]) * float64(bt[j*ld+p])
							sum, size = sum+v, size+math.Abs(v)
						}
						if !agree(c[i*n+j], sum, size, k) {
							t.Fatalf("level=%v: %s m=%d n=%d k=%d: C[%d,%d] = %g, want %g", level, name, m, n, k, i, j, c[i*n+j], sum)
						}
					}
				}
			}
			simd.GemmF32(c, n, a, ld, b, n, 1, 0, m, n, k)
			check("Gemm")
			simd.GemmTNF32(c, n, at, m, b, n, 1, 0, m, n, k)
			check("GemmTN")
			simd.GemmNTF32(c, n, a, ld, bt, ld, 1, 0, m, n, k)
			check("GemmNT")
			packed := simd.PackTransposed(bt, ld, k, n)
			simd.GemmPackedF32(c, n, a, ld, packed, nil, simd.ActNone, m)
			check("GemmPacked")
			want := append([]float32(nil), c...)
			if act == simd.ActSwish {
				simd.SwishF32(want, want)
			}
			simd.GemmPackedF32(c, n, a, ld, packed, nil, act, m)
			if !testkit.SameBits(c, want) {
				t.Fatalf("level=%v: the activation within GemmPacked differs from its own kernel", level)
			}
		})
	})
}

// FuzzWeightNetF32 compares three layers with float64 arithmetic on any widths and bit patterns, as far as the numbers stay
// moderate, and one call with calls row by row on all.
func FuzzWeightNetF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint8(i), uint8(2*i), uint8(3*i), uint8(5*i), uint8(7*i))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, urows, u0, u1, u2, u3 uint8) {
		rows, widths := int(urows%70), [4]int{int(u0 % 7), int(u1 % 40), int(u2 % 40), int(u3 % 70)}
		x := floats32(bytes)
		var net [3]simd.Dense[float32]
		var w [3][]float32
		for i := range net {
			k, n := widths[i], widths[i+1]
			w[i] = wrap(x, k*n)
			net[i] = simd.Dense[float32]{B: simd.Pack(w[i], n, k, n), Bias: wrap(x, n)}
		}
		in, out := widths[0], widths[3]
		pose := wrap(x, rows*in)
		scratch := make([]float32, simd.WeightNetScratch(&net))
		dst, single := make([]float32, rows*out), make([]float32, out)
		atLevels(t, func(level simd.Level) {
			simd.WeightNetF32(dst, pose, &net, rows, scratch)
			for r := range rows {
				row := dst[r*out:][:out]
				simd.WeightNetF32(single, pose[r*in:][:in], &net, 1, scratch)
				if !testkit.SameBits(row, single) {
					t.Fatalf("level=%v: row %d of %d with widths %v differs from the same row alone", level, r, rows, widths)
				}
				// Bounds travel with the values: a layer's own rounding, and what it makes of errors before it.
				h, e := make([]float64, in), make([]float64, in)
				for i := range h {
					h[i] = float64(pose[r*in+i])
				}
				moderate := true
				for l := range net {
					k, n := widths[l], widths[l+1]
					y, bound := make([]float64, n), make([]float64, n)
					for j := range n {
						sum := float64(net[l].Bias[j])
						size, carried := math.Abs(sum), 0.0
						for p := range k {
							v := float64(w[l][p*n+j])
							sum, size, carried = sum+h[p]*v, size+math.Abs(h[p]*v), carried+math.Abs(v)*e[p]
						}
						moderate = moderate && size+carried < 1e15
						y[j] = sum / (1 + math.Exp(-sum))
						bound[j] = 1.1*(carried+float64(k+10)*(0x1p-23*size+0x1p-149)) + 0x1p-21*math.Abs(y[j]) + 0x1p-56
					}
					h, e = y, bound
				}
				for j := range h {
					if moderate && !(math.Abs(float64(row[j])-h[j]) <= e[j]) {
						t.Fatalf("level=%v widths=%v: dst[%d,%d] = %g, want %g ± %g", level, widths, r, j, row[j], h[j], e[j])
					}
				}
			}
		})
	})
}

// FuzzGatherF32 compares Depthwise and PointConv with float64 sums on any neighbourhood and bit patterns.
func FuzzGatherF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{0, 1, 2, 3, 200, 77, 5}, uint8(i), uint8(3*i), i%2 == 0)
		f.Add(b, make([]byte, 40), uint8(64+i%6), uint8(i), i%2 == 1) // rows with the same poses, computed together
	}
	f.Fuzz(func(t *testing.T, bytes, shape []byte, uc, ucm uint8, mean bool) {
		const points, poses = 5, 3
		c, cm := int(uc%70), int(ucm%20)
		x := floats32(bytes)
		feat, w, wm := wrap(x, points*c), wrap(x, poses*c), wrap(x, poses*cm)
		// Each byte is a pair; one of eight begins a new row.
		offsets := []int{0}
		var index, pose []int32
		for _, s := range shape[:min(len(shape), 100)] {
			if s%8 == 0 {
				offsets = append(offsets, len(index))
			}
			index, pose = append(index, int32(s%points)), append(pose, int32(s/8%poses))
		}
		offsets = append(offsets, len(index))
		rows := len(offsets) - 1
		out, p := make([]float32, rows*c), make([]float32, rows*c*cm)
		atLevels(t, func(level simd.Level) {
			simd.DepthwiseF32(out, feat, w, offsets, index, pose, c, mean)
			simd.PointConvF32(p, feat, wm, offsets, index, pose, c, cm)
			for i := range rows {
				lo, hi := offsets[i], offsets[i+1]
				for a := range c {
					sum, size, n := 0.0, 0.0, 1.0
					for k := lo; k < hi; k++ {
						v := float64(feat[int(index[k])*c+a]) * float64(w[int(pose[k])*c+a])
						sum, size = sum+v, size+math.Abs(v)
					}
					if mean {
						n = float64(max(1, hi-lo))
					}
					if size < math.MaxFloat32/2 || sum != sum { // before the division
						if !agree(out[i*c+a], sum/n, size/n, hi-lo) {
							t.Fatalf("level=%v: Depthwise c=%d mean=%v: out[%d,%d] = %g, want %g", level, c, mean, i, a, out[i*c+a], sum/n)
						}
					}
					for b := range cm {
						sum, size := 0.0, 0.0
						for k := lo; k < hi; k++ {
							v := float64(feat[int(index[k])*c+a]) * float64(wm[int(pose[k])*cm+b])
							sum, size = sum+v, size+math.Abs(v)
						}
						if got := p[(i*c+a)*cm+b]; !agree(got, sum, size, hi-lo) {
							t.Fatalf("level=%v: PointConv ci=%d cm=%d: p[%d,%d,%d] = %g, want %g", level, c, cm, i, a, b, got, sum)
						}
					}
				}
			}
		})
	})
}

// FuzzSmallest compares the smallest pairs with those of a sort, for distances of any bit patterns that are distances,
// and numbers with ties.
func FuzzSmallest(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint16(i*i), uint8(4*i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, un uint16, uk, ties uint8) {
		n, k := int(un%300), int(uk%70)
		type pair struct {
			d float32
			j int32
		}
		pairs, dist2, index := make([]pair, n), testkit.CopyAtEnd(t, wrap(floats32(bytes), n)), testkit.AtEnd[int32](t, n)
		for i, d := range dist2 {
			if d != d {
				d = 1
			}
			dist2[i] = float32(math.Abs(float64(d)))
			index[i] = int32(uint32(i) * 0x9e3779b9 >> 1 >> (ties % 31))
			pairs[i] = pair{dist2[i], index[i]}
		}
		slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.j, b.j)) })
		want := min(n, k)
		atLevels(t, func(level simd.Level) {
			outIndex, outDist2 := testkit.AtEnd[int32](t, want+search.Slack), testkit.AtEnd[float32](t, want+search.Slack)
			if got := search.Smallest(outIndex, outDist2, index, dist2, k); got != want {
				t.Fatalf("level=%v n=%d k=%d: %d pairs, want %d", level, n, k, got, want)
			}
			for i, p := range pairs[:want] {
				if outIndex[i] != p.j || outDist2[i] != p.d {
					t.Errorf("level=%v n=%d k=%d: pair %d is (%v, %d), want (%v, %d)", level, n, k, i, outDist2[i], outIndex[i], p.d, p.j)
				}
			}
		})
	})
}

// FuzzWithin compares the kernels that keep points within a radius at every level with the portable ones, for
// coordinates of any bit patterns.
func FuzzWithin(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint16(i*i), uint8(i), 0.5)
	}
	f.Fuzz(func(t *testing.T, bytes []byte, un uint16, form uint8, r float64) {
		n, d := int(un%300), 2
		if form %= 6; form < 3 {
			d = int(form) + 1
		}
		x, label := testkit.CopyAtEnd(t, wrap(floats64(bytes), n*d)), testkit.AtEnd[int32](t, n)
		u := wrap(floats64(bytes), n*d+d)[n*d:]
		if n > 0 { // a point of the set, so that something is near
			for c := range u {
				u[c] = x[c*n+n/2]
			}
		}
		for j := range label {
			label[j] = int32(3*j + 1)
		}
		var bits []uint64
		if form%2 == 1 && len(bytes) > 0 {
			bits = make([]uint64, (n+63)/64)
			for w := range bits {
				bits[w] = uint64(bytes[w%len(bytes)]) * 0x9e3779b97f4a7c15
			}
		}
		var want []int32
		atLevels(t, func(level simd.Level) {
			index, kept := testkit.AtEnd[int32](t, n), 0
			switch form {
			case 3:
				kept = search.WithinRigid(index, label, bits, x, u, []float64{0.6, -0.9}, 0.1, 0.2, r)
			case 4:
				kept = search.WithinPolar(index, label, bits, x, u, 0.0005, 0.3, r)
			case 5:
				kept = search.WithinLogPolar(index, label, bits, x, u, 0.3, r)
			default:
				kept = search.WithinEuclid(index, label, bits, x, u, 0.2, r)
			}
			if level == simd.Generic {
				want = slices.Clone(index[:kept])
			} else if !slices.Equal(want, index[:kept]) {
				t.Errorf("level=%v form=%d n=%d r=%v: kept %v, want %v", level, form, n, r, index[:kept], want)
			}
		})
	})
}
