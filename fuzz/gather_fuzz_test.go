package fuzz

import (
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// neighbourhood makes pairs of bytes: one of eight begins a new row, and now and then a row repeats its predecessor's poses.
func neighbourhood(shape []byte, points, poses int) (offsets []int, index, pose []int32) {
	offsets = []int{0}
	for _, s := range shape[:min(len(shape), 200)] {
		if s%8 == 0 {
			offsets = append(offsets, len(index))
			if n := len(offsets); s%3 == 0 && n > 2 {
				list := pose[offsets[n-2]:offsets[n-1]]
				for k, p := range list {
					index, pose = append(index, int32((int(s)+k)%points)), append(pose, p)
				}
				offsets = append(offsets, len(index))
			}
		}
		index, pose = append(index, int32(int(s)%points)), append(pose, int32(int(s)/8%poses))
	}
	return append(offsets, len(index)), index, pose
}

// FuzzGatherGradF32 compares the gradients of PointConv, and depthwise with bfloat16 weights, with float64 sums
// on any neighbourhood and bit patterns.
func FuzzGatherGradF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{1, 2, 3, 48, 5, 24, 9, 200, 77, 5, 0, 96}, uint8(i*7), uint8(3*i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, bytes, shape []byte, uc, ucm uint8, mean bool) {
		const points, poses = 5, 3
		c, cm := int(uc), int(ucm%40)
		x := floats32(bytes)
		offsets, index, pose := neighbourhood(shape, points, poses)
		rows := len(offsets) - 1
		a, b := wrap(x, points*c), wrap(x, poses*c)
		half, wide := testkit.AtEnd[simd.BF16](t, len(b)), testkit.AtEnd[float32](t, len(b))
		out := testkit.AtEnd[float32](t, rows*c)
		ci := c % 20
		dp, w, df := wrap(x, points*ci*cm), wrap(x, poses*cm), make([]float32, rows*ci)
		f, dw := wrap(x, poses*ci), make([]float32, rows*cm)
		atLevels(t, func(level simd.Level) {
			simd.BF16FromF32(half, b)
			simd.F32FromBF16(wide, half)
			for i, v := range half {
				if math.Float32bits(wide[i]) != math.Float32bits(v.Float32()) {
					t.Fatalf("level=%v: [%d]: bfloat16 %#x becomes %g", level, i, v, wide[i])
				}
			}
			simd.DepthwiseBF16F32(out, a, half, offsets, index, pose, c, mean)
			for i := range rows {
				n := offsets[i+1] - offsets[i]
				for j := range c {
					sum, size, by := 0.0, 0.0, 1.0
					for k := offsets[i]; k < offsets[i+1]; k++ {
						v := float64(a[int(index[k])*c+j]) * float64(wide[int(pose[k])*c+j])
						sum, size = sum+v, size+math.Abs(v)
					}
					if mean {
						by = float64(max(1, n))
					}
					if size < math.MaxFloat32/2 || sum != sum { // before the division
						if !agree(out[i*c+j], sum/by, size/by, n) {
							t.Fatalf("level=%v: depthwise bf16 c=%d: [%d,%d] = %g, want %g", level, c, i, j, out[i*c+j], sum/by)
						}
					}
				}
			}
			simd.PointConvGradFF32(df, dp, w, offsets, index, pose, ci, cm)
			simd.PointConvGradWF32(dw, dp, f, offsets, index, pose, ci, cm)
			for i := range rows {
				n := offsets[i+1] - offsets[i]
				for p := range ci {
					sum, size := 0.0, 0.0
					for k := offsets[i]; k < offsets[i+1]; k++ {
						for q := range cm {
							v := float64(w[int(pose[k])*cm+q]) * float64(dp[(int(index[k])*ci+p)*cm+q])
							sum, size = sum+v, size+math.Abs(v)
						}
					}
					if !agree(df[i*ci+p], sum, size, n*cm) {
						t.Fatalf("level=%v: PointConv grad F ci=%d cm=%d: [%d,%d] = %g, want %g", level, ci, cm, i, p, df[i*ci+p], sum)
					}
				}
				for q := range cm {
					sum, size := 0.0, 0.0
					for k := offsets[i]; k < offsets[i+1]; k++ {
						for p := range ci {
							v := float64(f[int(pose[k])*ci+p]) * float64(dp[(int(index[k])*ci+p)*cm+q])
							sum, size = sum+v, size+math.Abs(v)
						}
					}
					if !agree(dw[i*cm+q], sum, size, n*ci) {
						t.Fatalf("level=%v: PointConv grad W ci=%d cm=%d: [%d,%d] = %g, want %g", level, ci, cm, i, q, dw[i*cm+q], sum)
					}
				}
			}
		})
	})
}

