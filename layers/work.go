package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// workers is the number of goroutines, and so of the scratch buffers that a caller needs.
func workers() int { return parallel.Workers() }

// chunkRows is how many rows a goroutine takes at a time.
const chunkRows = 32

// rowGrain is the number of rows that one goroutine takes at a time: enough work to outweigh the hand-over, and few enough to
// keep a tile of 128 channels in the second-level cache.
const rowGrain = 256

// poseChunk is how many poses a goroutine takes at a time.
const poseChunk = 1024

// sliceWidth is how many channels of a tiled arrangement's features are stored side by side. The rows of a tile gather from many
// more points than the tile has, and have many weights; a slice of both stays in the second-level cache while all rows use it. Rows
// that come in fours have slices of simd.OrbitChannels.
const sliceWidth = 32

// sizeof is the number of bytes of a T.
func sizeof[T Float]() int {
	var zero T
	if _, ok := any(zero).(float64); ok {
		return 8
	}
	return 4
}

// f32 returns x as float32, which T must be.
func f32[T Float](x []T) []float32 { return any(x).([]float32) }

// copyRows copies rows of c elements, dstride and sstride apart.
func copyRows[T Float](dst []T, dstride int, src []T, sstride, c, rows int) {
	switch c { // a call for each row would cost more than the row
	case sliceWidth:
		for i := range rows {
			*(*[sliceWidth]T)(dst[i*dstride:]) = *(*[sliceWidth]T)(src[i*sstride:])
		}
		return
	case simd.OrbitChannels:
		for i := range rows {
			*(*[simd.OrbitChannels]T)(dst[i*dstride:]) = *(*[simd.OrbitChannels]T)(src[i*sstride:])
		}
		return
	}
	for i := range rows {
		copy(dst[i*dstride:][:c], src[i*sstride:])
	}
}
