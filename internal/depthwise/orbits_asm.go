//go:build !purego && (amd64 || arm64)

package depthwise

import (
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/schedule"
)

// race announces what is read, and that rows are written.
func (p *Orbits) race(out, f, w []float32) {
	if !race.Enabled {
		return
	}
	race.Read(f)
	race.Read(w)
	race.Read(p.code)
	p.raceRows(out, OrbitChannels)
}

// raceRows announces that the rows of all groups are written, which lie stride numbers apart.
func (p *Orbits) raceRows(out []float32, stride int) {
	code := p.code
	for range p.groups {
		rows := code[schedule.OrbitHead:][:code[1]*schedule.OrbitCopies]
		for _, row := range rows {
			race.Write(out[int(row)*stride:][:OrbitChannels])
		}
		code = code[schedule.OrbitHead+len(rows)+int(code[0])*schedule.OrbitStep:]
	}
}

// raceGrad announces what a gradient reads, and that it writes dw.
func (p *Orbits) raceGrad(dw, d, f []float32) {
	if race.Enabled && p.groups > 0 {
		race.Read(d)
		race.Read(f)
		race.Read(p.code)
		race.Write(dw)
	}
}