// FuzzReduceF32 compares the reductions and conversions of every level with each other on any bit patterns.
func FuzzReduceF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint16(i*97), uint8(i))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, un uint16, uc uint8) {
		x := wrap(floats32(bytes), int(un%5000))
		c := 1 + int(uc%70)
		rows := x[:len(x)/c*c]
		if err := simd.SetLevel(simd.Generic); err != nil {
			t.Fatal(err)
		}
		sum, sumSq, sumAbs, size := simd.SumF32(x), simd.SumSqF32(x), simd.SumAbsF32(x), 0.0
		for _, v := range x {
			size += math.Abs(float64(v))
		}
		lo, hi := simd.MinMaxF32(x)
		half, other := make([]simd.BF16, len(x)), make([]simd.BF16, len(x))
		simd.BF16FromF32(half, x)
		mean, variance := make([]float64, c), make([]float64, c)
		simd.WeightedMomentsF32(mean, variance, rows, nil, c)
		near := func(a, b, tol float64) bool {
			return a != a && b != b || a == b || math.Abs(a-b) <= tol || math.IsInf(tol, 0) || tol != tol
		}
		atLevels(t, func(level simd.Level) {
			if got := simd.SumF32(x); !near(got, sum, 160*0x1p-53*size) {
				t.Errorf("level=%v: sum of %d = %g, want %g", level, len(x), got, sum)
			}
			if got := simd.SumSqF32(x); !near(got, sumSq, 160*0x1p-53*sumSq) {
				t.Errorf("level=%v: sum of %d squares = %g, want %g", level, len(x), got, sumSq)
			}
			if got := simd.SumAbsF32(x); !near(got, sumAbs, 160*0x1p-53*sumAbs) {
				t.Errorf("level=%v: sum of %d magnitudes = %g, want %g", level, len(x), got, sumAbs)
			}
			if a, b := simd.MinMaxF32(x); !testkit.SameBits([]float32{a, b}, []float32{lo, hi}) {
				t.Errorf("level=%v: range of %d = %g %g, want %g %g", level, len(x), a, b, lo, hi)
			}
			simd.BF16FromF32(other, x)
			for i, v := range other {
				if v != half[i] {
					t.Errorf("level=%v: %g becomes bfloat16 %#x, want %#x", level, x[i], v, half[i])
				}
			}
			m, v := make([]float64, c), make([]float64, c)
			simd.WeightedMomentsF32(m, v, rows, nil, c)
			for j := range c {
				most := 0.0
				for i := j; i < len(rows); i += c {
					most = max(most, math.Abs(float64(rows[i])))
				}
				tol := float64(len(rows)/c+8) * 0x1p-52 * most
				if !near(m[j], mean[j], 2*tol) || !near(v[j], variance[j], 8*tol*most) {
					t.Errorf("level=%v: moments %g %g, want %g %g", level, m[j], v[j], mean[j], variance[j])
				}
			}
		})
	})
}

