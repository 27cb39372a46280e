//go:build !purego

package bands

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

func expand(tiles, strips []uint16, list []int32) {
	if !cpu.Tiles() {
		expandGeneric(tiles, strips, list)
		return
	}
	race.Read(strips)
	race.Write(tiles)
	expandAMX(&tiles[0], &strips[0], &list[0], len(list)/2)
}

func sums(dst []float32, a, tiles []uint16, list []int32, columns, pitch int) {
	if !cpu.Tiles() {
		sumsGeneric(dst, a, tiles, list, columns, pitch)
		return
	}
	race.Read(tiles)
	race.Write(dst[:columns*lanes*lanes])
	sumsAMX(&dst[0], &a[0], &tiles[0], &list[0], len(list)/2, columns, pitch)
}

func pair(dst []uint16, x0, x1, scale []float32, stride, n int) {
	if !cpu.Tiles() {
		pairGeneric(dst, x0, x1, scale, stride, n)
		return
	}
	if race.Enabled {
		race.Read(x0[:n*lanes])
		race.Read(x1[:n*lanes])
		for i := range n {
			race.Write(dst[i*stride/2:][:2*lanes])
		}
	}
	pairAMX(&dst[0], &x0[0], &x1[0], &scale[0], stride, n)
}

func spread(dst []uint16, x []float32) {
	if !cpu.Tiles() {
		spreadGeneric(dst, x)
		return
	}
	race.Read(x) // what is written are pairs of numbers, far apart
	spreadAMX(&dst[0], &x[0], len(x)/Group)
}

func (m *mapping) run() {
	if !cpu.Tiles() {
		m.generic()
		return
	}
	if race.Enabled {
		for b := range m.blocks {
			race.Read(m.x[b*m.pitch:][:m.groups*tile])
		}
		race.Write(m.scratch)
	}
	rows := &m.scratch[0]
	if m.mode&modeRows != 0 {
		rows = &m.rows[0]
	}
	mappedAMX(&m.dst[0], &m.dst[0], 2*m.plane, &m.x[0], 2*m.pitch, &m.layer.dense[0], &m.layer.bias[0], &m.masks[0],
		&m.scratch[0], m.blocks/2, m.groups, m.groups,
		m.mode, rows, &m.index[0], 4*m.step)
}
