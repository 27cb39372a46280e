//go:build !purego && (amd64 || arm64)

package simd

// race announces what is read, and that a part of dw is written; others may have the rest.
func (p *DepthwisePosePlan) race(dw, dout, f []float32, part, from, to, c int) {
	if raceEnabled {
		raceRead(dout)
		raceRead(f)
		raceRead(p.code)
		for q := p.parts[part].lo; q < p.parts[part].hi; q++ {
			raceWrite(dw[q*c+from : q*c+to])
		}
	}
}
