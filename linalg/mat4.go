package linalg

// Mul4x4 writes the product a·b; dst may be a or b. For two rigid motions it is the motion b, then a.
//
//go:noinline
func Mul4x4(dst, a, b *[16]float64) {
	var c [16]float64
	for i := 0; i < 16; i += 4 {
		for j := range 4 {
			c[i+j] = (float64(a[i]*b[j]) + float64(a[i+1]*b[4+j])) + (float64(a[i+2]*b[8+j]) + float64(a[i+3]*b[12+j]))
		}
	}
	*dst = c
}

// InverseRigid4x4 writes the inverse of the rigid motion a = [[R, p], [0, 1]], which is [[Rᵀ, -Rᵀp], [0, 1]]; dst may be a.
// The last row of a is not read, and R is taken to be orthogonal.
//
//go:noinline
func InverseRigid4x4(dst, a *[16]float64) {
	r := *a
	*dst = [16]float64{
		r[0], r[4], r[8], -(float64(r[0]*r[3]) + float64(r[4]*r[7]) + float64(r[8]*r[11])),
		r[1], r[5], r[9], -(float64(r[1]*r[3]) + float64(r[5]*r[7]) + float64(r[9]*r[11])),
		r[2], r[6], r[10], -(float64(r[2]*r[3]) + float64(r[6]*r[7]) + float64(r[10]*r[11])),
		0, 0, 0, 1,
	}
}