// FuzzSetConvF32 compares the set convolution of every level with float64 sums, and its gradients with the convolution.
func FuzzSetConvF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint8(i), uint8(2*i), uint8(i%10), uint8(i), 0.1*float64(i))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, ut, un, ud, uc uint8, gamma float64) {
		targets, n, d, c := int(ut%40), int(un), 1+int(ud%10), int(uc%20)
		if !(math.Abs(gamma) < 10) {
			return
		}
		var x []float64
		for i, v := range wrap(floats32(bytes), (targets+n)*d) {
			// Coordinates of moderate size; the values' own bits decide where.
			x = append(x, math.Mod(float64(v), 8)+float64(i%3))
		}
		to, from := x[:targets*d], x[targets*d:]
		phi, h := wrap(floats32(bytes), n*c), make([]float32, targets*c)
		atLevels(t, func(level simd.Level) {
			simd.SetConvF32(h, to, from, phi, d, c, gamma, 1)
			for m := range targets {
				for j := range c {
					sum, size, most := 0.0, 0.0, 0.0
					for i := range n {
						dist2 := 0.0
						for a := range d {
							dist2 += (to[m*d+a] - from[i*d+a]) * (to[m*d+a] - from[i*d+a])
						}
						v := float64(phi[i*c+j]) * math.Exp(-gamma*dist2)
						sum, size, most = sum+v, size+math.Abs(v), max(most, math.Abs(gamma)*dist2)
					}
					if sum != sum || most > 80 || size >= math.MaxFloat32/2 || math.IsInf(size, 0) {
						continue // exp or the sum leaves the range of float32
					}
					tol := (float64(n+8) + most) * (0x1p-23*size + 0x1p-148)
					if got := float64(h[m*c+j]); !(math.Abs(got-sum) <= tol) {
						t.Fatalf("level=%v: targets=%d n=%d d=%d c=%d: h[%d,%d] = %g, want %g", level, targets, n, d, c, m, j, got, sum)
					}
				}
			}
		})
	})
}

// FuzzDepthwisePlanF32 compares planned rows with float64 sums: on strips of a grid whose pairs come and go as the bytes say, so
// that runs begin and end anywhere.
func FuzzDepthwisePlanF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{0, 255, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9}, uint8(i*9), uint8(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, bytes, holes []byte, uc, cut uint8, mean bool) {
		const rows, span, poses = 35, 12, 12
		c := int(uc)
		x := floats32(bytes)
		offsets := []int{0}
		var index, pose []int32
		for i := range rows {
			for k := range span {
				p := k
				if n := i*span + k; len(holes) > 0 {
					switch h := holes[n%len(holes)]; {
					case h%5 == 1:
						continue
					case h%5 == 3:
						p = int(h) % poses
					}
				}
				index, pose = append(index, int32(i+k)), append(pose, int32(p))
			}
			offsets = append(offsets, len(index))
		}
		a, b := wrap(x, (rows+span)*c), wrap(x, poses*c)
		out := make([]float32, rows*c)
		plan := simd.NewDepthwisePlan(offsets, index, pose, rows+span, poses)
		middle := int(cut) % rows
		atLevels(t, func(level simd.Level) {
			simd.DepthwisePlanF32(out[:middle*c], a, b, plan, 0, middle, c, mean)
			simd.DepthwisePlanF32(out[middle*c:], a, b, plan, middle, rows, c, mean)
			for i := range rows {
				pairs := offsets[i+1] - offsets[i]
				for j := range c {
					sum, size := 0.0, 0.0
					for k := offsets[i]; k < offsets[i+1]; k++ {
						v := float64(a[int(index[k])*c+j]) * float64(b[int(pose[k])*c+j])
						sum, size = sum+v, size+math.Abs(v)
					}
					if size >= math.MaxFloat32/2 && sum == sum {
						continue // before the division
					}
					if n := float64(max(1, pairs)); mean {
						sum, size = sum/n, size/n
					}
					if !agree(out[i*c+j], sum, size, pairs) {
						t.Fatalf("level=%v: c=%d mean=%v: out[%d,%d] = %g, want %g", level, c, mean, i, j, out[i*c+j], sum)
					}
				}
			}
		})
	})
}

