//go:build purego || !amd64

package bands

const (
	modeReLU = 1 << iota
	modeAdd
	modeRows
)

func expand(tiles, strips []uint16, list []int32) { expandGeneric(tiles, strips, list) }

func sums(dst []float32, a, tiles []uint16, list []int32, columns, pitch int) {
	sumsGeneric(dst, a, tiles, list, columns, pitch)
}

func pair(dst []uint16, x0, x1, scale []float32, stride, n int) {
	pairGeneric(dst, x0, x1, scale, stride, n)
}

func spread(dst []uint16, x []float32) { spreadGeneric(dst, x) }

func (m *mapping) run() { m.generic() }
