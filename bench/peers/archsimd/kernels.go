//go:build goexperiment.simd && go1.27 && amd64

package main

import (
	"simd/archsimd"
	"unsafe"
)

// Every kernel stands here twice, for vectors of 256 and of 512 bits: their methods have no type parameters in common.
// Lengths are multiples of four vectors, and rows of 128 channels; what is measured needs no more.

func load8(p unsafe.Pointer, offset int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, offset)))
}

func store8(p unsafe.Pointer, offset int, v archsimd.Float32x8) {
	v.StoreArray((*[8]float32)(unsafe.Add(p, offset)))
}

func add8(dst, x, y []float32) {
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 32 {
		store8(d, 0, load8(a, 0).Add(load8(b, 0)))
		store8(d, 32, load8(a, 32).Add(load8(b, 32)))
		store8(d, 64, load8(a, 64).Add(load8(b, 64)))
		store8(d, 96, load8(a, 96).Add(load8(b, 96)))
		d, a, b = unsafe.Add(d, 128), unsafe.Add(a, 128), unsafe.Add(b, 128)
	}
}

func axpy8(dst []float32, alpha float32, x []float32) {
	by, y := archsimd.BroadcastFloat32x8(alpha), x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 32 {
		store8(d, 0, by.MulAdd(load8(a, 0), load8(d, 0)))
		store8(d, 32, by.MulAdd(load8(a, 32), load8(d, 32)))
		store8(d, 64, by.MulAdd(load8(a, 64), load8(d, 64)))
		store8(d, 96, by.MulAdd(load8(a, 96), load8(d, 96)))
		d, a, b = unsafe.Add(d, 128), unsafe.Add(a, 128), unsafe.Add(b, 128)
	}
}

func relu8(dst, x []float32) {
	var zero archsimd.Float32x8
	y := x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 32 {
		store8(d, 0, load8(a, 0).Max(zero))
		store8(d, 32, load8(a, 32).Max(zero))
		store8(d, 64, load8(a, 64).Max(zero))
		store8(d, 96, load8(a, 96).Max(zero))
		d, a, b = unsafe.Add(d, 128), unsafe.Add(a, 128), unsafe.Add(b, 128)
	}
}

// exp8 is exp for arguments whose result is a normal number.
func exp8(dst, x []float32) {
	log2e := archsimd.BroadcastFloat32x8(1.44269504)
	hi, lo := archsimd.BroadcastFloat32x8(-0.693359375), archsimd.BroadcastFloat32x8(2.12194440e-4)
	c2, c3, c4 := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastFloat32x8(1.0/6), archsimd.BroadcastFloat32x8(1.0/24)
	c5, c6 := archsimd.BroadcastFloat32x8(1.0/120), archsimd.BroadcastFloat32x8(1.0/720)
	one, bias := archsimd.BroadcastFloat32x8(1), archsimd.BroadcastInt32x8(127)
	d, a := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for range len(dst) / 16 {
		x0 := load8(a, 0)
		n0 := x0.Mul(log2e).Round().ConvertToInt32()
		f0 := n0.ConvertToFloat32()
		r0 := f0.MulAdd(lo, f0.MulAdd(hi, x0))
		p0 := c6.MulAdd(r0, c5).MulAdd(r0, c4).MulAdd(r0, c3).MulAdd(r0, c2).MulAdd(r0, one).MulAdd(r0, one)
		store8(d, 0, p0.Mul(n0.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()))
		x1 := load8(a, 32)
		n1 := x1.Mul(log2e).Round().ConvertToInt32()
		f1 := n1.ConvertToFloat32()
		r1 := f1.MulAdd(lo, f1.MulAdd(hi, x1))
		p1 := c6.MulAdd(r1, c5).MulAdd(r1, c4).MulAdd(r1, c3).MulAdd(r1, c2).MulAdd(r1, one).MulAdd(r1, one)
		store8(d, 32, p1.Mul(n1.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()))
		d, a = unsafe.Add(d, 64), unsafe.Add(a, 64)
	}
}

func depthwise8(out, f, w []float32, offsets []int, index, pose []int32, c int) {
	row := 4 * c
	for i := range len(offsets) - 1 {
		ix, ps := index[offsets[i]:offsets[i+1]], pose[offsets[i]:offsets[i+1]]
		for lane := 0; lane < row; lane += 256 {
			fp, wp := unsafe.Add(unsafe.Pointer(&f[0]), lane), unsafe.Add(unsafe.Pointer(&w[0]), lane)
			var s0, s1, s2, s3, s4, s5, s6, s7 archsimd.Float32x8
			for k, at := range ix {
				x, y := unsafe.Add(fp, int(at)*row), unsafe.Add(wp, int(ps[k])*row)
				s0 = load8(x, 0).MulAdd(load8(y, 0), s0)
				s1 = load8(x, 32).MulAdd(load8(y, 32), s1)
				s2 = load8(x, 64).MulAdd(load8(y, 64), s2)
				s3 = load8(x, 96).MulAdd(load8(y, 96), s3)
				s4 = load8(x, 128).MulAdd(load8(y, 128), s4)
				s5 = load8(x, 160).MulAdd(load8(y, 160), s5)
				s6 = load8(x, 192).MulAdd(load8(y, 192), s6)
				s7 = load8(x, 224).MulAdd(load8(y, 224), s7)
			}
			to := unsafe.Add(unsafe.Pointer(&out[i*c]), lane)
			store8(to, 0, s0)
			store8(to, 32, s1)
			store8(to, 64, s2)
			store8(to, 96, s3)
			store8(to, 128, s4)
			store8(to, 160, s5)
			store8(to, 192, s6)
			store8(to, 224, s7)
		}
	}
}

