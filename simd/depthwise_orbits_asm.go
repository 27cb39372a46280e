//go:build !purego && (amd64 || arm64)

package simd

import "github.com/equivcnp/equivcnp/internal/schedule"

// race announces what is read, and that rows are written.
func (p *DepthwiseOrbits) race(out, f, w []float32) {
	if !raceEnabled {
		return
	}
	raceRead(f)
	raceRead(w)
	raceRead(p.code)
	p.raceRows(out, OrbitChannels)
}

// raceRows announces that the rows of all groups are written, which lie stride numbers apart.
func (p *DepthwiseOrbits) raceRows(out []float32, stride int) {
	code := p.code
	for range p.groups {
		rows := code[schedule.OrbitHead:][:code[1]*schedule.OrbitCopies]
		for _, row := range rows {
			raceWrite(out[int(row)*stride:][:OrbitChannels])
		}
		code = code[schedule.OrbitHead+len(rows)+int(code[0])*schedule.OrbitStep:]
	}
}

// raceGrad announces what a gradient reads, and that it writes dw.
func (p *DepthwiseOrbits) raceGrad(dw, d, f []float32) {
	if raceEnabled && p.groups > 0 {
		raceRead(d)
		raceRead(f)
		raceRead(p.code)
		raceWrite(dw)
	}
}
