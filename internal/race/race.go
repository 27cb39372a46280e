//go:build race

package race

import (
	"runtime"
	"unsafe"
)

// Enabled says whether the race detector is watching, for announcements that take a loop.
const Enabled = true

// Read announces that the whole slice is read.
func Read[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

// Write announces that the whole slice is written.
func Write[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}
