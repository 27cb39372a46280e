//go:build goexperiment.simd && go1.27 && !purego

package simd

import "unsafe"

// gatherMax returns the largest index, of which negative ones are the largest.
func gatherMax(x []int32) uint32 { return gatherMaxWASM128(unsafe.SliceData(x), len(x)) }