// FuzzDepthwisePosePlan compares the gradient to the weights by pose, summed over a batch, with float64 sums, and asks for the
// same bits when parts and slices of channels come in another order. Before, dw holds NaN, which must not survive.
func FuzzDepthwisePosePlan(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{0, 9, 24, 8, 17, 240, 33, 2, 2, 64, 200, 72, 7}, uint8(i*5), uint8(i))
	}
	f.Fuzz(func(t *testing.T, bytes, shape []byte, uc, ub uint8) {
		const points, poses, slice = 21, 9, 16
		c, images := int(uc)%70, int(ub)%8
		offsets, index, pose := neighbourhood(shape, points, poses)
		rows := len(offsets) - 1
		x := floats32(bytes)
		feat, dout := wrap(x, images*points*c), wrap(x, images*rows*c)
		plan := depthwise.NewPoses(offsets, index, pose, points, poses)
		a := make([]float32, depthwise.PackedLen(images, points, c))
		d := make([]float32, depthwise.PackedLen(images, rows, c))
		middle := int(uc) % points
		depthwise.PackF32(a, feat, images, points, c, middle, points)
		depthwise.PackF32(a, feat, images, points, c, 0, middle)
		depthwise.PackF32(d, dout, images, rows, c, 0, rows)
		want, sizes, terms := make([]float64, poses*c), make([]float64, poses*c), make([]int, poses)
		for i := range rows {
			for k := offsets[i]; k < offsets[i+1]; k++ {
				q := int(pose[k])
				terms[q] += images
				for b := range images {
					for j := range c {
						v := float64(feat[(b*points+int(index[k]))*c+j]) * float64(dout[(b*rows+i)*c+j])
						want[q*c+j], sizes[q*c+j] = want[q*c+j]+v, sizes[q*c+j]+math.Abs(v)
					}
				}
			}
		}
		dw, again := make([]float32, poses*c), make([]float32, poses*c)
		atLevels(t, func(level simd.Level) {
			for i := range dw {
				dw[i], again[i] = float32(math.NaN()), float32(math.NaN())
			}
			for part := range plan.Parts() {
				lo, hi := plan.Part(part)
				depthwise.PosesGradWF32(dw[lo*c:hi*c], d, a, plan, part, 0, c, images, c)
			}
			for part := plan.Parts() - 1; part >= 0; part-- {
				lo, hi := plan.Part(part)
				for from := (c - 1) / slice * slice; from >= 0 && c > 0; from -= slice {
					depthwise.PosesGradWF32(again[lo*c:hi*c], d, a, plan, part, from, min(c, from+slice), images, c)
				}
			}
			if !testkit.SameBits(again, dw) {
				t.Fatalf("level=%v: c=%d images=%d: other bits in another order", level, c, images)
			}
			for i, v := range dw {
				if !agree(v, want[i], sizes[i], terms[i/c]) {
					t.Fatalf("level=%v: c=%d images=%d: dw[%d,%d] = %g, want %g", level, c, images, i/c, i%c, v, want[i])
				}
			}
		})
	})
}

// FuzzDepthwiseBatch compares a convolution of a batch, slice by slice, with float64 sums. Rows come out in reverse order.
func FuzzDepthwiseBatch(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{0, 9, 24, 8, 17, 240, 33, 2, 2, 64, 200, 72, 7}, uint8(i*5), uint8(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, bytes, shape []byte, uc, ub uint8, mean bool) {
		const points, poses, slice = 21, 9, 16
		c, images := int(uc)%70, int(ub)%8
		offsets, index, pose := neighbourhood(shape, points, poses)
		rows := len(offsets) - 1
		numbers := make([]int32, rows)
		for i := range numbers {
			numbers[i] = int32(rows - 1 - i)
		}
		x := floats32(bytes)
		feat, w := wrap(x, images*points*c), wrap(x, poses*c)
		plan := depthwise.NewBatch(numbers, offsets, index, pose, nil, rows, points, poses, mean)
		a, out := make([]float32, depthwise.PackedLen(images, points, c)), make([]float32, images*rows*c)
		depthwise.PackF32(a, feat, images, points, c, 0, points)
		atLevels(t, func(level simd.Level) {
			for i := range out {
				out[i] = float32(math.NaN())
			}
			for from := 0; from < c; from += slice {
				to := min(c, from+slice)
				part := make([]float32, 0, poses*(to-from))
				for q := range poses {
					part = append(part, w[q*c+from:q*c+to]...)
				}
				depthwise.BatchF32(out, a, part, plan, images, from, to, c)
			}
			for b := range images {
				for i := range rows {
					pairs := offsets[i+1] - offsets[i]
					for j := range c {
						sum, size := 0.0, 0.0
						for k := offsets[i]; k < offsets[i+1]; k++ {
							v := float64(w[int(pose[k])*c+j]) * float64(feat[(b*points+int(index[k]))*c+j])
							sum, size = sum+v, size+math.Abs(v)
						}
						if size >= math.MaxFloat32/2 && sum == sum { // before the division
							continue
						}
						if n := float64(max(1, pairs)); mean {
							sum, size = sum/n, size/n
						}
						if got := out[(b*rows+rows-1-i)*c+j]; !agree(got, sum, size, pairs) {
							t.Fatalf("level=%v: c=%d images=%d: out[%d,%d,%d] = %g, want %g", level, c, images, b, i, j, got, sum)
						}
					}
				}
			}
		})
	})
}
