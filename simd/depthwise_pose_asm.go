//go:build !purego && (amd64 || arm64)

package simd

// race announces what is read, and that some channels of dw are written.
func (p *DepthwisePosePlan) race(dw, dout, f []float32, from, to, c int) {
	if raceEnabled {
		raceRead(dout)
		raceRead(f)
		raceRead(p.code)
		for at := 0; at < len(dw); at += c {
			raceWrite(dw[at+from : at+to])
		}
	}
}
