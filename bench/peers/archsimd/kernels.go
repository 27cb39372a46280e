//go:build goexperiment.simd && go1.27 && amd64

package main

import (
	"simd/archsimd"
	"unsafe"
)

// Lengths are multiples of four vectors, and rows of 128 channels; what is measured needs no more.

func add8(dst, x, y []float32) {
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 32 {
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 0))).Add(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(b, 0)))).StoreArray((*[8]float32)(unsafe.Add(d, 0)))
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 32))).Add(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(b, 32)))).StoreArray((*[8]float32)(unsafe.Add(d, 32)))
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 64))).Add(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(b, 64)))).StoreArray((*[8]float32)(unsafe.Add(d, 64)))
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 96))).Add(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(b, 96)))).StoreArray((*[8]float32)(unsafe.Add(d, 96)))
		d, a, b = unsafe.Add(d, 128), unsafe.Add(a, 128), unsafe.Add(b, 128)
	}
}

func axpy8(dst []float32, alpha float32, x []float32) {
	by, y := archsimd.BroadcastFloat32x8(alpha), x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 32 {
		by.MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 0))), archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(d, 0)))).StoreArray((*[8]float32)(unsafe.Add(d, 0)))
		by.MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 32))), archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(d, 32)))).StoreArray((*[8]float32)(unsafe.Add(d, 32)))
		by.MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 64))), archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(d, 64)))).StoreArray((*[8]float32)(unsafe.Add(d, 64)))
		by.MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 96))), archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(d, 96)))).StoreArray((*[8]float32)(unsafe.Add(d, 96)))
		d, a, b = unsafe.Add(d, 128), unsafe.Add(a, 128), unsafe.Add(b, 128)
	}
}

func relu8(dst, x []float32) {
	var zero archsimd.Float32x8
	y := x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 32 {
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 0))).Max(zero).StoreArray((*[8]float32)(unsafe.Add(d, 0)))
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 32))).Max(zero).StoreArray((*[8]float32)(unsafe.Add(d, 32)))
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 64))).Max(zero).StoreArray((*[8]float32)(unsafe.Add(d, 64)))
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 96))).Max(zero).StoreArray((*[8]float32)(unsafe.Add(d, 96)))
		d, a, b = unsafe.Add(d, 128), unsafe.Add(a, 128), unsafe.Add(b, 128)
	}
}

// exp8 is exp for arguments whose result is a normal number.
func exp8(dst, x []float32) {
	log2e, hi, lo := archsimd.BroadcastFloat32x8(1.44269504), archsimd.BroadcastFloat32x8(-0.693359375), archsimd.BroadcastFloat32x8(2.12194440e-4)
	c2, c3, c4, c5, c6 := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastFloat32x8(1.0/6), archsimd.BroadcastFloat32x8(1.0/24), archsimd.BroadcastFloat32x8(1.0/120), archsimd.BroadcastFloat32x8(1.0/720)
	one, bias := archsimd.BroadcastFloat32x8(1), archsimd.BroadcastInt32x8(127)
	d, a := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for range len(dst) / 16 {
		x0 := archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 0)))
		n0 := x0.Mul(log2e).Round().ConvertToInt32()
		f0 := n0.ConvertToFloat32()
		r0 := f0.MulAdd(lo, f0.MulAdd(hi, x0))
		p0 := c6.MulAdd(r0, c5).MulAdd(r0, c4).MulAdd(r0, c3).MulAdd(r0, c2).MulAdd(r0, one).MulAdd(r0, one)
		p0.Mul(n0.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()).StoreArray((*[8]float32)(unsafe.Add(d, 0)))
		x1 := archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(a, 32)))
		n1 := x1.Mul(log2e).Round().ConvertToInt32()
		f1 := n1.ConvertToFloat32()
		r1 := f1.MulAdd(lo, f1.MulAdd(hi, x1))
		p1 := c6.MulAdd(r1, c5).MulAdd(r1, c4).MulAdd(r1, c3).MulAdd(r1, c2).MulAdd(r1, one).MulAdd(r1, one)
		p1.Mul(n1.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()).StoreArray((*[8]float32)(unsafe.Add(d, 32)))
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
				s0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 0))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 0))), s0)
				s1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 32))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 32))), s1)
				s2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 64))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 64))), s2)
				s3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 96))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 96))), s3)
				s4 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 128))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 128))), s4)
				s5 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 160))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 160))), s5)
				s6 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 192))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 192))), s6)
				s7 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 224))).MulAdd(archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(y, 224))), s7)
			}
			to := unsafe.Add(unsafe.Pointer(&out[i*c]), lane)
			s0.StoreArray((*[8]float32)(unsafe.Add(to, 0)))
			s1.StoreArray((*[8]float32)(unsafe.Add(to, 32)))
			s2.StoreArray((*[8]float32)(unsafe.Add(to, 64)))
			s3.StoreArray((*[8]float32)(unsafe.Add(to, 96)))
			s4.StoreArray((*[8]float32)(unsafe.Add(to, 128)))
			s5.StoreArray((*[8]float32)(unsafe.Add(to, 160)))
			s6.StoreArray((*[8]float32)(unsafe.Add(to, 192)))
			s7.StoreArray((*[8]float32)(unsafe.Add(to, 224)))
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
				b0, b1 := archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(bp, 0))), archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(bp, 32)))
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
			s00.StoreArray((*[8]float32)(unsafe.Add(to, 0*row+0)))
			s01.StoreArray((*[8]float32)(unsafe.Add(to, 0*row+32)))
			s10.StoreArray((*[8]float32)(unsafe.Add(to, 1*row+0)))
			s11.StoreArray((*[8]float32)(unsafe.Add(to, 1*row+32)))
			s20.StoreArray((*[8]float32)(unsafe.Add(to, 2*row+0)))
			s21.StoreArray((*[8]float32)(unsafe.Add(to, 2*row+32)))
			s30.StoreArray((*[8]float32)(unsafe.Add(to, 3*row+0)))
			s31.StoreArray((*[8]float32)(unsafe.Add(to, 3*row+32)))
		}
	}
}

