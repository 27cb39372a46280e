package raster

import (
	"encoding/binary"
	"math"
	"slices"
)

// tiffHeader is the beginning of a file of float32 of c samples a pixel, uncompressed, up to its pixels, row after row;
// a BigTIFF file where an offset would not fit into 32 bits. The tags of extra are written beside its own. Three samples are red, green
// and blue, unless extra has tagExtra.
func tiffHeader(c, h, w int, extra []tiffEntry) []byte {
	row := int64(w) * int64(c) * 4
	rows := int(max(1, min(int64(h), (1<<16)/row))) // of a strip
	strips := (h + rows - 1) / rows
	order := binary.LittleEndian
	beside := int64(0)
	for _, t := range extra {
		beside += int64(t.size())
	}
	big := row*int64(h)+int64(strips)*16+beside > math.MaxUint32-1<<16
	same := func(v int64) []int64 { return slices.Repeat([]int64{v}, c) }
	photometric := int64(1)
	plain := slices.ContainsFunc(extra, func(t tiffEntry) bool { return t.id == tagExtra })
	if c == 3 && !plain {
		photometric = 2
	}
	long := kindLong
	if big {
		long = kindLong8
	}
	offsets, counts := make([]int64, strips), make([]int64, strips)
	tags := append([]tiffEntry{
		{tagWidth, kindLong, []int64{int64(w)}}, {tagHeight, kindLong, []int64{int64(h)}}, {tagBits, kindShort, same(32)},
		{tagCompression, kindShort, []int64{packedNone}},
		{tagPhotometric, kindShort, []int64{photometric}}, {tagOffsets, long, offsets}, {tagSamples, kindShort, []int64{int64(c)}},
		{tagRows, kindLong, []int64{int64(rows)}},
		{tagCounts, long, counts}, {tagPlanar, kindShort, []int64{1}}, {tagFormat, kindShort, same(formatFloat)},
	}, extra...)
	if c != 1 && c != 3 && !plain {
		tags = append(tags, tiffEntry{tagExtra, kindShort, make([]int64, c-1)})
	}
	slices.SortFunc(tags, func(a, b tiffEntry) int { return a.id - b.id })
	entry, room, head := 12, 4, 8+2+4
	if big {
		entry, room, head = 20, 8, 16+8+8
	}
	head += entry * len(tags)
	end := head
	for _, t := range tags {
		if n := t.size(); n > room {
			end += n
		}
	}
	for i := range strips {
		offsets[i] = int64(end) + int64(i*rows)*row
		counts[i] = int64(min(rows, h-i*rows)) * row
	}
	var b, rest []byte
	if big {
		b = append(b, "II+\x00\x08\x00\x00\x00"...)
		b = order.AppendUint64(order.AppendUint64(b, 16), uint64(len(tags)))
	} else {
		b = append(b, "II*\x00\x08\x00\x00\x00"...)
		b = order.AppendUint16(b, uint16(len(tags)))
	}
	for _, t := range tags {
		b = order.AppendUint16(order.AppendUint16(b, uint16(t.id)), uint16(t.kind))
		b = tiffNumber(b, long, int64(len(t.values)))
		var values []byte
		for _, v := range t.values {
			values = tiffNumber(values, t.kind, v)
		}
		if values = append(values, make([]byte, t.size()-len(values))...); len(values) > room {
			at := int64(head + len(rest))
			rest = append(rest, values...)
			values = tiffNumber(nil, long, at)
		}
		b = append(b, append(values, make([]byte, room-len(values))...)...)
	}
	b = tiffNumber(b, long, 0) // there is no other image
	return append(b, rest...)
}

// size is the bytes of a tag's values, an even number, as what stands behind them must begin at one.
func (t tiffEntry) size() int {
	n := tiffSizes[t.kind] * len(t.values)
	return n + n&1
}

// tiffNumber appends a value of a tag of that type.
func tiffNumber(to []byte, kind int, v int64) []byte {
	switch order := binary.LittleEndian; kind {
	case kindText:
		return append(to, byte(v))
	case kindShort:
		return order.AppendUint16(to, uint16(v))
	case kindLong:
		return order.AppendUint32(to, uint32(v))
	default:
		return order.AppendUint64(to, uint64(v))
	}
}
