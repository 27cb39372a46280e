package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

func TestDepthwise(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testDepthwise[float32])
		t.Run("F64", testDepthwise[float64])
	})
}

func testDepthwise[T Float](t *testing.T) {
	rng := testkit.Rand(20)
	for _, c := range lengths() {
		if c > 200 {
			continue
		}
		const rows, points, poses = 9, 7, 5
		offsets, index, pose := testkit.Pairs(rng, rows, points, poses)
		f := testkit.CopyAtEnd(t, testkit.Normal[T](rng, points*c))
		w := testkit.CopyAtStart(t, testkit.Normal[T](rng, poses*c))
		out := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, rows*c)) // must be overwritten
		ix, ps := testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose)
		mean := rng.IntN(2) == 0
		Depthwise(out, f, w, offsets, ix, ps, c, mean)
		for i := range rows {
			lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
			for j := range c {
				sum, size := 0.0, 0.0
				for k := lo; k < hi; k++ {
					v := float64(w[int(pose[k])*c+j]) * float64(f[int(index[k])*c+j])
					sum, size = sum+v, size+math.Abs(v)
				}
				if n := float64(max(1, hi-lo)); mean {
					sum, size = sum/n, size/n
				}
				if diff := math.Abs(float64(out[i*c+j]) - sum); !(diff <= float64(hi-lo+8)*eps[T]()*size) {
					t.Fatalf("c=%d mean=%v: out[%d,%d] = %g, want %g", c, mean, i, j, out[i*c+j], sum)
				}
			}
		}
		// The same in chunks of rows: the same bits.
		parts := make([]T, rows*c)
		for lo := 0; lo < rows; {
			hi := min(lo+1+rng.IntN(3), rows)
			a, b := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
			Depthwise(parts[lo*c:hi*c], f, w, offsets[lo:hi+1], index[a:b], pose[a:b], c, mean)
			lo = hi
		}
		require.True(t, testkit.SameBits(parts, out), "c=%d in chunks", c)
	}
}

func TestPointConv(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testPointConv[float32])
		t.Run("F64", testPointConv[float64])
	})
}

func testPointConv[T Float](t *testing.T) {
	rng := testkit.Rand(21)
	for _, ci := range []int{0, 1, 2, 3, 8, 17} {
		for _, cm := range []int{0, 1, 2, 5, 15, 16, 17, 33} {
			const rows, points, poses = 6, 7, 5
			offsets, index, pose := testkit.Pairs(rng, rows, points, poses)
			f := testkit.CopyAtEnd(t, testkit.Normal[T](rng, points*ci))
			w := testkit.CopyAtEnd(t, testkit.Normal[T](rng, poses*cm))
			p := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, rows*ci*cm))
			PointConv(p, f, w, offsets, index, pose, ci, cm)
			for i := range rows {
				lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
				for a := range ci {
					for b := range cm {
						sum, size := 0.0, 0.0
						for k := lo; k < hi; k++ {
							v := float64(f[int(index[k])*ci+a]) * float64(w[int(pose[k])*cm+b])
							sum, size = sum+v, size+math.Abs(v)
						}
						got := p[(i*ci+a)*cm+b]
						if diff := math.Abs(float64(got) - sum); !(diff <= float64(hi-lo+8)*eps[T]()*size) {
							t.Fatalf("ci=%d cm=%d: p[%d,%d,%d] = %g, want %g", ci, cm, i, a, b, got, sum)
						}
					}
				}
			}
			parts := make([]T, rows*ci*cm)
			for i := range rows {
				a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
				PointConv(parts[i*ci*cm:(i+1)*ci*cm], f, w, offsets[i:i+2], index[a:b], pose[a:b], ci, cm)
			}
			require.True(t, testkit.SameBits(parts, p), "ci=%d cm=%d row by row", ci, cm)
		}
	}
}

// TestGatherNaN wants a NaN to reach the rows and channels that name it, and no others.
func TestGatherNaN(t *testing.T) {
	const c = 3
	f, w := make([]float32, 4*c), make([]float32, 2*c)
	f[2*c+1] = float32(math.NaN())
	offsets, index, pose := []int{0, 2, 7, 7, 8}, []int32{0, 1, 0, 1, 3, 0, 2, 3}, []int32{0, 1, 0, 1, 0, 1, 0, 1}
	out, p := make([]float32, 4*c), make([]float32, 4*c*2)
	eachLevel(t, func(t *testing.T) {
		DepthwiseF32(out, f, w, offsets, index, pose, c, true)
		for i, v := range out {
			require.Equal(t, i == 1*c+1, v != v, "out[%d,%d]", i/c, i%c)
		}
		PointConvF32(p, f, make([]float32, 2*2), offsets, index, pose, c, 2)
		for i, v := range p {
			require.Equal(t, i/2 == 1*c+1, v != v, "p[%d,%d]", i/2/c, i/2%c)
		}
	})
}

// TestGatherOutOfRange holds the portable kernels to Go's own bounds checks (as long as index times channels fits an int).
func TestGatherOutOfRange(t *testing.T) {
	for _, bad := range []int32{-1, 2, 1 << 20} {
		x := make([]float32, 4)
		require.Panics(t, func() { depthwiseGeneric(x[:2], x, x, []int{0, 1}, []int32{bad}, []int32{0}, 2, false) })
		require.Panics(t, func() { depthwiseGeneric(x[:2], x, x, []int{0, 1}, []int32{0}, []int32{bad}, 2, false) })
		require.Panics(t, func() { pointConvGeneric(x, x, x, []int{0, 1}, []int32{bad}, []int32{0}, 2, 2) })
	}
}

func TestSetConv(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSetConv[float32])
		t.Run("F64", testSetConv[float64])
	})
}

func testSetConv[T Float](t *testing.T) {
	rng := testkit.Rand(22)
	for _, n := range []int{0, 1, 2, 7, 127, 128, 129, 300} {
		for _, d := range []int{1, 2, 3} {
			for _, c := range []int{0, 1, 2, 5, 16} {
				const targets, gamma, scale, far = 5, 0.8, 1.3, 1000
				// Far from the origin, where only float64 coordinates keep the differences.
				tt, x := testkit.Normal[float64](rng, targets*d), testkit.Normal[float64](rng, n*d)
				for i := range tt {
					tt[i] += far
				}
				for i := range x {
					x[i] += far
				}
				phi := testkit.CopyAtEnd(t, testkit.Normal[T](rng, n*c))
				h := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, targets*c))
				SetConv(h, testkit.CopyAtEnd(t, tt), testkit.CopyAtEnd(t, x), phi, d, c, gamma, scale)
				for m := range targets {
					for j := range c {
						sum, size, most := 0.0, 0.0, 0.0
						for i := range n {
							dist2 := 0.0
							for a := range d {
								dist2 += (tt[m*d+a] - x[i*d+a]) * (tt[m*d+a] - x[i*d+a])
							}
							v := scale * float64(phi[i*c+j]) * math.Exp(-gamma*dist2)
							sum, size, most = sum+v, size+math.Abs(v), max(most, gamma*dist2)
						}
						tol := (float64(n+8) + most) * eps[T]() * size
						if diff := math.Abs(float64(h[m*c+j]) - sum); !(diff <= tol) {
							t.Fatalf("n=%d d=%d c=%d: h[%d,%d] = %g, want %g ± %g", n, d, c, m, j, h[m*c+j], sum, tol)
						}
					}
				}
			}
		}
	}
}
