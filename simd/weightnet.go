package simd

import "fmt"

// Dense is a layer from B.K to B.N channels followed by swish: x becomes swish(x·B + Bias). Bias may be nil, which means none.
type Dense[T Float] struct {
	B    *Packed[T]
	Bias []T
}

// WeightNetF32 computes three layers for every row of pose and writes the result to dst: the convolution weights of relative
// poses. A tile of rows passes through all layers before the next tile, so that intermediate results never leave the first-level
// cache.
//
//   - Shape: pose is [rows, net[0].B.K()], dst [rows, net[2].B.N()], scratch has WeightNetScratch(net) elements or more. Each layer
//     has as many inputs as the one before it has outputs.
//   - Aliasing: dst must not overlap pose, and scratch neither of them nor the net.
//   - Errors: panics on a negative size, layers that do not fit each other, and wrong lengths. NaN reaches its row only.
//   - Accuracy: the sums of each layer are those of GemmPackedF32. The swish is exact for a number that differs from the sum by
//     at most two parts in 2^24, up to a relative error of 2^-21 and, below -43, an absolute error of 2^-56 (TestWeightNetSwish).
//     SwishF32 is more accurate, but sums carry errors of that size already, so it would only take longer.
func WeightNetF32(dst, pose []float32, net *[3]Dense[float32], rows int, scratch []float32) {
	checkWeightNet("WeightNetF32", len(dst), len(pose), len(scratch), rows, net)
	if len(dst) > 0 {
		weightNetF32(dst, pose, net, rows, scratch)
	}
}

// WeightNetF64 is WeightNetF32 for float64, with SwishF64 after each layer.
func WeightNetF64(dst, pose []float64, net *[3]Dense[float64], rows int, scratch []float64) {
	checkWeightNet("WeightNetF64", len(dst), len(pose), len(scratch), rows, net)
	if len(dst) > 0 {
		weightNetGeneric(dst, pose, net, rows, scratch)
	}
}

// WeightNet computes convolution weights from relative poses; see WeightNetF32.
func WeightNet[T Float](dst, pose []T, net *[3]Dense[T], rows int, scratch []T) {
	switch dst := any(dst).(type) {
	case []float32:
		WeightNetF32(dst, any(pose).([]float32), any(net).(*[3]Dense[float32]), rows, any(scratch).([]float32))
	case []float64:
		WeightNetF64(dst, any(pose).([]float64), any(net).(*[3]Dense[float64]), rows, any(scratch).([]float64))
	default:
		unreachable("WeightNet")
	}
}

// weightNetTile is how many rows pass through all layers at a time. It is a multiple of the rows that the matrix product computes
// at once (6, or 14 with AVX-512). Hidden layers of 32 channels then take 11 KiB, beside the weights of the last layer and the
// rows of dst.
const weightNetTile = 42

// WeightNetScratch returns how many elements of scratch WeightNetF32 and its kin need.
func WeightNetScratch[T Float](net *[3]Dense[T]) int {
	return weightNetTile * (net[0].B.n + net[1].B.n)
}

func checkWeightNet[T Float](fn string, lenDst, lenPose, lenScratch, rows int, net *[3]Dense[T]) {
	checkSize(fn, "rows", rows)
	for i := range net {
		checkPacked(fn, net[i].B)
		if i > 0 && net[i].B.k != net[i-1].B.n {
			panic(fmt.Sprintf("simd: %s: net[%d].B.K() = %d, need net[%d].B.N() = %d", fn, i, net[i].B.k, i-1, net[i-1].B.n))
		}
		if net[i].Bias != nil {
			checkLen(fn, "net[].Bias", len(net[i].Bias), net[i].B.n)
		}
	}
	checkElements(fn, "pose", lenPose, rows, net[0].B.k)
	checkElements(fn, "dst", lenDst, rows, net[2].B.n)
	if need := WeightNetScratch(net); lenScratch < need {
		panicLen(fn, "scratch", lenScratch, need)
	}
}