func add16(dst, x, y []float32) {
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 64 {
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 0))).Add(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(b, 0)))).StoreArray((*[16]float32)(unsafe.Add(d, 0)))
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 64))).Add(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(b, 64)))).StoreArray((*[16]float32)(unsafe.Add(d, 64)))
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 128))).Add(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(b, 128)))).StoreArray((*[16]float32)(unsafe.Add(d, 128)))
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 192))).Add(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(b, 192)))).StoreArray((*[16]float32)(unsafe.Add(d, 192)))
		d, a, b = unsafe.Add(d, 256), unsafe.Add(a, 256), unsafe.Add(b, 256)
	}
}

func axpy16(dst []float32, alpha float32, x []float32) {
	by, y := archsimd.BroadcastFloat32x16(alpha), x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 64 {
		by.MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 0))), archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(d, 0)))).StoreArray((*[16]float32)(unsafe.Add(d, 0)))
		by.MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 64))), archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(d, 64)))).StoreArray((*[16]float32)(unsafe.Add(d, 64)))
		by.MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 128))), archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(d, 128)))).StoreArray((*[16]float32)(unsafe.Add(d, 128)))
		by.MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 192))), archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(d, 192)))).StoreArray((*[16]float32)(unsafe.Add(d, 192)))
		d, a, b = unsafe.Add(d, 256), unsafe.Add(a, 256), unsafe.Add(b, 256)
	}
}

func relu16(dst, x []float32) {
	var zero archsimd.Float32x16
	y := x
	d, a, b := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for range len(dst) / 64 {
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 0))).Max(zero).StoreArray((*[16]float32)(unsafe.Add(d, 0)))
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 64))).Max(zero).StoreArray((*[16]float32)(unsafe.Add(d, 64)))
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 128))).Max(zero).StoreArray((*[16]float32)(unsafe.Add(d, 128)))
		archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 192))).Max(zero).StoreArray((*[16]float32)(unsafe.Add(d, 192)))
		d, a, b = unsafe.Add(d, 256), unsafe.Add(a, 256), unsafe.Add(b, 256)
	}
}

