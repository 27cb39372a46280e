package simd

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

func TestPointConvGrad(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", func(t *testing.T) { testPointConvGrad(t, PointConvGradFF32, PointConvGradWF32) })
		t.Run("F64", func(t *testing.T) { testPointConvGrad(t, PointConvGradFF64, PointConvGradWF64) })
	})
}

func testPointConvGrad[T Float](t *testing.T, gradF, gradW func(dst, dp, x []T, offsets []int, a, b []int32, ci, cm int)) {
	rng := testkit.Rand(44)
	near := func(name string, ci, cm, terms int, got T, sum, size float64) {
		t.Helper()
		if d := math.Abs(float64(got) - sum); !(d <= float64(terms+8)*eps[T]()*size) {
			t.Fatalf("%s ci=%d cm=%d: %g, want %g", name, ci, cm, got, sum)
		}
	}
	for _, ci := range []int{0, 1, 2, 3, 7, 8, 15, 16, 19, 32} {
		for _, cm := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50} {
			const rows, outs, others = 6, 7, 5
			offsets, a, b := testkit.Pairs(rng, rows, outs, others)
			dp := testkit.CopyAtEnd(t, testkit.Normal[T](rng, outs*ci*cm))
			ix, jx := testkit.CopyAtEnd(t, a), testkit.CopyAtEnd(t, b)

			w := testkit.CopyAtEnd(t, testkit.Normal[T](rng, others*cm))
			df, parts := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, rows*ci)), make([]T, rows*ci)
			gradF(df, dp, w, offsets, ix, jx, ci, cm)
			for i := range rows {
				lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
				for p := range ci {
					sum, size := 0.0, 0.0
					for k := lo; k < hi; k++ {
						for q := range cm {
							v := float64(w[int(b[k])*cm+q]) * float64(dp[(int(a[k])*ci+p)*cm+q])
							sum, size = sum+v, size+math.Abs(v)
						}
					}
					near("F", ci, cm, (hi-lo)*cm, df[i*ci+p], sum, size)
				}
				gradF(parts[i*ci:i*ci+ci], dp, w, offsets[i:i+2], a[lo:hi], b[lo:hi], ci, cm)
			}
			require.True(t, testkit.SameBits(parts, df), "F ci=%d cm=%d row by row", ci, cm)

			f := testkit.CopyAtEnd(t, testkit.Normal[T](rng, others*ci))
			dw := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, rows*cm))
			parts = make([]T, rows*cm)
			gradW(dw, dp, f, offsets, ix, jx, ci, cm)
			for i := range rows {
				lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
				for q := range cm {
					sum, size := 0.0, 0.0
					for k := lo; k < hi; k++ {
						for p := range ci {
							v := float64(f[int(b[k])*ci+p]) * float64(dp[(int(a[k])*ci+p)*cm+q])
							sum, size = sum+v, size+math.Abs(v)
						}
					}
					near("W", ci, cm, (hi-lo)*ci, dw[i*cm+q], sum, size)
				}
				gradW(parts[i*cm:i*cm+cm], dp, f, offsets[i:i+2], a[lo:hi], b[lo:hi], ci, cm)
			}
			require.True(t, testkit.SameBits(parts, dw), "W ci=%d cm=%d row by row", ci, cm)
		}
	}
}

// sortPairs lists the pairs of a neighbourhood by key, as the gradients want them: for each key the rows of the pairs that
// have it, and what else they name.
func sortPairs(offsets []int, key, other []int32, keys int) (byKey []int, rows, others []int32) {
	byKey = []int{0}
	for q := range keys {
		for i := range len(offsets) - 1 {
			for k := offsets[i] - offsets[0]; k < offsets[i+1]-offsets[0]; k++ {
				if int(key[k]) == q {
					rows, others = append(rows, int32(i)), append(others, other[k])
				}
			}
		}
		byKey = append(byKey, len(rows))
	}
	return byKey, rows, others
}

