//go:build goexperiment.simd && go1.27 && !purego

package simd

import "unsafe"

// sumBlockWASM is up to how many elements sums run in 16 float64 accumulators with 64 additions each, as in the portable twin. Longer ones
// are summed pairwise, as there.
const sumBlockWASM = 1024

// sumF32 is portable: vectors must be widened element by element, which takes what they save.
func sumF32(x []float32) float64 { return sumGeneric(x) }

func sumF64(x []float64) float64 {
	if level == Generic {
		return sumGeneric(x)
	}
	return sumPairwise(x)
}

// sumSqF32 has the bits of dotF32(x, x): the same sum, widened once.
func sumSqF32(x []float32) float64 {
	if level == Generic {
		return dotGeneric(x, x)
	}
	return sumSqPairwise(x)
}

// sumSqF64 has the bits of dotF64(x, x): the same sum.
func sumSqF64(x []float64) float64 {
	if level == Generic {
		return dotGeneric(x, x)
	}
	return sumSqPairwise(x)
}

func dotF32(x, y []float32) float64 {
	if level == Generic {
		return dotGeneric(x, y)
	}
	return dotPairwise(x, y)
}

func dotF64(x, y []float64) float64 {
	if level == Generic {
		return dotGeneric(x, y)
	}
	return dotPairwise(x, y)
}

// sumHalf returns where to cut a slice that is longer than a block: half way, at a multiple of the block.
func sumHalf(n int) int { return (n/2 + sumBlockWASM - 1) / sumBlockWASM * sumBlockWASM }

func sumPairwise(x []float64) float64 {
	if len(x) > sumBlockWASM {
		h := sumHalf(len(x))
		return sumPairwise(x[:h]) + sumPairwise(x[h:])
	}
	return sumF64WASM128(unsafe.SliceData(x), len(x))
}

func sumSqPairwise[T Float](x []T) float64 {
	if len(x) > sumBlockWASM {
		h := sumHalf(len(x))
		return sumSqPairwise(x[:h]) + sumSqPairwise(x[h:])
	}
	p := unsafe.Pointer(unsafe.SliceData(x))
	if unsafe.Sizeof(T(0)) == 8 {
		return sumSqF64WASM128((*float64)(p), len(x))
	}
	return sumSqF32WASM128((*float32)(p), len(x))
}

func dotPairwise[T Float](x, y []T) float64 {
	if len(x) > sumBlockWASM {
		h := sumHalf(len(x))
		return dotPairwise(x[:h], y[:h]) + dotPairwise(x[h:], y[h:])
	}
	p, q := unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	if unsafe.Sizeof(T(0)) == 8 {
		return dotF64WASM128((*float64)(p), (*float64)(q), len(x))
	}
	return dotF32WASM128((*float32)(p), (*float32)(q), len(x))
}

func minMaxF32(x []float32) (lo, hi float32) {
	if level == Generic || len(x) < 4 {
		return minMaxGeneric(x)
	}
	return minMaxF32WASM128(&x[0], len(x))
}

func minMaxF64(x []float64) (lo, hi float64) {
	if level == Generic || len(x) < 2 {
		return minMaxGeneric(x)
	}
	return minMaxF64WASM128(&x[0], len(x))
}

// Portable: nothing on the page takes them.
func sumAbsF32(x []float32) float64       { return sumAbsGeneric(x) }
func sumAbsF64(x []float64) float64       { return sumAbsGeneric(x) }
func dotSingleF32(x, y []float32) float32 { return dotSingleGeneric(x, y) }
