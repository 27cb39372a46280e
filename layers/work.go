package layers

import "github.com/equivcnp/equivcnp/internal/parallel"

// workers returns the number of goroutines, and so of the scratch buffers that a caller needs.
func workers() int { return parallel.Workers() }

// chunkRows is how many rows a goroutine takes at a time.
const chunkRows = 32

// rowGrain is the number of rows that one goroutine takes at a time: enough work to outweigh the hand-over, and few enough to
// keep a tile of 128 channels in the second-level cache.
const rowGrain = 256

// poseChunk is how many poses a goroutine takes at a time.
const poseChunk = 1024
