package raster

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// line sets dst to a channel of pixels of line y, from column x on. Pixels that are more transparent than opaque are not observed.
func (f *tiffFile) line(dst []float32, channel, y, x int) error {
	if len(dst) == 0 {
		return nil
	}
	convert := f.convert
	switch {
	case f.photometric == colourPalette:
		own := channel
		convert = func(dst []float32, row []byte, from int) { f.coloured(dst, row, from, own) }
		channel = 0
	case f.alpha >= 0 && channel >= f.alpha:
		channel++
	}
	if err := f.sample(dst, channel, y, x, convert); err != nil {
		return err
	}
	if err := f.hide(dst, channel, y, x); err != nil || f.alpha < 0 {
		return err
	}
	f.cover = slices.Grow(f.cover[:0], len(dst))[:len(dst)]
	if err := f.sample(f.cover, f.alpha, y, x,
		func(dst []float32, row []byte, from int) { f.plain(dst, row, from, f.most()) }); err != nil {
		return err
	}
	for i, a := range f.cover {
		f.translucent = f.translucent || a < 1
		switch {
		case !(a >= 0.5):
			dst[i] = float32(math.NaN())
		case f.multiplied && a < 1:
			dst[i] = min(1, dst[i]/a)
		}
	}
	return nil
}

// hide makes NaN of pixels of a channel that the mask says are not observed.
func (f *tiffFile) hide(dst []float32, channel, y, x int) error {
	m := f.mask
	if m == nil {
		return nil
	}
	m.cover = slices.Grow(m.cover[:0], len(dst))[:len(dst)]
	if err := m.sample(m.cover, min(channel, m.samples-1), y, x,
		func(dst []float32, row []byte, from int) { m.plain(dst, row, from, m.most()) }); err != nil {
		return fmt.Errorf("the mask: %w", err)
	}
	for i, v := range m.cover {
		if v == 0 {
			dst[i], f.translucent = float32(math.NaN()), true
		}
	}
	return nil
}

// most is the value that becomes 1: the largest of unsigned numbers of up to 16 bits, else 1.
func (f *tiffFile) most() float64 {
	if f.visible() {
		return float64(uint(1)<<f.bits - 1)
	}
	return 1
}

// undo takes back what a predictor did to a row.
func (f *tiffFile) undo(row []byte) {
	step, size := f.step(), f.bits/8
	switch f.predictor {
	case 2:
		switch size {
		case 1:
			for i := step; i < len(row); i++ {
				row[i] += row[i-step]
			}
		case 2:
			for i := 2 * step; i < len(row); i += 2 {
				f.order.PutUint16(row[i:], f.order.Uint16(row[i:])+f.order.Uint16(row[i-2*step:]))
			}
		case 4:
			for i := 4 * step; i < len(row); i += 4 {
				f.order.PutUint32(row[i:], f.order.Uint32(row[i:])+f.order.Uint32(row[i-4*step:]))
			}
		default:
			for i := 8 * step; i < len(row); i += 8 {
				f.order.PutUint64(row[i:], f.order.Uint64(row[i:])+f.order.Uint64(row[i-8*step:]))
			}
		}
	case 3: // differences of bytes, of which all highest ones come first, then the next
		for i := step; i < len(row); i++ {
			row[i] += row[i-step]
		}
		apart := slices.Clone(row)
		n := len(row) / size
		for i := range n {
			for k := range size {
				to := i*size + k
				if f.order == binary.ByteOrder(binary.LittleEndian) {
					to = i*size + size - 1 - k
				}
				row[to] = apart[k*n+i]
			}
		}
	}
}

// convert sets dst to every step-th sample from one on. Unsigned numbers of up to 16 bits are taken to [0, 1], others are as they are.
func (f *tiffFile) convert(dst []float32, row []byte, from int) {
	if row == nil {
		f.nothing(dst)
		return
	}
	step, most, known := f.step(), f.most(), f.missing == f.missing
	inverted, top := f.photometric == whiteIsZero && f.visible(), math.Ldexp(1, f.bits)-1 // measurements stay as they are, as GDAL has them
	for i := range dst {
		v := f.number(row, from+i*step)
		switch {
		case known && f.absent(v):
			dst[i] = float32(math.NaN())
		case inverted:
			dst[i] = float32((top - v) / most)
		default:
			dst[i] = float32(v / most)
		}
	}
}

// plain is convert without what the file says of missing values and of black and white.
func (f *tiffFile) plain(dst []float32, row []byte, from int, most float64) {
	for i := range dst {
		if row == nil {
			dst[i] = 0
			continue
		}
		dst[i] = float32(f.number(row, from+i*f.step()) / most)
	}
}

// coloured is convert for a channel of a palette.
func (f *tiffFile) coloured(dst []float32, row []byte, from, channel int) {
	if row == nil {
		f.nothing(dst)
		return
	}
	own := f.colours[channel<<f.bits:]
	for i := range dst {
		v := f.number(row, from+i*f.step())
		if f.absent(v) {
			dst[i] = float32(math.NaN())
		} else {
			dst[i] = float32(float64(own[int(v)]) / f.white())
		}
	}
}

// white is the largest number of a palette: of 16 bits, or of 8, which old writers leave as they are and others set as the
// higher ones.
func (f *tiffFile) white() float64 {
	if f.whitest == 0 {
		f.whitest = 65535
		if slices.Max(f.colours) < 256 {
			f.whitest = 255
		} else if !slices.ContainsFunc(f.colours, func(c uint16) bool { return c&255 != 0 }) {
			f.whitest = 255 << 8
		}
	}
	return f.whitest
}

func (f *tiffFile) nothing(dst []float32) {
	for i := range dst {
		dst[i] = float32(math.NaN())
	}
}

// absent reports whether a sample says that there is no value.
func (f *tiffFile) absent(v float64) bool {
	if f.format == formatFloat && f.bits == 16 && !math.IsInf(f.missing, 0) { // a share of infinity would be all numbers
		return math.Abs(v-f.missing) <= math.Abs(f.missing)*0x1p-11
	}
	return v == f.missing || f.extreme != 0 && v == f.extreme
}

// number is sample k of a row.
func (f *tiffFile) number(row []byte, k int) float64 {
	if f.bits%8 != 0 { // packed from the highest bit on
		v := uint64(0)
		for at := k * f.bits; at < (k+1)*f.bits; at++ {
			v = v<<1 | uint64(row[at/8]>>(7-at%8)&1)
		}
		return float64(v)
	}
	b := row[k*f.bits/8:]
	switch f.format*100 + f.bits {
	case 108:
		return float64(b[0])
	case 116:
		return float64(f.order.Uint16(b))
	case 124, 224: // no word of the machine, but 24 bits from the highest on in either byte order, as GDAL writes them
		v := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
		if f.format == formatInt {
			return float64(int32(v<<8) >> 8)
		}
		return float64(v)
	case 132:
		return float64(f.order.Uint32(b))
	case 164:
		return float64(f.order.Uint64(b))
	case 208:
		return float64(int8(b[0]))
	case 216:
		return float64(int16(f.order.Uint16(b)))
	case 232:
		return float64(int32(f.order.Uint32(b)))
	case 264:
		return float64(int64(f.order.Uint64(b)))
	case 316:
		return half(f.order.Uint16(b))
	case 332:
		return float64(math.Float32frombits(f.order.Uint32(b)))
	}
	return math.Float64frombits(f.order.Uint64(b))
}

// half is a number of 16 bits (IEEE 754, binary16).
func half(h uint16) float64 {
	sign, exponent, fraction := float64(1), int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
