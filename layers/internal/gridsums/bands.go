// Package gridsums sums features over the pairs of a pixel grid by Fourier transforms along its rows, in float32: for
// training the sums and their gradients, and for all the bounds of what goes at a time.
package gridsums

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/spectral"
)

// MostSpread is the largest feature that sums by transforms are taken of. A transform is off by a small multiple of eps
// times the largest features that a tile's row sees, wherever in it they are: one of 1e6 changes unrelated sums by
// 0.09. So rows that see a feature beyond MostSpread are summed up directly, and no sum is off by more than 1e-3
// because of unrelated features. The features of trained models are far below it. End to end, TestSpike of
// cnp/pretrained measures it; passes of training have the same bound, for all of their images at once (Sums).
const MostSpread = 8192

// liftedBytes bounds the transforms that a goroutine holds at a time where points have several lifts, so that they stay
// in the second-level cache. A band has at least leastBand rows and, unless it ends the image or a part, a multiple of
// them. One of more than evenBand rows, which transforms fewer twice, is cut where there are too few bands to keep all
// goroutines busy to the end.
const (
	liftedBytes = 3 << 19
	leastBand   = 16
	evenBand    = 64
)

// A part of an image is LeastPart rows, and more where their sums take less than PartBytes: sums pass through the dense
// map while they are in a cache, and take little memory. Tests change both.
var LeastPart, PartBytes = 128, 8 << 20

// BandRows returns how many of the grid's high rows a goroutine computes at a time. No bits depend on it.
func BandRows(t *spectral.Tiling, channels, images, high int) int {
	rows := (high + leastBand - 1) / leastBand * leastBand
	units := func() int { return images * spectral.Slabs(channels) * t.Tiles() * ((high + rows - 1) / rows) }
	for rows > leastBand && (t.Lifts > 1 && t.WorkspaceBytes(rows) > liftedBytes || units() < parallel.Workers() || rows > evenBand &&
		units() < 4*parallel.Workers()) {
		rows = (rows/2 + leastBand - 1) / leastBand * leastBand
	}
	return rows
}

// PartHeight returns how many of the grid's rows make a part of an image.
func PartHeight(t *spectral.Tiling, channels int) int {
	return min(t.H, max(LeastPart, PartBytes/(4*t.W*channels)/leastBand*leastBand))
}
