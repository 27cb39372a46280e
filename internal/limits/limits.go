// Package limits runs the loops that a machine's limits are measured with: nothing but multiply-adds, nothing but reads. The
// caller takes the time.
package limits

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// FMA does rounds of vector multiply-adds of float32, on registers alone, with the instructions of a level as package simd
// names it, and returns how many operations that were; a multiply-add counts as two. The portable level does them as the
// compiler translates them.
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
