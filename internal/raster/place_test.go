package raster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// placed is the tags of a map in UTM, with metadata of two channels.
func placed() []tiffEntry {
	return []tiffEntry{tiffDoubles(tagPixelScale, 30, 30, 0), tiffDoubles(tagTiePoints, 0, 0, 0, 500000, 4601200, 0),
		{tagGeoKeys, kindShort, []int64{1, 1, 0, 2, 1025, 0, 1, 1, 3072, 0, 1, 32633}}, tiffDoubles(tagGeoDoubles, 6378137, 0.1),
		tiffText(tagGeoTexts, "WGS 84|"), tiffText(tagMetadata, `<GDALMetadata>
  <Item name="AUTHOR">A &amp; B</Item>
  <Item name="NBITS" domain="IMAGE_STRUCTURE">7</Item>
  <Item name="STATISTICS_MEAN" sample="0">3</Item>
  <Item name="DESCRIPTION" sample="0" role="description">depth</Item>
  <Item name="OFFSET" sample="0" role="offset">-5</Item>
  <Item name="SCALE" sample="0" role="scale">0.5</Item>
  <Item name="DESCRIPTION" sample="1" role="description">cover</Item>
  <Item name="UNITTYPE" sample="2" role="unittype">m</Item>
</GDALMetadata>`+"\n")}
}

// written is the tags of an output of a raster of c channels, as they are read again.
func written(t *testing.T, c int, p *Place) map[int]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.tif")
	w, err := OpenStripWriter(path, path, c, 9, 20, p)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := openTIFF(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	last, out := 0, map[int]string{}
	for at := 10; at < 10+12*len(f.tags); at += 12 { // in order, and at even places
		id := int(f.order.Uint16(b[at:]))
		require.Greater(t, id, last)
		last = id
		tag := f.tags[id]
		raw, size, err := f.raw(tag)
		require.NoError(t, err)
		if len(raw) > 4 {
			require.Zero(t, f.order.Uint32(tag.value)&1)
		}
		v, err := f.numbers(tag)
		require.NoError(t, err)
		switch {
		case tag.kind == kindText:
			out[id] = strings.TrimRight(string(raw), "\x00")
		case tag.kind == kindDouble:
			var x []float64
			for _, n := range v {
				x = append(x, math.Float64frombits(uint64(n)))
			}
			out[id] = fmt.Sprint(x)
		case id > 30000:
			out[id] = fmt.Sprint(v, size)
		}
	}
	return out
}

// A raster of the pixels of a GeoTIFF is where they are, whatever the layout of the file. What is said of its values is
// said of the others: those of pictures are scaled to [0, 1], and all pixels have one.
func TestPlace(t *testing.T) {
	tile := tiffLayout{tileW: 16, tileH: 16}
	little, large := binary.AppendByteOrder(binary.LittleEndian), binary.AppendByteOrder(binary.BigEndian)
	for name, l := range map[string]tiffLayout{
		"bytes":              {bits: 8, format: formatUint, rows: 4, order: little},
		"big endian":         {bits: 16, format: formatUint, rows: 4, order: large},
		"BigTIFF in tiles":   {bits: 32, format: formatFloat, tileW: tile.tileW, tileH: tile.tileH, big: true, order: large},
		"integers":           {bits: 16, format: formatInt, rows: 9, big: true, order: little, noData: "-9999"},
		"white is zero":      {bits: 8, format: formatUint, rows: 4, order: little, inverted: true},
		"deflated, two bits": {bits: 2, format: formatUint, rows: 4, order: little, compression: packedZlib},
	} {
		t.Run(name, func(t *testing.T) {
			l.samples, l.extra = 1, placed()
			if l.compression == 0 {
				l.compression = packedNone
			}
			s, err := strips(t, "in.tif", l.file(t, 9, 20, func(y, x, _ int) uint64 { return uint64(y+x) & 3 }), 1)
			require.NoError(t, err)
			p, err := s.Place()
			require.NoError(t, err)
			require.True(t, p.Located())
			mean, std := written(t, 1, p), written(t, 1, p.Deviation())
			for _, got := range []map[int]string{mean, std} {
				require.Equal(t, "[30 30 0]", got[tagPixelScale])
				require.Equal(t, "[0 0 0 500000 4.6012e+06 0]", got[tagTiePoints])
				require.Equal(t, "[1 1 0 2 1025 0 1 1 3072 0 1 32633] 2", got[tagGeoKeys])
				require.Equal(t, "[6.378137e+06 0.1]", got[tagGeoDoubles])
				require.Equal(t, "WGS 84|", got[tagGeoTexts])
				require.NotContains(t, got, tagNoData)
				require.Contains(t, got[tagMetadata], `<Item name="AUTHOR">A &amp; B</Item>`)
				require.Contains(t, got[tagMetadata], `<Item name="DESCRIPTION" sample="0" role="description">depth</Item>`)
				for _, gone := range []string{"STATISTICS", "NBITS", "cover", "UNITTYPE"} {
					require.NotContains(t, got[tagMetadata], gone)
				}
			}
			most, offset := map[string]float64{"bytes": 255, "big endian": 65535, "white is zero": -255, "deflated, two bits": 3}[name], -5.
			if most == 0 {
				most = 1
			}
			if most < 0 {
				offset += 255 * 0.5
			}
			require.Contains(t, mean[tagMetadata], fmt.Sprintf(`role="scale">%v<`, 0.5*most))
			require.Contains(t, mean[tagMetadata], fmt.Sprintf(`role="offset">%v<`, offset))
			require.Contains(t, std[tagMetadata], fmt.Sprintf(`role="scale">%v<`, 0.5*math.Abs(most)))
			require.NotContains(t, std[tagMetadata], "offset")
		})
	}
}

