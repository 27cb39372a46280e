package simd

// packedBlockM is how many rows are computed from bias to activation at a time, so that they are still in the cache at the end.
const packedBlockM = 32

// gemmPackedGeneric sets every row of C to the bias and lets the row-combining product add to it.
func gemmPackedGeneric[T Float](c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m int) {
	k, n := b.k, b.n
	if n == 0 {
		return
	}
	if k == 0 {
		lda = 0 // rows without elements need not exist
	}
	for i0 := 0; i0 < m; i0 += packedBlockM {
		mb := min(packedBlockM, m-i0)
		for i := range mb {
			row := c[(i0+i)*ldc:][:n]
			if bias != nil {
				copy(row, bias)
			} else {
				clear(row)
			}
		}
		for j := 0; j < n; j += b.panel {
			gemmGeneric(c[i0*ldc+j:], ldc, a[i0*lda:], lda, b.data[j*k:], b.panel, 1, 1, mb, min(b.panel, n-j), k)
		}
		for i := range mb {
			activate(c[(i0+i)*ldc:][:n], act)
		}
	}
}

// activate applies the activation in place.
func activate[T Float](x []T, act Activation) {
	switch act {
	case ActSwish:
		Swish(x, x)
	case ActReLU:
		ReLU(x, x)
	case ActSigmoid:
		Sigmoid(x, x)
	case ActSoftplus:
		Softplus(x, x)
	case ActTanh:
		Tanh(x, x)
	}
}
