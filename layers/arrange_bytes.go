package layers

import (
	"github.com/equivcnp/equivcnp/internal/bf16"
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
)

// flatRows is how many rows of a flat arrangement a goroutine computes at a time: a multiple of the rows that are computed
// together, and few enough for their sums to stay in the first-level cache until the dense map.
const flatRows = 64

// denseParts is how many bfloat16 numbers stand for one of a dense map where there are tiles: two have a float32's
// precision, as GemmTilesF32 says.
const denseParts = 2

// denseSpace returns the most elements of scratch memory that a dense map of that many channels needs (bf16.Tiles.Space).
func denseSpace(channels int) int { return 32*channels*denseParts/2 + 32*32 + 16 }

// slicedImages is how many images' sums are held while tiles pass slice by slice. A single image gains nothing: there
// weights from memory are what takes time.
const slicedImages = 8

// Bytes returns the memory that the arrangement occupies.
func (a *Arrangement[T]) Bytes() int64 {
	size := int64(0)
	if a.window != nil {
		size = int64(buffers.SizeOf[T]() * (len(a.window.pose) + len(a.window.row)))
	}
	size += int64(8*len(a.offsets) + buffers.SizeOf[T]()*len(a.table))
	if a.transforms == nil || a.derived == nil { // others are hardly ever needed
		size += 8 * int64(a.Pairs())
	}
	if a.transforms != nil {
		size += int64(4 * len(a.scale))
	} else if a.direct != nil {
		size += 9 * int64(a.Pairs()) // the plan's copy of the pairs, and the steps of eight rows at a time
	}
	if !a.Flat() {
		size += int64(a.Evaluations())*int64(4+a.dim*buffers.SizeOf[T]()) + int64(a.Rows)
		for i := range a.tiles {
			size += 4 * int64(len(a.tiles[i].code))
		}
		if nodal.Smooth[T](a.dim, a.poses) { // once tiles whose weights are not stored have been computed
			size += nodal.PlaceBytes * int64(a.Evaluations())
		}
	}
	return size
}

// CallBytes returns roughly the memory that one goroutine needs while it computes a layer of that many channels for
// that many images at once. In tiles this is a slice of a tile's weights, the hidden channels of the WeightNet that
// they are computed from (as many as a slice has, in the paper's models), the sums of its rows before and after the
// dense map, and a part of the sums that all tiles wait for.
func (a *Arrangement[T]) CallBytes(channels, images int) int64 {
	rows, weights, sums := flatRows, 0, 0
	if a.transforms != nil {
		return a.transformBytes(channels, images)
	}
	if !a.Flat() {
		rows, weights = a.tall*(images+1), (2*a.most+a.tall*min(depthwise.OrbitImages(), images))*a.width(channels)
		if a.width(channels) < channels && images > 1 {
			sums = min(slicedImages, images) * a.Rows * channels / workers()
		}
	} else {
		weights = denseSpace(channels)
	}
	return int64(weights+rows*channels+sums) * int64(buffers.SizeOf[T]())
}

// PairedBytes returns the memory that weights in bfloat16 take in addition where the CPU multiplies pairs of them
// (bf16.HaveDots): kept by the arrangement, for the order of the pairs, and in a call of all goroutines, for the
// rounded features of that many channels of that many images.
func (a *Arrangement[T]) PairedBytes(channels, images int) (kept, call int64) {
	if !bf16.HaveDots() || a.width(channels) != depthwise.OrbitChannels || channels == depthwise.OrbitChannels {
		return 0, 0
	}
	for i := range a.tiles {
		if t := &a.tiles[i]; t.orbits != nil {
			kept += 4 * int64(len(t.code)+len(t.poses))
			call = 2 * int64(min(slicedImages, images)*a.Rows*channels)
		}
	}
	return kept, call
}

// transformBytes is CallBytes, of which there are as many as goroutines.
func (a *Arrangement[T]) transformBytes(channels, images int) int64 {
	high, rows := a.transforms.H, flatRows+flatRows/8
	if a.inSlabs(channels, channels) {
		high, rows = gridsums.PartHeight(a.transforms, channels), 3*rows
	}
	sums := int64(a.imagesTogether(channels, images) * a.Rows / a.transforms.H * high * channels * buffers.SizeOf[T]())
	return sums/int64(workers()) + a.transforms.WorkspaceBytes(high) + int64((rows*channels+denseSpace(channels))*buffers.SizeOf[T]())
}
