//go:build !purego && (amd64 || arm64)

package simd

// race announces what is read, and what is written.
func (p *BicubicPlan) race(read, written []float32) {
	if raceEnabled {
		raceRead(read)
		raceRead(p.code)
		raceWrite(written)
	}
}
