package simd

import "fmt"

// Activation names a function that GemmPacked applies to every element of its result.
type Activation int

const (
	// ActNone leaves values as they are.
	ActNone Activation = iota
	// ActSwish is x·sigmoid(x).
	ActSwish
	// ActReLU is max(x, 0).
	ActReLU
	// ActSigmoid is 1/(1 + exp(-x)).
	ActSigmoid
	// ActSoftplus is ln(1 + exp(x)).
	ActSoftplus
	// ActTanh is the hyperbolic tangent.
	ActTanh
)

var activationNames = [...]string{
	ActNone: "none", ActSwish: "swish", ActReLU: "relu", ActSigmoid: "sigmoid", ActSoftplus: "softplus", ActTanh: "tanh",
}

// String returns the activation's name in lower case.
func (a Activation) String() string {
	if a >= 0 && int(a) < len(activationNames) {
		return activationNames[a]
	}
	return fmt.Sprintf("Activation(%d)", int(a))
}

func checkActivation(fn string, a Activation) {
	if a < 0 || int(a) >= len(activationNames) {
		panic(fmt.Sprintf("simd: %s: act = %d, need 0 to %d", fn, int(a), len(activationNames)-1))
	}
}

// SigmoidF32 sets dst[i] = 1/(1 + exp(-x[i])) for every i.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Aliasing: dst may be x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN, -Inf gives 0, +Inf gives 1. Nothing overflows on the way:
//     sigmoid(-100) is the subnormal 3.78e-44.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy). With AVX-512 the worst of all float32 numbers is off by 1.97.
func SigmoidF32(dst, x []float32) {
	checkLen("SigmoidF32", "dst", len(dst), len(x))
	sigmoidF32(dst, x)
}

// SigmoidF64 is SigmoidF32 for float64: at most 4 ULP.
func SigmoidF64(dst, x []float64) {
	checkLen("SigmoidF64", "dst", len(dst), len(x))
	sigmoidF64(dst, x)
}

// SwishF32 sets dst[i] = x[i]·sigmoid(x[i]) for every i.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Aliasing: dst may be x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN, +Inf gives +Inf; -Inf gives -0, the limit.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy), subnormal results included. With AVX-512 the worst of all
//     float32 numbers is off by 1.96.
func SwishF32(dst, x []float32) {
	checkLen("SwishF32", "dst", len(dst), len(x))
	swishF32(dst, x)
}

// SwishF64 is SwishF32 for float64: at most 4 ULP.
func SwishF64(dst, x []float64) {
	checkLen("SwishF64", "dst", len(dst), len(x))
	swishF64(dst, x)
}

// SoftplusF32 sets dst[i] = ln(1 + exp(x[i])) for every i.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Aliasing: dst may be x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN, -Inf gives 0, +Inf gives +Inf.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy), also where the result is tiny. With AVX-512 the worst of
//     all float32 numbers is off by 1.697.
//   - Formula: max(x, 0) + log1p(exp(-|x|)).
func SoftplusF32(dst, x []float32) {
	checkLen("SoftplusF32", "dst", len(dst), len(x))
	softplusF32(dst, x)
}

// SoftplusF64 is SoftplusF32 for float64: at most 4 ULP.
func SoftplusF64(dst, x []float64) {
	checkLen("SoftplusF64", "dst", len(dst), len(x))
	softplusF64(dst, x)
}

// TanhF32 sets dst[i] = tanh(x[i]) for every i.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Aliasing: dst may be x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN, ±Inf gives ±1, ±0 keeps its sign.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy). The worst of all float32 numbers is off by 1.732 with
//     AVX-512, by 1.76 with AVX2.
func TanhF32(dst, x []float32) {
	checkLen("TanhF32", "dst", len(dst), len(x))
	tanhF32(dst, x)
}

// TanhF64 is TanhF32 for float64: at most 4 ULP.
func TanhF64(dst, x []float64) {
	checkLen("TanhF64", "dst", len(dst), len(x))
	tanhF64(dst, x)
}

// ReLUF32 sets dst[i] = max(x[i], 0) for every i: NaN gives NaN, -0 gives +0. dst may be x itself; it panics if the
// lengths differ.
func ReLUF32(dst, x []float32) {
	checkLen("ReLUF32", "dst", len(dst), len(x))
	reluF32(dst, x)
}

// ReLUF64 is ReLUF32 for float64.
func ReLUF64(dst, x []float64) {
	checkLen("ReLUF64", "dst", len(dst), len(x))
	reluF64(dst, x)
}
