package raster

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Grid is a raster of numbers that were computed at the centres of cells, north up.
type Grid struct {
	W, H int
	// West and North are the centre of the first cell, the one in the north-west; Cell are the cells' sides, to the east and to the south.
	West, North float64
	Cell        [2]float64
	Bands       []Band
	// Row sets the values [W, bands] of a row of cells; row 0 is the northernmost. NaN is no value.
	Row func(to []float32, row int)
}

// Band names the numbers of a raster, and their unit, "" where there is none.
type Band struct{ Name, Unit string }

// maxGridRow bounds the bytes of a row of cells.
const maxGridRow = 1 << 28

// Encode writes a TIFF file of floats with the tags of GeoTIFF that say where cells are, but not in which coordinate system: that is
// not known here. Bands have their names as descriptions.
func (g *Grid) Encode(w io.Writer) error {
	c := len(g.Bands)
	if c < 1 || c > math.MaxUint16 || g.W < 1 || g.H < 1 || g.H > math.MaxInt32 || g.W > maxGridRow/4/c {
		return fmt.Errorf("%w: a raster of %d x %d cells and %d bands", ErrSize, g.W, g.H, c)
	}
	p := &Place{tags: worldTags([6]float64{g.Cell[0], 0, 0, -g.Cell[1], g.West, g.North})}
	for k, band := range g.Bands {
		sample := strconv.Itoa(k)
		p.items = append(p.items, metadataItem{Name: "DESCRIPTION", Sample: sample, Role: "description", Text: band.Name})
		if band.Unit != "" {
			p.items = append(p.items, metadataItem{Name: "UNITTYPE", Sample: sample, Role: "unittype", Text: band.Unit})
		}
	}
	tags := append(p.entries(c), tiffText(tagNoData, "nan"))
	if c == 3 { // numbers, and no colours
		tags = append(tags, tiffEntry{tagExtra, kindShort, make([]int64, c-1)})
	}
	if _, err := w.Write(tiffHeader(c, g.H, g.W, tags)); err != nil {
		return err
	}
	row, b := make([]float32, g.W*c), make([]byte, 0, 4*g.W*c)
	for y := range g.H {
		g.Row(row, y)
		b = b[:0]
		for _, v := range row {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