// Items of channels follow them where alpha leaves, and go where channels are made of several or repeated.
func TestPlaceOfChannels(t *testing.T) {
	metadata := func(samples, channels int, l tiffLayout) string {
		l.samples, l.bits, l.format, l.compression, l.rows, l.order = samples, 8, formatUint, 1, 4, binary.LittleEndian
		l.extra = append(l.extra, placed()...)
		s, err := strips(t, "in.tif", l.file(t, 9, 20, func(_, _, _ int) uint64 { return 255 }), channels)
		require.NoError(t, err)
		p, err := s.Place()
		require.NoError(t, err)
		return written(t, channels, p)[tagMetadata]
	}
	two := metadata(2, 2, tiffLayout{})
	require.Contains(t, two, `<Item name="DESCRIPTION" sample="1" role="description">cover</Item>`)
	require.Contains(t, two, `<Item name="SCALE" sample="1" role="scale">255</Item>`)
	require.Contains(t, two, `<Item name="SCALE" sample="0" role="scale">127.5</Item>`)
	require.NotContains(t, two, "UNITTYPE")
	alpha := metadata(4, 3, tiffLayout{extra: []tiffEntry{{tagExtra, kindShort, []int64{2, 0, 0}}}})
	require.Contains(t, alpha, `<Item name="DESCRIPTION" sample="0" role="description">depth</Item>`)
	require.Contains(t, alpha, `<Item name="UNITTYPE" sample="1" role="unittype">m</Item>`)
	require.NotContains(t, alpha, "cover")
	grey := metadata(3, 1, tiffLayout{})
	require.NotContains(t, grey, "sample")
	require.Contains(t, grey, "AUTHOR")
	require.NotContains(t, metadata(1, 3, tiffLayout{}), "sample")
}

// A tag of where pixels are that cannot be is an error that names it, and before memory is taken; pixels are read all the same.
func TestPlaceRefused(t *testing.T) {
	for name, tags := range map[string][]tiffEntry{
		"tag 33550, of where pixels are, has 2 values":  {tiffDoubles(tagPixelScale, 1, 2)},
		"tag 33922, of where pixels are, has 5 values":  {tiffDoubles(tagTiePoints, 1, 2, 3, 4, 5)},
		"tag 34264, of where pixels are, has 32 values": {tiffDoubles(tagTransformation, make([]float64, 32)...)},
		"of type 11":             {{tagPixelScale, 11, []int64{1, 1, 0}}},
		"of type 3":              {{tagTiePoints, kindShort, make([]int64, 6)}},
		"has 3 values of type 3": {{tagGeoKeys, kindShort, make([]int64, 3)}},
	} {
		b := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 4, order: binary.LittleEndian, extra: tags}.file(t, 9, 20,
			func(_, _, _ int) uint64 { return 1 })
		s, err := strips(t, "in.tif", b, 1)
		require.NoError(t, err)
		require.NoError(t, s.Line(make([]float32, 20), 0, 8, 0))
		_, err = s.Place()
		require.ErrorIs(t, err, ErrImage)
		require.ErrorContains(t, err, name)
	}
	good := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 4, order: binary.LittleEndian, extra: placed()}.file(t, 9,
		20, func(_, _, _ int) uint64 { return 1 })
	for at := 10; at < 10+12*18; at += 12 { // counts and places beyond the file
		id := int(binary.LittleEndian.Uint16(good[at:]))
		if id < 30000 {
			continue
		}
		for _, field := range []int{4, 8} {
			for _, v := range []uint32{0, 1<<31 - 4, math.MaxUint32} {
				b := bytes.Clone(good)
				binary.LittleEndian.PutUint32(b[at+field:], v)
				s, err := strips(t, "in.tif", b, 1)
				require.NoError(t, err)
				if p, err := s.Place(); err == nil {
					require.True(t, id == tagMetadata || v == 0, "tag %d: %v", id, p)
				}
			}
		}
	}
}

