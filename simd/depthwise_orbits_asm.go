//go:build !purego && (amd64 || arm64)

package simd

import "github.com/equivcnp/equivcnp/internal/schedule"

// race announces what is read, and that the rows of all groups are written.
func (p *DepthwiseOrbits) race(out, f, w []float32) {
	if !raceEnabled {
		return
	}
	raceRead(f)
	raceRead(w)
	raceRead(p.code)
	code := p.code
	for range p.groups {
		rows := code[schedule.OrbitHead:][:code[1]*schedule.OrbitCopies]
		for _, row := range rows {
			raceWrite(rowOf(out, row, OrbitChannels))
		}
		code = code[schedule.OrbitHead+len(rows)+int(code[0])*schedule.OrbitStep:]
	}
}
