package bands

import "math"

// The twins of the kernels. Each gives the kernel's bits, but for what is no number, and results of blocks that are not of the grid.

// round rounds to bfloat16: to the nearest, ties to even, and numbers below 2^-126 to 0.
func round(v float32) uint16 {
	b := math.Float32bits(v)
	switch {
	case b<<1 < 1<<24:
		return uint16(b >> 16 & 0x8000)
	case b<<1 > 0xff<<24:
		return uint16(b>>16 | 0x40)
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func float(v uint16) float32 { return math.Float32frombits(uint32(v) << 16) }

// expandGeneric makes bands of strips: of eight rows of a strip, eight weights each, the pairs that 16 results take of
// two pixels. Result (oy, ox) takes weight kx - ox + 3 of row r + 3 - oy for pixel kx of row r. Of each band, list has
// where its pixels and its strip begin, in bytes.
func expandGeneric(tiles, strips []uint16, list []int32) {
	for i := range len(list) / 2 {
		strip, to := strips[list[2*i+1]/2:], tiles[i*tile:]
		for at := range tile {
			pair, result := at/(2*lanes), at%(2*lanes)/2
			row, kx := pair/2, pair%2*2+at%2
			to[at] = strip[(row+side-1-result/side)*8+kx-result%side+side-1]
		}
	}
}

// sumsGeneric sets dst [columns, 16, 16] to the sums of products of tiles: of 16 blocks of each column with the weights.
func sumsGeneric(dst []float32, a, tiles []uint16, list []int32, columns, pitch int) {
	for column := range columns {
		for block := range lanes {
			for result := range lanes {
				sum := float32(0)
				for i := range len(list) / 2 {
					sum = addProducts(sum, a[column*pitch/2+int(list[2*i])/2+block*lanes:], tiles[i*tile+2*result:])
				}
				dst[(column*lanes+block)*lanes+result] = sum
			}
		}
	}
}

// addProducts adds the products of 32 numbers x with those of w, whose pairs lie a line apart, as TDPBF16PS does.
func addProducts(sum float32, x, w []uint16) float32 {
	var part [2]float32
	for k := range 2 * lanes {
		part[k%2] = flushed(float64(part[k%2]) + float64(float(x[k]))*float64(float(w[k/2*2*lanes+k%2])))
	}
	return flushed(float64(sum) + float64(flushed(float64(part[0])+float64(part[1]))))
}

// flushed rounds a sum of float32 numbers and of products of bfloat16 numbers, once: the float64 sum is either exact,
// or too far from the middle of two float32 numbers to be rounded another way. What 24 bits round to a number below
// 2^-126 becomes 0, as that has no exponent of its own for the tiles.
func flushed(v float64) float32 {
	if math.Abs(v) < 0x1p-126-0x1p-151 {
		return float32(v * 0)
	}
	return float32(v)
}

// pairGeneric sets n lines of dst, stride bytes apart, to 16 pairs of x0·scale and x1·scale.
func pairGeneric(dst []uint16, x0, x1, scale []float32, stride, n int) {
	for i := range n {
		for l := range lanes {
			at := i*lanes + l
			dst[i*stride/2+2*l], dst[i*stride/2+2*l+1] = round(x0[at]*scale[at]), round(x1[at]*scale[at])
		}
	}
}

// spreadGeneric sets the pairs of a position, a line apart, to the channels x.
func spreadGeneric(dst []uint16, x []float32) {
	for i, v := range x {
		dst[i/2*2*lanes+i%2] = round(v)
	}
}

// generic is run in portable Go.
func (m *mapping) generic() {
	for o := range m.groups * Group {
		w := m.layer.dense[o/Group*m.groups*2*tile+o%Group/lanes*tile+o%lanes*Group:]
		for position := range m.blocks * lanes {
			if m.masks[position/(2*lanes)]>>(position%(2*lanes))&1 == 0 {
				if m.mode&modeRows == 0 {
					m.dst[o*m.plane+position] = 0
				}
				continue
			}
			block, l := position/lanes, position%lanes
			x := m.x[block*m.pitch+2*l:]
			sum := flushed(float64(m.layer.bias[o*lanes+l]))
			for k := range m.groups {
				sum = addProducts(sum, w[k*2*tile:], x[k*tile:])
			}
			if m.mode&modeAdd != 0 {
				sum += float(m.dst[o*m.plane+position])
			}
			if m.mode&modeReLU != 0 && sum < 0 {
				sum = 0
			}
			if m.mode&modeRows != 0 {
				m.rows[block*m.step+int(m.index[l])+o] = sum
				continue
			}
			m.dst[o*m.plane+position] = round(sum)
		}
	}
}