// placeAgain writes the place of a TIFF file, and reads the same again.
func placeAgain(t *testing.T, s *Strips) {
	p, err := s.picture.place(s.C, s.own)
	if err != nil {
		return
	}
	b := append(tiffHeader(1, 1, 1, p.entries(1)), 0, 0, 0, 0)
	f, err := openTIFF(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	again, err := f.place(1, 1)
	require.NoError(t, err)
	require.True(t, slices.EqualFunc(p.tags, again.tags, func(a, b tiffEntry) bool {
		return a.id == b.id && a.kind == b.kind && slices.Equal(a.values, b.values)
	}))
	require.Equal(t, p.scale, again.scale)
	require.Equal(t, p.offset, again.offset)
}

// A picture without tags is where its world file says, which has the centre of the first pixel.
func TestWorldFile(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.tif")
	plain := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 9, order: binary.LittleEndian}
	one := func(_, _, _ int) uint64 { return 1 }
	require.NoError(t, os.WriteFile(in, plain.file(t, 9, 20, one), 0o600))
	s, err := OpenStrips(in, 1)
	require.NoError(t, err)
	defer s.Close()
	p, err := s.Place()
	require.NoError(t, err)
	require.Nil(t, p)
	require.Nil(t, p.Deviation())
	require.False(t, p.Located())
	require.Empty(t, s.Unread(p))

	world := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	world("in.wld", "30\r\n0\r\n0\r\n-30\r\n500015,0\r\n4601185\r\n")
	p, err = s.Place()
	require.NoError(t, err)
	got := written(t, 1, p)
	require.Equal(t, "[30 30 0]", got[tagPixelScale])
	require.Equal(t, "[0 0 0 500000 4.6012e+06 0]", got[tagTiePoints])
	require.Contains(t, got[tagMetadata], `role="scale">255<`)

	world("in.TFW", "20 10 8 -20 1000 2000") // comes before .wld
	p, err = s.Place()
	require.NoError(t, err)
	require.Equal(t, "[20 8 0 986 10 -20 0 2005 0 0 0 0 0 0 0 1]", written(t, 1, p)[tagTransformation])

	for _, bad := range []string{"", "1 2 3", "30 0 0 -30 nan 1", "0 0 0 -30 1 1", "a b c d e f"} {
		world("in.TFW", bad)
		_, err = s.Place()
		require.ErrorContains(t, err, "is not a world file of six numbers")
	}
	world("in.prj", "PROJCS[]")
	world("in.tif.msk", "II")
	world("in.tif.aux.xml", "<PAMDataset><SRS>PROJCS[]</SRS><NoDataValue>1</NoDataValue></PAMDataset>")
	world("in.aux.xml", "<PAMDataset><GeoTransform>1</GeoTransform></PAMDataset>")
	want := []string{".tif.aux.xml is not read: it says which value stands for none",
		".tif.aux.xml is not read: it says in which coordinates pixels are", ".aux.xml is not read: it says where pixels are",
		".prj is not read: it says in which coordinates pixels are"}
	for i, text := range s.Unread(nil) {
		require.Equal(t, filepath.Join(dir, "in")+want[i], text)
	}
	require.Len(t, s.Unread(nil), len(want))
	other := &Strips{file: s.file} // of another format, whose masks are not read
	require.Equal(t, in+".msk is not read: it says which pixels have values; give it as the mask", other.Unread(nil)[0])

	plain.extra = placed() // the tags come before the world file
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.tif"), plain.file(t, 9, 20, one), 0o600))
	world("b.tfw", "1 0 0 -1 0 0")
	world("b.prj", "PROJCS[]")
	world("b.tif.aux.xml", "<PAMDataset><SRS>PROJCS[]</SRS><STATISTICS_MEAN>1</STATISTICS_MEAN></PAMDataset>")
	s, err = OpenStrips(filepath.Join(dir, "b.tif"), 1)
	require.NoError(t, err)
	defer s.Close()
	p, err = s.Place()
	require.NoError(t, err)
	require.Equal(t, "[30 30 0]", written(t, 1, p)[tagPixelScale])
	require.Len(t, p.tags, 5)
	require.Empty(t, s.Unread(p))
}
