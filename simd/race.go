//go:build race && !purego

package simd

import (
	"runtime"
	"unsafe"
)

// raceEnabled says whether the race detector is watching, for announcements that take a loop.
const raceEnabled = true

// raceRead tells the race detector, which cannot see into assembly, that the whole slice is read.
func raceRead[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

// raceWrite tells the race detector that the whole slice is written.
func raceWrite[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}