// gemm8 is a product of two n x n matrices by tiles of 4 rows and 2 vectors, without packing.
func gemm8(out, a, b []float32, n int) {
	row := 4 * n
	for i := 0; i < n; i += 4 {
		for j := 0; j < n; j += 16 {
			ap, bp := unsafe.Pointer(&a[i*n]), unsafe.Pointer(&b[j])
			var s00, s01, s10, s11, s20, s21, s30, s31 archsimd.Float32x8
			for range n {
				b0, b1 := load8(bp, 0), load8(bp, 32)
				a0 := archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(ap, 0*row)))
				s00, s01 = a0.MulAdd(b0, s00), a0.MulAdd(b1, s01)
				a1 := archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(ap, 1*row)))
				s10, s11 = a1.MulAdd(b0, s10), a1.MulAdd(b1, s11)
				a2 := archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(ap, 2*row)))
				s20, s21 = a2.MulAdd(b0, s20), a2.MulAdd(b1, s21)
				a3 := archsimd.BroadcastFloat32x8(*(*float32)(unsafe.Add(ap, 3*row)))
				s30, s31 = a3.MulAdd(b0, s30), a3.MulAdd(b1, s31)
				ap, bp = unsafe.Add(ap, 4), unsafe.Add(bp, row)
			}
			to := unsafe.Pointer(&out[i*n+j])
			store8(to, 0*row+0, s00)
			store8(to, 0*row+32, s01)
			store8(to, 1*row+0, s10)
			store8(to, 1*row+32, s11)
			store8(to, 2*row+0, s20)
			store8(to, 2*row+32, s21)
			store8(to, 3*row+0, s30)
			store8(to, 3*row+32, s31)
		}
	}
}

func load16(p unsafe.Pointer, offset int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(p, offset)))
}

func store16(p unsafe.Pointer, offset int, v archsimd.Float32x16) {
	v.StoreArray((*[16]float32)(unsafe.Add(p, offset)))
}

func add16(dst, x, y []float32) {
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 64 {
		store16(d, 0, load16(a, 0).Add(load16(b, 0)))
		store16(d, 64, load16(a, 64).Add(load16(b, 64)))
		store16(d, 128, load16(a, 128).Add(load16(b, 128)))
		store16(d, 192, load16(a, 192).Add(load16(b, 192)))
		d, a, b = unsafe.Add(d, 256), unsafe.Add(a, 256), unsafe.Add(b, 256)
	}
}

func axpy16(dst []float32, alpha float32, x []float32) {
	by, y := archsimd.BroadcastFloat32x16(alpha), x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 64 {
		store16(d, 0, by.MulAdd(load16(a, 0), load16(d, 0)))
		store16(d, 64, by.MulAdd(load16(a, 64), load16(d, 64)))
		store16(d, 128, by.MulAdd(load16(a, 128), load16(d, 128)))
		store16(d, 192, by.MulAdd(load16(a, 192), load16(d, 192)))
		d, a, b = unsafe.Add(d, 256), unsafe.Add(a, 256), unsafe.Add(b, 256)
	}
}

func relu16(dst, x []float32) {
	var zero archsimd.Float32x16
	y := x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 64 {
		store16(d, 0, load16(a, 0).Max(zero))
		store16(d, 64, load16(a, 64).Max(zero))
		store16(d, 128, load16(a, 128).Max(zero))
		store16(d, 192, load16(a, 192).Max(zero))
		d, a, b = unsafe.Add(d, 256), unsafe.Add(a, 256), unsafe.Add(b, 256)
	}
}

// exp16 is exp for arguments whose result is a normal number.
func exp16(dst, x []float32) {
	log2e := archsimd.BroadcastFloat32x16(1.44269504)
	hi, lo := archsimd.BroadcastFloat32x16(-0.693359375), archsimd.BroadcastFloat32x16(2.12194440e-4)
	c2, c3, c4 := archsimd.BroadcastFloat32x16(0.5), archsimd.BroadcastFloat32x16(1.0/6), archsimd.BroadcastFloat32x16(1.0/24)
	c5, c6 := archsimd.BroadcastFloat32x16(1.0/120), archsimd.BroadcastFloat32x16(1.0/720)
	one, bias := archsimd.BroadcastFloat32x16(1), archsimd.BroadcastInt32x16(127)
	d, a := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for range len(dst) / 32 {
		x0 := load16(a, 0)
		n0 := x0.Mul(log2e).RoundScaled(0).ConvertToInt32()
		f0 := n0.ConvertToFloat32()
		r0 := f0.MulAdd(lo, f0.MulAdd(hi, x0))
		p0 := c6.MulAdd(r0, c5).MulAdd(r0, c4).MulAdd(r0, c3).MulAdd(r0, c2).MulAdd(r0, one).MulAdd(r0, one)
		store16(d, 0, p0.Mul(n0.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()))
		x1 := load16(a, 64)
		n1 := x1.Mul(log2e).RoundScaled(0).ConvertToInt32()
		f1 := n1.ConvertToFloat32()
		r1 := f1.MulAdd(lo, f1.MulAdd(hi, x1))
		p1 := c6.MulAdd(r1, c5).MulAdd(r1, c4).MulAdd(r1, c3).MulAdd(r1, c2).MulAdd(r1, one).MulAdd(r1, one)
		store16(d, 64, p1.Mul(n1.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()))
		d, a = unsafe.Add(d, 128), unsafe.Add(a, 128)
	}
}