// exp16 is exp for arguments whose result is a normal number.
func exp16(dst, x []float32) {
	log2e, hi, lo := archsimd.BroadcastFloat32x16(1.44269504), archsimd.BroadcastFloat32x16(-0.693359375), archsimd.BroadcastFloat32x16(2.12194440e-4)
	c2, c3, c4, c5, c6 := archsimd.BroadcastFloat32x16(0.5), archsimd.BroadcastFloat32x16(1.0/6), archsimd.BroadcastFloat32x16(1.0/24), archsimd.BroadcastFloat32x16(1.0/120), archsimd.BroadcastFloat32x16(1.0/720)
	one, bias := archsimd.BroadcastFloat32x16(1), archsimd.BroadcastInt32x16(127)
	d, a := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for range len(dst) / 32 {
		x0 := archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 0)))
		n0 := x0.Mul(log2e).RoundScaled(0).ConvertToInt32()
		f0 := n0.ConvertToFloat32()
		r0 := f0.MulAdd(lo, f0.MulAdd(hi, x0))
		p0 := c6.MulAdd(r0, c5).MulAdd(r0, c4).MulAdd(r0, c3).MulAdd(r0, c2).MulAdd(r0, one).MulAdd(r0, one)
		p0.Mul(n0.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()).StoreArray((*[16]float32)(unsafe.Add(d, 0)))
		x1 := archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(a, 64)))
		n1 := x1.Mul(log2e).RoundScaled(0).ConvertToInt32()
		f1 := n1.ConvertToFloat32()
		r1 := f1.MulAdd(lo, f1.MulAdd(hi, x1))
		p1 := c6.MulAdd(r1, c5).MulAdd(r1, c4).MulAdd(r1, c3).MulAdd(r1, c2).MulAdd(r1, one).MulAdd(r1, one)
		p1.Mul(n1.Add(bias).ShiftAllLeft(23).ToBits().BitsToFloat32()).StoreArray((*[16]float32)(unsafe.Add(d, 64)))
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
				s0 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 0))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 0))), s0)
				s1 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 64))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 64))), s1)
				s2 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 128))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 128))), s2)
				s3 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 192))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 192))), s3)
				s4 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 256))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 256))), s4)
				s5 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 320))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 320))), s5)
				s6 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 384))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 384))), s6)
				s7 = archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(x, 448))).MulAdd(archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(y, 448))), s7)
			}
			to := unsafe.Add(unsafe.Pointer(&out[i*c]), lane)
			s0.StoreArray((*[16]float32)(unsafe.Add(to, 0)))
			s1.StoreArray((*[16]float32)(unsafe.Add(to, 64)))
			s2.StoreArray((*[16]float32)(unsafe.Add(to, 128)))
			s3.StoreArray((*[16]float32)(unsafe.Add(to, 192)))
			s4.StoreArray((*[16]float32)(unsafe.Add(to, 256)))
			s5.StoreArray((*[16]float32)(unsafe.Add(to, 320)))
			s6.StoreArray((*[16]float32)(unsafe.Add(to, 384)))
			s7.StoreArray((*[16]float32)(unsafe.Add(to, 448)))
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
				b0, b1 := archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(bp, 0))), archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(bp, 64)))
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
			s00.StoreArray((*[16]float32)(unsafe.Add(to, 0*row+0)))
			s01.StoreArray((*[16]float32)(unsafe.Add(to, 0*row+64)))
			s10.StoreArray((*[16]float32)(unsafe.Add(to, 1*row+0)))
			s11.StoreArray((*[16]float32)(unsafe.Add(to, 1*row+64)))
			s20.StoreArray((*[16]float32)(unsafe.Add(to, 2*row+0)))
			s21.StoreArray((*[16]float32)(unsafe.Add(to, 2*row+64)))
			s30.StoreArray((*[16]float32)(unsafe.Add(to, 3*row+0)))
			s31.StoreArray((*[16]float32)(unsafe.Add(to, 3*row+64)))
			s40.StoreArray((*[16]float32)(unsafe.Add(to, 4*row+0)))
			s41.StoreArray((*[16]float32)(unsafe.Add(to, 4*row+64)))
			s50.StoreArray((*[16]float32)(unsafe.Add(to, 5*row+0)))
			s51.StoreArray((*[16]float32)(unsafe.Add(to, 5*row+64)))
			s60.StoreArray((*[16]float32)(unsafe.Add(to, 6*row+0)))
			s61.StoreArray((*[16]float32)(unsafe.Add(to, 6*row+64)))
			s70.StoreArray((*[16]float32)(unsafe.Add(to, 7*row+0)))
			s71.StoreArray((*[16]float32)(unsafe.Add(to, 7*row+64)))
		}
	}
}
