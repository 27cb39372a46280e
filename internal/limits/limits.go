// Package limits runs the loops by which a machine's limits are measured: one consists of multiply-adds only, one of reads only. The
// caller measures the time.
package limits

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// FMA does rounds of float32 multiply-adds in registers, with the vector instructions of the named level, and returns how many
// operations that was; a multiply-add counts as two. At the portable level it runs what the compiler makes of a Go loop.
func FMA(level string, rounds int) (flop int) {
	if rounds < 1 {
		return 0
	}
	if lanes, ok := fma(level, rounds); ok {
		return rounds * 96 * 2 * lanes
	}
	fmaGeneric(rounds)
	return rounds * 96 * 2
}

// Read reads x once, in order, by whole vectors of the level. len(x) must be a multiple of 512.
func Read(level string, x []byte) {
	if len(x)%512 != 0 {
		panic(fmt.Sprintf("limits: Read: len(x) = %d, need a multiple of 512", len(x)))
	}
	if len(x) == 0 || read(level, x) {
		return
	}
	readGeneric(x)
}

func fmaGeneric(rounds int) {
	var a, b, c, d, e, f, g, h float32
	const half = 0.5
	for range 12 * rounds {
		a, b, c, d = a*half+half, b*half+half, c*half+half, d*half+half
		e, f, g, h = e*half+half, f*half+half, g*half+half, h*half+half
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h)
}

func readGeneric(x []byte) {
	var a, b, c, d uint64
	for ; len(x) >= 32; x = x[32:] {
		a |= binary.NativeEndian.Uint64(x)
		b |= binary.NativeEndian.Uint64(x[8:])
		c |= binary.NativeEndian.Uint64(x[16:])
		d |= binary.NativeEndian.Uint64(x[24:])
	}
	runtime.KeepAlive(a | b | c | d)
}
