package simd

import "unsafe"

// Packed is the right-hand matrix B [K, N] of GemmPacked, rearranged once so that the product reads it in order. It does not
// change after packing and may be used by any number of goroutines at once.
type Packed[T Float] struct {
	k, n int
	// data holds B in panels of a fixed number of columns, panel after panel, each row-major and the last filled up with zeros.
	// The layout depends on the program and not on the level, so it stays valid when the level changes. It starts at a multiple
	// of a cache line.
	data  []T
	panel int // columns of a panel, at least 1; 0 in a matrix that was not packed
}

// K returns the number of rows of B.
func (b *Packed[T]) K() int { return b.k }

// N returns the number of columns of B.
func (b *Packed[T]) N() int { return b.n }

// Pack rearranges B, given as [k, n] with rows ldb ≥ n apart. The result is a copy: B may change afterwards. It panics on a
// negative size, a stride below n or a slice that is too short.
func Pack[T Float](b []T, ldb, k, n int) *Packed[T] {
	checkSize("Pack", "k", k)
	checkSize("Pack", "n", n)
	checkMatrix("Pack", "b", len(b), k, n, ldb)
	out := new(Packed[T])
	out.pack(b, ldb, k, n, false)
	return out
}

// PackTransposed is Pack for a B given as its transpose [n, k] with rows ldb ≥ k apart, which is how PyTorch stores the weight
// of a Linear layer from k to n channels.
func PackTransposed[T Float](b []T, ldb, k, n int) *Packed[T] {
	checkSize("PackTransposed", "k", k)
	checkSize("PackTransposed", "n", n)
	checkMatrix("PackTransposed", "b", len(b), n, k, ldb)
	out := new(Packed[T])
	out.pack(b, ldb, k, n, true)
	return out
}

// RepackTransposed is PackTransposed into memory that is there: it makes b what PackTransposed returns, in the memory that b has, if that
// suffices. Nobody may use b meanwhile. It is for matrices that change from call to call; the zero Packed will do at first.
func (b *Packed[T]) RepackTransposed(x []T, ldb, k, n int) {
	checkSize("RepackTransposed", "k", k)
	checkSize("RepackTransposed", "n", n)
	checkMatrix("RepackTransposed", "x", len(x), n, k, ldb)
	b.pack(x, ldb, k, n, true)
}

// pack packs a matrix whose rows, or columns if it is transposed, are ldb apart.
func (b *Packed[T]) pack(x []T, ldb, k, n int, transposed bool) {
	b.k, b.n, b.panel = k, n, max(1, panelWidth[T](n))
	if n == 0 || k == 0 {
		b.data = b.data[:0]
		return
	}
	w := b.panel
	if size := (n + w - 1) / w * w * k; size <= cap(b.data) {
		b.data = b.data[:size]
		clear(b.data[n/w*w*k:]) // the last panel is filled up with zeros
	} else {
		b.data = alignedSlice[T](size)
	}
	for lo := 0; lo < n; lo += w {
		panel, width := b.data[lo*k:], min(w, n-lo)
		if transposed {
			turnPanel(panel, w, x[lo*ldb:], ldb, k, width)
			continue
		}
		for p := range k {
			copy(panel[p*w:][:width], x[p*ldb+lo:])
		}
	}
}

// panelWidth returns how many columns a panel of a matrix with n columns has. Assembly needs panels as wide as its strips;
// portable Go is fastest when it combines whole rows of B (gemm_generic.go).
func panelWidth[T Float](n int) int {
	if packPanel > 0 {
		return packPanel / int(unsafe.Sizeof(T(0)))
	}
	return n
}

// alignedSlice returns n zeros that start on a cache line: a vector that straddles two lines takes twice as long to load.
func alignedSlice[T Float](n int) []T {
	var e T
	return onLine(make([]T, n+cacheLine/int(unsafe.Sizeof(e))))
}

// cacheLine is the number of bytes in a line of the caches.
const cacheLine = 64

// onLine returns the part of x that starts at its first element on a cache line, and is shorter than x by the elements of a line.
func onLine[T Float](x []T) []T {
	size := unsafe.Sizeof(x[0])
	n, skip := len(x)-cacheLine/int(size), -uintptr(unsafe.Pointer(&x[0]))%cacheLine/size
	return x[skip:][:n:n]
}

// GemmPackedF32 computes C = act(A·B + bias) with a packed B.
//
//   - Shape: A is [m, K] with rows lda ≥ K apart, C [m, N] with ldc ≥ N, bias has N elements or is nil, which means none. With
//     K = 0, every row of C is act(bias).
//   - Aliasing: C must not overlap A or bias.
//   - Errors: panics on a negative m, a stride below its row length, a slice that is too short, a bias of another
//     length, or an unknown activation.
//   - Accuracy: before the activation, at most (K+8)·eps·(Σ|a·b| + |bias|) from the exact value; the activation adds its own
//     error.
func GemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	checkPacked("GemmPackedF32", b)
	// As calls, the checks of a tiny product would take a twentieth of its time.
	if m < 0 || !matrixFits(len(c), m, b.n, ldc) || !matrixFits(len(a), m, b.k, lda) || bias != nil || act != ActNone {
		checkGemmPacked("GemmPackedF32", len(c), ldc, len(a), lda, b.k, b.n, bias != nil, len(bias), act, m)
	}
	if b.n > 0 { // without columns m may be anything, and no loop may run over it
		gemmPackedF32(c, ldc, a, lda, b, bias, act, m)
	}
}

// GemmPackedF64 is GemmPackedF32 for float64, eps being that of float64.
func GemmPackedF64(c []float64, ldc int, a []float64, lda int, b *Packed[float64], bias []float64, act Activation, m int) {
	checkPacked("GemmPackedF64", b)
	checkGemmPacked("GemmPackedF64", len(c), ldc, len(a), lda, b.k, b.n, bias != nil, len(bias), act, m)
	if b.n > 0 {
		gemmPackedF64(c, ldc, a, lda, b, bias, act, m)
	}
}

// checkPacked panics unless b comes from Pack or PackTransposed.
func checkPacked[T Float](fn string, b *Packed[T]) {
	if b == nil {
		panic("simd: " + fn + ": b = nil")
	}
	if b.panel == 0 {
		panic("simd: " + fn + ": b was not packed; Pack makes it")
	}
}

func checkGemmPacked(fn string, lenC, ldc, lenA, lda, k, n int, hasBias bool, lenBias int, act Activation, m int) {
	checkSize(fn, "m", m)
	checkMatrix(fn, "c", lenC, m, n, ldc)
	checkMatrix(fn, "a", lenA, m, k, lda)
	if hasBias {
		checkLen(fn, "bias", lenBias, n)
	}
	checkActivation(fn, act)
}
