package raster

import (
	"encoding/binary"
	"math"
	"slices"
)

// tiffHeader is the beginning of a file of float32 of c samples a pixel, uncompressed, up to its pixels, row after row;
// a BigTIFF file where an offset would not fit into 32 bits.
func tiffHeader(c, h, w int) []byte {
	row := int64(w) * int64(c) * 4
	rows := int(max(1, min(int64(h), (1<<16)/row))) // of a strip
	strips := (h + rows - 1) / rows
	order := binary.LittleEndian
	big := row*int64(h)+int64(strips)*16 > math.MaxUint32-1<<16
	type tag struct {
		id, kind int
		values   []int64
	}
	same := func(v int64) []int64 { return slices.Repeat([]int64{v}, c) }
	photometric := int64(1)
	if c == 3 {
		photometric = 2
	}
	long := 4
	if big {
		long = 16
	}
	offsets, counts := make([]int64, strips), make([]int64, strips)
	tags := []tag{
		{tagWidth, 4, []int64{int64(w)}}, {tagHeight, 4, []int64{int64(h)}}, {tagBits, 3, same(32)},
		{tagCompression, 3, []int64{packedNone}},
		{tagPhotometric, 3, []int64{photometric}}, {tagOffsets, long, offsets}, {tagSamples, 3, []int64{int64(c)}},
		{tagRows, 4, []int64{int64(rows)}},
		{tagCounts, long, counts}, {tagPlanar, 3, []int64{1}}, {tagFormat, 3, same(formatFloat)},
	}
	if c != 1 && c != 3 {
		tags = slices.Insert(tags, len(tags)-1, tag{tagExtra, 3, make([]int64, c-1)})
	}
	size := func(kind int) int { return map[int]int{3: 2, 4: 4, 16: 8}[kind] }
	entry, room, head := 12, 4, 8+2+4
	if big {
		entry, room, head = 20, 8, 16+8+8
	}
	head += entry * len(tags)
	end := head
	for _, t := range tags {
		if n := size(t.kind) * len(t.values); n > room {
			end += n
		}
	}
	for i := range strips {
		offsets[i] = int64(end) + int64(i*rows)*row
		counts[i] = int64(min(rows, h-i*rows)) * row
	}
	var b, rest []byte
	number := func(to []byte, kind int, v int64) []byte {
		switch kind {
		case 3:
			return order.AppendUint16(to, uint16(v))
		case 4:
			return order.AppendUint32(to, uint32(v))
		}
		return order.AppendUint64(to, uint64(v))
	}
	if big {
		b = append(b, "II+\x00\x08\x00\x00\x00"...)
		b = order.AppendUint64(order.AppendUint64(b, 16), uint64(len(tags)))
	} else {
		b = append(b, "II*\x00\x08\x00\x00\x00"...)
		b = order.AppendUint16(b, uint16(len(tags)))
	}
	for _, t := range tags {
		b = order.AppendUint16(order.AppendUint16(b, uint16(t.id)), uint16(t.kind))
		b = number(b, long, int64(len(t.values)))
		var values []byte
		for _, v := range t.values {
			values = number(values, t.kind, v)
		}
		if len(values) > room {
			at := int64(head + len(rest))
			rest = append(rest, values...)
			values = number(nil, long, at)
		}
		b = append(b, append(values, make([]byte, room-len(values))...)...)
	}
	b = number(b, long, 0) // there is no other image
	return append(b, rest...)
}