// TestGatherAdjoint checks that the gradients belong to the convolutions. These are linear in f and in w, so for any dout
//
//	Σ dout·out = Σ df·f = Σ dw·w
func TestGatherAdjoint(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(45)
		const rows, points, poses, c, ci, cm = 30, 11, 6, 37, 5, 19
		offsets, index, pose := testkit.Pairs(rng, rows, points, poses)
		byPoint, pointRow, pointPose := sortPairs(offsets, index, pose, points)
		byPose, poseRow, posePoint := sortPairs(offsets, pose, index, poses)
		normal := func(n int) []float32 { return testkit.Normal[float32](rng, n) }

		f, w, dout := normal(points*c), normal(poses*c), normal(rows*c)
		out, df, dw := make([]float32, rows*c), make([]float32, points*c), make([]float32, poses*c)
		DepthwiseF32(out, f, w, offsets, index, pose, c, true)
		d := make([]float32, len(dout)) // to the sums
		for i := range rows {
			ScaleF32(d[i*c:(i+1)*c], 1/float32(max(1, offsets[i+1]-offsets[i])), dout[i*c:(i+1)*c])
		}
		DepthwiseF32(df, d, w, byPoint, pointRow, pointPose, c, false)
		DepthwiseF32(dw, d, f, byPose, poseRow, posePoint, c, false)
		require.InDelta(t, DotF32(dout, out), DotF32(df, f), 1e-3)
		require.InDelta(t, DotF32(dout, out), DotF32(dw, w), 1e-3)

		f, w, dout = normal(points*ci), normal(poses*cm), normal(rows*ci*cm)
		out, df, dw = make([]float32, rows*ci*cm), make([]float32, points*ci), make([]float32, poses*cm)
		PointConvF32(out, f, w, offsets, index, pose, ci, cm)
		PointConvGradFF32(df, dout, w, byPoint, pointRow, pointPose, ci, cm)
		PointConvGradWF32(dw, dout, f, byPose, poseRow, posePoint, ci, cm)
		require.InDelta(t, DotF32(dout, out), DotF32(df, f), 1e-3)
		require.InDelta(t, DotF32(dout, out), DotF32(dw, w), 1e-3)
	})
}

// TestPointConvBlocks goes through the shapes of the blocks that a matrix is divided into.
func TestPointConvBlocks(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testPointConvBlocks[float32])
		t.Run("F64", testPointConvBlocks[float64])
	})
}

func testPointConvBlocks[T Float](t *testing.T) {
	rng := testkit.Rand(46)
	for _, ci := range []int{1, 4, 5, 8, 15, 16, 24, 31, 32, 33} {
		for _, cm := range []int{1, 7, 8, 9, 16, 24, 31, 32, 33, 48, 65} {
			const rows, points, poses = 5, 4, 3
			offsets, index, pose := testkit.Pairs(rng, rows, points, poses)
			f, w := testkit.Normal[T](rng, points*ci), testkit.Normal[T](rng, poses*cm)
			p, want := testkit.AtEnd[T](t, rows*ci*cm), make([]T, rows*ci*cm)
			PointConv(p, testkit.CopyAtEnd(t, f), testkit.CopyAtEnd(t, w), offsets, index, pose, ci, cm)
			pointConvGeneric(want, f, w, offsets, index, pose, ci, cm)
			size := slices.Clone(want)
			abs := func(x []T) []T {
				y := slices.Clone(x)
				for i, v := range y {
					y[i] = max(v, -v)
				}
				return y
			}
			pointConvGeneric(size, abs(f), abs(w), offsets, index, pose, ci, cm)
			for i := range p {
				if d := math.Abs(float64(p[i]) - float64(want[i])); !(d <= 2*18*eps[T]()*float64(size[i])) {
					t.Fatalf("ci=%d cm=%d: p[%d] = %g, want %g", ci, cm, i, p[i], want[i])
				}
			}
		}
	}
}