func depthwise16(out, f, w []float32, offsets []int, index, pose []int32, c int) {
	row := 4 * c
	for i := range len(offsets) - 1 {
		ix, ps := index[offsets[i]:offsets[i+1]], pose[offsets[i]:offsets[i+1]]
		for lane := 0; lane < row; lane += 512 {
			fp, wp := unsafe.Add(unsafe.Pointer(&f[0]), lane), unsafe.Add(unsafe.Pointer(&w[0]), lane)
			var s0, s1, s2, s3, s4, s5, s6, s7 archsimd.Float32x16
			for k, at := range ix {
				x, y := unsafe.Add(fp, int(at)*row), unsafe.Add(wp, int(ps[k])*row)
				s0 = load16(x, 0).MulAdd(load16(y, 0), s0)
				s1 = load16(x, 64).MulAdd(load16(y, 64), s1)
				s2 = load16(x, 128).MulAdd(load16(y, 128), s2)
				s3 = load16(x, 192).MulAdd(load16(y, 192), s3)
				s4 = load16(x, 256).MulAdd(load16(y, 256), s4)
				s5 = load16(x, 320).MulAdd(load16(y, 320), s5)
				s6 = load16(x, 384).MulAdd(load16(y, 384), s6)
				s7 = load16(x, 448).MulAdd(load16(y, 448), s7)
			}
			to := unsafe.Add(unsafe.Pointer(&out[i*c]), lane)
			store16(to, 0, s0)
			store16(to, 64, s1)
			store16(to, 128, s2)
			store16(to, 192, s3)
			store16(to, 256, s4)
			store16(to, 320, s5)
			store16(to, 384, s6)
			store16(to, 448, s7)
		}
	}
}

// gemm16 is a product of two n x n matrices by tiles of 8 rows and 2 vectors, without packing.
func gemm16(out, a, b []float32, n int) {
	row := 4 * n
	for i := 0; i < n; i += 8 {
		for j := 0; j < n; j += 32 {
			ap, bp := unsafe.Pointer(&a[i*n]), unsafe.Pointer(&b[j])
			var s00, s01, s10, s11, s20, s21, s30, s31, s40, s41, s50, s51, s60, s61, s70, s71 archsimd.Float32x16
			for range n {
				b0, b1 := load16(bp, 0), load16(bp, 64)
				a0 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 0*row)))
				s00, s01 = a0.MulAdd(b0, s00), a0.MulAdd(b1, s01)
				a1 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 1*row)))
				s10, s11 = a1.MulAdd(b0, s10), a1.MulAdd(b1, s11)
				a2 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 2*row)))
				s20, s21 = a2.MulAdd(b0, s20), a2.MulAdd(b1, s21)
				a3 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 3*row)))
				s30, s31 = a3.MulAdd(b0, s30), a3.MulAdd(b1, s31)
				a4 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 4*row)))
				s40, s41 = a4.MulAdd(b0, s40), a4.MulAdd(b1, s41)
				a5 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 5*row)))
				s50, s51 = a5.MulAdd(b0, s50), a5.MulAdd(b1, s51)
				a6 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 6*row)))
				s60, s61 = a6.MulAdd(b0, s60), a6.MulAdd(b1, s61)
				a7 := archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(ap, 7*row)))
				s70, s71 = a7.MulAdd(b0, s70), a7.MulAdd(b1, s71)
				ap, bp = unsafe.Add(ap, 4), unsafe.Add(bp, row)
			}
			to := unsafe.Pointer(&out[i*n+j])
			store16(to, 0*row+0, s00)
			store16(to, 0*row+64, s01)
			store16(to, 1*row+0, s10)
			store16(to, 1*row+64, s11)
			store16(to, 2*row+0, s20)
			store16(to, 2*row+64, s21)
			store16(to, 3*row+0, s30)
			store16(to, 3*row+64, s31)
			store16(to, 4*row+0, s40)
			store16(to, 4*row+64, s41)
			store16(to, 5*row+0, s50)
			store16(to, 5*row+64, s51)
			store16(to, 6*row+0, s60)
			store16(to, 6*row+64, s61)
			store16(to, 7*row+0, s70)
			store16(to, 7*row+64, s71)
		}
	}
}
